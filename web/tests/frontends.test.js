// Structures compiled by the Python front-ends, run by Pyodide in a worker.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { Worker } from "node:worker_threads";

import {
  GrammarCompiler, GrammarMatcher, LimitError, TokenizerInfo, configureFrontEnds, frontEnds, load,
} from "../maskwright/src/index.js";

const bytes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte));
/** @type {GrammarCompiler} */
let compiler;

before(async () => {
  await load();
  const info = TokenizerInfo.fromVocab([...bytes, "<tool_call>", "</tool_call>", "</s>"], {
    specialTokenIds: [256, 257, 258], stopTokenIds: [258],
  });
  compiler = new GrammarCompiler(info);
});
after(() => frontEnds().close());

test("the options of a schema are Python's", async () => {
  const source = await readFile(new URL("../maskwright/src/compiler.js", import.meta.url), "utf8");
  const typed = source.match(/@typedef \{object\} JsonSchemaOptions\n(.*?)\*\//s)?.[1].matchAll(/\[(\w+)\]/g) ?? [];
  const python = await readFile(new URL("../../src/maskwright/frontends/json_schema/options.py", import.meta.url), "utf8");
  const native = python.match(/class JsonSchemaKeywords.*?\n\n(.*?)\n\n/s)?.[1].matchAll(/^    (\w+):/gm) ?? [];
  const inCamelCase = [...native].map(([, name]) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase()));
  assert.ok(inCamelCase.length > 10);
  assert.deepEqual([...typed].map(([, name]) => name).sort(), inCamelCase.sort());
});

/** @param {any} grammar @param {string} text */
function accepts(grammar, text) {
  const matcher = new GrammarMatcher(grammar);
  return matcher.acceptString(text) && matcher.isCompleted();
}

test("JSON Schema, and its options in camel case", async () => {
  const schema = { type: "object", properties: { a: { type: "integer" } }, required: ["a"] };
  const grammar = await compiler.compileJsonSchema(schema, { anyWhitespace: false, separators: [",", ":"] });
  assert.ok(accepts(grammar, '{"a":12}'));
  assert.ok(!accepts(grammar, '{"a": 12}'));
  assert.equal(await compiler.compileJsonSchema(schema, { anyWhitespace: false, separators: [",", ":"] }), grammar);
});

test("regular expressions, EBNF, Lark and choices", async () => {
  assert.ok(accepts(await compiler.compileRegex("[a-c]{2}"), "ab"));
  assert.ok(accepts(await compiler.compileGrammar('root ::= "(" root? ")"'), "(())"));
  assert.ok(accepts(await compiler.compileLark('start: "x" N\nN: /[0-9]+/'), "x12"));
  assert.ok(accepts(await compiler.compileChoices(["yes", "no"]), "no"));
});

test("references go through the libraries that come with the front-ends", async () => {
  const schema = { $defs: { n: { $anchor: "n", type: "null" } }, $ref: "#n" };
  assert.ok(accepts(await compiler.compileJsonSchema(schema), "null"));
});

test("documents in a registry", async () => {
  const registry = { "https://example.com/n": { type: "integer" } };
  assert.ok(accepts(await compiler.compileJsonSchema({ $ref: "https://example.com/n" }, { registry }), "12"));
  await assert.rejects(compiler.compileJsonSchema({}, { registry: [1] }), { name: "OptionError", option: "registry" });
  const format = { type: "json_schema", json_schema: { $ref: "https://example.com/n" } };
  assert.ok(accepts(await compiler.compileStructuralTag({ type: "structural_tag", format }, { registry }), "12"));
  assert.ok(accepts(await compiler.compileLark('start: %json {"$ref": "https://example.com/n"}', "start", { registry }), "12"));
});

test("what of a schema does not constrain the output is reported", async () => {
  const { report } = await compiler.compileJsonSchema({ type: "string", minLenght: 3 });
  assert.deepEqual(report, [{ pointer: "/minLenght", keyword: "minLenght", outcome: "annotation",
    reason: "unknown keyword 'minLenght'; did you mean 'minLength'?" }]);
});

test("what was surely meant otherwise is told on the console, too", async (t) => {
  const write = t.mock.method(process.stderr, "write", () => true);
  await compiler.compileJsonSchema({ type: "string", maxLenght: 3 });
  // It comes from the worker, as may what was told before.
  const told = () => write.mock.calls.map((call) => String(call.arguments[0])).filter((line) => line.includes("maxLenght"));
  for (let i = 0; i < 100 && told().length === 0; ++i) await setTimeout(20);
  assert.deepEqual(told(), ["maskwright: at #/maxLenght: unknown keyword 'maxLenght'; did you mean 'maxLength'?\n"]);
});

test("tools, with special tokens", async () => {
  const tools = [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }];
  const matcher = new GrammarMatcher(await compiler.compileTools("hermes", tools, "required"));
  assert.ok(matcher.acceptToken(256));
  assert.ok(matcher.acceptString('\n{"name": "f", "arguments": {}}\n'));
  assert.ok(matcher.acceptToken(257));
  assert.ok(matcher.isCompleted());
});

