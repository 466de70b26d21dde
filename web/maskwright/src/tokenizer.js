/**
 * `TokenizerInfo`: what masks need to know of a tokenizer: the exact bytes of every id, and which ids are special or stop
 * the output.
 *
 *     const info = TokenizerInfo.fromTokenizerJson(await (await fetch("tokenizer.json")).json(), { stopTokenIds: [2] });
 */
import { encoded, integer, isWellFormed, named, object, tokenIds, typeName, wrongArgument } from "./arguments.js";
import { TokenizerError } from "./errors.js";
import { Handle, call, kernel, place } from "./kernel.js";
import { decoderOfPreTokenizer, parseDecoder } from "./text_decoders.js";
import { MAX_VOCAB_SIZE, NO_BYTES, checkDecoded, textsById } from "./vocabulary.js";

const MAX_CANDIDATES = 8; // in a hint
const MAX_TOKEN_BYTES = 0xfffe;
const OPTIONS = ["stopTokenIds", "vocabSize", "encode"];

/** @typedef {import("./arguments.js").TokenId} TokenId */
/** @typedef {(text: string) => Iterable<TokenId>} Encode */
/**
 * @typedef {object} TokenizerOptions
 * @property {number} [vocabSize] the width of the model's logits, where the tokenizer has fewer ids or more
 * @property {Iterable<TokenId>} [stopTokenIds] instead of those that the tokenizer declares; empty for none
 */

export class TokenizerInfo {
  /** @type {Handle | undefined} */
  #handle;
  /** @type {Set<number>} */
  #special;

  /**
   * @param {object} fields
   * @param {readonly Uint8Array[]} fields.tokenBytes what each id adds to the output; for a special token, its name
   * @param {number} [fields.vocabSize] the number of ids that a mask covers
   * @param {Iterable<TokenId>} [fields.specialTokenIds] ids that never match by their text
   * @param {Iterable<TokenId>} [fields.stopTokenIds] ids that end the output
   * @param {boolean} [fields.dropsLeadingSpace] whether decoding a whole text drops the space that it begins with
   * @param {Encode} [fields.encode] from text to token ids, without special tokens
   */
  constructor(fields) {
    const { tokenBytes, vocabSize, specialTokenIds = [], stopTokenIds = [], dropsLeadingSpace = false, encode } =
      named(fields, ["tokenBytes", ...OPTIONS, "specialTokenIds", "dropsLeadingSpace"]);
    if (!Array.isArray(tokenBytes)) {
      throw wrongArgument("tokenBytes", tokenBytes, "an array with the bytes of every id",
        "use TokenizerInfo.fromTokenizerJson for a tokenizer.json");
    }
    this.vocabSize = integer("vocabSize", vocabSize ?? tokenBytes.length, 1);
    if (this.vocabSize < tokenBytes.length) {
      throw new TokenizerError(`vocabSize is ${this.vocabSize}, but the tokenizer has ${tokenBytes.length} ids`);
    }
    if (this.vocabSize > MAX_VOCAB_SIZE) {
      throw new TokenizerError(`a vocabulary of ${this.vocabSize} ids is too large: the limit is ${MAX_VOCAB_SIZE}`);
    }
    this.tokenBytes = Array.from(tokenBytes);
    this.tokenBytes.forEach((token, id) => {
      if (!(token instanceof Uint8Array)) {
        throw new TokenizerError(`token ${id} is of type ${typeName(token)}, not Uint8Array`, {
          hint: typeof token === "string" ? "use TokenizerInfo.fromVocab for texts" : undefined,
        });
      }
      if (token.length > MAX_TOKEN_BYTES) {
        throw new TokenizerError(`token ${id} has ${token.length} bytes: the limit is ${MAX_TOKEN_BYTES}`);
      }
    });
    this.specialTokenIds = idsWithin("special token", specialTokenIds, this.vocabSize);
    this.stopTokenIds = idsWithin("stop token", stopTokenIds, this.vocabSize);
    this.dropsLeadingSpace = Boolean(dropsLeadingSpace);
    this.#special = new Set(this.specialTokenIds);
    this.#encode = encode;
  }

