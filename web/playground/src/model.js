/**
 * A model in the page: llama.cpp as WebAssembly, whose tokens are chosen here among those that the mask allows.
 *
 *     const model = await LanguageModel.load(file);
 *     for await (const step of model.write("Hello", { maxTokens: 20, mask, accept })) show(step.bytes);
 */
import { LoggerWithoutDebug, Wllama, gguf } from "../vendor/model.js";

const CONTEXT = 2048;
const PATHS = Object.fromEntries(["single-thread", "multi-thread"].map((threads) => [
  `${threads}/wllama.wasm`, new URL(`../vendor/${threads}/wllama.wasm`, import.meta.url).href]));

/** @typedef {{id: number, bytes: Uint8Array, modelMs: number, maskUs: number}} Step */
/**
 * @typedef {object} WriteOptions
 * @property {number} maxTokens
 * @property {number} [temperature] 0: the most likely token
 * @property {() => Promise<{bitmask: Int32Array, us: number}>} [mask] of the next token; without it, all are allowed
 * @property {(id: number) => Promise<{isTerminated: boolean}>} [accept]
 * @property {AbortSignal} [signal]
 */

export class LanguageModel {
  #llama;

  /** @param {Wllama} llama @param {any} tokenizer */
  constructor(llama, tokenizer) {
    this.#llama = llama;
    /** For `Engine.setTokenizer`. */
    this.tokenizer = tokenizer;
  }

  /** @param {File} file */
  static async load(file) {
    const tokenizer = await tokenizerOf(file);
    const llama = new Wllama(PATHS, { logger: LoggerWithoutDebug, suppressNativeLog: true });
    await llama.loadModel([file], { n_ctx: CONTEXT });
    return new LanguageModel(llama, tokenizer);
  }

  get numThreads() {
    return this.#llama.getNumThreads();
  }

  /** @param {string} text @returns {Promise<number[]>} without special tokens */
  async encode(text) {
    return Array.from(await this.#llama.tokenize(text, false), Number);
  }

  /** Ends the model. */
  close() {
    return this.#llama.exit();
  }

  /**
   * @param {string} prompt
   * @param {WriteOptions} options
   * @returns {AsyncGenerator<Step>}
   */
  async *write(prompt, { maxTokens, temperature = 0, mask, accept, signal }) {
    const llama = this.#llama;
    const tokens = await llama.tokenize(this.#chat(prompt), true);
    if (tokens.length + maxTokens > CONTEXT) throw new Error(`the prompt is too long: ${tokens.length} tokens`);
    await llama.kvClear();
    let began = performance.now();
    // Needed by llama.cpp's build before the first decode; nothing is sampled with it.
    await llama.samplingInit({});
    await llama.decode(tokens, {});
    for (let i = 0; i < maxTokens && !signal?.aborted; ++i) {
      const [candidates, masked] = await Promise.all([llama.getLogits(-1), mask?.()]);
      const id = choose(candidates, masked?.bitmask, temperature);
      const isEnd = llama.isTokenEOG(id);
      const isTerminated = accept ? (await accept(id)).isTerminated : isEnd;
      const bytes = isEnd ? new Uint8Array() : await llama.detokenize([id]);
      yield { id, bytes, modelMs: performance.now() - began, maskUs: masked?.us ?? 0 };
      if (isTerminated) return;
      began = performance.now();
      await llama.decode([id], {});
    }
  }

  /** @param {string} prompt in the form of ChatML, where the model has its marks */
  #chat(prompt) {
    return this.tokenizer.tokens.includes("<|im_start|>")
      ? `<|im_start|>user\n${prompt}<|im_end|>\n<|im_start|>assistant\n` : prompt;
  }
}

/**
 * Among the candidates, the most likely first, one that is allowed.
 * @param {{token: number, p: number}[]} candidates
 * @param {Int32Array | undefined} bitmask
 * @param {number} temperature
 */
export function choose(candidates, bitmask, temperature) {
  const isAllowed = (/** @type {number} */ id) => !bitmask || ((bitmask[id >> 5] >>> (id & 31)) & 1) !== 0;
  const allowed = temperature === 0 ? candidates.find(({ token }) => isAllowed(token)) : undefined;
  if (allowed) return allowed.token;
  const all = candidates.filter(({ token }) => isAllowed(token));
  if (all.length === 0) throw new Error("no token is allowed");
  if (temperature === 0 || !(all[0].p > 0)) return all[0].token;
  const weights = all.map(({ p }) => (p / all[0].p) ** (1 / temperature));
  let left = Math.random() * weights.reduce((a, b) => a + b, 0);
  return all[Math.max(0, weights.findIndex((weight) => (left -= weight) < 0))].token;
}

/** Reads the vocabulary from the file's header. @param {File} file */
async function tokenizerOf(file) {
  /** @type {typeof fetch} */
  const fromFile = async (_, init) => {
    const range = new Headers(init?.headers).get("Range")?.match(/bytes=(\d+)-(\d+)/);
    return new Response(range ? file.slice(Number(range[1]), Number(range[2]) + 1) : file, { status: 206 });
  };
  const { metadata } = await gguf("https://file.invalid/model.gguf", { fetch: fromFile });
  const field = (/** @type {string} */ name) => /** @type {any} */ (metadata)[`tokenizer.ggml.${name}`];
  if (!Array.isArray(field("tokens"))) throw new Error("the file has no vocabulary");
  const stops = [field("eos_token_id"), field("eot_token_id")].filter((id) => id !== undefined).map(Number);
  return { kind: "gguf", tokens: field("tokens"), types: Array.from(field("token_type"), Number), model: field("model"),
    stops: [...new Set(stops)] };
}