test("errors keep their type, and say where", async () => {
  await assert.rejects(compiler.compileJsonSchema({ type: "objekt" }), { name: "SchemaError", pointer: "/type" });
  await assert.rejects(compiler.compileRegex("a(b"), { name: "RegexSyntaxError", line: 1, column: 2 });
  await assert.rejects(compiler.compileJsonSchema({ minimum: 3, maximum: 2, type: "integer" }), {
    name: "UnsatisfiableError", pointers: ["/minimum", "/maximum", "/type"],
  });
  await assert.rejects(compiler.compileGrammar('root ::= "(" root ")"'), { name: "UnsatisfiableError" });
});

test("spans count as JavaScript's strings do", async () => {
  for (const source of ["😀a(b", "a\n😀(b"]) {
    await assert.rejects(compiler.compileRegex(source), (/** @type {any} */ error) => source.slice(...error.span) === "(");
  }
});

test("errors name options, types and ways out as they are here", async () => {
  await assert.rejects(compiler.compileJsonSchema({}, { separators: [",", ":"] }), { hint: "set anyWhitespace: false" });
  await assert.rejects(compiler.compileJsonSchema({ uniqueItems: true, items: { maxItems: 2 } }), {
    hint: 'remove or rewrite it, or pass { onUnsupported: "relax" } to leave it out',
  });
  await assert.rejects(compiler.compileJsonSchema(null), { message: /^a schema must be an object or a boolean, not null\n/ });
  await assert.rejects(compiler.compileLark("start: @other"), { hint: "write its rules here" });
  await assert.rejects(compiler.compileJsonSchema({}, { anyWhitespce: true }), {
    name: "OptionError", option: "anyWhitespce", hint: "did you mean 'anyWhitespace'?",
    message: "unknown option 'anyWhitespce'\n  hint: did you mean 'anyWhitespace'?",
  });
  await assert.rejects(compiler.compileJsonSchema("{"), { name: "SchemaError", message: /hint: the text ends too early: close what is open$/ });
  await assert.rejects(compiler.compileJsonSchema("[1]"), { name: "SchemaError" });
  await assert.rejects(compiler.compileGrammar('a_b ::= "x"'), {
    name: "EbnfSyntaxError", hint: "the rules are: a_b; rename one to 'root', or pass rootRuleName",
  });
  await assert.rejects(compiler.compileGrammar('root ::= "a"\n%ignore " "'), { hint: /: use compileLark$/ });
  await assert.rejects(compiler.compileJsonSchema({ type: "structural_tag" }), { hint: /use compileStructuralTag$/ });
  await assert.rejects(compiler.compileJsonSchema({ $ref: "https://example.com/n" }), { hint: /registry, an object/ });
});

test("a grammar that was disposed of is compiled anew, and is in no other's way", async () => {
  const first = await compiler.compileRegex("[d-f]");
  first.dispose();
  assert.ok(accepts(await compiler.compileRegex("[g-i]"), "h"));
  assert.ok(accepts(await compiler.compileRegex("[d-f]"), "e"));
  assert.throws(() => new GrammarMatcher(first), { name: "MatcherError", message: /^the grammar was disposed of/ });
});

test("a structure that takes too long ends with its worker, and the next one works", async () => {
  configureFrontEnds({ timeoutMs: 1 });
  await assert.rejects(compiler.compileRegex("(a|b){1,50}c"), LimitError);
  configureFrontEnds({});
  assert.ok(accepts(await compiler.compileRegex("[x-z]"), "y"));
});

test("a text that nests too deep ends with its worker, and the next one works", async () => {
  const text = '{"items": '.repeat(20_000) + "{}" + "}".repeat(20_000);
  const [deep, next] = await Promise.allSettled([compiler.compileJsonSchema(text), compiler.compileRegex("o{3}")]);
  const { name, limit } = /** @type {any} */ (deep).reason;
  assert.deepEqual([name, limit, next.status], ["LimitError", "depth", "fulfilled"]);
});

test("closing ends what is compiled and what waits, and a worker that has not started yet", async (t) => {
  frontEnds().close();
  const terminate = t.mock.method(Worker.prototype, "terminate");
  for (const delayMs of [0, 100]) {
    const all = Promise.allSettled([compiler.compileRegex("k"), compiler.compileRegex("l")]);
    await setTimeout(delayMs);
    frontEnds().close();
    for (const { reason } of /** @type {any[]} */ (await all)) assert.equal(reason?.message, "the front-ends were closed");
  }
  await setTimeout(100);
  assert.ok(terminate.mock.callCount() >= 2);
  assert.ok(accepts(await compiler.compileRegex("k"), "k"));
});

test("the time for a structure", async () => {
  configureFrontEnds({ timeoutMs: Infinity });
  assert.ok(accepts(await compiler.compileRegex("m"), "m"));
  for (const timeoutMs of [0, -1, NaN]) {
    configureFrontEnds({ timeoutMs });
    await assert.rejects(compiler.compileRegex("n"), { name: "OptionError", option: "timeoutMs" });
  }
  configureFrontEnds({});
});

test("without Pyodide, the error says how to get it", async () => {
  frontEnds().close();
  configureFrontEnds({ pyodide: "./no/such/folder/" });
  await assert.rejects(compiler.compileRegex("[0-9]"), {
    name: "MaskwrightError", message: /^Pyodide cannot be loaded: .*\n {2}hint: npm install pyodide;/s,
  });
  configureFrontEnds({});
  assert.ok(accepts(await compiler.compileRegex("[0-9]"), "7"));
});
