/** A text token by token: what was accepted and refused, details of the chosen token, and the masks' size and cost. */
import { count, duration, element, make, ranges, shown } from "./show.js";

export class TokenView {
  #engine;
  /** @type {any[]} */
  #steps = [];
  #turn = 0;

  /** Of a tokenizer that is not in the engine. @type {((text: string) => Promise<number[]>) | undefined} */
  encode;

  /** @param {import("./engine.js").Engine} engine */
  constructor(engine) {
    this.#engine = engine;
    element("tokens").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.#moved(event));
  }

  /** @param {string} why */
  clear(why) {
    ++this.#turn;
    this.#steps = [];
    element("tokens").replaceChildren();
    element("verdict").textContent = why;
    element("details").hidden = element("figures").hidden = true;
  }

  /** @param {string} text */
  async show(text) {
    const mine = ++this.#turn;
    let found;
    try {
      found = await this.#engine.ask("trace", { text, ids: await this.encode?.(text) });
    } catch (error) {
      if (mine === this.#turn) this.clear(/** @type {Error} */ (error).message);
      return;
    }
    if (mine !== this.#turn) return;
    this.#steps = found.steps;
    const end = found.isRefused ? [] : [this.#button({ state: "end", bytes: new Uint8Array() }, found.steps.length)];
    element("tokens").replaceChildren(...found.steps.map((/** @type {any} */ step, /** @type {number} */ i) => this.#button(step, i)), ...end);
    element("verdict").textContent = verdict(found);
    this.#figures(found);
    const refused = found.steps.findIndex((/** @type {any} */ step) => step.state === "refused");
    await this.#choose(refused >= 0 ? refused : found.steps.length);
  }

  /** @param {any} step @param {number} index */
  #button(step, index) {
    const text = step.state === "end" ? "…" : shown(step.bytes) || "∅";
    const button = make("button", { type: "button", className: step.state, textContent: text, tabIndex: -1 });
    button.setAttribute("aria-label", step.state === "end" ? "what may come next" : `${text}, ${step.state === "unread" ? "not read" : step.state}`);
    button.setAttribute("aria-pressed", "false");
    if (step.state === "unread") button.setAttribute("aria-disabled", "true");
    else button.addEventListener("click", () => this.#choose(index));
    return button;
  }

  /** @param {KeyboardEvent} event */
  #moved(event) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const buttons = /** @type {any[]} */ ([...element("tokens").children]);
    const next = buttons[buttons.indexOf(document.activeElement) + step];
    if (!next) return;
    for (const button of buttons) button.tabIndex = button === next ? 0 : -1;
    next.focus();
  }

  /** @param {number} index */
  async #choose(index) {
    const mine = this.#turn;
    [...element("tokens").children].forEach((button, i) => {
      button.setAttribute("aria-pressed", String(i === index));
      button.tabIndex = i === index ? 0 : -1;
    });
    let found;
    try {
      found = await this.#engine.ask("inspect", { index });
    } catch (error) {
      element("details").replaceChildren(make("p", { textContent: /** @type {Error} */ (error).message }));
      return;
    }
    if (mine !== this.#turn) return;
    element("details").hidden = false;
    element("details").replaceChildren(...details(found, this.#steps[index], index));
  }

  /** @param {any} found */
  #figures({ steps, maskBytes }) {
    const times = steps.filter((/** @type {any} */ step) => step.state !== "unread").map((/** @type {any} */ step) => step.us);
    const entries = [["Size of a mask", `${count(maskBytes)} bytes`]];
    if (times.length > 0) entries.push(["First mask", duration(times[0])]);
    if (times.length > 1) {
      // The clock of a page has steps of up to 100 µs: the mean, not the median.
      const [, ...others] = times;
      entries.push(["Each further one, mean", duration(others.reduce((/** @type {number} */ sum, /** @type {number} */ us) => sum + us, 0) / others.length)]);
    }
    element("figures").replaceChildren(...entries.map(([name, value]) => make("div", {}, make("dt", { textContent: name }), make("dd", { textContent: value }))));
    element("figures").hidden = false;
  }
}

/** @param {any} found */
function verdict({ steps, isRefused, isCompleted, isCut }) {
  const numAccepted = steps.filter((/** @type {any} */ step) => step.state === "accepted").length;
  const cut = isCut ? ` Only the first ${count(steps.length)} tokens were read.` : "";
  if (isRefused) return `Token ${numAccepted + 1} of ${steps.length} is refused.${cut}`;
  if (isCut) return `All tokens so far are accepted.${cut}`;
  return isCompleted ? "Accepted: the text is complete." : "Accepted so far: the text is not complete yet.";
}

/** @param {any} found @param {any} step @param {number} index */
function* details(found, step, index) {
  const { bytes, numTaken, numAllowed, nextBytes, mayEnd, forced, candidates } = found;
  const title = step ? make("h3", {}, `Token ${index + 1}: `, code(shown(bytes) || "∅"), ` (id ${step.id})`) : make("h3", {}, "What may come next");
  yield title;
  yield make("p", { textContent: `${count(numAllowed)} token${numAllowed === 1 ? " is" : "s are"} allowed here${mayEnd ? ", and the text may end" : ""}.` });
  if (step?.state === "refused") {
    yield numTaken === bytes.length
      ? make("p", { textContent: "Its text is allowed, but not as this token: it is a special token." })
      : make("p", {}, "Refused at ", code(shown(bytes.slice(numTaken, numTaken + 1))),
        ...(numTaken > 0 ? [" after ", code(shown(bytes.slice(0, numTaken)))] : []), ".");
  }
  if (step?.state !== "accepted") {
    yield make("p", {}, nextBytes.length > 0 ? "Possible instead, by byte: " : "No text can follow.",
      ...(nextBytes.length > 0 ? [code(ranges(nextBytes))] : []));
  }
  if (forced) yield make("p", {}, "Only one text can follow: ", code(shown(typeof forced === "string" ? new TextEncoder().encode(forced) : forced)));
  yield make("p", { textContent: numAllowed > candidates.length ? `${candidates.length} of the allowed tokens:` : "Allowed tokens:" });
  yield make("ul", {}, ...candidates.map((/** @type {any} */ one) => make("li", { textContent: shown(one.bytes) || "∅", title: `id ${one.id}` })));
}

/** @param {string} text */
const code = (text) => make("code", { textContent: text });
