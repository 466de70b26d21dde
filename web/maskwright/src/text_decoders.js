/**
 * From the texts in a vocabulary file to bytes, by the `decoder` of a tokenizer.json; as
 * src/maskwright/tokenizer/text_decoders.py, which says what each does. Between steps, a byte that is no part of UTF-8
 * text is a lone surrogate, U+DC00 plus the byte.
 */
import { TokenizerError } from "./errors.js";

/** @typedef {(token: string) => string} Step */

const METASPACE = "▁";
const BYTE_TOKEN = /^<0x([0-9A-Fa-f]{2})>$/;
const LONE = /[\uDC80-\uDCFF]/;
const CLEANUP = [[" .", "."], [" ?", "?"], [" !", "!"], [" ,", ","], [" ' ", "'"], [" n't", "n't"], [" 'm", "'m"],
  [" do not", " don't"], [" 's", "'s"], [" 've", "'ve"], [" 're", "'re"]];
const AFTER_FUSE = ["Sequence", "Replace", "Strip", "Fuse"];
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

export class TextDecoderOfTokens {
  /** @type {Step[]} */
  steps = [];
  /** @type {Step[]} */
  addedSteps = [];
  dropsLeadingSpace = false;
  fused = false;

  /** @param {string} token @param {boolean} added whether it is not in the model's own vocabulary */
  decode(token, added) {
    for (const step of added ? this.addedSteps : this.steps) token = step(token);
    return toBytes(token);
  }

  /** @param {Step} step @param {boolean} [forAdded] */
  then(step, forAdded = true) {
    this.steps.push(step);
    if (forAdded) this.addedSteps.push(step);
  }
}

/** @param {string} text @returns {Uint8Array} */
function toBytes(text) {
  if (!LONE.test(text)) return encoder.encode(text);
  const out = [];
  for (const character of text) {
    const code = /** @type {number} */ (character.codePointAt(0));
    if (code >= 0xdc80 && code <= 0xdcff) out.push(code - 0xdc00);
    else out.push(...encoder.encode(character));
  }
  return Uint8Array.from(out);
}

/** @param {Uint8Array} bytes @returns {string} */
function toText(bytes) {
  try {
    return utf8.decode(bytes);
  } catch {
    return Array.from(bytes, (byte) => String.fromCharCode(byte < 0x80 ? byte : 0xdc00 + byte)).join("");
  }
}

/** Each character of byte-level BPE and its byte. */
const byteOfCharacter = new Map(byteLevelPairs());

/** @returns {[string, number][]} */
function byteLevelPairs() {
  /** @type {(byte: number) => boolean} */
  const printable = (byte) => (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
  let next = 0x100;
  return Array.from({ length: 256 }, (_, byte) => [String.fromCharCode(printable(byte) ? byte : next++), byte]);
}

/** @type {Step} */
function byteLevel(token) {
  const bytes = new Uint8Array(token.length);
  for (let i = 0; i < token.length; ++i) {
    const byte = byteOfCharacter.get(token[i]);
    if (byte === undefined) return token; // a token with any other character is plain text
    bytes[i] = byte;
  }
  return toText(bytes);
}

/** @param {any} config the `decoder` of a tokenizer.json @returns {TextDecoderOfTokens} */
export function parseDecoder(config) {
  const decoder = new TextDecoderOfTokens();
  add(decoder, config);
  return decoder;
}

/** The decoder that undoes a `pre_tokenizer`. @param {any} config @returns {TextDecoderOfTokens | undefined} */
export function decoderOfPreTokenizer(config) {
  if (config.type === "ByteLevel" || config.type === "Metaspace") return parseDecoder(config);
  for (const part of config.pretokenizers ?? []) {
    const found = decoderOfPreTokenizer(part);
    if (found) return found;
  }
  return undefined;
}

/** @param {TextDecoderOfTokens} decoder @param {any} config */
function add(decoder, config) {
  const kind = String(config?.type);
  if (!Object.hasOwn(kinds, kind)) throw refusal(kind, "does not give each token a text of its own");
  if (decoder.fused && !AFTER_FUSE.includes(kind)) throw refusal(kind, "comes after the tokens were joined");
  kinds[kind](decoder, config);
}

/** @type {Record<string, (decoder: TextDecoderOfTokens, config: any) => void>} */
const kinds = {
  Sequence: (decoder, config) => config.decoders.forEach((/** @type {any} */ part) => add(decoder, part)),
  ByteLevel(decoder) {
    decoder.then(byteLevel, false);
    decoder.fused = true;
  },
  ByteFallback: (decoder) =>
    decoder.then((token) => {
      const match = BYTE_TOKEN.exec(token);
      return match ? toText(Uint8Array.of(parseInt(match[1], 16))) : token;
    }),
  Metaspace(decoder, config) {
    const scheme = config.prepend_scheme ?? ((config.add_prefix_space ?? true) ? "always" : "never");
    decoder.dropsLeadingSpace ||= scheme !== "never";
    decoder.then((token) => token.replaceAll(config.replacement ?? METASPACE, " "));
  },
  Replace(decoder, config) {
    const pattern = config.pattern.String;
    if (!pattern) throw refusal("Replace", "replaces by a regular expression");
    if (decoder.fused && [...pattern].length > 1) throw refusal("Replace", "replaces text that may lie across tokens");
    decoder.then((token) => token.replaceAll(pattern, () => config.content));
  },
  Strip(decoder, { content, start, stop }) {
    if (!decoder.fused) return decoder.then((token) => stripped(token, content, start, stop));
    if (stop || (start && content !== " ")) {
      throw refusal("Strip", "removes more than the space at the start of a text");
    }
    if (start) decoder.dropsLeadingSpace = true;
  },
  Fuse(decoder) {
    decoder.fused = true;
  },
  WordPiece(decoder, { prefix, cleanup }) {
    decoder.dropsLeadingSpace = true;
    decoder.then((token) => {
      let text = token.startsWith(prefix) ? token.slice(prefix.length) : ` ${token}`;
      for (const [untidy, tidy] of cleanup ? CLEANUP : []) text = text.replaceAll(untidy, tidy);
      return text;
    });
  },
};

/** @param {string} token @param {string} content @param {number} start @param {number} stop */
function stripped(token, content, start, stop) {
  for (let i = 0; i < start && token.startsWith(content); ++i) token = token.slice(content.length);
  for (let i = 0; i < stop && token.endsWith(content); ++i) token = token.slice(0, token.length - content.length);
  return token;
}

/** @param {string} kind @param {string} reason */
function refusal(kind, reason) {
  return new TokenizerError(`the tokenizer's decoder '${kind}' ${reason}, so tokens have no exact bytes`, {
    hint: "give the bytes of every id yourself, with TokenizerInfo.fromVocab",
  });
}
