/**
 * The WebAssembly kernel: loading it, memory for arguments, and errors. The rest of the package calls its exports
 * (web/kernel/bindings.cpp) through `call`.
 */
import { named, wrongArgument } from "./arguments.js";
import {
  GrammarError, LimitError, MaskwrightError, MatcherError, OptionError, TokenizerError, UnsatisfiableError,
} from "./errors.js";

/** @typedef {{memory: WebAssembly.Memory} & Record<string, (...args: any[]) => any>} Exports */

/** @type {Exports | undefined} */
let exports_;
/** @type {Promise<void> | undefined} */
let loading;
/** Where the kernel is, for the front-ends' worker. @type {string | URL} */
let address = new URL("../maskwright.wasm", import.meta.url);

/**
 * Loads the kernel, once. Everything else in the package needs it.
 *
 * @param {object} [options]
 * @param {string | URL | BufferSource | Response | WebAssembly.Module} [options.wasm] where the kernel is, or the kernel
 *     itself; by default `maskwright.wasm` beside this package's `src`, and what is relative is relative to the page
 * @returns {Promise<void>}
 */
export function load(options = {}) {
  const { wasm = address } = named(options, ["wasm"]);
  if (typeof wasm === "string" || wasm instanceof URL) address = wasm;
  loading ??= instantiate(wasm).catch((error) => {
    loading = undefined; // it may be tried again
    throw error;
  });
  return loading;
}

export const kernelAddress = () => address;

/** @param {any} wasm */
async function instantiate(wasm) {
  const module = wasm instanceof WebAssembly.Module ? wasm : await compiled(wasm);
  const nothing = () => {};
  const instance = await WebAssembly.instantiate(module, {
    env: { emscripten_notify_memory_growth: nothing },
    wasi_snapshot_preview1: {
      /** @type {(id: number, precision: bigint, out: number) => number} */
      clock_time_get(_id, _precision, out) {
        view().setBigUint64(out, BigInt(Math.round(performance.now() * 1e6)), true);
        return 0;
      },
      proc_exit(/** @type {number} */ code) {
        throw new MaskwrightError(`the kernel ended with ${code}`);
      },
    },
  });
  exports_ = /** @type {Exports} */ (/** @type {unknown} */ (instance.exports));
  exports_._initialize();
}

/** @param {any} wasm */
async function compiled(wasm) {
  if (wasm instanceof ArrayBuffer || ArrayBuffer.isView(wasm)) {
    return WebAssembly.compile(/** @type {BufferSource} */ (wasm));
  }
  if (typeof Response !== "undefined" && wasm instanceof Response) return fromResponse(wasm);
  return fromResponse(await loaded(absolute(wasm), "maskwright.wasm", "wasm"));
}

/**
 * Loads a file of the package.
 * @param {string} url
 * @param {string} file
 * @param {string} option that says where it is
 * @returns {Promise<Response>}
 */
export async function loaded(url, file, option) {
  const call = option === "wasm" ? "load" : "configureFrontEnds";
  const hint = `put the package's ${file} there, or say where it is: ${call}({ ${option}: url })`;
  const failed = (/** @type {string} */ why) => new MaskwrightError(`cannot load ${url}: ${why}`, { hint });
  const response = await (url.startsWith("file:") ? fromDisk(url) : fetch(url)).catch((error) => {
    throw failed(error.message);
  });
  if (!response.ok) throw failed(`HTTP status ${response.status}`);
  if (response.headers.get("Content-Type")?.startsWith("text/html")) throw failed("the server answers with a page of HTML");
  return response;
}

/** @param {string} url */
async function fromDisk(url) {
  const { readFile } = await import(/* webpackIgnore: true */ /* @vite-ignore */ "node:fs/promises".toString());
  return new Response(await readFile(new URL(url)));
}

/** Relative to the page, or the worker, and in Node to the working directory. @param {string | URL} url @returns {string} */
export function absolute(url) {
  return new URL(url, globalThis.location?.href ?? `file://${globalThis.process?.cwd()}/`).href;
}

/** @param {Response} response */
function fromResponse(response) {
  const isWasm = response.headers.get("Content-Type")?.startsWith("application/wasm");
  return isWasm ? WebAssembly.compileStreaming(response) : response.arrayBuffer().then((b) => WebAssembly.compile(b));
}

/** @returns {Exports} */
export function kernel() {
  if (!exports_) {
    throw new MaskwrightError("the kernel is not loaded", { hint: "call await load() before anything else" });
  }
  return exports_;
}

// Views are made anew each time: memory that grows leaves the old ones empty.
export const view = () => new DataView(kernel().memory.buffer);
/** @type {(at: number, size: number) => Uint8Array} */
export const bytesAt = (at, size) => new Uint8Array(kernel().memory.buffer, at >>> 0, size);
/** @type {(at: number, count: number) => Int32Array} */
export const intsAt = (at, count) => new Int32Array(kernel().memory.buffer, at >>> 0, count);

