/**
 * Figures of the web package in Chromium, printed as tables:
 *
 *     python web/bench/dump_schemas.py build/web/cases && node web/bench/figures.js
 *
 * Bytes to load; milliseconds from the page's load to the first mask, without Python and with it; the kernel's memory
 * after 10,000 grammars in one page; MaskBench schemas (schema_times.js) natively, in the page, in Node and, in the same
 * page, with @mlc-ai/web-xgrammar. Times are the best of three.
 */
import { readFile } from "node:fs/promises";
import { brotliCompressSync, gzipSync } from "node:zlib";

import { frontEnds } from "../maskwright/src/index.js";
import { closePages, openPage, skip } from "../tests/chromium.js";
import { prepare } from "./schema_times.js";

const ROOT = new URL("../../", import.meta.url);
const COLUMNS = ["compile", "load", "first", "token"];

if (skip) {
  console.error(skip);
  process.exit(3);
}
await bytes();
await loading();
await memory();
await schemas();
await closePages();

async function bytes() {
  console.log("| file | bytes | gzip | Brotli |\n| --- | ---: | ---: | ---: |");
  const core = ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"];
  const files = ["web/maskwright/maskwright.wasm", "web/maskwright/frontends.zip", ...core.map((name) => `web/node_modules/pyodide/${name}`)];
  for (const file of files) {
    const data = await readFile(new URL(file, ROOT)).catch(() => undefined);
    if (data) console.log(`| ${file} | ${data.length} | ${gzipSync(data).length} | ${brotliCompressSync(data).length} |`);
  }
}

async function loading() {
  const found = { fixed: Infinity, compiled: Infinity };
  for (let i = 0; i < 3; ++i) {
    for (const way of /** @type {const} */ (["fixed", "compiled"])) {
      const page = await openPage({ isolated: true });
      found[way] = Math.min(found[way], await page.evaluate(firstMask, way === "compiled"));
      await closePages();
    }
  }
  console.log(`\nfrom the import to the first mask, 257 tokens: ${found.fixed.toFixed(0)} ms with a grammar file, ` +
    `${found.compiled.toFixed(0)} ms with Pyodide`);
}

/** In the page. @param {boolean} withPython */
async function firstMask(withPython) {
  const begin = performance.now();
  const { GrammarCompiler, GrammarMatcher, TokenizerInfo, allocateTokenBitmask, configureFrontEnds, load } =
    await import("/web/maskwright/src/index.js".toString());
  await load();
  const bytes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte));
  const info = TokenizerInfo.fromVocab([...bytes, "</s>"], { stopTokenIds: [256], specialTokenIds: [256] });
  const compiler = new GrammarCompiler(info);
  configureFrontEnds({ pyodide: "/web/node_modules/pyodide/" });
  const file = async () => (await fetch("/build/web/cases/schemas.json")).json().then(({ cases }) => cases[0].file);
  const grammar = withPython
    ? await compiler.compileJsonSchema({ type: "object", properties: { a: { type: "integer" } } })
    : compiler.compileGrammarFile(Uint8Array.from(atob(await file()), (c) => c.charCodeAt(0)));
  new GrammarMatcher(grammar).fillNextTokenBitmask(allocateTokenBitmask(1, info.vocabSize));
  return performance.now() - begin;
}

async function memory() {
  for (const disposed of [true, false]) {
    const page = await openPage({ isolated: true });
    const sizes = await page.evaluate(manyGrammars, disposed);
    const way = disposed ? "disposed of" : "left to the garbage collector";
    console.log(`10,000 grammars ${way}: the kernel's memory, MB, after each 2,000: ${sizes.join(", ")}`);
    await closePages();
  }
}

