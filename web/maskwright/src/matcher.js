/**
 * `GrammarMatcher`: one sequence held to a grammar. `BatchGrammarMatcher`: many.
 *
 * Methods are those of the Python API in camel case, and do the same (docs/api.md). The mask and `acceptToken` agree on
 * every token, whatever was filled, rolled back or forked before. After an error nothing has changed.
 */
import { encoded, instance, integer, isIterable, isWellFormed, named, tokenId, tokenIds, wrongArgument } from "./arguments.js";
import { rowsIn } from "./bitmask.js";
import { CompiledGrammar } from "./compiler.js";
import { BitmaskError, MatcherError, OptionError, TokenizerError } from "./errors.js";
import { Handle, call, intsAt, kernel, leftData, place, precompute, rowScratch } from "./kernel.js";

const MAX_TOKEN_BUDGET = 10 ** 9;
const OPTIONS = ["maxTokens", "budget", "overrideStopTokens", "terminateWithoutStopToken", "defaultTemperature"];
const INDICES_HINT =
  "each entry of indices is where the rows of a sequence begin: one, and one for each token of its draft";

/**
 * @typedef {object} MatcherOptions
 * @property {TokenId | Iterable<TokenId>} [overrideStopTokens] stop tokens to use instead of the tokenizer's
 * @property {boolean} [terminateWithoutStopToken] whether the output is over as soon as it is complete
 * @property {number} [maxTokens] the most tokens of the whole output, stop tokens apart: masks leave only tokens after
 *     which it can still be completed within them
 * @property {"exact" | "quick"} [budget] how it is decided what can still be completed: by bounds, or exactly, which can
 *     be slow near the end of the budget, or end in a `LimitError`
 * @property {number} [defaultTemperature] what `temperature` returns where the grammar asks for none
 */
/** @typedef {import("./arguments.js").TokenId} TokenId */
/** @typedef {{name: string, data: Uint8Array, start: number, end: number}} Capture */
/** @typedef {import("./kernel.js").Precomputed} Precomputed */

export class GrammarMatcher {
  /** @type {Handle} */
  #handle;

  /**
   * @param {CompiledGrammar} compiledGrammar
   * @param {MatcherOptions} [options]
   */
  constructor(compiledGrammar, options = {}) {
    this.compiledGrammar = instance("compiledGrammar", compiledGrammar, CompiledGrammar);
    const info = compiledGrammar.tokenizerInfo;
    /** @type {number[]} */
    this.stopTokenIds = [];
    if (options instanceof Twin) {
      this.stopTokenIds = options.of.stopTokenIds;
      this.#handle = new Handle(call("mw_fork", options.of.#handle.at), "mw_matcher_free");
      return;
    }
    const { maxTokens, budget = "quick", defaultTemperature, overrideStopTokens } = named(options, OPTIONS);
    this.stopTokenIds = stopTokens(overrideStopTokens, info);
    if (budget !== "exact" && budget !== "quick") {
      throw new OptionError(`budget must be "exact" or "quick", not '${String(budget).slice(0, 60)}'`, { option: "budget" });
    }
    if (defaultTemperature !== undefined && !(defaultTemperature >= 0 && defaultTemperature < Infinity)) {
      throw new OptionError(`defaultTemperature must be finite and >= 0, not ${defaultTemperature}`, {
        option: "defaultTemperature",
      });
    }
    const most = maxTokens === undefined ? 0 : Math.min(integer("maxTokens", maxTokens), MAX_TOKEN_BUDGET);
    if (maxTokens !== undefined && most < 1) {
      throw new OptionError(`maxTokens must be >= 1, not ${maxTokens}`, { option: "maxTokens" });
    }
    const [stops] = place(Int32Array.from(this.stopTokenIds));
    const at = call("mw_matcher", compiledGrammar.handle.at, stops, this.stopTokenIds.length,
      Number(Boolean(options.terminateWithoutStopToken)), most, Number(budget === "quick"), defaultTemperature ?? -1);
    this.#handle = new Handle(at, "mw_matcher_free");
  }