  /** @type {Encode | undefined} */
  #encode;

  /**
   * Takes the text of every id as given: bytes as they are, strings as UTF-8. The strings of vocabulary files, such as
   * `Ġthe` for ` the`, are refused: `fromEncodedVocab` decodes them.
   * @param {import("./vocabulary.js").Vocabulary} tokens the texts in the order of their ids, or a Map or an object from
   *     texts to ids
   * @param {TokenizerOptions & {specialTokenIds?: Iterable<TokenId>, encode?: Encode}} [options]
   */
  static fromVocab(tokens, options = {}) {
    const { stopTokenIds, specialTokenIds = [], vocabSize, encode } = named(options, [...OPTIONS, "specialTokenIds"]);
    const texts = textsById("tokens", tokens);
    checkDecoded(texts);
    if (stopTokenIds === undefined) throw noStopToken();
    const tokenBytes = texts.map(bytesOfToken);
    return new TokenizerInfo({ tokenBytes, vocabSize, specialTokenIds, stopTokenIds, encode });
  }

  /**
   * Reads a tokenizer.json.
   * @param {string | Record<string, any>} json its text, or the data
   * @param {TokenizerOptions & {config?: Record<string, any>, generationConfig?: Record<string, any>, encode?: Encode}}
   *     [options] `config`: the model's tokenizer_config.json, which names its stop token; `generationConfig`: the model's
   *     generation_config.json
   */
  static fromTokenizerJson(json, options = {}) {
    const { config = {}, generationConfig = {}, encode, ...rest } = named(options, [...OPTIONS, "config", "generationConfig"]);
    const data = typeof json === "string" ? parsed(json) : json;
    if (!data?.model?.vocab) {
      throw new TokenizerError("it is not a tokenizer.json: it has no model with a vocabulary", {
        hint: "pass the file's text or data: await (await fetch(url)).json()",
      });
    }
    for (const [name, each] of Object.entries({ config, generationConfig })) {
      object(name, each, typeof each === "string" ? "pass JSON.parse(value)" : undefined);
    }
    const texts = textsOfJson(data);
    const inModel = modelIds(data.model);
    const decoder = decoderOf(data);
    /** @type {Map<string, number>} */
    const idOf = new Map();
    texts.forEach((text, id) => text !== undefined && idOf.set(text, id));
    const added = new Map((data.added_tokens ?? []).map((/** @type {any} */ token) => [token.id, token]));
    const tokenBytes = Array.from(texts, (text, id) =>
      text === undefined ? NO_BYTES : decoder.decode(text, added.has(id) && inModel.get(text) !== id));
    const declared = Object.entries(config).filter(([name]) => SPECIAL_NAMES.includes(name)).flatMap(([, value]) => value);
    const special = [data.model.unk_token, ...declared.map(contentOf)].map((text) => idOf.get(text));
    for (const token of added.values()) if (token.special) special.push(token.id);
    const eos = [idOf.get(contentOf(config.eos_token)), generationConfig.eos_token_id].flat();
    return fromRaw({ tokenBytes, special: present(special), stops: present(eos), encode,
      dropsLeadingSpace: decoder.dropsLeadingSpace }, rest);
  }

