// Grammar files that anybody may have written: refused with typed errors, and nothing is harmed.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { before, test } from "node:test";

import {
  CompiledGrammar, GrammarError, GrammarMatcher, LimitError, MaskwrightError, TokenizerInfo, UnsatisfiableError,
  allocateTokenBitmask, allowedTokens, applyTokenBitmaskInplace, load,
} from "../maskwright/src/index.js";
import { crc32, fromBase64 } from "./replay.js";

before(() => load());

const info = () => TokenizerInfo.fromVocab(["a", "b", "<think>", "</s>"], { specialTokenIds: [2, 3], stopTokenIds: [3] });

/** A file with this body behind its notes, which are empty. @param {number[]} grammar */
function file(grammar, { version = 4, notes = [0], crc = crc32(Uint8Array.from([...notes, ...grammar])) } = {}) {
  const body = [...notes, ...grammar];
  return Uint8Array.from([0x89, 0x4d, 0x57, 0x47, version, ...[0, 8, 16, 24].map((s) => (crc >>> s) & 0xff), ...body]);
}

/** @param {Uint8Array} data */
function firstTokens(data) {
  const bitmask = allocateTokenBitmask(1, 4);
  new GrammarMatcher(new CompiledGrammar(info(), data)).fillNextTokenBitmask(bitmask);
  return allowedTokens(bitmask, 4);
}

const LITERAL_A = [2, 1, 0x61];

test("a small file", () => {
  assert.deepEqual(firstTokens(file([1, ...LITERAL_A, 1, 0, 0, 0])), [0]);
});

test("notes are not looked at", () => {
  assert.deepEqual(firstTokens(file([1, ...LITERAL_A, 1, 0, 0, 0], { notes: [3, 0xff, 0, 0x7b] })), [0]);
});

test("token sets are looked up by name and by number", () => {
  const set = (/** @type {number[]} */ ...fields) => file([1, ...LITERAL_A, 1, 0, 0, 1, 0, ...fields]);
  const think = [7, ...new TextEncoder().encode("<think>")];
  assert.deepEqual(firstTokens(set(0, 1, ...think, 0)), [2]);
  assert.deepEqual(firstTokens(set(1, 1, ...think, 0)), [0, 1]);
  assert.deepEqual(firstTokens(set(0, 0, 1, 1, 1)), [1]);
  assert.throws(() => firstTokens(set(0, 1, 1, 0x78, 0)), { name: "GrammarError", message: /no token 'x'/ });
  assert.throws(() => firstTokens(set(0, 0, 1, 4, 4)), { name: "GrammarError", message: /no token 4/ });
});

test("what is no file is refused with what to pass", () => {
  for (const wrong of ["root ::= \"a\"", { type: "object" }, undefined]) {
    assert.throws(() => new CompiledGrammar(info(), /** @type {any} */ (wrong)), {
      name: "ArgumentError", argument: "file", message: /Uint8Array or an ArrayBuffer, not .*\n.*response.arrayBuffer/,
    });
  }
  const data = file([1, ...LITERAL_A, 1, 0, 0, 0]);
  assert.deepEqual(firstTokens(/** @type {any} */ (data.slice().buffer)), [0]);
});

test("tokenizers and logits that are not as they should be", () => {
  const tokenBytes = /** @type {any} */ (["a"]);
  assert.throws(() => new TokenizerInfo({ tokenBytes }), { name: "TokenizerError", hint: /fromVocab/ });
  assert.throws(() => TokenizerInfo.fromTokenizerJson("/tokenizer.json"), { name: "TokenizerError", hint: /contents/ });
  const swapped = /** @type {any[]} */ ([new Int32Array(1), new Float32Array(4)]);
  assert.throws(() => applyTokenBitmaskInplace(swapped[0], swapped[1]), { name: "BitmaskError", hint: /logits first/ });
});