  /** Accepts one token; false, and nothing changes, if it is not allowed. @param {TokenId} id @returns {boolean} */
  acceptToken(id) {
    return call("mw_accept", this.#handle.at, tokenId("tokenId", id)) !== 0;
  }

  /** Accepts tokens up to the first that is not allowed. @param {Iterable<TokenId>} ids @returns {number} how many */
  acceptTokens(ids) {
    const given = tokenIds("tokenIds", ids);
    let count = 0;
    try {
      while (count < given.length && this.acceptToken(given[count])) ++count;
    } catch (error) {
      this.rollback(count);
      throw error;
    }
    return count;
  }

  /** How many of the tokens would be accepted. Nothing changes. @param {Iterable<TokenId>} ids @returns {number} */
  validateTokens(ids) {
    const given = tokenIds("tokenIds", ids);
    const [at] = place(given);
    return call("mw_validate", this.#handle.at, at, given.length);
  }

  /** Accepts text, however it would be tokenized; it counts as one token. @param {string | Uint8Array} text */
  acceptString(text) {
    if (!isWellFormed(text)) return false;
    const data = encoded("text", text);
    const [at] = place(data);
    return call("mw_accept_bytes", this.#handle.at, at, data.length) !== 0;
  }

  /**
   * Writes the mask of the tokens that are allowed next.
   * @param {Int32Array} bitmask
   * @param {number} [index] the row
   * @returns {boolean} whether it must be applied; false: all tokens are allowed
   */
  fillNextTokenBitmask(bitmask, index = 0) {
    const { vocabSize } = this.compiledGrammar.tokenizerInfo;
    const words = rowsIn(bitmask, vocabSize, index, 1);
    const row = rowScratch.reserve(4 * words);
    const allowed = call("mw_fill", this.#handle.at, row) >>> 0;
    bitmask.set(intsAt(row, words), index * words);
    return allowed < vocabSize;
  }

  /**
   * Writes the masks along a draft: of the present to row `index`, and those after each token to the rows that follow.
   * @param {Iterable<TokenId>} draftTokens
   * @param {Int32Array} bitmask
   * @param {number} [index]
   * @returns {number} how many of the tokens would be accepted
   */
  fillDraftBitmask(draftTokens, bitmask, index = 0) {
    const ids = tokenIds("draftTokens", draftTokens);
    const words = rowsIn(bitmask, this.compiledGrammar.tokenizerInfo.vocabSize, index, ids.length + 1);
    const rows = rowScratch.reserve(4 * words * (ids.length + 1));
    const [at] = place(ids);
    const living = call("mw_fill_draft", this.#handle.at, at, ids.length, rows, words);
    bitmask.set(intsAt(rows, words * (ids.length + 1)), index * words);
    return living;
  }

  /**
   * Writes the masks of a tree of drafted tokens, row i for node i.
   * @param {Iterable<number>} retrieveNextToken the first child of each node, -1 for none
   * @param {Iterable<number>} retrieveNextSibling
   * @param {Iterable<TokenId>} draftTokens
   * @param {Int32Array} bitmask
   * @param {number} [timeThreshold] the most seconds to take; not positive for any time
   * @returns {number} how many nodes live, node 0 included; 0 if the time was over
   */
  traverseDraftTree(retrieveNextToken, retrieveNextSibling, draftTokens, bitmask, timeThreshold = -1) {
    const columns = [retrieveNextToken, retrieveNextSibling, draftTokens].map((each) => tokenIds("each array", each));
    const count = columns[0].length;
    if (columns.some((each) => each.length !== count)) {
      throw new MatcherError(`draftTokens has ${columns[2].length} elements, but retrieveNextToken has ${count} and ` +
        `retrieveNextSibling has ${columns[1].length}`);
    }
    const words = rowsIn(bitmask, this.compiledGrammar.tokenizerInfo.vocabSize, 0, count);
    const rows = rowScratch.reserve(4 * words * count);
    const at = place(...columns.map((each) => BigInt64Array.from(each, BigInt)));
    const living = call("mw_fill_tree", this.#handle.at, at[0], at[1], at[2], count, rows, words, timeThreshold);
    bitmask.set(intsAt(rows, words * count), 0);
    return living;
  }

  /** Takes back the last tokens. @param {number} [numTokens] */
  rollback(numTokens = 1) {
    const count = integer("numTokens", numTokens);
    if (count < 0 || call("mw_rollback", this.#handle.at, Math.min(count, 0xffffffff)) === 0) {
      throw new MatcherError(`cannot roll back ${count} tokens: ${this.numAcceptedTokens} were accepted`, {
        hint: "rollback counts tokens since the matcher was made or reset",
      });
    }
  }

  /** Goes back to the beginning of the output. */
  reset() {
    call("mw_reset", this.#handle.at);
  }

  /** Whether the output so far is a whole one. @returns {boolean} */
  isCompleted() {
    return kernel().mw_is_completed(this.#handle.at) !== 0;
  }

  /** Whether the output is over. No token is allowed then. @returns {boolean} */
  isTerminated() {
    return kernel().mw_is_terminated(this.#handle.at) !== 0;
  }

  /** @returns {number} */
  get numAcceptedTokens() {
    return kernel().mw_num_accepted(this.#handle.at);
  }

  /** The only token that is allowed next, if there is exactly one. @returns {number | null} */
  forcedToken() {
    const id = call("mw_forced_token", this.#handle.at);
    return id < 0 ? null : id;
  }

  /** The sampling temperature that the grammar asks for at the next token. @returns {number | null} */
  temperature() {
    const found = call("mw_temperature", this.#handle.at);
    return found < 0 ? null : found;
  }

  /** The longest text that every completion begins with, in whole characters. @returns {string} */
  findJumpForwardString() {
    call("mw_forced_bytes", this.#handle.at);
    const data = leftData();
    for (let size = data.length; size > 0; --size) {
      const text = strictly(data.subarray(0, size));
      if (text !== null) return text;
    }
    return "";
  }

  /**
   * The tokens that every completion begins with, as the model's tokenizer would write them.
   * @param {(text: string) => Iterable<TokenId>} [encode] by default the tokenizer's own
   * @returns {number[]}
   */
  findJumpForwardTokens(encode) {
    return findTokens(this, encode);
  }

  /** Whether any token with a text of its own may come next. @returns {boolean} */
  textMayFollow() {
    return call("mw_text_may_follow", this.#handle.at) !== 0;
  }

  /** Computes masks that will soon be needed. @param {number} budgetUs @returns {Precomputed} */
  precompute(budgetUs) {
    return precompute(this.compiledGrammar.handle, this.#handle.at, budgetUs);
  }

  /** What the captures have matched so far, as [name, bytes]. @returns {[string, Uint8Array][]} */
  getCaptures() {
    return this.getCaptureSpans().map(({ name, data }) => [name, data]);
  }

  /** @param {{order?: "begin" | "end"}} [options] @returns {Capture[]} */
  getCaptureSpans(options = {}) {
    const { order = "begin" } = named(options, ["order"]);
    if (order !== "begin" && order !== "end") {
      throw new OptionError(`unknown order '${String(order).slice(0, 60)}'`, { option: "order", hint: "use 'begin' or 'end'" });
    }
    const closed = this.#captures().filter(({ rank }) => rank >= 0);
    if (order === "end") closed.sort((a, b) => a.rank - b.rank);
    return closed.map(({ name, data, start, end }) => ({ name, data, start, end }));
  }

  /** The captures that are still open, the outermost first, with their bytes so far. @returns {[string, Uint8Array][]} */
  getOpenCaptures() {
    return this.#captures().filter(({ rank }) => rank < 0).map(({ name, data }) => [name, data]);
  }

  #captures() {
    const count = call("mw_captures", this.#handle.at);
    const read = new Records(leftData());
    const text = read.bytes();
    return Array.from({ length: count }, () => {
      const [rank, start, end] = [read.int(), read.int(), read.int()];
      return { name: new TextDecoder().decode(read.bytes()), data: text.slice(start, end), start, end, rank };
    });
  }

  /**
   * What no more output can change: the edges of captures and the bytes past the first so many.
   * @param {number} [numEdges]
   * @param {number} [numBytes]
   * @returns {{edges: {name: string, position: number, opens: boolean}[], data: Uint8Array, numEntries: number,
   *     serial: bigint}} with the state of the history, for `hasHistory`
   */
  getSettledCaptures(numEdges = 0, numBytes = 0) {
    const count = call("mw_settled", this.#handle.at, integer("numEdges", numEdges, 0), integer("numBytes", numBytes, 0));
    const read = new Records(leftData());
    const data = read.bytes();
    const edges = Array.from({ length: count }, () => {
      const [position, opens] = [read.int(), read.int() !== 0];
      return { name: new TextDecoder().decode(read.bytes()), position, opens };
    });
    const numEntries = read.int();
    return { edges, data, numEntries, serial: BigInt.asUintN(32, BigInt(read.int())) | (BigInt(read.int()) << 32n) };
  }

  /** Whether the history still begins with one that `getSettledCaptures` saw. @param {number} numEntries @param {bigint} serial */
  hasHistory(numEntries, serial) {
    const [low, high] = [Number(serial & 0xffffffffn), Number(serial >> 32n)];
    return kernel().mw_has_history(this.#handle.at, numEntries, low, high) !== 0;
  }

  /** An independent matcher in the same state. @returns {GrammarMatcher} */
  fork() {
    return new GrammarMatcher(this.compiledGrammar, /** @type {any} */ (new Twin(this)));
  }

  /** Gives its memory back now, rather than when it is collected. */
  dispose() {
    this.#handle.dispose();
  }
}

/** Tells the constructor to copy. */
class Twin {
  /** @param {GrammarMatcher} of */
  constructor(of) {
    this.of = of;
  }
}

/** Matchers of several sequences: argument i belongs to matcher i. */
export class BatchGrammarMatcher {
  /** @param {Iterable<GrammarMatcher>} matchers */
  constructor(matchers) {
    if (!isIterable(matchers)) throw wrongArgument("matchers", matchers, "an array of matchers", "pass [matcher]");
    /** @type {GrammarMatcher[]} */
    this.matchers = [...matchers].map((each) => instance("each of matchers", each, GrammarMatcher));
    if (new Set(this.matchers).size < this.matchers.length) throw new MatcherError("a matcher is given twice");
  }

  /** @template T @param {ArrayLike<T>} given @param {string} what @returns {ArrayLike<T>} */
  #each(given, what) {
    if (typeof given?.length !== "number") throw wrongArgument(what, given, "an array with one for each matcher");
    if (given.length !== this.matchers.length) {
      throw new MatcherError(`expected ${this.matchers.length} ${what}, one for each matcher, but got ${given.length}`);
    }
    return given;
  }

  /** @param {ArrayLike<TokenId>} ids @returns {boolean[]} */
  acceptToken(ids) {
    this.#each(ids, "tokens");
    return this.#together((matcher, i) => matcher.acceptToken(ids[i]));
  }

  /** @param {ArrayLike<Iterable<TokenId>>} ids @returns {number[]} */
  acceptTokens(ids) {
    this.#each(ids, "lists of tokens");
    return this.#together((matcher, i) => matcher.acceptTokens(ids[i]));
  }

  /** @param {ArrayLike<string | Uint8Array>} texts @returns {boolean[]} */
  acceptString(texts) {
    this.#each(texts, "texts");
    return this.#together((matcher, i) => matcher.acceptString(texts[i]));
  }

  /** All sequences, or none where one fails. @template T @param {(matcher: GrammarMatcher, i: number) => T} accept */
  #together(accept) {
    const before = this.matchers.map((matcher) => matcher.numAcceptedTokens);
    try {
      return this.matchers.map(accept);
    } catch (error) {
      this.matchers.forEach((matcher, i) => matcher.rollback(matcher.numAcceptedTokens - before[i]));
      throw error;
    }
  }

  /**
   * @param {Int32Array} bitmask
   * @param {ArrayLike<number>} [indices] the row of each matcher; by default row i for matcher i
   * @returns {boolean} whether any of the masks must be applied
   */
  fillNextTokenBitmask(bitmask, indices = this.matchers.map((_, i) => i)) {
    this.#checkRows(bitmask, this.#each(indices, "rows"), this.matchers.map(() => 1));
    return this.matchers.map((matcher, i) => matcher.fillNextTokenBitmask(bitmask, indices[i])).some(Boolean);
  }

  /**
   * Writes the masks along a draft of each sequence, as `GrammarMatcher.fillDraftBitmask` does.
   * @param {ArrayLike<Iterable<TokenId>>} draftTokens
   * @param {Int32Array} bitmask
   * @param {ArrayLike<number>} [indices] the first row of each matcher; by default one after the other
   * @returns {number[]} how many tokens of each draft would be accepted
   */
  fillDraftBitmask(draftTokens, bitmask, indices) {
    this.#each(draftTokens, "lists of tokens");
    const drafts = this.matchers.map((_, i) => tokenIds("each of draftTokens", draftTokens[i]));
    let next = 0;
    const first = indices ?? drafts.map((draft) => (next += draft.length + 1) - draft.length - 1);
    this.#checkRows(bitmask, this.#each(first, "rows"), drafts.map((draft) => draft.length + 1));
    return this.matchers.map((matcher, i) => matcher.fillDraftBitmask(drafts[i], bitmask, first[i]));
  }

  /** @param {Int32Array} bitmask @param {ArrayLike<number>} first @param {number[]} counts of each matcher's rows */
  #checkRows(bitmask, first, counts) {
    const taken = new Set();
    this.matchers.forEach(({ compiledGrammar }, i) => {
      rowsIn(bitmask, compiledGrammar.tokenizerInfo.vocabSize, first[i], counts[i]);
      for (let row = first[i]; row < first[i] + counts[i]; ++row) {
        if (taken.has(row)) {
          throw new BitmaskError(`row ${row} is assigned to two sequences`, { hint: INDICES_HINT });
        }
        taken.add(row);
      }
    });
  }

  /** How many tokens of each list would be accepted. Nothing changes. @param {ArrayLike<Iterable<TokenId>>} ids @returns {number[]} */
  validateTokens(ids) {
    this.#each(ids, "lists of tokens");
    return this.matchers.map((matcher, i) => matcher.validateTokens(ids[i]));
  }

  /** The sampling temperature that each sequence's grammar asks for. @returns {(number | null)[]} */
  temperature() {
    return this.matchers.map((matcher) => matcher.temperature());
  }

  /** @param {number | ArrayLike<number>} [numTokens] */
  rollback(numTokens = 1) {
    const counts = typeof numTokens === "number" ? this.matchers.map(() => numTokens) : this.#each(numTokens, "counts");
    this.matchers.forEach((matcher, i) => {
      if (!(counts[i] >= 0 && counts[i] <= matcher.numAcceptedTokens)) {
        const accepted = matcher.numAcceptedTokens;
        throw new MatcherError(`sequence ${i}: cannot roll back ${counts[i]} tokens: ${accepted} were accepted`);
      }
    });
    this.matchers.forEach((matcher, i) => matcher.rollback(counts[i]));
  }

  /** @returns {boolean[]} */
  isTerminated() {
    return this.matchers.map((matcher) => matcher.isTerminated());
  }
}

/** What the kernel leaves: 32-bit integers, and bytes behind their number. */
class Records {
  #data;
  #at = 0;

  /** @param {Uint8Array} data */
  constructor(data) {
    this.#data = data;
  }

  int() {
    const out = new DataView(this.#data.buffer).getInt32(this.#at, true);
    this.#at += 4;
    return out;
  }

  bytes() {
    const size = this.int();
    this.#at += size;
    return this.#data.subarray(this.#at - size, this.#at);
  }
}

/**
 * @param {TokenId | Iterable<TokenId> | undefined} given
 * @param {import("./tokenizer.js").TokenizerInfo} info
 */
function stopTokens(given, info) {
  if (given === undefined) return [...info.stopTokenIds];
  const ids = [...tokenIds("overrideStopTokens", typeof given === "object" ? given : [given])];
  for (const id of ids) {
    if (id < 0 || id >= info.vocabSize) {
      throw new TokenizerError(`stop token ${id} is outside the vocabulary of ${info.vocabSize}`);
    }
  }
  return ids;
}

/** @param {Uint8Array} data @returns {string | null} */
function strictly(data) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    return null;
  }
}

const MAX_FORCED_TOKENS = 1024;
const PROBES = ["a", "A", "1", " ", " a", "\n", '"', "'s", ".", "é", "日"];
const ANCHOR = "\n";

/**
 * As src/maskwright/tokenizer/jump_forward.py does, which says why.
 * @param {GrammarMatcher} matcher
 * @param {((text: string) => Iterable<TokenId>) | undefined} given
 */
function findTokens(matcher, given) {
  const info = matcher.compiledGrammar.tokenizerInfo;
  const encode = (/** @type {string} */ text) => (given ? Array.from(given(text), Number) : info.encode(text));
  const ahead = matcher.fork();
  /** @type {number[]} */
  const out = [];
  while (out.length < MAX_FORCED_TOKENS) {
    let found = forcedTextTokens(ahead, info, encode);
    if (found.length === 0) {
      const only = ahead.forcedToken();
      found = only === null || matcher.stopTokenIds.includes(only) ? [] : [only];
    }
    const accepted = ahead.acceptTokens(found);
    out.push(...found.slice(0, accepted));
    if (accepted === 0 || accepted < found.length) break;
  }
  ahead.dispose();
  return out;
}

/** @param {GrammarMatcher} matcher @param {any} info @param {(text: string) => number[]} encode */
function forcedTextTokens(matcher, info, encode) {
  const text = matcher.findJumpForwardString();
  if (text === "") return [];
  const behind = matcher.fork();
  behind.acceptString(text);
  const goesOn = behind.textMayFollow();
  behind.dispose();
  let common = encodeInside(text, info, encode);
  if (!goesOn) return common;
  const cuts = [...text].map((_, i, all) => [all.slice(0, i).join(""), all.slice(i).join("")])
    .filter(([, rest]) => info.beginsLongerToken(rest)).map(([head]) => head);
  for (const other of [...cuts, ...PROBES.map((probe) => text + probe)]) {
    if (common.length === 0) break;
    const theirs = encodeInside(other, info, encode);
    let size = 0;
    while (size < common.length && common[size] === theirs[size]) ++size;
    common = common.slice(0, size);
  }
  return common;
}

/** @param {string} text @param {any} info @param {(text: string) => number[]} encode @returns {number[]} */
function encodeInside(text, info, encode) {
  if (text === "") return [];
  const tokens = encode(text);
  if (info.spells(tokens, text)) return tokens;
  const behind = encode(ANCHOR + text);
  for (let start = 1; start < behind.length; ++start) {
    if (info.spells(behind.slice(start), text)) return behind.slice(start);
  }
  return [];
}
