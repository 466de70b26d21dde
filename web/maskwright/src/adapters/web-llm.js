/**
 * A logit processor for WebLLM (`@mlc-ai/web-llm` 0.2):
 *
 *     import { MLCEngine } from "@mlc-ai/web-llm";
 *     import { GrammarLogitProcessor } from "maskwright/adapters/web-llm";
 *
 *     const processor = new GrammarLogitProcessor();
 *     const engine = new MLCEngine({ logitProcessorRegistry: new Map([[modelId, processor]]) });
 *     await engine.reload(modelId);
 *     processor.begin(grammar, { maxTokens: 200 }); // before each request
 *     await engine.chat.completions.create({ messages, max_tokens: 200 });
 *
 * WebLLM's own `response_format` cannot be taken over: its build has another engine in it. Through this interface WebLLM
 * moves each row of logits to the CPU and back, which takes longer than the mask. Tested by web/tests/web_llm.test.js.
 */
import { instance, named } from "../arguments.js";
import { CompiledGrammar } from "../compiler.js";
import { MatcherError } from "../errors.js";
import { GrammarMatcher } from "../matcher.js";
import { maskRow } from "./rows.js";

/** A `LogitProcessor` of WebLLM. */
export class GrammarLogitProcessor {
  /** @type {GrammarMatcher | null | undefined} */
  #matcher;

  /**
   * Says what the next output must be.
   * @param {CompiledGrammar | null} grammar null: anything
   * @param {object} [options]
   * @param {number} [options.maxTokens] the request's `max_tokens`: the output is then complete within that many tokens
   */
  begin(grammar, options = {}) {
    const { maxTokens } = named(options, ["maxTokens"]);
    this.#matcher?.dispose();
    this.#matcher = undefined;
    this.#matcher = grammar === null ? null : new GrammarMatcher(instance("grammar", grammar, CompiledGrammar), { maxTokens });
  }

  /** The matcher of the present output, for an `EventReader`; null where anything may come. */
  get matcher() {
    return this.#current();
  }

  /** Called by WebLLM. @param {Float32Array} logits @returns {Float32Array} */
  processLogits(logits) {
    const matcher = this.#current();
    if (!matcher) return logits;
    if (matcher.isTerminated()) throw notBegun("the output is complete");
    maskRow(matcher, logits);
    return logits;
  }

  /** Called by WebLLM. @param {number} token */
  processSampledToken(token) {
    if (this.#current()?.acceptToken(token) === false) {
      throw new MatcherError(`token ${token} is not allowed by the grammar`, {
        hint: "a logit_bias may not raise tokens that are not allowed",
      });
    }
  }

  /** Called by WebLLM where the chat begins anew. */
  resetState() {
    this.#matcher?.reset();
  }

  #current() {
    if (this.#matcher === undefined) throw notBegun("no output was begun");
    return this.#matcher;
  }
}

/** @param {string} what */
const notBegun = (what) => new MatcherError(what, {
  hint: "call begin(grammar) before each request, or begin(null) where anything may come",
});
