/**
 * The errors of the Python API, by the same names. Each has a `message` and, where there is a way out, a `hint`; those
 * of texts say where (`line`, `column`, `span`), those of schemas and tags at which JSON `pointer`.
 */

/** Base of all errors, with what a program may want to act on; an error has those fields that apply to it. */
export class MaskwrightError extends Error {
  /**
   * @param {string} message
   * @param {Record<string, unknown>} [fields]
   */
  constructor(message, fields = {}) {
    super(fields.hint ? `${message}\n  hint: ${fields.hint}` : message);
    this.name = new.target.name;
    /** What to do about it; the message ends with it. @type {string | undefined} */
    this.hint;
    /** A JSON pointer into the schema, the tag or the tools. @type {string | undefined} */
    this.pointer;
    /** Of all places that contradict each other. @type {string[] | undefined} */
    this.pointers;
    /** Of JSON Schema. @type {string | undefined} */
    this.keyword;
    /** Counts from 1. @type {number | undefined} */
    this.line;
    /** Counts characters, from 1. @type {number | undefined} */
    this.column;
    /** What is wrong: `source.slice(...span)`. @type {[start: number, end: number] | undefined} */
    this.span;
    /** Of a grammar. @type {string | undefined} */
    this.rule;
    /** @type {string | undefined} */
    this.argument;
    /** @type {string | undefined} */
    this.option;
    /** Such as "time", "memory" or "depth". @type {string | undefined} */
    this.limit;
    /** Of a budget: so many tokens the shortest output has at least. @type {number | undefined} */
    this.leastTokens;
    /** Of a budget: so many tokens are enough for some output. @type {number | undefined} */
    this.enoughTokens;
    Object.assign(this, fields);
  }
}

/** An argument has the wrong type or form; `argument` names it. */
export class ArgumentError extends MaskwrightError {}
/** A grammar text, or a grammar as a whole, is wrong. */
export class GrammarError extends MaskwrightError {}
export class RegexSyntaxError extends GrammarError {}
export class EbnfSyntaxError extends GrammarError {}
export class LarkSyntaxError extends GrammarError {}
/** No output at all satisfies the structure. */
export class UnsatisfiableError extends GrammarError {}
/** A JSON Schema is malformed; `pointer` says where. */
export class SchemaError extends MaskwrightError {}
/** A JSON Schema asks for something that cannot be enforced. */
export class UnsupportedSchemaError extends SchemaError {}
/** An option is wrong, or contradicts another one; `option` names it. */
export class OptionError extends MaskwrightError {}
/** A structural tag is malformed; `pointer` says where. */
export class StructuralTagError extends MaskwrightError {}
/** Tools, a tool choice or a response format is wrong; `pointer` says where. */
export class RequestError extends MaskwrightError {}
/** A tokenizer cannot be turned into token bytes. */
export class TokenizerError extends MaskwrightError {}
/** A bitmask or logits have the wrong type or size. */
export class BitmaskError extends MaskwrightError {}
/** A limit on depth, size, time or work was reached; `limit` names it. */
export class LimitError extends MaskwrightError {}
/** A matcher was asked for what it cannot do, such as rolling back further than it went. */
export class MatcherError extends MaskwrightError {}

/** @type {Record<string, typeof MaskwrightError>} */
export const errorsByName = {
  MaskwrightError, ArgumentError, GrammarError, RegexSyntaxError, EbnfSyntaxError, LarkSyntaxError,
  UnsatisfiableError, SchemaError, UnsupportedSchemaError, OptionError, StructuralTagError, RequestError,
  TokenizerError, BitmaskError, LimitError, MatcherError,
};
