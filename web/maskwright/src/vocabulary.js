/**
 * Plain vocabularies, as src/maskwright/tokenizer/from_vocab.py reads them: in an array the position is the id; a Map or an
 * object gives the ids.
 *
 *     textsById("tokens", { c: 2, a: 0 })      ["a", NO_BYTES, "c"]
 *
 * The strings of vocabulary files are no texts: `Ġthe` and `▁the` stand for ` the`, `<0x0A>` for a line break. Nor are those
 * that decoding each id alone returns: there, half a character is U+FFFD. A vocabulary that is full of such is refused, since
 * every mask would be wrong; the former also as bytes.
 */
import { typeName, wrongArgument } from "./arguments.js";
import { TokenizerError } from "./errors.js";

/** @typedef {string | Uint8Array} Text */
/** @typedef {readonly Text[] | ReadonlyMap<Text, number> | Readonly<Record<string, number>>} Vocabulary */

export const MAX_VOCAB_SIZE = 1 << 24;
export const NO_BYTES = new Uint8Array();
const MOST_OF = 20; // marks in one token of so many are no accident
const MANY_LOST = 100; // some vocabularies have a few; decoded, each of the 128 bytes beyond ASCII is one
const SHOWN = 40;
const MARK = /^(?:Ġ|▁|##(?=[\p{L}\p{N}_])| |<0x[0-9A-F]{2}>$)/u;
/** @type {[mark: string, kind: string, reader: string][]} */
const MARKS = [
  ["Ġ", "byte-level BPE", 'fromTokenizerJson, or fromEncodedVocab with vocabType: "byte_level"'],
  ["▁", "SentencePiece", 'fromTokenizerJson, or fromEncodedVocab with vocabType: "byte_fallback"'],
  ["##", "WordPiece", "fromTokenizerJson"],
];

/**
 * The texts in the order of their ids; without bytes where there is no such id.
 * @param {string} argument
 * @param {unknown} vocabulary
 * @returns {readonly Text[]}
 */
export function textsById(argument, vocabulary) {
  if (Array.isArray(vocabulary)) return Array.from(vocabulary); // where an id is left out, undefined
  /** @type {Text[]} */
  const texts = [];
  for (const [text, given] of entriesOf(argument, vocabulary)) {
    const id = idOf(text, given);
    if (texts[id] !== undefined) {
      throw new TokenizerError(`id ${id} has two texts, ${shown(texts[id])} and ${shown(text)}`, {
        hint: "give each id one text",
      });
    }
    texts[id] = text;
  }
  return Array.from(texts, (text) => text ?? NO_BYTES);
}

/** @param {string} argument @param {unknown} vocabulary @returns {Iterable<[any, unknown]>} */
function entriesOf(argument, vocabulary) {
  if (vocabulary instanceof Map) return vocabulary;
  const isPlain = typeof vocabulary === "object" && vocabulary !== null && !ArrayBuffer.isView(vocabulary);
  if (isPlain && !(Symbol.iterator in vocabulary)) return Object.entries(vocabulary);
  throw wrongArgument(argument, vocabulary,
    "an array with the bytes or text of every id, or a Map or an object from these to ids",
    isPlain ? "pass [...value]" : undefined);
}

/** @param {any} text @param {any} given @returns {number} */
function idOf(text, given) {
  const isText = typeof text === "string" || text instanceof Uint8Array;
  if (isText && Number.isInteger(given) && given >= 0 && given < MAX_VOCAB_SIZE) return given;
  const isReversed = typeof given === "string" && Number.isInteger(Number(text));
  const hint = isReversed
    ? "pass new Map(Object.entries(vocab).map(([id, text]) => [text, Number(id)]))"
    : `ids are integers from 0 to ${MAX_VOCAB_SIZE - 1}`;
  throw new TokenizerError(`the entry ${shown(text)}: ${shown(given)} is not a text and its id`, { hint });
}

/** @param {unknown} value */
function shown(value) {
  const text = value instanceof Uint8Array ? new TextDecoder().decode(value) : value;
  return typeof text === "object" ? typeName(text) : `'${String(text).slice(0, SHOWN)}'`;
}

/** Refuses texts that are spelled as in a vocabulary file. @param {readonly Text[]} texts */
export function checkDecoded(texts) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  const decoder = new TextDecoder();
  const lost = texts.filter((text) => typeof text === "string" && text.includes("\uFFFD")).length;
  if (lost > MANY_LOST) {
    throw new TokenizerError(`${lost} of ${texts.length} tokens hold U+FFFD, which decoding writes for half a character`, {
      hint: "use TokenizerInfo.fromTransformersJs or fromTokenizerJson, or pass the bytes of every id",
    });
  }
  for (const given of texts) {
    const text = given instanceof Uint8Array ? decoder.decode(given) : given;
    const mark = typeof text === "string" ? MARK.exec(text)?.[0] : undefined;
    if (mark !== undefined) counts.set(mark, (counts.get(mark) ?? 0) + 1);
  }
  if ([...counts.keys()].filter((mark) => mark.startsWith("<0x")).length === 256) {
    throw new TokenizerError("the tokens <0x00> to <0xFF> stand for single bytes, as in vocabulary files of SentencePiece", {
      hint: 'use TokenizerInfo.fromTokenizerJson, or fromEncodedVocab with vocabType: "byte_fallback", which decode them, ' +
        "or pass the byte instead, such as Uint8Array.of(10) for <0x0A>",
    });
  }
  for (const [mark, kind, reader] of MARKS) {
    const count = counts.get(mark) ?? 0;
    if (count * MOST_OF > texts.length && count > (counts.get(" ") ?? 0)) {
      throw new TokenizerError(
        `${count} of ${texts.length} tokens begin with '${mark}', as in vocabulary files of ${kind}, ` +
          "where it does not stand for itself",
        { hint: `use TokenizerInfo.${reader}, which decodes them, or pass the text of every id as it stands in an output` },
      );
    }
  }
}
