/**
 * Tokenizers for the page: those shipped with it, a tokenizer.json that the visitor picks, and a GGUF file's own.
 */
import { TokenizerInfo } from "../maskwright/src/index.js";
import { Tiktoken, Tokenizer } from "../vendor/tokenizers.js";

/**
 * @typedef {{kind: "bytes"} | {kind: "ranks", name: string} | {kind: "json", text: string} |
 *   {kind: "gguf", tokens: string[], types: number[], model: string, stops: number[]}} TokenizerSource
 */

// Of llama.cpp's token types.
const [UNKNOWN, CONTROL, UNUSED] = [2, 3, 5];
const USUAL_STOPS = ["<|im_end|>", "<|eot_id|>", "<|endoftext|>", "</s>", "<eos>", "<|end_of_text|>", "<end_of_turn>"];

/** @param {TokenizerSource} source @returns {Promise<TokenizerInfo>} */
export async function readTokenizer(source) {
  switch (source.kind) {
    case "bytes":
      return ofBytes();
    case "ranks": {
      const { default: ranks } = await import(new URL(`../ranks/${source.name}.js`, import.meta.url).href);
      const tiktoken = new Tiktoken(ranks);
      return TokenizerInfo.fromTiktoken(ranks, { encode: (text) => tiktoken.encode(text, [], []) });
    }
    case "json":
      return ofJson(source.text);
    case "gguf": {
      const special = source.types.flatMap((type, id) => ([UNKNOWN, CONTROL, UNUSED].includes(type) ? [id] : []));
      const vocabType = source.model === "gpt2" ? "byte_level" : "byte_fallback";
      return TokenizerInfo.fromEncodedVocab(source.tokens, { vocabType, specialTokenIds: special, stopTokenIds: source.stops });
    }
  }
}

function ofBytes() {
  const bytes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte));
  return TokenizerInfo.fromVocab([...bytes, "<end>"], {
    stopTokenIds: [256], specialTokenIds: [256], encode: (text) => new TextEncoder().encode(text),
  });
}

/** @param {string} text */
function ofJson(text) {
  const data = JSON.parse(text);
  const tokenizer = new Tokenizer(data, {});
  const named = new Map((data.added_tokens ?? []).map((/** @type {any} */ token) => [token.content, token.id]));
  return TokenizerInfo.fromTokenizerJson(data, {
    stopTokenIds: USUAL_STOPS.filter((name) => named.has(name)).map((name) => named.get(name)),
    encode: (given) => tokenizer.encode(given, { add_special_tokens: false }).ids,
  });
}