test("damaged files are refused", () => {
  const cases = /** @type {[RegExp, Uint8Array][]} */ ([
    [/not a saved grammar/, new Uint8Array()],
    [/not a saved grammar/, new TextEncoder().encode("{\"type\": \"object\"}")],
    [/version 2/, file([0], { version: 2 })],
    [/checksum/, file([1, ...LITERAL_A, 1, 0, 0, 0], { crc: 1 })],
    [/ends too early/, file([1, 2, 9, 0x61])],
    [/ends too early/, file([])],
    [/ends too early/, file([], { notes: [] })],
    [/ends too early/, file([1, ...LITERAL_A, 1, 0, 0, 0], { notes: [100] })],
    [/something follows/, file([1, ...LITERAL_A, 1, 0, 0, 0, 0])],
    [/root names no rule/, file([1, ...LITERAL_A, 1, 0, 1, 0])],
    [/no expression/, file([1, ...LITERAL_A, 1, 5, 0, 0])],
    [/reference names no rule/, file([1, 7, 3, 1, 0, 0, 0])],
    [/operand is not there/, file([1, 6, 1, 0, 0, 1, 0, 0, 0])],
    [/impossible bounds/, file([2, ...LITERAL_A, 6, 1, 5, 3, 1, 1, 0, 0])],
    [/unknown op/, file([1, 23, 1, 0, 0, 0])],
    [/outside of it/, file([1, 14, 0, 1, 0, 0, 0])],
    [/complement is not regular/, file([2, 7, 0, 10, 1, 1, 1, 0, 0])],
    [/intersection is not regular/, file([3, 7, 0, ...LITERAL_A, 9, 2, 2, 1, 1, 2, 0, 0])],
    [/recalled where it is not remembered/, file([2, 19, 5, 17, 1, 1, 1, 0, 0])],
    [/may be empty/, file([6, ...LITERAL_A, 6, 1, 0, 2, 18, 1, 5, 19, 5, 4, 2, 2, 1, 17, 1, 1, 5, 0, 0])],
    [/too few operands/, file([2, ...LITERAL_A, 4, 1, 1, 1, 1, 0, 0])],
    [/more than 64 bits/, file([...Array(10).fill(0xff), 1])],
  ]);
  for (const [message, data] of cases) assert.throws(() => firstTokens(data), { name: "GrammarError", message });
});

test("limits", () => {
  assert.throws(() => firstTokens(file([0x80, 0x80, 0x80, 0x80, 0x10])), LimitError);
  const deep = Array.from({ length: 70 }, () => [2, 1]).flat();
  assert.throws(() => firstTokens(file([2, ...LITERAL_A, 11, 1, ...deep, 2, 0, 1, 1, 0, 0])), LimitError);
});

test("a grammar without outputs", () => {
  assert.throws(() => firstTokens(file([1, 1, 1, 0, 0, 0])), UnsatisfiableError);
});

test("bytes changed at random, with a checksum that fits", async (t) => {
  const { cases } = JSON.parse(await readFile(new URL("../../build/web/cases/corpus.json", import.meta.url), "utf8"));
  let seed = 1;
  const random = (/** @type {number} */ below) => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return (seed >>> 8) % below;
  };
  let accepted = 0;
  let refused = 0;
  const tokenizer = info();
  for (const { file: text } of cases.filter((/** @type {any} */ each) => each.file.length < 2000)) {
    for (let round = 0; round < 10; ++round) {
      const body = [...fromBase64(text).subarray(10)];  // no notes
      for (let i = 0; i <= random(3); ++i) body[random(body.length)] = random(256);
      try {
        const grammar = new CompiledGrammar(tokenizer, file(body));
        const matcher = new GrammarMatcher(grammar);
        const bitmask = allocateTokenBitmask(1, 4);
        for (let i = 0; i < 5; ++i) {
          matcher.fillNextTokenBitmask(bitmask);
          for (let id = 0; id < 4; ++id) {
            const allowed = ((bitmask[0] >>> id) & 1) === 1;
            assert.equal(matcher.fork().acceptToken(id), allowed);
          }
          const ids = allowedTokens(bitmask, 4);
          if (ids.length === 0) break;
          matcher.acceptToken(ids[random(ids.length)]);
        }
        ++accepted;
      } catch (error) {
        if (!(error instanceof MaskwrightError) || !(error instanceof GrammarError || error instanceof LimitError)) throw error;
        ++refused;
      }
    }
  }
  t.diagnostic(`${accepted} were grammars, ${refused} were refused`);
  assert.ok(accepted > 100 && refused > 100);
});
