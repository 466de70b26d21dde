// What callers get wrong: an error says what, at which place, and what to pass instead. Nothing is ignored silently.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { before, describe, test } from "node:test";

import { GrammarLogitProcessor } from "../maskwright/src/adapters/web-llm.js";
import { grammarLogitsProcessor } from "../maskwright/src/adapters/transformers.js";
import {
  BatchGrammarMatcher, GrammarCompiler, GrammarMatcher, TokenizerInfo, allocateTokenBitmask, allowedTokens,
  applyTokenBitmaskInplace, configureFrontEnds, frontEnds, load,
} from "../maskwright/src/index.js";
import * as module from "../maskwright/src/vocabulary.js";

const info = TokenizerInfo.fromVocab(["a", "b", "</s>"], { stopTokenIds: [2], specialTokenIds: [2] });
const compiler = new GrammarCompiler(info);
/** @type {any} */
let grammar;
before(async () => {
  await load();
  grammar = await compiler.compileRegex("[ab]+");
  frontEnds().close();
});

class Schema {
  type = "object";
}
/** As of Valibot; and hidden, as in what Zod's toJSONSchema returns. */
const standard = { "~standard": { validate: () => {} } };
const hidden = Object.defineProperty({ type: "integer" }, "~standard", { value: standard, enumerable: false });
/** @type {any} */
const circular = {};
circular.self = [circular];

