/**
 * The front-ends, which are Python's (src/maskwright/frontends): run by Pyodide in a worker, which is started when the
 * first structure is compiled. A structure that takes too long ends with its worker, and the page stays responsive.
 */
import { named } from "./arguments.js";
import { ArgumentError, LimitError, MaskwrightError, OptionError, errorsByName } from "./errors.js";
import { absolute, kernelAddress } from "./kernel.js";

const TIMEOUT_MS = 30_000;
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1; // of setTimeout
const WORKER_HINT = "if a bundler has left it out, bundle maskwright/src/frontends.worker.js as an entry of its own, into this folder";

/**
 * @typedef {object} FrontEndOptions
 * @property {string | URL} [pyodide] the folder of Pyodide (its `pyodide.mjs`, `pyodide.asm.wasm` and
 *     `python_stdlib.zip`); in Node, by default, the installed package
 * @property {string | URL} [frontends] the archive with the front-ends; by default the one of this package
 * @property {string | URL} [wasm] the kernel; by default where `load` has it from
 * @property {number} [timeoutMs] the most time that compiling a structure may take, loading apart
 */

/** @type {FrontEnds | undefined} */
let shared;
/** @type {FrontEndOptions} */
let sharedOptions = {};

/** Says where Pyodide is, before the first structure is compiled. @param {FrontEndOptions} options */
export function configureFrontEnds(options) {
  sharedOptions = named(options, ["pyodide", "frontends", "wasm", "timeoutMs"]);
  shared?.close();
  shared = undefined;
}

/** @returns {FrontEnds} */
export function frontEnds() {
  shared ??= new FrontEnds(sharedOptions);
  return shared;
}

export class FrontEnds {
  #options;
  /** The worker, once it has started. @type {Promise<any> | undefined} */
  #worker;
  /** Ends it, started or not. @type {() => void} */
  #terminate = () => {};
  /** How often this was closed: what was asked for before that is not compiled. */
  #numClosings = 0;
  #next = 0;
  /** @type {Map<number, {resolve: (value: any) => void, reject: (error: Error) => void}>} */
  #open = new Map();
  /** One after the other: a structure's time does not count what waits before it. @type {Promise<unknown>} */
  #queue = Promise.resolve();

