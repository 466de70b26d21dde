/** The panel with a model: a GGUF file that the visitor picks writes here, held to the structure or free. */
import { duration, element } from "./show.js";

export class LanguageModelPanel {
  #engine;
  #useTokenizer;
  /** @type {import("./model.js").LanguageModel | undefined} */
  #model;
  /** @type {AbortController | undefined} */
  #running;

  /**
   * @param {import("./engine.js").Engine} engine
   * @param {(name: string, source: object, encode: (text: string) => Promise<number[]>) => Promise<void>} useTokenizer
   */
  constructor(engine, useTokenizer) {
    this.#engine = engine;
    this.#useTokenizer = useTokenizer;
    element("gguf").addEventListener("change", () => this.#load());
    element("write").addEventListener("click", () => this.#write());
    element("stop").addEventListener("click", () => this.#running?.abort());
  }

  async #load() {
    const [file] = element("gguf").files;
    if (!file) return;
    this.#running?.abort();
    element("write").disabled = true;
    say("Loading the model…");
    try {
      const { LanguageModel } = await import("./model.js");
      await this.#model?.close();
      this.#model = await LanguageModel.load(file);
      const model = this.#model;
      await this.#useTokenizer(file.name, model.tokenizer, (text) => model.encode(text));
      const { numThreads } = this.#model;
      say(`Ready, on ${numThreads} thread${numThreads === 1 ? "" : "s"}.`);
      element("write").disabled = false;
    } catch (error) {
      say(`The model cannot be used: ${/** @type {Error} */ (error).message}`);
    }
  }

  async #write() {
    const model = this.#model;
    if (!model) return;
    const running = (this.#running = new AbortController());
    const output = element("output");
    output.hidden = false;
    output.textContent = "";
    element("write").disabled = true;
    element("stop").disabled = false;
    say("Reading the prompt…");
    const decoder = new TextDecoder();
    /** @type {import("./model.js").Step[]} */
    const steps = [];
    try {
      const options = await this.#options(running.signal);
      for await (const step of model.write(element("prompt").value, options)) {
        steps.push(step);
        output.append(decoder.decode(step.bytes, { stream: true }));
        say(figures(steps));
      }
      if (running.signal.aborted) say(`Stopped. ${figures(steps)}`);
    } catch (error) {
      say(`Stopped: ${/** @type {Error} */ (error).message}`);
    } finally {
      element("write").disabled = false;
      element("stop").disabled = true;
    }
  }

  /** @param {AbortSignal} signal */
  async #options(signal) {
    const maxTokens = Math.min(500, Math.max(1, Number(element("budget").value) || 1));
    const temperature = Math.min(2, Math.max(0, Number(element("temperature").value) || 0));
    if (!element("structured").checked) return { maxTokens, temperature, signal };
    await this.#engine.ask("begin", { maxTokens });
    return { maxTokens, temperature, signal, mask: () => this.#engine.ask("mask"),
      accept: (/** @type {number} */ token) => this.#engine.ask("accept", { token }) };
  }
}

/** @param {import("./model.js").Step[]} steps */
function figures(steps) {
  const [first, ...rest] = steps;
  const mean = (/** @type {(step: import("./model.js").Step) => number} */ of, /** @type {any[]} */ all) => all.reduce((sum, step) => sum + of(step), 0) / all.length;
  const perToken = rest.length > 0 ? `, then ${mean((step) => step.modelMs, rest).toFixed(0)} ms per token` : "";
  const masks = steps.some((step) => step.maskUs > 0) ? `, of which the mask ${duration(mean((step) => step.maskUs, steps))}` : "";
  return `${steps.length} token${steps.length === 1 ? "" : "s"}: the first after ${first ? first.modelMs.toFixed(0) : "–"} ms${perToken}${masks}.`;
}

/** @param {string} text */
const say = (text) => (element("model-status").textContent = text);
