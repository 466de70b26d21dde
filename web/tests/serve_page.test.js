// The page of `maskwright serve` in Chromium, as a user fills it in. Skipped, with the reason, where there is no Chromium
// or no Python with the extra `serve` (PYTHON names it; `make test-web` has one).
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

import { FLAGS, executablePath, skip as noBrowser } from "./chromium.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PYTHON = process.env.PYTHON ?? `${ROOT}.venv/bin/python`;
const skip = noBrowser || (canServe() ? false : `${PYTHON} cannot run maskwright serve: make test-web`);
const WAIT_MS = 60_000;

function canServe() {
  if (!existsSync(PYTHON)) return false;
  return spawnSync(PYTHON, ["-c", "import maskwright.serve"], { cwd: ROOT }).status === 0;
}

/** Starts a server with the embedded model. @param {string[]} options */
async function serve(...options) {
  const server = spawn(PYTHON, ["-m", "maskwright", "serve", "--port", "0", ...options], { cwd: ROOT });
  let said = "";
  const url = await new Promise((resolve, reject) => {
    server.on("exit", () => reject(new Error(`the server did not start: ${said}`)));
    server.stderr.on("data", (data) => {
      said += data;
      const found = said.match(/http:\/\/[^\s/]+/);
      if (found) resolve(found[0]);
    });
  });
  const stop = () => new Promise((resolve) => server.on("exit", resolve) && server.kill());
  return { url: /** @type {string} */ (url), stop };
}

