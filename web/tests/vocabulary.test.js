// Plain vocabularies: arrays, Maps and objects, and the strings of vocabulary files, which are no texts.
import assert from "node:assert/strict";
import { test } from "node:test";

import { GrammarCompiler, GrammarMatcher, TokenizerInfo, frontEnds, load } from "../maskwright/src/index.js";
import { kernel } from "../maskwright/src/kernel.js";

const LETTERS = ["a", "b", "c", "d"];
const hex = (/** @type {number} */ byte) => byte.toString(16).padStart(2, "0").toUpperCase();
const bytes = (/** @type {string} */ text) => new TextEncoder().encode(text);
const infoOf = (/** @type {any} */ tokens) => TokenizerInfo.fromVocab(tokens, { stopTokenIds: [] });
const textsOf = (/** @type {any} */ tokens) => infoOf(tokens).tokenBytes.map((token) => new TextDecoder().decode(token));

test("ids are given by a Map, an object or the order", () => {
  const ways = [["a", "b"], { b: 1, a: 0 }, new Map([["b", 1], ["a", 0]]), new Map([[bytes("b"), 1], [bytes("a"), 0]])];
  for (const tokens of ways) assert.deepEqual(textsOf(tokens), ["a", "b"]);
  assert.deepEqual(textsOf({ c: 3, 0: 1 }), ["", "0", "", "c"]);
  assert.equal(infoOf({ c: 3, a: 0 }).vocabSize, 4);
});

test("strings of a vocabulary file are decoded with their ids, too", () => {
  for (const texts of [["a", "Ġthe"], { "Ġthe": 1, a: 0 }, new Map([["Ġthe", 1], ["a", 0]])]) {
    const info = TokenizerInfo.fromEncodedVocab(texts, { vocabType: "byte_level", stopTokenIds: [] });
    assert.deepEqual(info.tokenBytes, [bytes("a"), bytes(" the")]);
  }
});

test("a tokenizer's memory is given back at once, and what was made from it stays valid", async () => {
  await load();
  const info = infoOf(Array.from({ length: 60_000 }, (_, id) => `${id}`));
  const memory = () => {
    info.handle;
    const { byteLength } = kernel().memory.buffer;
    info.dispose();
    return byteLength;
  };
  const first = memory();
  for (let i = 0; i < 10; ++i) assert.equal(memory(), first);
  const grammar = await new GrammarCompiler(info).compileRegex("1[0-9]");
  frontEnds().close();
  info.dispose();
  const matcher = new GrammarMatcher(grammar);
  assert.deepEqual([matcher.acceptToken(2), matcher.acceptToken(17), matcher.isCompleted()], [false, true, true]);
});

/** @type {[any, string, RegExp, RegExp?][]} */
const WRONG = [
  [{ a: 0, b: 1, c: 1 }, "TokenizerError", /id 1 has two texts, 'b' and 'c'/, /give each id one text/],
  [{ a: -1 }, "TokenizerError", /the entry 'a': '-1' is not a text and its id/, /integers from 0/],
  [{ a: 0.5 }, "TokenizerError", /the entry 'a': '0.5'/, /integers from 0/],
  [{ a: 2 ** 40 }, "TokenizerError", /the entry 'a': '1099511627776'/, /16777215/],
  [{ 0: "a" }, "TokenizerError", /the entry '0': 'a'/, /new Map\(Object.entries\(vocab\)/],
  [new Map([[0, "a"]]), "TokenizerError", /the entry '0': 'a'/, /new Map\(Object.entries\(vocab\)/],
  [{ model: { vocab: {} } }, "TokenizerError", /the entry 'model': Object/, /integers from 0/],
  [null, "ArgumentError", /tokens must be an array .*, or a Map or an object/],
  ["abc", "ArgumentError", /tokens must be an array/],
  [bytes("abc"), "ArgumentError", /tokens must be an array/],
  [new Set(LETTERS), "ArgumentError", /tokens must be an array/, /\[\.\.\.value\]/],
  [["a", null], "ArgumentError", /token 1 must be a string or a Uint8Array/],
];

test("what is no vocabulary is refused", () => {
  for (const [tokens, name, message, hint] of WRONG) {
    assert.throws(() => infoOf(tokens), (/** @type {any} */ error) => {
      assert.equal(error.name, name);
      assert.match(error.message, message);
      if (hint) assert.match(error.hint, hint);
      return true;
    });
  }
});

test("the hint about a reversed object works", () => {
  const vocab = { 0: "a", 1: "b" };
  assert.deepEqual(textsOf(new Map(Object.entries(vocab).map(([id, text]) => [text, Number(id)]))), ["a", "b"]);
});

test("strings of vocabulary files are refused", () => {
  for (const [tokens, message, hint] of /** @type {[any, RegExp, RegExp][]} */ ([
    [[...LETTERS, "Ġthe", "Ġof"], /2 of 6 tokens begin with 'Ġ', as in .* byte-level BPE/, /vocabType: "byte_level"/],
    [[...LETTERS, "▁the"], /SentencePiece/, /vocabType: "byte_fallback"/],
    [[...LETTERS, "##ing"], /WordPiece/, /fromTokenizerJson, which/],
    [{ a: 0, "Ġa": 1 }, /byte-level BPE/, /as it stands in an output/],
    [[...LETTERS, bytes("Ġthe")], /byte-level BPE/, /byte_level/], // encoded, it is no better
    [Array(101).fill("\uFFFD"), /101 of 101 tokens hold U\+FFFD/, /fromTransformersJs/],
    [[...Array(256).keys()].map((byte) => bytes(`<0x${hex(byte)}>`)), /single bytes/, /for <0x0A>/],
  ])) assert.throws(() => infoOf(tokens), { name: "TokenizerError", message, hint });
});

test("texts are taken as they are", () => {
  for (const tokens of [
    [...LETTERS, ...[...Array(255).keys()].map((byte) => `<0x${hex(byte)}>`)],
    [...LETTERS, " the", "Ġ"], // spaces are written as such
    [...Array(10).fill(LETTERS).flat(), "Ġ"], // a letter of Maltese
    [...LETTERS, "#", "##", "## "],
  ]) assert.equal(infoOf(tokens).tokenBytes.length, tokens.length);
});
