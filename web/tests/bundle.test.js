// The package in a page that Vite bundles, in Chromium: the kernel, the front-ends and their worker are found without options.
// Skipped, with the reason, where there is no Chromium.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
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

test("a page that Vite bundled", { skip }, async () => {
  const folder = await consumer("vite");
  await Promise.all([writeFile(join(folder, "index.html"), PAGE), writeFile(join(folder, "main.js"), PROGRAM)]);
  await build({ root: folder, base: "./", logLevel: "error" });
  const page = await openPage();
  /** @type {string[]} */
  const errors = [];
  page.on("pageerror", ({ message }) => errors.push(message));
  await page.goto(new URL("build/web/consumers/vite/dist/index.html", page.url()).href);
  await page.waitForFunction(() => document.title !== "bundled", null, { timeout: 60_000 }).catch(() => {});
  assert.deepEqual([await page.title(), ...errors], ["true,false,true,true"]);
});
