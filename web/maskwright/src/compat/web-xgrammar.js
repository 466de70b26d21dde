/**
 * The functions of `@mlc-ai/web-xgrammar`, by Maskwright: change the import, and nothing else.
 *
 *     import { GrammarCompiler, GrammarMatcher, TokenizerInfo } from "maskwright/compat/web-xgrammar";
 *
 * Names, arguments and their order are that package's. Structures are compiled in the front-ends' worker, so
 * `configureFrontEnds` (of "maskwright") must say where Pyodide is, in a page. `Testings` is there but for the functions
 * that show XGrammar's own grammars. Tested by web/tests/web_xgrammar.test.js, which runs one program with both.
 */
import { allocateTokenBitmask } from "../bitmask.js";
import * as ours from "../compiler.js";
import { MaskwrightError } from "../errors.js";
import { load } from "../kernel.js";
import * as matcher from "../matcher.js";
import { TokenizerInfo as OurTokenizerInfo } from "../tokenizer.js";

/** @typedef {"raw" | "byte_fallback" | "byte_level"} VocabType */
/** @typedef {boolean | Record<string, unknown>} JSONSchemaValue */
/** @typedef {{type: "any_text"}} AnyTextFormat */
/** @typedef {{type: "const_string", value: string}} ConstStringFormat */
/** @typedef {{type: "json_schema", json_schema: JSONSchemaValue}} JSONSchemaFormat */
/** @typedef {{type: "qwen_xml_parameter", json_schema: JSONSchemaValue}} QwenXMLParameterFormat */
/** @typedef {{type: "grammar", grammar: string}} GrammarFormat */
/** @typedef {{type: "regex", pattern: string}} RegexFormat */
/** @typedef {{type: "sequence", elements: StructuralTagFormat[]}} SequenceFormat */
/** @typedef {{type: "or", elements: StructuralTagFormat[]}} OrFormat */
/** @typedef {{type: "tag", begin: string, content: StructuralTagFormat, end: string}} TagFormat */
/** @typedef {{at_least_one?: boolean, stop_after_first?: boolean}} Repeated */
/** @typedef {Repeated & {type: "triggered_tags", triggers: string[], tags: TagFormat[]}} TriggeredTagsFormat */
/** @typedef {Repeated & {type: "tags_with_separator", tags: TagFormat[], separator: string}} TagsWithSeparatorFormat */
/**
 * @typedef {AnyTextFormat | ConstStringFormat | JSONSchemaFormat | QwenXMLParameterFormat | GrammarFormat | RegexFormat
 *   | SequenceFormat | OrFormat | TagFormat | TriggeredTagsFormat | TagsWithSeparatorFormat} StructuralTagFormat
 */
/** @typedef {{type?: "structural_tag", format: StructuralTagFormat}} StructuralTag */
/** @typedef {StructuralTag | StructuralTagFormat | Record<string, unknown> | string} StructuralTagLike */
/** @typedef {{kind: "json_schema" | "ebnf" | "structural_tag", source: string, options: Record<string, any>}} Source */

/** @param {unknown} value */
const text = (value) => (typeof value === "string" ? value : JSON.stringify(value));

/** A structure that has been read but belongs to no tokenizer yet. */
export class Grammar {
  /** @param {Source} handle */
  constructor(handle) {
    this.handle = handle;
  }

  dispose() {}

  /** @param {string} ebnfString @param {string} [rootRule] @returns {Promise<Grammar>} */
  static async fromEBNF(ebnfString, rootRule = "root") {
    return checked({ kind: "ebnf", source: ebnfString, options: { rootRuleName: rootRule } });
  }

  /** @returns {Promise<Grammar>} */
  static async builtinJSONGrammar() {
    return checked(ANY_JSON);
  }

  /**
   * @param {string} schema
   * @param {boolean} [anyWhitespace]
   * @param {number} [indent] -1 for one line
   * @param {[string, string]} [separators]
   * @param {boolean} [strictMode]
   * @param {number} [maxWhitespaceCnt]
   * @returns {Promise<Grammar>}
   */
  static async fromJSONSchema(schema, anyWhitespace = true, indent = 2, separators, strictMode = true, maxWhitespaceCnt) {
    return checked(schemaSource(schema, anyWhitespace, indent, separators, strictMode, maxWhitespaceCnt));
  }

  /**
   * @param {StructuralTagLike | StructuralTagItem[]} structuralTagOrTags
   * @param {string[]} [triggers]
   * @returns {Promise<Grammar>}
   */
  static async fromStructuralTag(structuralTagOrTags, triggers) {
    return checked(tagSource(structuralTagOrTags, triggers));
  }

  /** The text that it was read from. */
  toString() {
    return this.handle.source;
  }
}

/** A vocabulary. */
export class TokenizerInfo {
  /** @param {OurTokenizerInfo} handle */
  constructor(handle) {
    this.handle = handle;
  }

  dispose() {
    this.handle.dispose();
  }

  getVocabSize() {
    return this.handle.vocabSize;
  }

  getDecodedVocabHandle() {
    return this.handle.tokenBytes;
  }