/** In the page: each grammar with a matcher and a mask. @param {boolean} disposed */
async function manyGrammars(disposed) {
  const { CompiledGrammar, GrammarMatcher, TokenizerInfo, allocateTokenBitmask, load } =
    await import("/web/maskwright/src/index.js".toString());
  const { kernel } = await import("/web/maskwright/src/kernel.js".toString());
  await load();
  const bytes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte));
  const info = TokenizerInfo.fromVocab([...bytes, "</s>"], { stopTokenIds: [256], specialTokenIds: [256] });
  const bitmask = allocateTokenBitmask(1, info.vocabSize);
  const { cases } = await (await fetch("/build/web/cases/schemas.json")).json();
  const files = cases.map((/** @type {any} */ each) => Uint8Array.from(atob(each.file), (c) => c.charCodeAt(0)));
  const sizes = [];
  for (let i = 0; i < 10_000; ++i) {
    const grammar = new CompiledGrammar(info, files[i % files.length]);
    const matcher = new GrammarMatcher(grammar);
    matcher.fillNextTokenBitmask(bitmask);
    if (disposed) {
      matcher.dispose();
      grammar.dispose();
    } else if (i % 100 === 99) {
      await new Promise((resolve) => setTimeout(resolve)); // finalisation needs the event loop
    }
    if (i % 2000 === 1999) sizes.push(Math.round(kernel().memory.buffer.byteLength / 1e6));
  }
  return sizes;
}

async function schemas() {
  const { cases, vocabulary } = JSON.parse(await readFile(new URL("build/web/cases/schemas.json", ROOT), "utf8"));
  const runs = () => /** @type {Record<string, number[]>[]} */ ([{}, {}]);
  const times = { native: runs(), "in the page": runs(), "in Node": runs(), "@mlc-ai/web-xgrammar in the page": runs() };
  const inNode = await prepare((path) => readFile(new URL(`.${path}`, ROOT), "utf8"));
  let aborted = 0;
  let page = await schemaPage();
  for (let i = 0; i < cases.length; ++i) {
    const ask = (/** @type {string} */ what) => page.evaluate(([what, i]) => /** @type {any} */ (globalThis).times[what](i), /** @type {const} */ ([what, i]));
    const both = (/** @type {any[]} */ a, /** @type {any[]} */ b) => a.map((each, run) => ({ ...each, ...b[run] }));
    const mine = both(await ask("ours"), await ask("compiled"));
    const theirs = await ask("theirs").catch(() => undefined);
    if (!theirs) { // their module is of no use after an error
      ++aborted;
      await closePages();
      page = await schemaPage();
      continue;
    }
    const found = [cases[i].native, mine, both(await inNode.ours(i), await inNode.compiled(i)), theirs];
    Object.values(times).forEach((runs, who) => runs.forEach((all, run) => {
      for (const [key, value] of Object.entries(found[who][run])) (all[key] ??= []).push(Number(value));
    }));
  }
  frontEnds().close();
  console.log(`\n${cases.length} MaskBench schemas, ${vocabulary}; ${aborted} left out, at which web-xgrammar fails\n`);
  for (const [run, title] of ["the first run", "the best of three"].entries()) {
    console.log(`\n| ms, median / p95, ${title} | ${COLUMNS.join(" | ")} |\n| --- | ---: | ---: | ---: | ---: |`);
    for (const [who, found] of Object.entries(times)) console.log(`| ${who} | ${COLUMNS.map((key) => shown(found[run][key])).join(" | ")} |`);
  }
}

/** @param {number[] | undefined} values */
function shown(values) {
  if (!values) return "";
  const sorted = [...values].sort((a, b) => a - b);
  const at = (/** @type {number} */ q) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]?.toFixed(3);
  return `${at(0.5)} / ${at(0.95)}`;
}

/** A page in which `times.ours(i)`, `.compiled(i)` and `.theirs(i)` measure schema i. */
async function schemaPage() {
  const page = await openPage({ isolated: true });
  await page.evaluate(async () => {
    const { configureFrontEnds } = await import("/web/maskwright/src/index.js".toString());
    configureFrontEnds({ pyodide: "/web/node_modules/pyodide/" });
    const { prepare } = await import("/web/bench/schema_times.js".toString());
    await import("/web/node_modules/@mlc-ai/web-xgrammar/lib/index.js".toString());
    const times = await prepare(async (/** @type {string} */ path) => (await fetch(path)).text());
    await times.warmUp();
    Object.assign(globalThis, { times: { ...times, theirs: await times.theirs(/** @type {any} */ (globalThis).xgrammar) } });
  });
  return page;
}