  /**
   * Reads tiktoken's ranks: the text of a `.tiktoken` file, or the ranks of js-tiktoken.
   * @param {string | {bpe_ranks: string, special_tokens?: Record<string, number>}} ranks
   * @param {TokenizerOptions & {specialTokens?: Record<string, number>, encode?: Encode}} [options] `specialTokens`: ids
   *     by name; `<|endoftext|>` is the stop token by default
   */
  static fromTiktoken(ranks, options = {}) {
    const { specialTokens, encode, ...rest } = named(options, [...OPTIONS, "specialTokens"]);
    const isText = typeof ranks === "string";
    if (!isText && typeof ranks?.bpe_ranks !== "string") {
      throw wrongArgument("ranks", ranks, "the text of a .tiktoken file or the ranks of js-tiktoken",
        'pass the default export of "js-tiktoken/ranks/gpt2" or another one, of which a Tiktoken is made');
    }
    /** @type {Uint8Array[]} */
    const tokenBytes = [];
    for (const line of (isText ? ranks : ranks.bpe_ranks).split("\n")) {
      const fields = line.trim().split(" ");
      if (fields.length < 2) continue;
      if (isText) tokenBytes[rank(fields[1])] = fromBase64(fields[0]);
      else fields.slice(2).forEach((token, i) => (tokenBytes[rank(fields[1]) + i] = fromBase64(token)));
    }
    if (tokenBytes.length === 0) {
      throw new TokenizerError("the ranks are empty: no line has a token and its rank", {
        hint: "pass the contents of a .tiktoken file: await (await fetch(url)).text()",
      });
    }
    const special = specialTokens ?? (isText ? {} : ranks.special_tokens) ?? {};
    for (const [name, id] of Object.entries(special)) tokenBytes[rank(id)] = new TextEncoder().encode(name);
    const filled = Array.from(tokenBytes, (token) => token ?? NO_BYTES);
    return fromRaw({ tokenBytes: filled, special: Object.values(special), stops: present([special["<|endoftext|>"]]), encode,
      dropsLeadingSpace: false }, rest);
  }

  /**
   * Reads a tokenizer of transformers.js (`AutoTokenizer.from_pretrained`).
   * @param {any} tokenizer
   * @param {TokenizerOptions & {generationConfig?: Record<string, any>}} [options]
   */
  static fromTransformersJs(tokenizer, options = {}) {
    const json = tokenizer?._tokenizerJSON ?? tokenizer?._tokenizer?.tokenizer;
    if (!json?.model) {
      throw new TokenizerError("fromTransformersJs takes a tokenizer of transformers.js", {
        hint: "pass what AutoTokenizer.from_pretrained resolves to, or use TokenizerInfo.fromTokenizerJson",
      });
    }
    const config = tokenizer._tokenizerConfig ?? tokenizer._tokenizer?.config ?? tokenizer.config;
    return TokenizerInfo.fromTokenizerJson(json, { config, ...options,
      encode: (text) => tokenizer.encode(text, { add_special_tokens: false }) });
  }

  /**
   * Reads a tokenizer of WebLLM (`Tokenizer` of @mlc-ai/web-tokenizers), which lists its texts but not how they are
   * decoded.
   * @param {any} tokenizer
   * @param {TokenizerOptions & {vocabType: "raw" | "byte_fallback" | "byte_level", specialTokenIds?: Iterable<TokenId>}}
   *     options `vocabType`: `tokenizer_info.token_postproc_method` of the model's mlc-chat-config.json
   */
  static fromWebLLM(tokenizer, options) {
    if (typeof tokenizer?.getVocabSize !== "function" || typeof tokenizer?.idToToken !== "function") {
      throw new TokenizerError("fromWebLLM takes a Tokenizer of @mlc-ai/web-tokenizers");
    }
    const texts = Array.from({ length: tokenizer.getVocabSize() }, (_, id) => tokenizer.idToToken(id));
    return TokenizerInfo.fromEncodedVocab(texts, { ...options, vocabType: knownVocabType(options?.vocabType),
      encode: (/** @type {string} */ text) => tokenizer.encode(text) });
  }

  /**
   * Reads texts as a vocabulary file has them.
   * @param {readonly string[] | ReadonlyMap<string, number> | Readonly<Record<string, number>>} texts in the order of
   *     their ids, or with them
   * @param {TokenizerOptions & {vocabType?: "raw" | "byte_fallback" | "byte_level", specialTokenIds?: Iterable<TokenId>,
   *     dropsLeadingSpace?: boolean, encode?: Encode}} [options]
   */
  static fromEncodedVocab(texts, options = {}) {
    const { vocabType = "raw", specialTokenIds = [], dropsLeadingSpace = false, encode, ...rest } =
      named(options, [...OPTIONS, "vocabType", "specialTokenIds", "dropsLeadingSpace"]);
    const decoder = ENCODINGS[knownVocabType(vocabType)]();
    const inOrder = textsById("texts", texts);
    if (vocabType === "raw") checkDecoded(inOrder);
    const tokenBytes = inOrder.map((text) => (typeof text === "string" ? decoder.decode(text, false) : text ?? NO_BYTES));
    return fromRaw({ tokenBytes, special: [...tokenIds("special token ids", specialTokenIds)], stops: [], dropsLeadingSpace, encode }, rest);
  }