  /** @param {FrontEndOptions} options */
  constructor(options) {
    // Absolute, since the worker has another base than the page.
    this.#options = {
      frontends: absolute(options.frontends ?? new URL("../frontends.zip", import.meta.url)),
      wasm: absolute(options.wasm ?? kernelAddress()),
      pyodide: options.pyodide === undefined ? undefined : absolute(options.pyodide),
    };
    const { timeoutMs = TIMEOUT_MS } = options;
    if (!(timeoutMs > 0)) throw new OptionError(`timeoutMs must be > 0, not ${timeoutMs}`, { option: "timeoutMs" });
    this.timeoutMs = Math.min(timeoutMs, LONGEST_TIMEOUT_MS);
  }

  /** Loads Python and the front-ends now, rather than with the first structure. @returns {Promise<void>} */
  async warmUp() {
    await this.#started();
  }

  /**
   * @param {string} kind
   * @param {string} source
   * @param {object} options
   * @param {(number | string)[][]} specialTokens
   * @returns {Promise<{file: Uint8Array, report: import("./compiler.js").Finding[]}>}
   */
  compile(kind, source, options, specialTokens) {
    return this.#enqueue({ kind, source, options, specialTokens });
  }

  /**
   * Writes a structure's grammar in EBNF, which `compileGrammar` reads.
   * @param {string} kind as of `compile`
   * @param {string} source
   * @param {object} [options]
   * @param {(number | string)[][]} [specialTokens]
   * @returns {Promise<string>}
   */
  async toEbnf(kind, source, options = {}, specialTokens = []) {
    return (await this.#enqueue({ kind, source, options, specialTokens, as: "ebnf" })).ebnf;
  }

  /** @param {{kind: string, source: string} & Record<string, unknown>} request @returns {Promise<any>} */
  #enqueue(request) {
    if (typeof request.source !== "string") {
      return Promise.reject(new ArgumentError("a structure must be a string or data", { argument: request.kind }));
    }
    const numClosings = this.#numClosings;
    const result = this.#queue.then(() => {
      if (numClosings !== this.#numClosings) throw wereClosed();
      return this.#compile(request);
    });
    this.#queue = result.catch(() => {});
    return result;
  }

  /** @param {object} request */
  async #compile(request) {
    const worker = await this.#started();
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const tooLong = new Promise((_, reject) => {
      timer = setTimeout(() => {
        this.#end(wereClosed());
        reject(new LimitError(`the structure took more than ${this.timeoutMs / 1000} s to compile`, { limit: "time",
          hint: "make it smaller, or allow more with configureFrontEnds({ timeoutMs })" }));
      }, this.timeoutMs);
    });
    try {
      return /** @type {any} */ (await Promise.race([this.#ask(worker, request), tooLong]));
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the worker, and what is being compiled; the next structure starts another one. */
  close() {
    ++this.#numClosings;
    this.#end(wereClosed());
  }

  /** Ends the worker. What is being compiled ends with this error; what waits goes on, in another worker. @param {Error} error */
  #end(error) {
    this.#terminate();
    this.#worker = undefined;
    for (const { reject } of this.#open.values()) reject(error);
    this.#open.clear();
  }

  #started() {
    if (!this.#worker) {
      const starting = this.#start();
      this.#worker = starting;
      starting.catch(() => {
        if (this.#worker === starting) this.#worker = undefined;
      });
    }
    return this.#worker;
  }

  async #start() {
    let isEnded = false;
    this.#terminate = () => (isEnded = true);
    const worker = await newWorker();
    if (isEnded) {
      worker.terminate();
      throw wereClosed();
    }
    this.#terminate = () => worker.terminate();
    const answered = (/** @type {any} */ { id, result, error, isOver }) => {
      const waiting = this.#open.get(id);
      this.#open.delete(id);
      if (error) waiting?.reject(toError(error));
      else waiting?.resolve(result);
      if (isOver) this.#end(wereClosed());
    };
    const failed = (/** @type {any} */ event) => {
      const error = event.message === undefined
        ? new MaskwrightError("frontends.worker.js cannot be loaded", { hint: WORKER_HINT })
        : new MaskwrightError(`the front-ends' worker failed: ${event.message}`);
      this.#end(error);
    };
    worker.on ? worker.on("message", answered).on("error", failed) : Object.assign(worker, {
      onmessage: (/** @type {MessageEvent} */ event) => answered(event.data),
      onerror: failed,
    });
    worker.unref?.(); // a program in Node may end while it waits
    await this.#ask(worker, { kind: "start", ...this.#options });
    return worker;
  }

  /** @param {any} worker @param {object} request */
  #ask(worker, request) {
    const id = this.#next++;
    worker.ref?.();
    return new Promise((resolve, reject) => {
      this.#open.set(id, { resolve, reject });
      worker.postMessage({ id, ...request });
    }).finally(() => worker.unref?.());
  }
}

const wereClosed = () => new MaskwrightError("the front-ends were closed");

/** In the form in which bundlers look for workers. */
async function newWorker() {
  if (typeof Worker !== "undefined") return new Worker(new URL("./frontends.worker.js", import.meta.url), { type: "module" });
  const { Worker: NodeWorker } = await import(/* webpackIgnore: true */ /* @vite-ignore */ "node:worker_threads".toString());
  return new NodeWorker(new URL(/* webpackIgnore: true */ /* @vite-ignore */ "./frontends.worker.js", import.meta.url));
}

/** @param {{type: string, message: string, fields: Record<string, unknown>}} error */
function toError({ type, message, fields }) {
  const kind = errorsByName[type] ?? MaskwrightError;
  const made = new kind(message);
  return Object.assign(made, fields);
}
