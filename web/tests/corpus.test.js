// Every mask of tests/corpus on the WebAssembly kernel equals the native one, bit by bit.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { before, test } from "node:test";

import { load } from "../maskwright/src/index.js";
import { replay } from "./replay.js";

before(() => load());

test("the corpus gives the masks that it gives natively", async (t) => {
  const data = JSON.parse(await readFile(new URL("../../build/web/cases/corpus.json", import.meta.url), "utf8"));
  const { numGrammars, numMasks, differences } = replay(data);
  t.diagnostic(`${numGrammars} grammars, ${numMasks} masks`);
  assert.deepEqual(differences, []);
  assert.ok(numGrammars >= 600 && numMasks >= 20_000);
});