  /** The kernel's form of the vocabulary, built on first use. */
  get handle() {
    this.#handle ??= built(this);
    return this.#handle;
  }

  /** Gives the kernel's form back now: grammars stay valid, and the next one builds it anew. */
  dispose() {
    this.#handle?.dispose();
    this.#handle = undefined;
  }

  /** Joins the bytes of tokens; special ones and padding have none. @param {Iterable<TokenId>} ids @returns {Uint8Array} */
  decode(ids) {
    const parts = [...tokenIds("ids", ids)].map((id) => {
      if (id < 0 || id >= this.vocabSize) throw new TokenizerError(`token id ${id} is not in the vocabulary of ${this.vocabSize} ids`);
      return this.#special.has(id) ? NO_BYTES : (this.tokenBytes[id] ?? NO_BYTES);
    });
    return concatenated(parts);
  }

  /** Cuts a text into tokens with the tokenizer that this was read from. @param {string} text @returns {number[]} */
  encode(text) {
    if (!this.#encode) {
      throw new TokenizerError("this TokenizerInfo has no tokenizer to encode with", {
        hint: "pass the model's own encode function",
      });
    }
    return Array.from(this.#encode(text), Number);
  }

  /** Whether these tokens are this text. @param {number[]} ids @param {string} text */
  spells(ids, text) {
    const [found, wanted] = [this.decode(ids), new TextEncoder().encode(text)];
    return found.length === wanted.length && found.every((byte, i) => byte === wanted[i]);
  }

  /** Whether a token begins with this text and goes on. @param {string} text */
  beginsLongerToken(text) {
    const data = new TextEncoder().encode(text);
    const handle = this.handle;
    const [at] = place(data);
    return kernel().mw_begins_longer_token(handle.at, at, data.length) !== 0;
  }
}

const SPECIAL_NAMES = ["bos_token", "eos_token", "unk_token", "sep_token", "cls_token", "mask_token",
  "additional_special_tokens"];

/** @type {Record<string, () => import("./text_decoders.js").TextDecoderOfTokens>} */
const ENCODINGS = {
  raw: () => parseDecoder({ type: "Fuse" }),
  byte_level: () => parseDecoder({ type: "ByteLevel" }),
  byte_fallback: () =>
    parseDecoder({ type: "Sequence", decoders: [
      { type: "Replace", pattern: { String: "▁" }, content: " " }, { type: "ByteFallback" }] }),
};

/** @param {any} vocabType @returns {"raw" | "byte_fallback" | "byte_level"} */
function knownVocabType(vocabType) {
  if (Object.hasOwn(ENCODINGS, vocabType)) return vocabType;
  throw new TokenizerError(`unknown vocabType ${String(vocabType).slice(0, 60)}`, {
    hint: `use one of: ${Object.keys(ENCODINGS).join(", ")}`,
  });
}

/** @param {string | Uint8Array} token @param {number} id */
function bytesOfToken(token, id) {
  if (!isWellFormed(token)) throw new TokenizerError(`token ${id} is not valid text: half of a character`, { hint: "pass its bytes" });
  return encoded(`token ${id}`, token, "pass new Uint8Array() for an id without text");
}

/** @param {TokenizerInfo} info */
function built(info) {
  const ends = new Uint32Array(info.tokenBytes.length);
  info.tokenBytes.forEach((token, id) => (ends[id] = (id === 0 ? 0 : ends[id - 1]) + token.length));
  const [special, stops] = [Int32Array.from(info.specialTokenIds), Int32Array.from(info.stopTokenIds)];
  const at = place(concatenated(info.tokenBytes), ends, special, stops);
  return new Handle(call("mw_tokenizer", at[0], at[1], ends.length, at[2], special.length, at[3], stops.length,
    info.vocabSize), "mw_tokenizer_free");
}

/**
 * @param {{tokenBytes: Uint8Array[], special: number[], stops: number[], dropsLeadingSpace: boolean, encode?: Encode}} raw
 * @param {TokenizerOptions} options
 */
function fromRaw(raw, { vocabSize, stopTokenIds }) {
  if (stopTokenIds === undefined && raw.stops.length === 0) throw noStopToken(raw);
  const size = vocabSize ?? raw.tokenBytes.length;
  /** @type {(ids: number[]) => number[]} */
  const within = (ids) => ids.filter((id) => id < size);
  return new TokenizerInfo({
    tokenBytes: raw.tokenBytes.slice(0, size),
    vocabSize: size,
    specialTokenIds: within(raw.special),
    stopTokenIds: stopTokenIds ?? within(raw.stops),
    dropsLeadingSpace: raw.dropsLeadingSpace,
    encode: raw.encode,
  });
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new TokenizerError(`the tokenizer.json is not valid JSON: ${/** @type {Error} */ (error).message}`, {
      hint: text.trimStart().startsWith("{") ? undefined : "pass the file's contents: await (await fetch(url)).text()",
    });
  }
}

