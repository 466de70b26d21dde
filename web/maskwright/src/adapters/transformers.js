/**
 * A logits processor for `generate()` of transformers.js (`@huggingface/transformers` 4):
 *
 *     import { LogitsProcessorList } from "@huggingface/transformers";
 *     import { grammarLogitsProcessor } from "maskwright/adapters/transformers";
 *
 *     const processors = new LogitsProcessorList();
 *     processors.push(grammarLogitsProcessor(grammar, { maxNewTokens: 100 }));
 *     await model.generate({ ...inputs, max_new_tokens: 100, logits_processor: processors });
 *
 * One processor serves one call of generate(), of one prompt or several. A row whose output is complete may only take
 * stop tokens, as generate() goes on until all rows are. Tested by web/tests/transformers.test.js.
 */
import { instance, named } from "../arguments.js";
import { CompiledGrammar } from "../compiler.js";
import { ArgumentError, MatcherError } from "../errors.js";
import { GrammarMatcher } from "../matcher.js";
import { maskRow } from "./rows.js";

/** What of a `Tensor` is used: `dims` is (rows, width). @typedef {{dims: readonly number[], data: any}} LogitsTensor */
/**
 * @typedef {((inputIds: bigint[][], logits: any) => any) & {_call(inputIds: bigint[][], logits: any): any}} Processor
 */

/**
 * Makes what `LogitsProcessorList.push` takes.
 * @param {CompiledGrammar | readonly (CompiledGrammar | null)[]} grammars one for all prompts, or one for each; null for an
 *     output that is free
 * @param {object} [options]
 * @param {number} [options.maxNewTokens] what generate() gets as `max_new_tokens`: every output is then complete within
 *     that many tokens. Without it, generate() may cut an output off in the middle
 * @returns {Processor}
 */
export function grammarLogitsProcessor(grammars, options = {}) {
  const { maxNewTokens } = named(options, ["maxNewTokens"]);
  const each = (/** @type {unknown} */ one) => (one === null ? null : instance("grammars", one, CompiledGrammar,
    "await what compileJsonSchema and the other functions of GrammarCompiler return"));
  const given = Array.isArray(grammars) ? grammars.map(each) : each(grammars);
  const outputs = new Outputs((numRows) => {
    if (Array.isArray(given) && given.length !== numRows) {
      throw new ArgumentError(`there are ${given.length} grammars, but ${numRows} prompts`, { argument: "grammars" });
    }
    const all = Array.isArray(given) ? given : Array.from({ length: numRows }, () => given);
    return all.map((grammar) => grammar && new GrammarMatcher(grammar, { maxTokens: maxNewTokens }));
  });
  const call = (/** @type {bigint[][]} */ inputIds, /** @type {LogitsTensor} */ logits) => outputs.mask(inputIds, logits);
  return Object.assign(call, { _call: call });
}

/** The outputs of one call of generate(), and the matchers that follow them. */
class Outputs {
  #makeMatchers;
  /** @type {(GrammarMatcher | null)[]} */
  #matchers = [];
  /** All ids, the prompts' among them. @type {bigint[][]} */
  #seen = [];
  /** The rows that have their stop token. @type {Set<number>} */
  #ended = new Set();

  /** @param {(numRows: number) => (GrammarMatcher | null)[]} makeMatchers */
  constructor(makeMatchers) {
    this.#makeMatchers = makeMatchers;
  }

  /** @param {bigint[][]} inputIds @param {LogitsTensor} logits @returns {LogitsTensor} */
  mask(inputIds, logits) {
    if (this.#seen.length === 0) this.#matchers = this.#makeMatchers(inputIds.length);
    else this.#follow(inputIds);
    this.#seen = inputIds.map((row) => [...row]);
    const width = logits.dims[logits.dims.length - 1];
    this.#matchers.forEach((matcher, row) => {
      if (matcher) maskRow(matcher, logits.data.subarray(row * width, (row + 1) * width));
    });
    return logits;
  }

  /** Gives each matcher the token that its row has more than before. @param {bigint[][]} inputIds */
  #follow(inputIds) {
    const goesOn = inputIds.length === this.#seen.length && inputIds.every((ids, row) =>
      ids.length === this.#seen[row].length + 1 && this.#seen[row].every((id, i) => id === ids[i]));
    if (!goesOn) {
      throw new MatcherError("these are not the outputs that the processor has followed", {
        hint: "make a processor for each call of generate()",
      });
    }
    this.#matchers.forEach((matcher, row) => matcher && this.#take(matcher, row, Number(inputIds[row].at(-1))));
    if (this.#ended.size === this.#matchers.length) {
      throw new MatcherError("every output is complete, but generate() goes on", {
        hint: "pass it eos_token_id: tokenizerInfo.stopTokenIds, as the model's generation_config names other tokens",
      });
    }
  }

  /** @param {GrammarMatcher} matcher @param {number} row @param {number} token */
  #take(matcher, row, token) {
    const wasOver = matcher.isTerminated();
    if (!wasOver && !matcher.acceptToken(token)) {
      throw new MatcherError(`row ${row}: token ${token} is not allowed by the grammar`, {
        hint: "put this processor last in the list, so that no other one changes what it has masked",
      });
    }
    if (matcher.isTerminated() && matcher.stopTokenIds.includes(token)) this.#ended.add(row);
  }
}
