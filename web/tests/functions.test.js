// Every function of the package does what the Python package's does: results, bitmasks, and errors with their messages.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { before, test } from "node:test";

import { load } from "../maskwright/src/index.js";
import { replayFunctions } from "./functions.js";

before(() => load());

test("calls return and raise what they do in Python", async (t) => {
  const data = JSON.parse(await readFile(new URL("../../build/web/cases/functions.json", import.meta.url), "utf8"));
  const { numCalls, numErrors, differences } = replayFunctions(data);
  t.diagnostic(`${numCalls} results were compared, ${numErrors} of them errors`);
  assert.deepEqual(differences, []);
  assert.ok(numCalls >= 250 && numErrors >= 35);
});
