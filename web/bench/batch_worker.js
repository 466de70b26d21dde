/** A worker of batch_steps.js, with some of the sequences of a batch: told a token for each, it answers with their masks. */
import { BatchGrammarMatcher, CompiledGrammar, GrammarMatcher, TokenizerInfo, allocateTokenBitmask, load } from "../maskwright/src/index.js";

/** @type {BatchGrammarMatcher} */
let batch;

globalThis.onmessage = async ({ data: { begin, tokens } }) => {
  if (begin) {
    await load();
    const info = new TokenizerInfo(begin.vocabulary);
    batch = new BatchGrammarMatcher(begin.files.map((/** @type {Uint8Array} */ file) => new GrammarMatcher(new CompiledGrammar(info, file))));
    globalThis.postMessage(null);
    return;
  }
  const bitmask = allocateTokenBitmask(batch.matchers.length, batch.matchers[0].compiledGrammar.tokenizerInfo.vocabSize);
  batch.fillNextTokenBitmask(bitmask);
  batch.acceptToken(tokens);
  globalThis.postMessage(bitmask, { transfer: [bitmask.buffer] });
};