  /**
   * @param {string[]} encodedVocab
   * @param {string} [vocabType]
   * @param {boolean} [prependSpaceInTokenization]
   * @param {number} [vocabSize]
   * @param {number[] | number} [stopTokenIds] by default those with the name of a known stop token
   */
  static async createTokenizerInfo(encodedVocab, vocabType = "raw", prependSpaceInTokenization = false, vocabSize, stopTokenIds) {
    await load();
    const stops = stopTokenIds === undefined ? stopTokens(encodedVocab) : [stopTokenIds].flat();
    return new TokenizerInfo(OurTokenizerInfo.fromEncodedVocab(encodedVocab, {
      vocabType: /** @type {VocabType} */ (vocabType), vocabSize, stopTokenIds: stops, specialTokenIds: stops,
      dropsLeadingSpace: prependSpaceInTokenization,
    }));
  }
}

export class CompiledGrammar {
  #grammar;
  #info;

  /** @param {ours.CompiledGrammar} handle @param {Grammar} grammar @param {TokenizerInfo} info */
  constructor(handle, grammar, info) {
    this.handle = handle;
    this.#grammar = grammar;
    this.#info = info;
  }

  /** The memory is given back with the last of the compiler's cache, this object and its matchers. */
  dispose() {}

  grammar() {
    return this.#grammar;
  }

  tokenizerInfo() {
    return this.#info;
  }
}

export class GrammarCompiler {
  #info;

  /** @param {TokenizerInfo} tokenizerInfo @param {boolean} cacheEnabled */
  constructor(tokenizerInfo, cacheEnabled) {
    this.#info = tokenizerInfo;
    this.handle = new ours.GrammarCompiler(tokenizerInfo.handle, { cacheEnabled });
  }

  dispose() {
    this.handle.clearCache();
  }

  /** @param {TokenizerInfo} tokenizerInfo @param {boolean} [cacheEnabled] */
  static async createGrammarCompiler(tokenizerInfo, cacheEnabled = true) {
    return new GrammarCompiler(tokenizerInfo, cacheEnabled);
  }

  /**
   * @param {string} schema
   * @param {boolean} [anyWhitespace]
   * @param {number} [indent]
   * @param {[string, string]} [separators]
   * @param {boolean} [strictMode]
   * @param {number} [maxWhitespaceCnt]
   */
  async compileJSONSchema(schema, anyWhitespace = true, indent = 2, separators, strictMode = true, maxWhitespaceCnt) {
    return this.#compile(schemaSource(schema, anyWhitespace, indent, separators, strictMode, maxWhitespaceCnt));
  }

  async compileBuiltinJSONGrammar() {
    return this.#compile(ANY_JSON);
  }

  /** @param {Grammar | string} grammar @param {string} [rootRule] */
  async compileGrammar(grammar, rootRule = "root") {
    const isText = typeof grammar === "string";
    return this.#compile(isText ? { kind: "ebnf", source: grammar, options: { rootRuleName: rootRule } } : grammar.handle);
  }

  /** @param {StructuralTagLike | StructuralTagItem[]} structuralTagOrTags @param {string[]} [triggers] */
  async compileStructuralTag(structuralTagOrTags, triggers) {
    return this.#compile(tagSource(structuralTagOrTags, triggers));
  }

  /** @param {Source} source */
  async #compile(source) {
    return new CompiledGrammar(await compiledBy(this.handle, source), new Grammar(source), this.#info);
  }
}

export class GrammarMatcher {
  #matcher;
  #vocabSize;

  /** @param {matcher.GrammarMatcher} of */
  constructor(of) {
    this.#matcher = of;
    this.#vocabSize = of.compiledGrammar.tokenizerInfo.vocabSize;
  }

  dispose() {
    this.#matcher.dispose();
  }

  /**
   * @param {CompiledGrammar} compiledGrammar
   * @param {number[] | number} [overrideStopTokens]
   * @param {boolean} [terminateWithoutStopToken]
   * @param {number} [_maxRollbackTokens] there is no limit
   */
  static async createGrammarMatcher(compiledGrammar, overrideStopTokens, terminateWithoutStopToken = false, _maxRollbackTokens = -1) {
    return new GrammarMatcher(new matcher.GrammarMatcher(compiledGrammar.handle, { overrideStopTokens, terminateWithoutStopToken }));
  }

  /** Any number: -1. */
  getMaxRollbackTokens() {
    return -1;
  }

  /** @param {number} tokenID @param {boolean} [_verbose] @returns {boolean} */
  acceptToken(tokenID, _verbose = false) {
    return this.#matcher.acceptToken(tokenID);
  }

  /** @param {string} inputStr @param {boolean} [_verbose] @returns {boolean} */
  _acceptString(inputStr, _verbose = false) {
    return this.#matcher.acceptString(inputStr);
  }