describe("the page of maskwright serve", { skip }, () => {
  /** @type {import("playwright-core").Browser} */
  let browser;
  /** @type {import("playwright-core").Page} */
  let page;
  /** @type {Awaited<ReturnType<typeof serve>>} */
  let server;
  /** @type {string[]} */
  const complaints = [];

  /** @param {string} url @param {object} [options] */
  async function open(url, options = {}) {
    const opened = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
    opened.setDefaultTimeout(WAIT_MS);
    opened.on("pageerror", (error) => complaints.push(error.message));
    opened.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    await opened.goto(url);
    return opened;
  }

  /** @param {string} kind @param {string} [structure] */
  async function choose(kind, structure) {
    await page.check(`input[value=${kind}]`);
    if (structure !== undefined) await page.fill("#structure", structure);
  }

  /** Generates, and returns what is shown. */
  async function generate() {
    await page.click("#run");
    await page.waitForSelector("#run[aria-disabled=false]");
    const shown = await page.evaluate(() => {
      const text = (/** @type {string} */ id) => document.getElementById(id)?.textContent ?? "";
      const forced = [...document.querySelectorAll("#output mark")].map((each) => each.textContent);
      return { output: text("output"), calls: text("calls"), state: text("state"), figures: text("figures"), forced };
    });
    const error = (await page.isVisible("#error")) ? await page.textContent("#error") : null;
    return { ...shown, error };
  }

  before(async () => {
    server = await serve();
    browser = await chromium.launch({ executablePath, args: FLAGS });
    page = await open(server.url);
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
  });

  test("it names the model and shows the server's figures", async () => {
    await page.waitForFunction(() => /^model embedded/.test(document.getElementById("model")?.textContent ?? ""));
    await page.waitForFunction(() => document.querySelectorAll("#metrics div").length === 6);
  });

  test("an object is streamed, with its forced text marked", async () => {
    await page.fill("#seed", "1");
    const { output, forced, state, figures, error } = await generate();
    assert.equal(error, null);
    const order = JSON.parse(output);
    assert.deepEqual(Object.keys(order), ["customer", "express", "items"]);
    for (const name of ["customer", "express", "items"]) assert.ok(forced.join("|").includes(name), `${name} is forced`);
    assert.ok(!forced.join("").includes(order.customer), "a name that the model chose is not forced");
    assert.equal(state, "finished: stop");
    assert.match(figures, /forced[1-9]\d* tokens/);
    assert.match(figures, /first token[\d.]+ ms/);
    assert.ok(await page.isVisible("#legend"));
    assert.equal((await generate()).output, output, "the same seed writes the same");
    await page.waitForFunction(() => /forced tokens[1-9]/.test(document.getElementById("metrics")?.textContent ?? ""));
  });

  test("a whole reply says the same, without marks", async () => {
    const { output } = await generate();
    await page.uncheck("#stream");
    const whole = await generate();
    assert.deepEqual([whole.output, whole.forced, whole.error], [output, [], null]);
    assert.ok(!(await page.isVisible("#legend")));
    await page.check("#stream");
  });

  test("a call is shown by its name and arguments", async () => {
    await choose("tools");
    assert.ok(await page.isVisible("#choice-row"));
    const { calls, state, error } = await generate();
    assert.equal(error, null);
    assert.equal(state, "finished: tool_calls");
    const [, name, given] = calls.match(/^(\w+) (.*)$/s) ?? [];
    assert.equal(name, "get_weather");
    assert.ok(["celsius", "fahrenheit"].includes(JSON.parse(given).unit));
  });

  test("regular expressions, grammars, and nothing", async () => {
    await choose("regex");
    assert.match((await generate()).output, /^(mon|tues|wednes|thurs|fri)day at [0-2][0-9]:[0-5][0-9]$/);
    await choose("ebnf");
    assert.match((await generate()).output, /^[-+*/()0-9]+$/);
    await choose("none");
    assert.ok(!(await page.isVisible("#structure")));
    assert.equal((await generate()).error, null);
  });

  test("what was written of each kind is kept", async () => {
    await choose("tools");
    assert.match(await page.inputValue("#prompt"), /weather/, "the prompt goes with the example");
    await page.fill("#prompt", "A prompt of my own");
    await choose("regex", "[ab]{3}");
    await choose("ebnf");
    await choose("regex");
    assert.equal(await page.inputValue("#structure"), "[ab]{3}");
    assert.equal(await page.inputValue("#prompt"), "A prompt of my own");
    assert.match((await generate()).output, /^[ab]{3}$/);
  });

  test("markup in an output is text", async () => {
    await choose("regex", "<img src=x onerror=alert\\(1\\)>");
    assert.equal((await generate()).output, "<img src=x onerror=alert(1)>");
    assert.equal(await page.locator("#output img").count(), 0);
  });

  test("an output is seen while it is written, and can be stopped", async () => {
    await page.fill("#max-tokens", "16000");
    await choose("regex", "[a-z]{15000}");
    await page.focus("#run");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => (document.getElementById("output")?.textContent ?? "").length > 40);
    assert.ok(await page.isEnabled("#stop"));
    await page.click("#stop");
    await page.waitForFunction(() => document.getElementById("state")?.textContent === "stopped");
    await page.waitForFunction(() => /running0/.test(document.getElementById("metrics")?.textContent ?? ""));
    assert.equal(await page.evaluate(() => document.activeElement?.id), "output", "the focus stays on the page");
    await page.fill("#max-tokens", "200");
  });

  test("mistakes are shown with their place, and the next output goes on", async () => {
    const known = complaints.length;
    await choose("json_schema", '{"type": "strng"}');
    assert.match((await generate()).error ?? "", /^at \/response_format\/json_schema\/schema\/type: /);
    await choose("json_schema", '{"type": ');
    assert.match((await generate()).error ?? "", /^The schema is not valid JSON/);
    await choose("json_schema", '{"enum": ["yes"]}');
    assert.deepEqual(await generate().then(({ output, error }) => [output, error]), ['"yes"', null]);
    complaints.splice(known); // Chromium reports the reply 400
  });

  for (const width of [320, 390, 800, 1280]) {
    test(`nothing overflows a window ${width} pixels wide`, async () => {
      await page.setViewportSize({ width, height: 800 });
      await choose("tools");
      await generate();
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(overflow <= 0, `${overflow} pixels too wide`);
    });
  }

  for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
    test(`text can be read on its ground: ${colorScheme}`, async () => {
      const other = await open(server.url, { colorScheme });
      await other.fill("#seed", "1");
      await other.click("#run");
      await other.waitForSelector("#output mark");
      const ratios = await other.evaluate(contrasts, ["#prompt", "legend", "#output mark", "#state", "#legend", "dt", "dd", "#run", "a"]);
      for (const [selector, ratio] of ratios) assert.ok(ratio >= 4.5, `${selector}: ${ratio.toFixed(2)}`);
      await other.close();
    });
  }

  test("a server with keys asks for one", async () => {
    const locked = await serve("--api-key", "secret");
    const known = complaints.length;
    const usual = page;
    page = await open(locked.url);
    await page.waitForSelector("#key-row:not([hidden])");
    await page.fill("#key", "guess");
    assert.match((await generate()).error ?? "", /API key/);
    await page.fill("#key", "secret");
    assert.equal((await generate()).error, null);
    await page.waitForFunction(() => /^model embedded/.test(document.getElementById("model")?.textContent ?? ""));
    await locked.stop();
    assert.match((await generate()).error ?? "", /cannot be reached/);
    await page.close();
    page = usual;
    complaints.splice(known); // Chromium reports replies 401, and the connection that was refused
  });

  test("the page made no error of its own", () => assert.deepEqual(complaints, []));
});

/**
 * The contrast of elements' text with what is behind it, as the Web Content Accessibility Guidelines define it. Runs in the page.
 * @param {string[]} selectors
 * @returns {[string, number][]}
 */
function contrasts(selectors) {
  const parse = (/** @type {string} */ color) => (color.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = (/** @type {number[]} */ color) => {
    const [r, g, b] = color.slice(0, 3).map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  return selectors.map((selector) => {
    const element = /** @type {Element} */ (document.querySelector(selector));
    let ground = /** @type {Element | null} */ (element);
    while (ground && parse(getComputedStyle(ground).backgroundColor)[3] === 0) ground = ground.parentElement;
    const values = [getComputedStyle(element).color, getComputedStyle(ground ?? document.body).backgroundColor];
    const [high, low] = values.map((color) => luminance(parse(color))).sort((a, b) => b - a);
    return [selector, (high + 0.05) / (low + 0.05)];
  });
}
