/**
 * What does a step of a batch cost in a page, on one thread and over several workers?
 *
 *     python web/bench/dump_schemas.py build/web/cases && node web/bench/batches.js
 *
 * Batches of 1, 8, 32 and 64 sequences, or of as many as the arguments say, of MaskBench schemas, in Chromium and in Node;
 * batch_steps.js says what a step is.
 */
import { readFile } from "node:fs/promises";

import { closePages, openPage, skip } from "../tests/chromium.js";
import { prepare } from "./batch_steps.js";

const ROOT = new URL("../../", import.meta.url);
const SIZES = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1, 8, 32, 64];

console.log("| ms a step: mean / median / longest | sequences | | |\n| --- | ---: | --- | --- |");
if (!skip) {
  const page = await openPage({ isolated: true });
  await page.evaluate(async () => {
    const { prepare } = await import("/web/bench/batch_steps.js".toString());
    Object.assign(globalThis, { measure: await prepare(async (/** @type {string} */ path) => (await fetch(path)).text()) });
  });
  for (const size of SIZES) {
    print("in a page", size, await page.evaluate((size) => /** @type {any} */ (globalThis).measure.here(size), size));
    for (const numWorkers of [1, 2].filter((few) => few <= size)) {
      print(`in ${numWorkers} workers`, size, await page.evaluate(([size, numWorkers]) =>
        /** @type {any} */ (globalThis).measure.inWorkers(size, numWorkers), [size, numWorkers]));
    }
  }
  await closePages();
}
const { here } = await prepare((path) => readFile(new URL(`.${path}`, ROOT), "utf8"));
for (const size of SIZES) print("in Node", size, await here(size));

/** @param {string} where @param {number} size @param {Record<string, import("./batch_steps.js").Steps>} found */
function print(where, size, found) {
  for (const [how, parts] of Object.entries(found)) {
    const figures = Object.entries(parts).map(([part, steps]) => `${part} ${shown(steps)}`);
    console.log(`| ${where} | ${size} | ${how} | ${figures.join("; ")} |`);
  }
}

/** @param {number[]} steps */
function shown(steps) {
  const sorted = [...steps].sort((a, b) => a - b);
  const mean = steps.reduce((a, b) => a + b, 0) / steps.length;
  return [mean, sorted[Math.floor(sorted.length / 2)], sorted[sorted.length - 1]].map((ms) => ms.toFixed(3)).join(" / ");
}