  /** @returns {Promise<Int32Array>} */
  async getNextTokenBitmask() {
    const bitmask = allocateTokenBitmask(1, this.#vocabSize);
    this.#matcher.fillNextTokenBitmask(bitmask);
    return bitmask;
  }

  /** @returns {boolean} */
  isTerminated() {
    return this.#matcher.isTerminated();
  }

  reset() {
    this.#matcher.reset();
  }

  /** @returns {string} */
  findJumpForwardString() {
    return this.#matcher.findJumpForwardString();
  }

  /** @param {number} numTokens */
  rollBack(numTokens) {
    this.#matcher.rollback(numTokens);
  }
}

/** A tag of the older form: text, a schema, and text. */
export class StructuralTagItem {
  /** @param {string} begin @param {string | boolean | Record<string, unknown>} schema @param {string} end */
  constructor(begin, schema, end) {
    this.begin = begin;
    this.schema = schema;
    this.end = end;
  }

  getSchemaAsString() {
    return text(this.schema);
  }

  /** @returns {boolean | Record<string, unknown>} */
  getSchemaAsJSON() {
    return typeof this.schema === "string" ? JSON.parse(this.schema) : this.schema;
  }
}

export class Testings {
  /** The ids that a mask refuses. @param {Int32Array} bitmask @param {number} vocabSize @param {number} [index] */
  static async debugGetMaskedTokensFromBitmask(bitmask, vocabSize, index = 0) {
    const words = Math.ceil(vocabSize / 32);
    const ids = Array.from({ length: vocabSize }, (_, id) => id);
    return Int32Array.from(ids.filter((id) => ((bitmask[index * words + (id >> 5)] >>> (id & 31)) & 1) === 0));
  }

  /** @param {Grammar} grammar @param {string} inputString @param {boolean} [_debugPrint] */
  static async isGrammarAcceptString(grammar, inputString, _debugPrint = false) {
    const one = new matcher.GrammarMatcher(await compiledBy(bytesOnly(), grammar.handle));
    return one.acceptString(inputString) && one.isCompleted();
  }
}

export default { Grammar, GrammarCompiler, CompiledGrammar, GrammarMatcher, TokenizerInfo, Testings, StructuralTagItem };

/** @type {Source} */
const ANY_JSON = { kind: "json_schema", source: '{"type": ["object", "array"]}', options: {} };
const STOP_TOKENS = ["</s>", "<|end_of_text|>", "<|eot_id|>", "<|endoftext|>", "<eos>", "<|eos|>", "<|end|>", "<end_of_turn>",
  "<|im_end|>"];

/** @param {string[]} vocab */
function stopTokens(vocab) {
  return vocab.flatMap((token, id) => (STOP_TOKENS.includes(token) ? [id] : []));
}

/**
 * @param {string} source
 * @param {boolean} anyWhitespace
 * @param {number} indent
 * @param {[string, string] | undefined} separators
 * @param {boolean} strictMode
 * @param {number | undefined} maxWhitespaceCnt
 * @returns {Source}
 */
function schemaSource(source, anyWhitespace, indent, separators, strictMode, maxWhitespaceCnt) {
  /** @type {Record<string, any>} */
  const options = { strictMode, anyWhitespace };
  if (!anyWhitespace) {
    if (indent >= 0) options.indent = indent;
    options.separators = separators ?? (indent >= 0 ? [",", ": "] : [", ", ": "]);
  } else if (maxWhitespaceCnt !== undefined) {
    options.maxWhitespaceCnt = maxWhitespaceCnt;
  }
  return { kind: "json_schema", source, options };
}

/** @param {any} tag @param {string[]} [triggers] @returns {Source} */
function tagSource(tag, triggers) {
  if (Array.isArray(tag)) {
    const tags = tag.map((item) => ({
      type: "tag", begin: item.begin, content: { type: "json_schema", json_schema: schemaOf(item) }, end: item.end,
    }));
    tag = { type: "triggered_tags", triggers, tags };
  }
  const data = typeof tag === "string" ? JSON.parse(tag) : tag;
  return { kind: "structural_tag", source: JSON.stringify(data.format ? data : { type: "structural_tag", format: data }), options: {} };
}

/** @param {{schema: unknown}} item */
const schemaOf = ({ schema }) => (typeof schema === "string" ? JSON.parse(schema) : schema);

/** Reads it now, so that what is wrong is an error here. @param {Source} source @returns {Promise<Grammar>} */
async function checked(source) {
  await load();
  await compiledBy(bytesOnly(), source);
  return new Grammar(source);
}

/** @param {ours.GrammarCompiler} compiler @param {Source} source @returns {Promise<ours.CompiledGrammar>} */
function compiledBy(compiler, { kind, source, options }) {
  if (kind === "json_schema") return compiler.compileJsonSchema(source, options);
  if (kind === "ebnf") return compiler.compileGrammar(source, options.rootRuleName);
  if (kind === "structural_tag") return compiler.compileStructuralTag(source, options);
  throw new MaskwrightError(`unknown kind of structure ${kind}`);
}

/** @type {ours.GrammarCompiler | undefined} */
let bytesCompiler;

/** A compiler for a vocabulary of single bytes. */
function bytesOnly() {
  const bytes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte));
  bytesCompiler ??= new ours.GrammarCompiler(OurTokenizerInfo.fromVocab(bytes, { stopTokenIds: [] }));
  return bytesCompiler;
}
