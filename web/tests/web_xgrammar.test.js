// One program with @mlc-ai/web-xgrammar and with maskwright/compat/web-xgrammar: the imports are swapped, nothing else.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

import { frontEnds } from "../maskwright/src/index.js";
import * as ours from "../maskwright/src/compat/web-xgrammar.js";

// Their module is ES, but in Node it looks for what only CommonJS has.
const __filename = fileURLToPath(import.meta.url);
Object.assign(globalThis, { require: createRequire(import.meta.url), __filename, __dirname: fileURLToPath(new URL(".", import.meta.url)) });

after(() => frontEnds().close());

const VOCAB = [..."abcxyz0123456789{}[]\":, \n", "true", "name", '{"', '":', "ab", "</s>"];
const id = (/** @type {string} */ token) => VOCAB.indexOf(token);
const SCHEMA = JSON.stringify({ type: "object", properties: { name: { type: "integer" } }, required: ["name"] });

/** What a user of the package does, and sees. @param {any} xgrammar */
async function program({ Grammar, GrammarCompiler, GrammarMatcher, StructuralTagItem, Testings, TokenizerInfo }) {
  /** @type {unknown[]} */
  const seen = [];
  const info = await TokenizerInfo.createTokenizerInfo(VOCAB, "raw", false, 40, id("</s>"));
  seen.push(info.getVocabSize());
  const compiler = await GrammarCompiler.createGrammarCompiler(info);
  const watch = async (/** @type {any} */ matcher, /** @type {string[]} */ tokens) => {
    for (const token of tokens) {
      const masked = await Testings.debugGetMaskedTokensFromBitmask(await matcher.getNextTokenBitmask(), info.getVocabSize());
      seen.push([...masked].map((each) => VOCAB[each]).join(" "), matcher.findJumpForwardString(), matcher.acceptToken(id(token)));
    }
    seen.push(matcher.isTerminated());
  };
  const json = await GrammarMatcher.createGrammarMatcher(await compiler.compileJSONSchema(SCHEMA, false, -1, [",", ":"]));
  await watch(json, ['{"', "name", '":', "1", "2", "x", "}", "</s>"]);
  json.rollBack(3);
  await watch(json, ["3", "}"]);
  json.reset();
  seen.push(json._acceptString('{"name":7'), json._acceptString("q"));
  json.dispose();
  const grammar = await Grammar.fromEBNF('root ::= "a" [xyz]* | "b" root');
  seen.push(await Testings.isGrammarAcceptString(grammar, "bbaxx"), await Testings.isGrammarAcceptString(grammar, "bb"));
  const compiled = await compiler.compileGrammar(grammar);
  await watch(await GrammarMatcher.createGrammarMatcher(compiled, id("z"), false), ["a", "x", "z"]);
  await watch(await GrammarMatcher.createGrammarMatcher(compiled, undefined, true), ["b", "a"]);
  await watch(await GrammarMatcher.createGrammarMatcher(await compiler.compileGrammar('top ::= "ab"', "top")), ["a", "b", "</s>"]);
  const tag = { type: "tag", begin: "x", content: { type: "json_schema", json_schema: { type: "integer" } }, end: "y" };
  await watch(await GrammarMatcher.createGrammarMatcher(await compiler.compileStructuralTag(tag)), ["x", "1", "y", "</s>"]);
  const legacy = await compiler.compileStructuralTag([new StructuralTagItem("[ab]", '{"type": "boolean"}', "[x]")], ["[ab"]);
  await watch(await GrammarMatcher.createGrammarMatcher(legacy), ["c", "[", "ab", "]", "true", "[", "x", "]", "b", "</s>"]);
  const builtin = await Grammar.builtinJSONGrammar();
  seen.push(await Testings.isGrammarAcceptString(builtin, '{"a": [1, true]}'), await Testings.isGrammarAcceptString(builtin, "{"));
  for (const text of ["1", '"a"', "true", "[ 1 ]"]) seen.push(await Testings.isGrammarAcceptString(builtin, text));
  await assert.rejects(Grammar.fromEBNF("root ::= ("));
  await assert.rejects(compiler.compileJSONSchema("{"));
  for (const each of [compiler, info, compiled, grammar]) each.dispose();
  return seen;
}

test("a program for @mlc-ai/web-xgrammar does the same with the import changed", async () => {
  await import("@mlc-ai/web-xgrammar");
  const theirs = /** @type {any} */ (globalThis).xgrammar; // without a bundler it is a global, and exports nothing
  const [found, expected] = [await program(ours), await program(theirs)];
  assert.deepEqual(found, expected);
});
