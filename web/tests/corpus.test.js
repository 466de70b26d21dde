// Every mask of tests/corpus and of the exhaustive suite's grammars on the WebAssembly kernel equals the native one, bit
// by bit, in Node. chromium.test.js runs the same in a browser.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { before, test } from "node:test";

import { load } from "../maskwright/src/index.js";
import { replayAll } from "./replay.js";

/** The least that there must be, so that a test of nothing is noticed. @type {[string, number, number][]} */
const FILES = [["corpus", 600, 20_000], ["exhaustive", 1_400, 30_000]];

before(() => load());

for (const [name, grammars, masks] of FILES) {
  test(`${name}: the masks are the native ones`, async (t) => {
    const data = JSON.parse(await readFile(new URL(`../../build/web/cases/${name}.json`, import.meta.url), "utf8"));
    const { numGrammars, numMasks, differences } = replayAll(data);
    t.diagnostic(`${name}: ${numGrammars} grammars, ${numMasks} masks`);
    assert.deepEqual(differences, []);
    assert.ok(numGrammars >= grammars && numMasks >= masks);
  });
}
