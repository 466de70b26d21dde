/**
 * A model in the page, with structure and without, in the playground: time to the first token and per output token.
 *
 *     node web/bench/model.js FOLDER/SmolLM2-135M-Instruct.Q4_1.gguf [RUNS]
 *
 * For each example of the playground that has a schema, RUNS (5) outputs held to it and as many free ones, in turn, of at most 40
 * tokens; printed are medians.
 */
import { closePages, openPage, skip } from "../tests/chromium.js";

const LOADING_MS = 120_000;
const NUM_TOKENS = 40;
const [file, runs = "5"] = process.argv.slice(2);

if (skip || !file) {
  console.error(skip || "say where the model is: node web/bench/model.js FILE.gguf");
  process.exit(3);
}
const page = await openPage({ isolated: true });
await page.goto(new URL("build/playground/index.html", page.url()).href);
await page.setInputFiles("#gguf", file);
await page.waitForSelector("#write:enabled", { timeout: LOADING_MS });
console.log(await page.textContent("#model-status"));
await page.fill("#budget", String(NUM_TOKENS));
console.log("| example | | first token, ms | each further token, ms |\n| --- | --- | ---: | ---: |");
for (const [kind, pattern] of [["json_schema", "languages"], ["structural_tag", "tool_call"]]) {
  await page.selectOption("#kind", kind);
  await page.waitForFunction((of) => document.getElementById("ebnf")?.textContent?.includes(of), pattern, { timeout: LOADING_MS });
  /** @type {Record<string, [number, number][]>} */
  const times = { "held to it": [], free: [] };
  for (let i = 0; i < Number(runs); ++i) {
    for (const way of Object.keys(times)) times[way].push(await written(way === "held to it"));
  }
  for (const [way, found] of Object.entries(times)) {
    console.log(`| ${kind} | ${way} | ${median(found.map(([first]) => first))} | ${median(found.map(([, each]) => each))} |`);
  }
}
await closePages();

/** @param {boolean} isHeld @returns {Promise<[number, number]>} */
async function written(isHeld) {
  await page.setChecked("#structured", isHeld);
  await page.click("#write");
  await page.waitForSelector("#stop:enabled");
  await page.waitForSelector("#write:enabled", { timeout: LOADING_MS });
  const status = (await page.textContent("#model-status")) ?? "";
  const [, first, each] = status.match(/first after (\d+) ms, then (\d+) ms/) ?? [];
  if (!each) throw new Error(status);
  return [Number(first), Number(each)];
}

/** @param {number[]} values */
function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}