describe("data that JSON cannot hold", () => {
  /** @type {[any, string, RegExp, RegExp][]} */
  const cases = [
    [undefined, "", /^schema must be made of JSON values, not undefined/, /plain objects/],
    [Object.assign(new Schema(), standard), "", /not Schema/, /z\.toJSONSchema\(schema\)/],
    [standard, "", /not Object/, /z\.toJSONSchema\(schema\)/],
    [{ properties: { "a/b": new Schema() } }, "/properties/a~1b", /^at #\/properties\/a~1b: schema/, /plain objects/],
    [Promise.resolve({}), "", /not Promise/, /await it/],
    [module, "", /not Module/, /default/],
    [{ enum: new Set([1]) }, "/enum", /not Set/, /arrays/],
    [{ pattern: /a/ }, "/pattern", /not RegExp/, /source/],
    [{ type: String }, "/type", /not function/, /strings/],
    [{ minimum: 3n }, "/minimum", /not bigint/, /JSON text/],
    [{ anyOf: [{}, { maximum: Infinity }] }, "/anyOf/1/maximum", /not Infinity/, /finite numbers/],
    [{ enum: [undefined] }, "/enum/0", /not undefined/, /null/],
  ];
  for (const [schema, pointer, message, hint] of cases) {
    test(String(message), async () => {
      await assert.rejects(compiler.compileJsonSchema(schema), (/** @type {any} */ error) => {
        assert.deepEqual([error.name, error.argument, error.pointer], ["ArgumentError", "schema", pointer]);
        assert.match(error.message, message);
        assert.match(error.hint, hint);
        return true;
      });
    });
  }

  test("nothing but data is taken elsewhere, either", async () => {
    await assert.rejects(compiler.compileJsonSchema({}, { registry: /** @type {any} */ (new Map()) }), { pointer: "/registry" });
    await assert.rejects(compiler.compileStructuralTag({ type: "structural_tag", format: standard }), { pointer: "/format" });
    const tool = { type: "function", function: { name: "f", parameters: standard } };
    await assert.rejects(compiler.compileTools("hermes", [tool]), { pointer: "/tools/0/function/parameters" });
  });

  test("data that contains itself, or nests too deep", async () => {
    await assert.rejects(compiler.compileJsonSchema(circular), { name: "ArgumentError", message: "schema contains itself" });
    let deep = {};
    for (let i = 0; i < 1e5; ++i) deep = { items: deep };
    await assert.rejects(compiler.compileJsonSchema(deep), { name: "LimitError", limit: "depth" });
  });

  test("members that are undefined are left out, and hidden ones are not looked at", async () => {
    const schema = { type: "integer", minimum: undefined };
    for (const each of [schema, hidden]) {
      assert.equal((await compiler.compileJsonSchema(each)).report.length, 0);
    }
    frontEnds().close();
  });
});

test("structures of another kind", async () => {
  /** @type {[() => Promise<unknown>, object][]} */
  const cases = [
    [() => compiler.compileRegex(/** @type {any} */ (/a/i)), { argument: "pattern", hint: /pattern\.source/ }],
    [() => compiler.compileRegex("a", /** @type {any} */ ("i")), { argument: "options", hint: /\{ flags: value \}/ }],
    [() => compiler.compileRegex("a", { flags: /** @type {any} */ (null) }), { argument: "flags" }],
    [() => compiler.compileGrammar(/** @type {any} */ (undefined)), { argument: "source" }],
    [() => compiler.compileGrammar("a", /** @type {any} */ ({ rootRuleName: "a" })), { argument: "rootRuleName" }],
    [() => compiler.compileLark("a", /** @type {any} */ ({})), { argument: "start" }],
    [() => compiler.compileChoices(/** @type {any} */ ("abc")), { argument: "choices", hint: "pass [text]" }],
    [() => compiler.compileChoices(/** @type {any} */ ([1])), { argument: "each of choices", hint: /String/ }],
    [() => compiler.compileTools(/** @type {any} */ ([]), /** @type {any} */ ("hermes")), { argument: "family", hint: /family first/ }],
    [() => compiler.compileJsonSchema({}, /** @type {any} */ (null)), { argument: "options" }],
  ];
  for (const [call, expected] of cases) await assert.rejects(call(), { name: "ArgumentError", ...expected });
});

test("options that there are not", () => {
  const any = /** @type {any} */ ({ max_tokens: 3 });
  const json = { model: { vocab: { a: 0 } }, decoder: { type: "Fuse" } };
  /** @type {[() => unknown, string][]} */
  const cases = [
    [() => new GrammarMatcher(grammar, any), "did you mean 'maxTokens'?"],
    [() => new GrammarLogitProcessor().begin(grammar, any), "did you mean 'maxTokens'?"],
    [() => grammarLogitsProcessor(grammar, any), "use one of: maxNewTokens"],
    [() => new GrammarCompiler(info, any), "use one of: cacheEnabled, cacheLimitBytes, grammarLimitBytes"],
    [() => TokenizerInfo.fromVocab(["a"], any), "use one of: stopTokenIds, vocabSize, encode, specialTokenIds"],
    [() => TokenizerInfo.fromTokenizerJson(json, /** @type {any} */ ({ vocab_size: 3 })), "did you mean 'vocabSize'?"],
    [() => TokenizerInfo.fromTiktoken("YQ== 0", /** @type {any} */ ({ special_tokens: {} })), "did you mean 'specialTokens'?"],
    [() => TokenizerInfo.fromEncodedVocab(["a"], /** @type {any} */ ({ vocab_type: "raw" })), "did you mean 'vocabType'?"],
    [() => new TokenizerInfo(/** @type {any} */ ({ tokenBytes: [], stopTokenIDs: [] })), "did you mean 'stopTokenIds'?"],
    [() => applyTokenBitmaskInplace(new Float32Array(3), new Int32Array(1), any), "use one of: vocabSize"],
    [() => load(any), "use one of: wasm"],
    [() => configureFrontEnds(any), "use one of: pyodide, frontends, wasm, timeoutMs"],
  ];
  for (const [call, hint] of cases) assert.throws(call, { name: "OptionError", hint });
  for (const wrong of [3, "x", null, [1]]) {
    assert.throws(() => new GrammarMatcher(grammar, /** @type {any} */ (wrong)), { name: "ArgumentError", argument: "options" });
  }
});

test("a budget that is too small says what is needed", async () => {
  const three = await compiler.compileRegex("aba|abab");
  assert.throws(() => new GrammarMatcher(three, { maxTokens: 2 }), {
    name: "UnsatisfiableError", leastTokens: 3, enoughTokens: 3,
  });
});

test("bitmasks and logits of other sizes", () => {
  const matcher = new GrammarMatcher(grammar);
  assert.throws(() => applyTokenBitmaskInplace(new Float32Array(40), allocateTokenBitmask(1, 70)), {
    name: "BitmaskError", message: /^a row has 40 logits, but the bitmask is for at least 65 tokens/, hint: /\{ vocabSize \}/,
  });
  assert.throws(() => applyTokenBitmaskInplace(/** @type {any} */ ({ data: new Float32Array(3) }), new Int32Array(1)), {
    name: "BitmaskError", message: /not Object/, hint: "pass its data",
  });
  assert.throws(() => applyTokenBitmaskInplace(/** @type {any} */ (undefined), new Int32Array(1)), { message: /not undefined/ });
  const info40 = new GrammarMatcher(new GrammarCompiler(TokenizerInfo.fromVocab(["a", "b", "</s>"], {
    stopTokenIds: [2], vocabSize: 40 })).compileGrammarFile(grammar.file));
  assert.throws(() => info40.fillNextTokenBitmask(new Int32Array(3)), { name: "BitmaskError", message: /3 words.* rows of 2/ });
  assert.throws(() => allowedTokens(new Int32Array(1), 3, 1), { name: "BitmaskError", message: /no row 1/ });
  assert.throws(() => allowedTokens(/** @type {any} */ ([1]), 3), { name: "BitmaskError" });
  assert.throws(() => matcher.precompute(/** @type {any} */ (undefined)), { name: "ArgumentError", argument: "budgetUs" });
  assert.throws(() => matcher.precompute(-1), { name: "OptionError", option: "budgetUs" });
});

test("files of the package that are not there", async () => {
  const server = createServer((_, response) => response.setHeader("Content-Type", "text/html").end("<!doctype html>"));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  for (const option of ["wasm", "frontends"]) {
    configureFrontEnds({ [option]: `http://127.0.0.1:${port}/` });
    await assert.rejects(compiler.compileRegex("b"), { name: "MaskwrightError", message: /a page of HTML/, hint: /put the package's/ });
    frontEnds().close();
  }
  server.close();
  configureFrontEnds({ frontends: "./no/such/frontends.zip" });
  await assert.rejects(compiler.compileRegex("b"), { message: /^cannot load file:.*ENOENT/, hint: /configureFrontEnds\(\{ frontends: url \}\)/ });
  configureFrontEnds({ wasm: "http://127.0.0.1:1/" });
  await assert.rejects(compiler.compileRegex("b"), { message: /^cannot load http:\/\/127\.0\.0\.1:1\/: / });
  configureFrontEnds({});
});

test("matchers in a batch", () => {
  const matcher = new GrammarMatcher(grammar);
  assert.throws(() => new BatchGrammarMatcher(/** @type {any} */ (matcher)), { argument: "matchers", hint: "pass [matcher]" });
  const batch = new BatchGrammarMatcher([matcher, matcher.fork()]);
  assert.throws(() => batch.acceptToken(/** @type {any} */ (undefined)), { name: "ArgumentError", argument: "tokens" });
  assert.equal(matcher.numAcceptedTokens, 0);
});

test("half of a character is no text", () => {
  assert.equal(new GrammarMatcher(grammar).acceptString("a\ud83d"), false);
  assert.throws(() => TokenizerInfo.fromVocab(["\ud83d", "a"], { stopTokenIds: [1] }), { name: "TokenizerError", hint: "pass its bytes" });
});

test("vocabularies of another kind", () => {
  const ids = { stopTokenIds: [0] };
  /** @type {[() => unknown, object][]} */
  const cases = [
    [() => TokenizerInfo.fromVocab(/** @type {any} */ (["a", , "b"]), ids), { argument: "token 1", hint: /new Uint8Array\(\)/ }],
    [() => new TokenizerInfo({ tokenBytes: /** @type {any} */ ([new Uint8Array(1), ,]) }), { message: /token 1 is of type undefined/ }],
    [() => TokenizerInfo.fromTiktoken(/** @type {any} */ (undefined)), { argument: "ranks", hint: /js-tiktoken\/ranks/ }],
    [() => TokenizerInfo.fromTiktoken("cl100k_base.tiktoken"), { name: "TokenizerError", hint: /contents of a \.tiktoken file/ }],
    [() => TokenizerInfo.fromTokenizerJson(/** @type {any} */ (Promise.resolve({}))), { name: "TokenizerError", hint: /\.json\(\)/ }],
    [() => TokenizerInfo.fromTokenizerJson({ model: { vocab: { a: 0 } } }, { config: /** @type {any} */ ("{}") }), { argument: "config", hint: /JSON\.parse/ }],
    [() => TokenizerInfo.fromTokenizerJson({ model: { vocab: { a: 0 } } }, { generationConfig: /** @type {any} */ (null) }), { argument: "generationConfig" }],
    [() => TokenizerInfo.fromEncodedVocab(["Ġa", "Ġb"], ids), { name: "TokenizerError", hint: /vocabType: "byte_level"/ }],
    [() => TokenizerInfo.fromEncodedVocab(["a"], { ...ids, vocabType: /** @type {any} */ ("toString") }), { name: "TokenizerError", hint: /byte_fallback/ }],
  ];
  for (const [call, expected] of cases) assert.throws(call, expected);
});
