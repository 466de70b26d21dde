/** The page: what the visitor does, and what is shown. The engine is in a worker (engine.js), with deadlines. */
import { StructureEditor } from "./editor.js";
import { Engine } from "./engine.js";
import { EXAMPLES } from "./examples.js";
import { LanguageModelPanel } from "./model_panel.js";
import { element, count, make } from "./show.js";
import { fromFragment, toFragment } from "./state.js";
import { TokenView } from "./token_view.js";

const TOKENIZERS = [
  ["gpt2", "GPT-2 (50,257)"], ["cl100k_base", "cl100k (100,277)"], ["o200k_base", "o200k (200,019)"], ["bytes", "bytes (257)"],
  ["file", "tokenizer.json…"],
];
const PAUSE_MS = 350;

const engine = new Engine();
const editor = new StructureEditor(element("editor"), () => soon(structureChanged));
const view = new TokenView(engine);
let kind = "json_schema";
let tokenizer = "gpt2";
let isCompiled = false;
/** The tokenizer of a file, in the list while it is used. */
const loaded = make("option", { value: "loaded", hidden: true });
/** Until then, nothing is compiled. */
let hasTokenizer = false;
/** Grows with each change: an answer to an older question is dropped. */
let turn = 0;
/** @type {Map<() => void, ReturnType<typeof setTimeout>>} */
const timers = new Map();

/** @param {() => void} what */
function soon(what) {
  clearTimeout(timers.get(what));
  timers.set(what, setTimeout(what, PAUSE_MS));
}

/** @param {string} text */
const say = (text) => (element("status").textContent = text);

async function structureChanged() {
  clearTimeout(timers.get(structureChanged));
  if (!hasTokenizer) return;
  const mine = ++turn;
  const [of, source] = [kind, editor.text];
  remember();
  isCompiled = false;
  try {
    const { ms, fileBytes, report } = await engine.compile(of, source, (what) => mine === turn && say(what));
    if (mine !== turn) return;
    isCompiled = true;
    say(`Compiled in ${ms.toFixed(0)} ms; ${count(fileBytes)} bytes as a grammar file.`);
    showError(undefined);
    showReport(report);
  } catch (error) {
    if (mine !== turn) return;
    showError(/** @type {Error} */ (error));
    showReport([]);
  }
  if (mine !== turn) return;
  await textChanged();
  await drawGrammar(of, source, mine);
}

/** @param {any} error */
function showError(error) {
  editor.show(error);
  element("error").hidden = !error;
  // What to pass is a hint for programs.
  element("error").textContent = error ? error.message.replace(/\n *hint: pass .*/, "") : "";
  if (error) say(`${error.name}: nothing is compiled.`);
}

/** @param {{pointer: string, reason: string}[]} report */
function showReport(report) {
  element("report").hidden = report.length === 0;
  element("findings").replaceChildren(...report.map(({ pointer, reason }) =>
    make("li", {}, make("code", { textContent: pointer || "#" }), ` ${reason}`)));
}

async function textChanged() {
  clearTimeout(timers.get(textChanged));
  remember();
  if (isCompiled) await view.show(element("text").value);
  else view.clear("Compile a structure first.");
}

/** @param {string} of @param {string} source @param {number} mine */
async function drawGrammar(of, source, mine) {
  const diagram = element("diagram");
  if (!isCompiled) return diagram.replaceChildren();
  try {
    const { ebnf } = await engine.ask("ebnf", { kind: of, source });
    if (mine !== turn) return;
    element("ebnf").textContent = ebnf;
    const { diagrams } = await import("./railroad.js");
    diagram.replaceChildren(...diagrams(ebnf));
  } catch (error) {
    diagram.replaceChildren(make("p", { className: "note", textContent: `No diagram: ${/** @type {Error} */ (error).message}` }));
  }
}

/**
 * @param {string} name of TOKENIZERS, or of a file
 * @param {object} [source] what the file holds
 * @param {(text: string) => Promise<number[]>} [encode]
 */
async function chooseTokenizer(name, source, encode) {
  say("Loading the tokenizer…");
  try {
    await engine.setTokenizer(source ?? (name === "bytes" ? { kind: "bytes" } : { kind: "ranks", name }));
    tokenizer = source ? "loaded" : name;
    view.encode = encode;
    hasTokenizer = true;
  } catch (error) {
    element("tokenizer").value = tokenizer;
    await structureChanged();
    element("verdict").textContent = `The tokenizer cannot be used: ${/** @type {Error} */ (error).message}`;
    return;
  }
  if (source) loaded.textContent = name;
  loaded.hidden = tokenizer !== "loaded";
  element("tokenizer").value = tokenizer;
  await structureChanged();
}

/** @param {string} next @param {{source: string, text: string}} [from] */
function chooseKind(next, from = EXAMPLES[next]) {
  kind = next;
  element("kind").value = next;
  editor.set(from.source, Boolean(EXAMPLES[next].isJson));
  element("text").value = from.text;
  element("prompt").value = EXAMPLES[next].prompt;
}

/** Keeps the address's fragment true. */
function remember() {
  const name = tokenizer === "loaded" ? "gpt2" : tokenizer;
  const state = { kind, source: editor.text, text: element("text").value, tokenizer: name };
  history.replaceState(null, "", toFragment(state));
}

async function share() {
  remember();
  try {
    await navigator.clipboard.writeText(location.href);
    element("share").textContent = "Copied";
  } catch {
    element("share").textContent = "Copy it from the address bar";
  }
  setTimeout(() => (element("share").textContent = "Copy link"), 2000);
}

for (const [name, { label }] of Object.entries(EXAMPLES)) element("kind").append(make("option", { value: name, textContent: label }));
for (const [name, label] of TOKENIZERS) element("tokenizer").append(make("option", { value: name, textContent: label }));
element("tokenizer").append(loaded);
element("kind").addEventListener("change", () => chooseKind(element("kind").value));
element("text").addEventListener("input", () => soon(textChanged));
element("share").addEventListener("click", share);
element("tokenizer").addEventListener("change", () => {
  if (element("tokenizer").value === "file") element("tokenizer-file").click();
  else void chooseTokenizer(element("tokenizer").value);
});
element("tokenizer-file").addEventListener("change", async () => {
  const [file] = element("tokenizer-file").files;
  element("tokenizer-file").value = ""; // the same file may be chosen again
  if (file) await chooseTokenizer(file.name, { kind: "json", text: await file.text() });
});
element("tokenizer-file").addEventListener("cancel", () => (element("tokenizer").value = tokenizer));
new LanguageModelPanel(engine, chooseTokenizer);

const shared = fromFragment(location.hash);
chooseKind(shared?.kind ?? kind, shared);
if (shared && TOKENIZERS.some(([name]) => name === shared.tokenizer && name !== "file")) tokenizer = shared.tokenizer;
element("tokenizer").value = tokenizer;
await chooseTokenizer(tokenizer);