const tokensNeeded = () => ({
  leastTokens: kernel().mw_least_tokens() || undefined,
  enoughTokens: kernel().mw_enough_tokens() || undefined,
});

/** In the order of `Failure` in bindings.cpp. @type {((message: string) => Error)[]} */
const failures = [
  () => new MaskwrightError("no error"),
  (message) => new LimitError(message, { limit: cString(kernel().mw_limit()), ...tokensNeeded() }),
  (message) => new UnsatisfiableError(message, { hint: cString(kernel().mw_hint()) || undefined, ...tokensNeeded() }),
  (message) => new MatcherError(message),
  (message) => new GrammarError(message, { hint: "compile it again with this version's maskwright compile" }),
  (message) => new GrammarError(message, { hint: "compile it for this tokenizer, or use another one" }),
  (message) => new LimitError(message, { limit: "memory" }),
  (message) => new MaskwrightError(`the kernel failed: ${message}`),
];

/** Arguments whose names messages of the kernel hold. */
const ARGUMENTS = /\b(max_tokens|retrieve_next_token|retrieve_next_sibling|draft_tokens)\b/g;
const camelCase = (/** @type {string} */ name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());

/**
 * Calls an export and throws what it failed with.
 * @param {string} name
 * @param {...(number | bigint)} args
 * @returns {number}
 */
export function call(name, ...args) {
  const k = kernel();
  const result = k[name](...args);
  const failure = k.mw_error();
  if (failure !== 0) throw failures[failure](cString(k.mw_message()).replace(ARGUMENTS, camelCase));
  return result;
}

/** What the last call left. A copy. */
export function leftData() {
  const k = kernel();
  return bytesAt(k.mw_data(), k.mw_size() >>> 0).slice();
}

/** @param {number} at */
function cString(at) {
  const memory = new Uint8Array(kernel().memory.buffer);
  const begin = at >>> 0;
  return new TextDecoder().decode(memory.subarray(begin, memory.indexOf(0, begin)));
}

/** Memory that belongs to one call after the other; grows, and is never given back. */
class Scratch {
  #at = 0;
  #size = 0;

  /** @param {number} size */
  reserve(size) {
    if (size > this.#size) {
      const k = kernel();
      k.mw_free(this.#at);
      this.#size = 0;
      this.#at = k.mw_alloc(size) >>> 0;
      if (this.#at === 0) throw new LimitError("the page's memory for WebAssembly is used up", { limit: "memory" });
      this.#size = size;
    }
    return this.#at;
  }
}

/** For rows of masks. */
export const rowScratch = new Scratch();
const argumentScratch = new Scratch();

/**
 * Writes arrays behind each other, each at a multiple of eight, where the next call finds them.
 * @param {...(Uint8Array | Int32Array | Uint32Array | BigInt64Array)} arrays
 * @returns {number[]} their addresses
 */
export function place(...arrays) {
  const sizes = arrays.map((array) => (array.byteLength + 7) & ~7);
  let at = argumentScratch.reserve(sizes.reduce((a, b) => a + b, 8));
  return arrays.map((array, i) => {
    const here = at;
    bytesAt(here, array.byteLength).set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
    at += sizes[i];
    return here;
  });
}

const registry = new FinalizationRegistry((/** @type {{free: string, at: number}} */ held) => {
  kernel()[held.free](held.at);
});

/** @type {Record<string, string>} */
const DISPOSED = { mw_grammar_free: "grammar", mw_matcher_free: "matcher", mw_tokenizer_free: "tokenizer" };

/** An object of the kernel's: freed when asked, or when JavaScript's owner is collected. */
export class Handle {
  #at;
  #free;

  /**
   * @param {number} at
   * @param {string} free the export that frees it
   */
  constructor(at, free) {
    this.#at = at;
    this.#free = free;
    registry.register(this, { free, at }, this);
  }

  get at() {
    if (this.isFreed) throw new MatcherError(`the ${DISPOSED[this.#free]} was disposed of`, { hint: "make another one" });
    return this.#at;
  }

  get isFreed() {
    return this.#at === 0;
  }

  dispose() {
    if (this.isFreed) return;
    registry.unregister(this);
    kernel()[this.#free](this.#at);
    this.#at = 0;
  }
}

/** @typedef {{numMasks: number, numConfigurations: number, finished: boolean, elapsedUs: number}} Precomputed */

/**
 * @param {Handle} grammar
 * @param {number} sequence 0 for the beginning of an output
 * @param {number} budgetUs
 * @returns {Precomputed}
 */
export function precompute(grammar, sequence, budgetUs) {
  if (typeof budgetUs !== "number") throw wrongArgument("budgetUs", budgetUs, "a number");
  if (!(budgetUs >= 0)) throw new OptionError(`budgetUs must be >= 0, not ${budgetUs}`, { option: "budgetUs" });
  call("mw_precompute", grammar.at, sequence, budgetUs);
  const [numMasks, numConfigurations, finished, elapsedUs] = new Float64Array(leftData().buffer);
  return { numMasks, numConfigurations, finished: finished !== 0, elapsedUs };
}