/** @param {any} model @returns {Map<string, number>} */
function modelIds({ vocab }) {
  return new Map(Array.isArray(vocab) ? vocab.map(([text], id) => [text, id]) : Object.entries(vocab));
}

/** @param {any} data @returns {(string | undefined)[]} */
function textsOfJson(data) {
  /** @type {(string | undefined)[]} */
  const texts = [];
  for (const [text, id] of modelIds(data.model)) texts[rank(id)] = text;
  for (const { id, content } of data.added_tokens ?? []) texts[rank(id)] = content;
  return Array.from(texts);
}

/** @param {any} data */
function decoderOf(data) {
  const decoder = data.decoder ? parseDecoder(data.decoder) : data.pre_tokenizer && decoderOfPreTokenizer(data.pre_tokenizer);
  if (decoder) return decoder;
  throw new TokenizerError("the tokenizer has no decoder, which says how its tokens are joined to text", {
    hint: "use TokenizerInfo.fromVocab with the bytes of every id",
  });
}

/** @param {any} token a text, or an object that holds it */
const contentOf = (token) => token?.content ?? token;

/** @param {any[]} ids @returns {number[]} */
const present = (ids) => ids.filter((id) => id !== undefined && id !== null);

/** @param {unknown} id @returns {number} */
function rank(id) {
  const number = Number(id);
  if (!Number.isInteger(number) || number < 0 || number >= MAX_VOCAB_SIZE) {
    throw new TokenizerError(`${String(id).slice(0, 60)} is not a valid token id`);
  }
  return number;
}

/** @param {string} text */
function fromBase64(text) {
  let binary;
  try {
    binary = atob(text);
  } catch {
    throw new TokenizerError(`${text.slice(0, 60)} is not valid base64`);
  }
  return Uint8Array.from(binary, (c) => c.charCodeAt(0));
}

/** @param {readonly Uint8Array[]} parts */
function concatenated(parts) {
  const out = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** @param {string} what @param {Iterable<TokenId>} given @param {number} vocabSize */
function idsWithin(what, given, vocabSize) {
  const ids = [...new Set(tokenIds(`${what} ids`, given))].sort((a, b) => a - b);
  for (const id of ids) {
    if (id < 0 || id >= vocabSize) {
      throw new TokenizerError(`${what} id ${id} is not in the vocabulary of ${vocabSize} ids`, {
        hint: "pass vocabSize if the model has more ids than the tokenizer",
      });
    }
  }
  return ids;
}

/** @param {{tokenBytes: Uint8Array[], special: number[]}} [raw] */
function noStopToken({ tokenBytes, special } = { tokenBytes: [], special: [] }) {
  const ids = [...new Set(special)].sort((a, b) => a - b).slice(0, MAX_CANDIDATES);
  const named = ids.map((id) => `${id}: '${new TextDecoder().decode(tokenBytes[id])}'`).join(", ");
  return new TokenizerError("the tokenizer does not say which token ends the output", {
    hint: `pass stopTokenIds: [id, ...]${named && `; its special tokens are {${named}}`}`,
  });
}
