/** What the adapters share: a row of logits held to a matcher, and what may follow its end. */
import { applyTokenBitmaskInplace, allocateTokenBitmask } from "../bitmask.js";
import { TokenizerError } from "../errors.js";

/**
 * Sets the logits of tokens that the matcher does not allow to -Infinity; at the output's end, of all but stop tokens.
 * @param {import("../matcher.js").GrammarMatcher} matcher
 * @param {Float32Array} logits of one row
 */
export function maskRow(matcher, logits) {
  const { vocabSize } = matcher.compiledGrammar.tokenizerInfo;
  if (vocabSize > logits.length) {
    throw new TokenizerError(`the tokenizer has ${vocabSize} ids, but the model writes ${logits.length} logits`, {
      hint: `pass vocabSize: ${logits.length} where the TokenizerInfo is made`,
    });
  }
  const bitmask = allocateTokenBitmask(1, vocabSize);
  if (matcher.isTerminated()) {
    bitmask.fill(0);
    for (const id of matcher.stopTokenIds) bitmask[id >> 5] |= 1 << (id & 31);
  } else {
    matcher.fillNextTokenBitmask(bitmask);
  }
  applyTokenBitmaskInplace(logits, bitmask);
}
