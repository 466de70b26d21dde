/**
 * `GrammarCompiler`: structures in, `CompiledGrammar`s out.
 *
 *     const compiler = new GrammarCompiler(info);
 *     const fixed = compiler.compileGrammarFile(bytes);                  // of `maskwright compile`: no Python is loaded
 *     const other = await compiler.compileJsonSchema({ type: "integer" }); // Pyodide is loaded, once, in a worker
 *
 * What was compiled is kept, the least recently used going first.
 */
import { bytes, instance, integer, isIterable, jsonText, named, object, string, wrongArgument } from "./arguments.js";
import { frontEnds } from "./frontends.js";
import { Handle, call, kernel, place, precompute } from "./kernel.js";
import { TokenizerInfo } from "./tokenizer.js";

const GRAMMAR_BYTES = 64 << 20;
const CACHE_BYTES = 256 << 20;
const FILE_HINT =
  "pass await response.arrayBuffer(), of a file that maskwright compile wrote; for a schema, use compileJsonSchema";

const INFO_HINT = "use TokenizerInfo.fromTokenizerJson, or another of its functions";
const OPTIONS = ["cacheEnabled", "cacheLimitBytes", "grammarLimitBytes"];

/**
 * How a JSON Schema is read, and how its instances are spelled: docs/json_schema.md.
 * @typedef {object} JsonSchemaOptions
 * @property {boolean} [anyWhitespace] whether white space may stand wherever JSON allows it; true by default
 * @property {number} [maxWhitespaceCnt] the longest run of it; 32 by default
 * @property {string} [whitespacePattern] a regular expression for what stands there instead
 * @property {number} [indent] as in `JSON.stringify`; with `anyWhitespace: false`
 * @property {readonly [item: string, key: string]} [separators] such as [",", ":"]; with `anyWhitespace: false`
 * @property {boolean} [ensureAscii] whether characters beyond ASCII are written as escapes only
 * @property {boolean} [strictMode] whether objects have declared members only, unless the schema says otherwise
 * @property {"error" | "relax"} [onUnsupported] what becomes of an assertion that cannot be enforced
 * @property {boolean} [anyOrder] whether members come in any order
 * @property {Readonly<Record<string, unknown>>} [registry] documents by their URIs, for references
 * @property {"plain" | "digits" | "any"} [numbers] how numbers are spelled
 * @property {"assert" | "annotate"} [formats] whether `format` is enforced, as it is by default
 */
/**
 * @typedef {JsonSchemaOptions & {reasoning?: "enabled" | "disabled" | "auto" | boolean, parallelToolCalls?: boolean,
 *     content?: unknown, thinkingTokenBudget?: number}} ToolsOptions what a model may write beside tools:
 *     docs/structural_tags.md
 */
/** @typedef {{pointer: string, keyword: string, outcome: "annotation" | "relaxed", reason: string}} Finding */

/** A grammar bound to a tokenizer, ready for any number of matchers. */
export class CompiledGrammar {
  /** @type {Handle} */
  #handle;
  /** @type {boolean | undefined} */
  #hasCaptures;

  /**
   * @param {TokenizerInfo} tokenizerInfo
   * @param {Uint8Array | ArrayBuffer} file
   * @param {number} [grammarLimitBytes] what it may remember of configurations and masks; past it, it starts over
   */
  constructor(tokenizerInfo, file, grammarLimitBytes = GRAMMAR_BYTES) {
    this.tokenizerInfo = instance("tokenizerInfo", tokenizerInfo, TokenizerInfo);
    /** The bytes that it was made from, as of `maskwright compile`. */
    this.file = /** @type {Uint8Array<ArrayBuffer>} */ (bytes("file", file, FILE_HINT));
    /** What of a JSON Schema does not constrain the output. @type {Finding[]} */
    this.report = [];
    const tokenizer = tokenizerInfo.handle;
    const [at] = place(this.file);
    this.#handle = new Handle(call("mw_grammar", tokenizer.at, at, this.file.length, grammarLimitBytes), "mw_grammar_free");
  }

  get handle() {
    return this.#handle;
  }

