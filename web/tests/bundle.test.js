// The package in a page that a bundler made, in Chromium: the kernel, the front-ends and their worker are found without options.
// Skipped, with the reason, where there is no Chromium.
import assert from "node:assert/strict";
import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import * as esbuild from "esbuild";
import { build } from "vite";

import { closePages, openPage, skip } from "./chromium.js";
import { consumer } from "./consumer.js";

const PAGE = `<!doctype html><title>bundled</title><script type="module" src="main.js"></script>`;
const PROGRAM = `
import { GrammarCompiler, GrammarMatcher, TokenizerInfo, configureFrontEnds, frontEnds, load } from "maskwright";

await load();
configureFrontEnds({ pyodide: "/web/node_modules/pyodide/" });
const info = TokenizerInfo.fromVocab(["1", "2", "a", "</s>"], { stopTokenIds: [3], specialTokenIds: [3] });
const matcher = new GrammarMatcher(await new GrammarCompiler(info).compileRegex("[0-9]{2}"));
document.title = [0, 2, 1].map((token) => matcher.acceptToken(token)).join() + "," + matcher.isCompleted();
frontEnds().close();
`;

after(closePages);

test("a page that esbuild bundled, as docs/browser.md says", { skip }, async () => {
  const folder = await consumer("esbuild");
  const www = join(folder, "www");
  await writeFile(join(folder, "main.js"), PROGRAM);
  await esbuild.build({ absWorkingDir: folder, bundle: true, format: "esm", outdir: join(www, "assets"), logLevel: "error",
    entryPoints: { main: "main.js", "frontends.worker": "node_modules/maskwright/src/frontends.worker.js" } });
  for (const file of ["maskwright.wasm", "frontends.zip"]) await cp(join(folder, "node_modules/maskwright", file), join(www, file));
  await writeFile(join(www, "index.html"), PAGE.replace("main.js", "assets/main.js"));
  assert.deepEqual(await outcome("build/web/consumers/esbuild/www/index.html"), ["true,false,true,true"]);
});

test("a page that Vite bundled", { skip }, async () => {
  const folder = await consumer("vite");
  await Promise.all([writeFile(join(folder, "index.html"), PAGE), writeFile(join(folder, "main.js"), PROGRAM)]);
  await build({ root: folder, base: "./", logLevel: "error" });
  assert.deepEqual(await outcome("build/web/consumers/vite/dist/index.html"), ["true,false,true,true"]);
});

/** The title that the program gives the page, and what went wrong. @param {string} path */
async function outcome(path) {
  const page = await openPage();
  /** @type {string[]} */
  const errors = [];
  page.on("pageerror", ({ message }) => errors.push(message));
  await page.goto(new URL(path, page.url()).href);
  await page.waitForFunction(() => document.title !== "bundled", null, { timeout: 60_000 }).catch(() => {});
  return [await page.title(), ...errors];
}
