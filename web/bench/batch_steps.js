/**
 * Steps of batches over schemas of build/web/cases/schemas.json, for batches.js: in a page, and in Node.
 *
 *     const { here, inWorkers } = await prepare((path) => fetch(path).then((r) => r.text()));
 *     await here(8);         // {cold: {fill: [ms of each step], apply, accept}, warm: the same}
 *     await inWorkers(8, 2); // {cold: {step: [ms of each step]}}
 *
 * Each sequence has a schema of its own, of those with a document of 80 tokens or more, and writes that. A step fills all
 * rows, applies them to logits and accepts a token in each. Cold: with a tokenizer that has seen no grammar; warm: the same
 * steps again. In workers (batch_worker.js), each of which has a part of the batch, a step is tokens to them and masks back,
 * put together. Of each step the best of five rounds counts, since other programs run too.
 */
import {
  BatchGrammarMatcher, CompiledGrammar, GrammarMatcher, TokenizerInfo, allocateTokenBitmask, applyTokenBitmaskInplace, load,
} from "../maskwright/src/index.js";

const NUM_STEPS = 80;
const NUM_ROUNDS = 5;

/** The milliseconds of each step, by what was done. @typedef {Record<string, number[]>} Steps */

/** @param {(path: string) => Promise<string>} read */
export async function prepare(read) {
  await load();
  const { cases, stop, vocabSize } = JSON.parse(await read("/build/web/cases/schemas.json"));
  const { tokenBytes } = TokenizerInfo.fromTiktoken(await read("/build/web/cases/vocabulary.tiktoken"),
    { specialTokens: { "<|stop|>": stop[0] }, stopTokenIds: stop });
  /** @type {{file: string, tokens: number[]}[]} */
  const chosen = cases.filter((/** @type {any} */ { tokens }) => tokens.length >= NUM_STEPS);
  const files = chosen.map(({ file }) => Uint8Array.from(atob(file), (c) => c.charCodeAt(0)));
  const vocabulary = { tokenBytes, vocabSize, specialTokenIds: stop, stopTokenIds: stop };
  const column = (/** @type {number} */ step, /** @type {number} */ size) => chosen.slice(0, size).map(({ tokens }) => tokens[step]);

  /** @param {number} size */
  function once(size) {
    const info = new TokenizerInfo(vocabulary);
    const grammars = files.slice(0, size).map((file) => new CompiledGrammar(info, file));
    const matchers = grammars.map((grammar) => new GrammarMatcher(grammar));
    const cold = steps(new BatchGrammarMatcher(matchers), vocabSize, column);
    for (const matcher of matchers) matcher.reset();
    const warm = steps(new BatchGrammarMatcher(matchers), vocabSize, column);
    for (const each of [...matchers, ...grammars, info.handle]) each.dispose();
    return { cold, warm };
  }

  /** @param {number} size @param {number} numWorkers */
  async function onceInWorkers(size, numWorkers) {
    const most = Math.ceil(size / numWorkers);
    const firsts = Array.from({ length: numWorkers }, (_, i) => i * most);
    const workers = firsts.map(() => new Worker(new URL("./batch_worker.js", import.meta.url), { type: "module" }));
    await Promise.all(workers.map((worker, i) => ask(worker, { begin: { vocabulary, files: files.slice(0, size).slice(firsts[i], firsts[i] + most) } })));
    const bitmask = allocateTokenBitmask(size, vocabSize);
    const step = [];
    for (let i = 0; i < NUM_STEPS; ++i) {
      const tokens = column(i, size);
      const begin = performance.now();
      const parts = await Promise.all(workers.map((worker, k) => ask(worker, { tokens: tokens.slice(firsts[k], firsts[k] + most) })));
      parts.forEach((part, k) => bitmask.set(part, (firsts[k] * bitmask.length) / size));
      step.push(performance.now() - begin);
    }
    for (const worker of workers) worker.terminate();
    return { cold: { step } };
  }

  return {
    here: (/** @type {number} */ size) => best(async () => once(size)),
    inWorkers: (/** @type {number} */ size, /** @type {number} */ numWorkers) => best(() => onceInWorkers(size, numWorkers)),
  };
}

/**
 * @param {BatchGrammarMatcher} batch
 * @param {number} vocabSize
 * @param {(step: number, size: number) => number[]} column the tokens of a step
 * @returns {Steps}
 */
function steps(batch, vocabSize, column) {
  const size = batch.matchers.length;
  const bitmask = allocateTokenBitmask(size, vocabSize);
  const logits = new Float32Array(size * vocabSize);
  /** @type {Steps} */
  const found = { fill: [], apply: [], accept: [] };
  for (let step = 0; step < NUM_STEPS; ++step) {
    const tokens = column(step, size);
    const begin = performance.now();
    batch.fillNextTokenBitmask(bitmask);
    const filled = performance.now();
    applyTokenBitmaskInplace(logits, bitmask, { vocabSize });
    const applied = performance.now();
    const accepted = batch.acceptToken(tokens);
    found.accept.push(performance.now() - applied);
    found.apply.push(applied - filled);
    found.fill.push(filled - begin);
    if (!accepted.every(Boolean)) throw new Error("a document was refused");
  }
  return found;
}

/** @param {Worker} worker @param {object} question @returns {Promise<any>} */
function ask(worker, question) {
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.postMessage(question);
  });
}

/** The least of each figure. @param {() => Promise<Record<string, Steps>>} round @returns {Promise<Record<string, Steps>>} */
async function best(round) {
  const found = await round();
  for (let i = 1; i < NUM_ROUNDS; ++i) {
    for (const [how, parts] of Object.entries(await round())) {
      for (const [part, times] of Object.entries(parts)) {
        found[how][part] = found[how][part].map((ms, step) => Math.min(ms, times[step]));
      }
    }
  }
  return found;
}
