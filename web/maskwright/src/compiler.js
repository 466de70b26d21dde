/**
 * `GrammarCompiler`: structures in, `CompiledGrammar`s out.
 *
 *     const compiler = new GrammarCompiler(info);
 *     const fixed = compiler.compileGrammarFile(bytes);                  // of `maskwright compile`: no Python is loaded
 *     const other = await compiler.compileJsonSchema({ type: "integer" }); // Pyodide is loaded, once, in a worker
 *
 * What was compiled is kept, the least recently used going first.
 */
import { bytes, instance, integer } from "./arguments.js";
import { frontEnds } from "./frontends.js";
import { Handle, call, kernel, place, precompute } from "./kernel.js";
import { TokenizerInfo } from "./tokenizer.js";

const GRAMMAR_BYTES = 64 << 20;
const CACHE_BYTES = 256 << 20;
const FILE_HINT =
  "pass await response.arrayBuffer(), of a file that maskwright compile wrote; for a schema, use compileJsonSchema";

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
    this.file = bytes("file", file, FILE_HINT);
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

  /** Gives its memory back now. Its matchers stay valid. */
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
  constructor(tokenizerInfo, { cacheEnabled = true, cacheLimitBytes = CACHE_BYTES, grammarLimitBytes = GRAMMAR_BYTES } = {}) {
    this.tokenizerInfo = instance("tokenizerInfo", tokenizerInfo, TokenizerInfo);
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
   * @param {Record<string, unknown>} [options] the fields of the Python API's `JsonSchemaOptions`, in camel case;
   *     `registry` is an object of documents by their URIs
   */
  compileJsonSchema(schema, options = {}) {
    return this.#get("json_schema", typeof schema === "string" ? schema : JSON.stringify(schema), options);
  }

  /** @param {string} pattern @param {{flags?: string}} [options] */
  compileRegex(pattern, { flags = "" } = {}) {
    return this.#get("regex", pattern, { flags });
  }

  /** Compiles EBNF or GBNF. @param {string} source @param {string} [rootRuleName] */
  compileGrammar(source, rootRuleName = "root") {
    return this.#get("ebnf", source, { rootRuleName });
  }

  /** @param {string} source @param {string} [start] @param {Record<string, unknown>} [options] */
  compileLark(source, start = "start", options = {}) {
    return this.#get("lark", source, { start, ...options });
  }

  /** @param {Iterable<string>} choices */
  compileChoices(choices) {
    return this.#get("choices", JSON.stringify([...choices]), {});
  }

  /** @param {unknown} tag data, or a JSON text @param {Record<string, unknown>} [options] */
  compileStructuralTag(tag, options = {}) {
    return this.#get("structural_tag", typeof tag === "string" ? tag : JSON.stringify(tag), options);
  }

  /**
   * Compiles what a model of this family may write with these tools.
   * @param {string} family such as "hermes" or "llama"
   * @param {unknown[]} tools in OpenAI's form
   * @param {unknown} [toolChoice]
   * @param {Record<string, unknown>} [options]
   */
  compileTools(family, tools, toolChoice = "auto", options = {}) {
    return this.#get("tools", JSON.stringify({ family, tools, toolChoice }), options);
  }

  clearCache() {
    this.#kept.clear();
  }

  /**
   * @param {string} kind
   * @param {string} source
   * @param {Record<string, unknown>} options
   * @returns {Promise<CompiledGrammar>}
   */
  async #get(kind, source, options) {
    const key = JSON.stringify([kind, source, options]);
    const known = this.#kept.get(key);
    if (known) {
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

  /** @param {string} kind @param {string} source @param {Record<string, unknown>} options */
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
      held += grammar.memorySizeBytes;
      if (held > this.#options.cacheLimitBytes) this.#kept.delete(key);
    }
  }
}
