// The package in a real browser: the same cases as in Node, in a page and in workers, with cross-origin isolation and
// without. Skipped, with the reason, where there is no Chromium.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { closePages, openPage, skip } from "./chromium.js";

for (const isolated of [false, true]) {
  describe(`Chromium, ${isolated ? "" : "not "}cross-origin isolated`, { skip }, () => {
    /** @type {import("playwright-core").Page} */
    let page;
    before(async () => {
      page = await openPage({ isolated });
      assert.equal(await page.evaluate(() => globalThis.crossOriginIsolated), isolated);
    });
    after(closePages);

    for (const [name, least] of /** @type {[string, number][]} */ ([["corpus", 20_000], ["exhaustive", 30_000]])) {
      test(`${name}: the masks are the native ones`, async (t) => {
        const { numGrammars, numMasks, differences } = await page.evaluate(async (name) => {
          const { load } = await import("/web/maskwright/src/index.js".toString());
          const { replayAll } = await import("/web/tests/replay.js".toString());
          await load();
          return replayAll(await (await fetch(`/build/web/cases/${name}.json`)).json());
        }, name);
        t.diagnostic(`${name}: ${numGrammars} grammars, ${numMasks} masks`);
        assert.deepEqual(differences, []);
        assert.ok(numMasks >= least);
      });
    }

    test("calls return and raise what they do in Python", async () => {
      const { numCalls, differences } = await page.evaluate(async () => {
        const { load } = await import("/web/maskwright/src/index.js".toString());
        const { replayFunctions } = await import("/web/tests/functions.js".toString());
        await load();
        return replayFunctions(await (await fetch("/build/web/cases/functions.json")).json());
      });
      assert.deepEqual(differences, []);
      assert.ok(numCalls >= 250);
    });

    test("a worker with a kernel of its own takes the bytes of a grammar", async () => {
      const found = await page.evaluate(async () => {
        const { fromBase64 } = await import("/web/tests/replay.js".toString());
        const { cases } = await (await fetch("/build/web/cases/corpus.json")).json();
        const { file } = cases.find((/** @type {any} */ { name }) => name === String.raw`regex: \d{3}-\d{4}`);
        const source = `
          import { GrammarCompiler, GrammarMatcher, TokenizerInfo, load } from "${location.origin}/web/maskwright/src/index.js";
          const info = TokenizerInfo.fromVocab([..."0123456789-"], { stopTokenIds: [] });
          onmessage = async ({ data }) => {
            await load();
            const matcher = new GrammarMatcher(new GrammarCompiler(info).compileGrammarFile(data.file));
            postMessage([matcher.acceptString("555-"), matcher.acceptString("x"), matcher.acceptString("1234"), matcher.isCompleted()]);
          };`;
        const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })), { type: "module" });
        return new Promise((resolve, reject) => {
          worker.onmessage = ({ data }) => resolve(data);
          worker.onerror = ({ message }) => reject(new Error(message));
          worker.postMessage({ file: fromBase64(file) });
        });
      });
      assert.deepEqual(found, [true, false, true, true]);
    });

    test("structures are compiled in a worker, errors keep their type, and a hostile one does not freeze the page", async (t) => {
      const found = await page.evaluate(async () => {
        const maskwright = await import("/web/maskwright/src/index.js".toString());
        const { GrammarCompiler, GrammarMatcher, TokenizerInfo, configureFrontEnds, frontEnds, load } = maskwright;
        await load();
        configureFrontEnds({ pyodide: "/web/node_modules/pyodide/" });
        const bytes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte));
        const info = TokenizerInfo.fromVocab([...bytes, "</s>"], { stopTokenIds: [256], specialTokenIds: [256] });
        const compiler = new GrammarCompiler(info);
        await frontEnds().warmUp();
        const matcher = new GrammarMatcher(await compiler.compileJsonSchema({ type: "integer" }));
        const accepted = matcher.acceptString("-12") && matcher.isCompleted();
        const errorOf = async (/** @type {Promise<unknown>} */ promise) => {
          try {
            await promise;
            return undefined;
          } catch (error) {
            const { name, pointer, limit } = /** @type {any} */ (error);
            return { name, pointer, limit };
          }
        };
        const wrong = await errorOf(compiler.compileJsonSchema({ properties: { a: { type: "objekt" } } }));
        frontEnds().timeoutMs = 500;
        let longest = 0;
        let last = performance.now();
        const timer = setInterval(() => {
          longest = Math.max(longest, performance.now() - last);
          last = performance.now();
        }, 10);
        const begin = performance.now();
        // Takes ten times that, for its size: what takes long for its structure is refused at once.
        const hostile = await errorOf(compiler.compileJsonSchema({ properties: Object.fromEntries(Array.from({ length: 10_000 },
          (_, i) => [`p${i}`, { patternProperties: { [`^a${i}.*[0-9]{3,9}b`]: { type: "string" }, [`x.*${i}`]: { minLength: i } } }])) }));
        const took = performance.now() - begin;
        clearInterval(timer);
        frontEnds().timeoutMs = 30_000;
        const again = new GrammarMatcher(await compiler.compileChoices(["yes", "no"]));
        const works = again.acceptString("yes") && again.isCompleted();
        return { accepted, wrong, hostile, took, longest, works };
      });
      t.diagnostic(`the hostile structure took ${Math.round(found.took)} ms, the page's longest pause meanwhile was ` +
        `${Math.round(found.longest)} ms`);
      assert.ok(found.accepted && found.works);
      assert.deepEqual(found.wrong, { name: "SchemaError", pointer: "/properties/a/type", limit: undefined });
      assert.deepEqual(found.hostile, { name: "LimitError", pointer: undefined, limit: "time" });
      assert.ok(found.longest < 1000, `the page stood still for ${found.longest} ms`);
    });
  });
}
