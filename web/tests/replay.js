/**
 * Replays dumped cases (dump_corpus.py) on the WebAssembly kernel, in Node or in a page, and says what differs.
 */
import {
  CompiledGrammar, GrammarMatcher, TokenizerInfo, allocateTokenBitmask,
} from "../maskwright/src/index.js";

/** @param {string} text */
export const fromBase64 = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; ++bit) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
  return n;
});

/** @param {ArrayBufferView} data */
export function crc32(data) {
  let crc = ~0;
  for (const byte of new Uint8Array(data.buffer, data.byteOffset, data.byteLength)) {
    crc = (crc >>> 8) ^ CRC_TABLE[(crc ^ byte) & 0xff];
  }
  return ~crc >>> 0;
}

/**
 * @param {any} sets one file's data: a vocabulary with its grammars, or a list of such
 * @returns {{numGrammars: number, numMasks: number, differences: string[]}}
 */
export function replayAll(sets) {
  const total = { numGrammars: 0, numMasks: 0, differences: /** @type {string[]} */ ([]) };
  for (const set of [sets].flat()) {
    const { numGrammars, numMasks, differences } = replay(set);
    total.numGrammars += numGrammars;
    total.numMasks += numMasks;
    total.differences.push(...differences);
  }
  return total;
}

/** @param {any} data @returns {{numGrammars: number, numMasks: number, differences: string[]}} */
function replay(data) {
  const info = new TokenizerInfo({
    tokenBytes: data.tokens.map(fromBase64), specialTokenIds: data.special, stopTokenIds: data.stop,
    vocabSize: data.vocabSize,
  });
  /** @type {string[]} */
  const differences = [];
  let numMasks = 0;
  for (const each of data.cases) {
    let error;
    try {
      const grammar = new CompiledGrammar(info, fromBase64(each.file));
      for (const walk of each.walks) numMasks += replayWalk(grammar, walk, each.name, differences);
      grammar.dispose();
    } catch (thrown) {
      error = thrown;
    }
    const name = error instanceof Error ? error.name : undefined;
    if (name !== each.error) differences.push(`${each.name}: ${error ?? "no error"}, natively ${each.error ?? "none"}`);
  }
  return { numGrammars: data.cases.length, numMasks, differences };
}

/** @param {CompiledGrammar} grammar @param {any} walk @param {string} name @param {string[]} differences */
function replayWalk(grammar, { tokens, masks, accepted, terminated }, name, differences) {
  const matcher = new GrammarMatcher(grammar);
  const bitmask = allocateTokenBitmask(1, grammar.tokenizerInfo.vocabSize);
  for (let i = 0; i < masks.length; ++i) {
    const needed = matcher.fillNextTokenBitmask(bitmask);
    const found = [crc32(bitmask), Number(needed), Number(matcher.isCompleted())];
    if (String(found) !== String(masks[i])) differences.push(`${name}: mask ${i} is ${found}, natively ${masks[i]}`);
    const taken = Number(matcher.acceptToken(tokens[i]));
    if (taken !== accepted[i]) differences.push(`${name}: token ${i} accepted ${taken}, natively ${accepted[i]}`);
  }
  if (matcher.isTerminated() !== terminated) differences.push(`${name}: terminated ${!terminated}`);
  matcher.dispose();
  return masks.length;
}
