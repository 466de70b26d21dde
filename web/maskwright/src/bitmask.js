/**
 * Bitmasks: an `Int32Array` of rows, each ceil(vocabSize / 32) words; bit 1 = allowed.
 *
 *     const bitmask = allocateTokenBitmask(1, info.vocabSize);
 *     matcher.fillNextTokenBitmask(bitmask);
 *     applyTokenBitmaskInplace(logits, bitmask);
 */
import { instance, integer, named, typeName } from "./arguments.js";
import { BitmaskError } from "./errors.js";

const BITMASK_HINT = "create it with allocateTokenBitmask(batchSize, vocabSize)";
const ROWS_HINT = "rows count from 0; a sequence needs a row, and one more for each token of its draft: " +
  "allocateTokenBitmask(numRows, vocabSize)";

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
export function applyTokenBitmaskInplace(logits, bitmask, options = {}) {
  if (!(logits instanceof Float32Array || logits instanceof Float64Array)) {
    throw new BitmaskError(`logits must be a Float32Array or a Float64Array, not ${typeName(logits)}`, { hint: wayToLogits(logits) });
  }
  instance("bitmask", bitmask, Int32Array);
  const { vocabSize = logits.length } = named(options, ["vocabSize"]);
  const rows = logits.length / integer("vocabSize", vocabSize, 1);
  const words = bitmask.length / rows;
  if (!Number.isInteger(rows) || !Number.isInteger(words)) {
    throw new BitmaskError(`${logits.length} logits and ${bitmask.length} words are not rows of the same number`);
  }
  if (words > wordsOf(vocabSize)) {
    const atLeast = 32 * (words - 1) + 1;
    throw new BitmaskError(`a row has ${vocabSize} logits, but the bitmask is for at least ${atLeast} tokens`, {
      hint: "give TokenizerInfo the model's width, as vocabSize; of several rows, pass all logits and the width of a row, " +
        "{ vocabSize }, or one row of the bitmask",
    });
  }
  for (let row = 0; row < rows; ++row) {
    applyRow(logits.subarray(row * vocabSize, (row + 1) * vocabSize), bitmask.subarray(row * words, (row + 1) * words));
  }
}

/** @param {any} value */
function wayToLogits(value) {
  if (value instanceof Int32Array) return "pass the logits first, then the bitmask";
  if (value?.data instanceof Float32Array) return "pass its data";
  return Array.isArray(value) ? "pass a Float32Array, which is changed in place" : undefined;
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
  const words = rowsIn(bitmask, integer("vocabSize", vocabSize, 1), row, 1);
  const out = [];
  for (let id = 0; id < vocabSize; ++id) if ((bitmask[row * words + (id >> 5)] >>> (id & 31)) & 1) out.push(id);
  return out;
}

/**
 * @param {unknown} bitmask
 * @param {number} vocabSize
 * @param {number} index
 * @param {number} count
 * @returns {number} the words of a row
 */
export function rowsIn(bitmask, vocabSize, index, count) {
  if (!(bitmask instanceof Int32Array)) {
    throw new BitmaskError(`the bitmask must be an Int32Array, not ${typeName(bitmask)}`, { hint: BITMASK_HINT });
  }
  const words = wordsOf(vocabSize);
  const numRows = bitmask.length / words;
  if (!Number.isInteger(numRows)) {
    throw new BitmaskError(`the bitmask has ${bitmask.length} words, which are not rows of ${words}, as the vocabulary of ` +
      `${vocabSize} tokens needs them`, { hint: BITMASK_HINT });
  }
  const rows = `${numRows} ${numRows === 1 ? "row" : "rows"}`;
  if (integer("index", index) < 0 || index >= numRows) {
    throw new BitmaskError(`there is no row ${index} in the bitmask, which has ${rows}`, { hint: ROWS_HINT });
  }
  if (index + count > numRows) {
    throw new BitmaskError(`${count} rows from row ${index} on are needed, but the bitmask has ${rows}`, { hint: ROWS_HINT });
  }
  return words;
}
