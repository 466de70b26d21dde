/**
 * The page's side of the engine (engine.worker.js): every request has a deadline. A request that misses it ends the
 * worker; the next one starts another, which reads the tokenizer again.
 */

const DEADLINE_MS = 10_000;
const LOADING_MS = 90_000;

export class Engine {
  /** @type {Worker | undefined} */
  #worker;
  /** Whether Python has been loaded. */
  #isWarm = false;
  #next = 0;
  /** @type {Map<number, {resolve: (value: any) => void, reject: (error: Error) => void}>} */
  #open = new Map();
  /** What a new worker is told first. @type {object | undefined} */
  #tokenizer;

  /** @param {object} source see `readTokenizer` in tokenizers.js */
  async setTokenizer(source) {
    const result = await this.#ask({ op: "tokenizer", source }, LOADING_MS);
    this.#tokenizer = source;
    return result;
  }

  /**
   * @param {string} kind
   * @param {string} source
   * @param {(what: string) => void} say what the visitor waits for
   */
  async compile(kind, source, say) {
    if (!this.#isWarm) say("Loading Python, about 7 MB, once…");
    await this.#ask({ op: "warmUp" }, LOADING_MS);
    this.#isWarm = true;
    say("Compiling…");
    return this.#ask({ op: "compile", kind, source });
  }

  /** Asks for anything else that the worker has. @param {string} op @param {object} [fields] */
  ask(op, fields = {}) {
    return this.#ask({ op, ...fields });
  }

  /** @param {{op: string}} request @param {number} [deadlineMs] */
  async #ask(request, deadlineMs = DEADLINE_MS) {
    if (!this.#worker) {
      this.#start();
      if (this.#tokenizer && request.op !== "tokenizer") {
        await this.#send({ op: "tokenizer", source: this.#tokenizer }, LOADING_MS);
      }
    }
    return this.#send(request, deadlineMs);
  }

  /** @param {{op: string}} request @param {number} deadlineMs @returns {Promise<any>} */
  #send(request, deadlineMs) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#stop(Object.assign(new Error(`stopped after ${deadlineMs / 1000} s`), { name: "LimitError" }));
      }, deadlineMs);
      const settled = (/** @type {(value: any) => void} */ settle) => (/** @type {any} */ value) => {
        clearTimeout(timer);
        settle(value);
      };
      this.#open.set(id, { resolve: settled(resolve), reject: settled(reject) });
      /** @type {Worker} */ (this.#worker).postMessage({ ...request, id });
    });
  }

  #start() {
    const worker = new Worker(new URL("./engine.worker.js", import.meta.url), { type: "module" });
    worker.onmessage = ({ data: { id, result, error } }) => {
      const waiting = this.#open.get(id);
      this.#open.delete(id);
      if (error) waiting?.reject(Object.assign(new Error(error.message), error));
      else waiting?.resolve(result);
    };
    worker.onerror = (event) => this.#stop(new Error(event.message || "the engine's worker could not be started"));
    this.#worker = worker;
  }

  /** @param {Error} error */
  #stop(error) {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#isWarm = false;
    for (const { reject } of this.#open.values()) reject(error);
    this.#open.clear();
  }
}
