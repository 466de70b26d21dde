/**
 * Figures of the web package in Chromium, printed as tables:
 *
 *     python web/bench/dump_schemas.py build/web/cases && node web/bench/figures.js
 *
 * Bytes to load; milliseconds from the page's load to the first mask, without Python and with it; the kernel's memory
 * after 10,000 grammars in one page; MaskBench schemas beside the native kernel and, in the same page,
 * @mlc-ai/web-xgrammar. Times are the best of three.
 */
import { readFile } from "node:fs/promises";
import { brotliCompressSync, gzipSync } from "node:zlib";

import { closePages, openPage, skip } from "../tests/chromium.js";

const ROOT = new URL("../../", import.meta.url);

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
  /** @type {Record<string, Record<string, number[]>>} */
  const times = { native: {}, maskwright: {}, "@mlc-ai/web-xgrammar": {} };
  let aborted = 0;
  let page = await schemaPage();
  for (let i = 0; i < cases.length; ++i) {
    const mine = await page.evaluate((i) => /** @type {any} */ (globalThis).bench.ours(i), i);
    const theirs = await page.evaluate((i) => /** @type {any} */ (globalThis).bench.theirs(i), i).catch(() => undefined);
    if (!theirs) { // their module is of no use after an error
      ++aborted;
      await closePages();
      page = await schemaPage();
      continue;
    }
    for (const [who, found] of [["native", cases[i].native], ["maskwright", mine], ["@mlc-ai/web-xgrammar", theirs]]) {
      for (const key of ["compile", "first", "token"]) (times[who][key] ??= []).push(found[key]);
    }
  }
  console.log(`\n${cases.length} MaskBench schemas, ${vocabulary}; ${aborted} left out, at which web-xgrammar fails\n`);
  console.log("| ms, median / p95 | load or compile | first mask | each token |\n| --- | ---: | ---: | ---: |");
  for (const [who, found] of Object.entries(times)) {
    console.log(`| ${who} | ${["compile", "first", "token"].map((key) => shown(found[key])).join(" | ")} |`);
  }
}

/** @param {number[] | undefined} values */
function shown(values = []) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (/** @type {number} */ q) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]?.toFixed(3);
  return `${at(0.5)} / ${at(0.95)}`;
}

/** A page in which `bench.ours(i)` and `bench.theirs(i)` measure schema i. */
async function schemaPage() {
  const page = await openPage({ isolated: true });
  await page.evaluate(async () => {
    const { CompiledGrammar, GrammarMatcher, TokenizerInfo, allocateTokenBitmask, load } =
      await import("/web/maskwright/src/index.js".toString());
    await load();
    await import("/web/node_modules/@mlc-ai/web-xgrammar/lib/index.js".toString());
    const { xgrammar } = /** @type {any} */ (globalThis);
    const { cases, stop, vocabSize } = await (await fetch("/build/web/cases/schemas.json")).json();
    const ranks = await (await fetch("/build/web/cases/vocabulary.tiktoken")).text();
    const info = TokenizerInfo.fromTiktoken(ranks, { specialTokens: { "<|stop|>": stop[0] }, stopTokenIds: stop });
    const bitmask = allocateTokenBitmask(1, vocabSize);
    const characters = byteCharacters();
    const vocab = info.tokenBytes.map((/** @type {Uint8Array} */ token, /** @type {number} */ id) =>
      id === stop[0] ? "<|stop|>" : Array.from(token, (byte) => characters[byte]).join(""));
    const theirInfo = await xgrammar.TokenizerInfo.createTokenizerInfo(vocab, "byte_level", false, vocabSize, stop);
    new CompiledGrammar(info, Uint8Array.from(atob(cases[0].file), (c) => c.charCodeAt(0)));

    /** @param {() => Promise<{compile: number, first: number, token: number}>} once */
    const best = async (once) => {
      const runs = [await once(), await once(), await once()];
      /** @param {"compile" | "first" | "token"} key */
      const least = (key) => Math.min(...runs.map((run) => run[key]));
      return { compile: least("compile"), first: least("first"), token: least("token") };
    };
    /** @type {any} */ (globalThis).bench = {
      ours: (/** @type {number} */ i) => best(async () => {
        const file = Uint8Array.from(atob(cases[i].file), (c) => c.charCodeAt(0));
        const begin = performance.now();
        const grammar = new CompiledGrammar(info, file);
        const made = performance.now();
        const matcher = new GrammarMatcher(grammar);
        matcher.fillNextTokenBitmask(bitmask);
        const first = performance.now();
        for (const token of cases[i].tokens) {
          matcher.fillNextTokenBitmask(bitmask);
          if (!matcher.acceptToken(token)) throw new Error(`refused ${token}`);
        }
        const end = performance.now();
        matcher.dispose();
        grammar.dispose();
        return { compile: made - begin, first: first - made, token: (end - first) / cases[i].tokens.length };
      }),
      theirs: (/** @type {number} */ i) => best(async () => {
        const compiler = await xgrammar.GrammarCompiler.createGrammarCompiler(theirInfo, false);
        const begin = performance.now();
        const grammar = await compiler.compileJSONSchema(cases[i].schema, true, undefined, undefined, false);
        const made = performance.now();
        const matcher = await xgrammar.GrammarMatcher.createGrammarMatcher(grammar);
        await matcher.getNextTokenBitmask();
        const first = performance.now();
        for (const token of cases[i].tokens) {
          await matcher.getNextTokenBitmask();
          if (!matcher.acceptToken(token)) throw new Error(`refused ${token}`);
        }
        const end = performance.now();
        for (const each of [matcher, grammar, compiler]) each.dispose();
        return { compile: made - begin, first: first - made, token: (end - first) / cases[i].tokens.length };
      }),
    };

    /** GPT-2's character for each byte. */
    function byteCharacters() {
      let next = 256;
      return Array.from({ length: 256 }, (_, byte) => {
        const isShown = (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
        return String.fromCharCode(isShown ? byte : next++);
      });
    }
  });
  return page;
}