  /** @returns {number} */
  get memorySizeBytes() {
    return kernel().mw_grammar_memory(this.#handle.at);
  }

  /** Whether an `EventReader` finds something to read. @returns {boolean} */
  get hasCaptures() {
    this.#hasCaptures ??= call("mw_has_captures", this.#handle.at) !== 0;
    return this.#hasCaptures;
  }

  /** Computes the masks that an output will need first, while the model reads the prompt. @param {number} budgetUs */
  precompute(budgetUs) {
    return precompute(this.#handle, 0, budgetUs);
  }

  /** Whether it was disposed of. @returns {boolean} */
  get isDisposed() {
    return this.#handle.isFreed;
  }

  /** Gives its memory back now. Its matchers stay valid. The compiler that kept it compiles it anew when asked again. */
  dispose() {
    this.#handle.dispose();
  }
}

export class GrammarCompiler {
  /** @type {Map<string, CompiledGrammar | Promise<CompiledGrammar>>} */
  #kept = new Map();
  #options;

  /**
   * @param {TokenizerInfo} tokenizerInfo
   * @param {object} [options]
   * @param {boolean} [options.cacheEnabled]
   * @param {number} [options.cacheLimitBytes] what the kept grammars may hold together
   * @param {number} [options.grammarLimitBytes] what one grammar may remember
   */
  constructor(tokenizerInfo, options = {}) {
    this.tokenizerInfo = instance("tokenizerInfo", tokenizerInfo, TokenizerInfo, INFO_HINT);
    const { cacheEnabled = true, cacheLimitBytes = CACHE_BYTES, grammarLimitBytes = GRAMMAR_BYTES } = named(options, OPTIONS);
    this.#options = {
      cacheLimitBytes: cacheEnabled ? integer("cacheLimitBytes", cacheLimitBytes, 0) : 0,
      grammarLimitBytes: integer("grammarLimitBytes", grammarLimitBytes, 0),
    };
  }

  /** Loads a grammar that `maskwright compile` wrote. @param {Uint8Array | ArrayBuffer} file */
  compileGrammarFile(file) {
    return new CompiledGrammar(this.tokenizerInfo, file, this.#options.grammarLimitBytes);
  }

  /**
   * @param {unknown} schema data, or a JSON text
   * @param {JsonSchemaOptions} [options]
   */
  async compileJsonSchema(schema, options = {}) {
    return this.#get("json_schema", typeof schema === "string" ? schema : jsonText("schema", schema), options);
  }

  /** @param {string} pattern @param {{flags?: string}} [options] */
  async compileRegex(pattern, options = {}) {
    const isRegExp = /** @type {unknown} */ (pattern) instanceof RegExp;
    const { flags = "" } = named(options, ["flags"]);
    string("pattern", pattern, isRegExp ? "pass pattern.source, and { flags: pattern.flags }" : undefined);
    return this.#get("regex", pattern, { flags: string("flags", flags, 'pass letters, such as "i"') });
  }

  /** Compiles EBNF or GBNF. @param {string} source @param {string} [rootRuleName] */
  async compileGrammar(source, rootRuleName = "root") {
    return this.#get("ebnf", string("source", source), { rootRuleName: string("rootRuleName", rootRuleName) });
  }

  /** @param {string} source @param {string} [start] @param {JsonSchemaOptions & {modules?: Record<string, string>}} [options] */
  async compileLark(source, start = "start", options = {}) {
    return this.#get("lark", string("source", source), { ...options, start: string("start", start) });
  }

  /** @param {Iterable<string>} choices */
  async compileChoices(choices) {
    if (!isIterable(choices)) {
      throw wrongArgument("choices", choices, "an array of strings", typeof choices === "string" ? "pass [text]" : undefined);
    }
    const texts = Array.from(choices, (each) => string("each of choices", each, "pass String(choice)"));
    return this.#get("choices", JSON.stringify(texts), {});
  }

  /** @param {unknown} tag data, or a JSON text @param {JsonSchemaOptions} [options] */
  async compileStructuralTag(tag, options = {}) {
    return this.#get("structural_tag", typeof tag === "string" ? tag : jsonText("tag", tag), options);
  }

  /**
   * Compiles what a model of this family may write with these tools.
   * @param {string} family such as "hermes" or "llama"
   * @param {readonly unknown[]} tools in OpenAI's form
   * @param {unknown} [toolChoice]
   * @param {ToolsOptions} [options]
   */
  async compileTools(family, tools, toolChoice = "auto", options = {}) {
    string("family", family, Array.isArray(family) ? "pass the family first, then the tools" : undefined);
    const request = `{"family": ${JSON.stringify(family)}, "tools": ${jsonText("tools", tools, "/tools")}, "toolChoice": ${
      jsonText("toolChoice", toolChoice, "/tool_choice")}}`;
    return this.#get("tools", request, options);
  }

  clearCache() {
    this.#kept.clear();
  }

  /**
   * @param {string} kind
   * @param {string} source
   * @param {object} options
   * @returns {Promise<CompiledGrammar>}
   */
  async #get(kind, source, options) {
    const key = `${kind} ${JSON.stringify(source)} ${jsonText("options", object("options", options))}`;
    const known = this.#kept.get(key);
    if (known && !isDisposed(known)) {
      this.#kept.delete(key);
      this.#kept.set(key, known);
      return known;
    }
    const made = this.#compile(kind, source, options);
    this.#kept.set(key, made);
    try {
      this.#kept.set(key, await made);
    } catch (error) {
      this.#kept.delete(key);
      throw error;
    }
    this.#shrink();
    return made;
  }

  /** @param {string} kind @param {string} source @param {object} options */
  async #compile(kind, source, options) {
    const info = this.tokenizerInfo;
    const special = info.specialTokenIds.map((id) => [id, new TextDecoder().decode(info.tokenBytes[id])]);
    const { file, report } = await frontEnds().compile(kind, source, options, special);
    const compiled = new CompiledGrammar(info, file, this.#options.grammarLimitBytes);
    compiled.report = report;
    return compiled;
  }

  #shrink() {
    let held = 0;
    for (const [key, grammar] of [...this.#kept].reverse()) {
      if (!(grammar instanceof CompiledGrammar)) continue;
      held += grammar.isDisposed ? 0 : grammar.memorySizeBytes;
      if (grammar.isDisposed || held > this.#options.cacheLimitBytes) this.#kept.delete(key);
    }
  }
}

/** @param {CompiledGrammar | Promise<CompiledGrammar>} grammar */
const isDisposed = (grammar) => grammar instanceof CompiledGrammar && grammar.isDisposed;
