// The package as npm ships it: the README's programs run in Node, and TypeScript finds its types.
import assert from "node:assert/strict";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { before, describe, test } from "node:test";

import { complaints, consumer, run } from "./consumer.js";

const README = new URL("../maskwright/README.md", import.meta.url);
const PROGRAM = `
import {
  BatchGrammarMatcher, CompiledGrammar, EventReader, GrammarCompiler, GrammarMatcher, MaskwrightError, TokenizerInfo,
  allocateTokenBitmask, allowedTokens, applyTokenBitmaskInplace, configureFrontEnds, frontEnds, load,
} from "maskwright";
import type {
  Capture, Encode, Event, Finding, FrontEndOptions, JsonSchemaOptions, MatcherOptions, Precomputed, TokenizerOptions, ToolsOptions,
} from "maskwright";
import * as compat from "maskwright/compat/web-xgrammar";
import { grammarLogitsProcessor } from "maskwright/adapters/transformers";
import { GrammarLogitProcessor } from "maskwright/adapters/web-llm";

await load();
configureFrontEnds({ pyodide: "/pyodide/", timeoutMs: 1000 });
const info: TokenizerInfo = TokenizerInfo.fromVocab(["a", new Uint8Array([255])], { stopTokenIds: [1] });
const grammar: CompiledGrammar = await new GrammarCompiler(info).compileJsonSchema({ type: "integer" });
const bitmask: Int32Array = allocateTokenBitmask(1, info.vocabSize);
const matcher = new GrammarMatcher(grammar, { maxTokens: 3 });
const mustApply: boolean = matcher.fillNextTokenBitmask(bitmask);
applyTokenBitmaskInplace(new Float32Array(2), bitmask);
const ids: number[] = allowedTokens(bitmask, info.vocabSize);
for (const event of new EventReader(matcher).read()) {
  if (event.type === "textDelta") event.text.length;
}
new BatchGrammarMatcher([matcher]).acceptToken(ids);
matcher.acceptTokens([1n, 2]); // transformers.js has bigints
const hint: string | undefined = new MaskwrightError("x").hint;
const theirs: Promise<compat.TokenizerInfo> = compat.TokenizerInfo.createTokenizerInfo(["a"]);
const processor = new GrammarLogitProcessor();
processor.begin(grammar, { maxTokens: 3 });
grammarLogitsProcessor([grammar, null], { maxNewTokens: 3 });
frontEnds().close();
const options: JsonSchemaOptions = { strictMode: true, separators: [",", ":"], anyWhitespace: false };
const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }] as const;
const toolsOptions: ToolsOptions = { ...options, parallelToolCalls: false };
await new GrammarCompiler(info).compileTools("hermes", tools, "required", toolsOptions).catch((error: unknown) => {
  if (!(error instanceof MaskwrightError)) throw error;
  const where: [string | undefined, number | undefined, [number, number] | undefined] = [error.pointer, error.line, error.span];
  return where;
});
new Blob([grammar.file]);
export type Names = [Capture, Encode, Event, Finding, FrontEndOptions, MatcherOptions, Precomputed, TokenizerOptions];
export { hint, mustApply, theirs };
// @ts-expect-error there is no such option
new GrammarCompiler(info).compileJsonSchema({}, { strictmode: true });
// @ts-expect-error a budget is a number
new GrammarMatcher(grammar, { maxTokens: "3" });
// @ts-expect-error there is no such function
grammar.compile();
`;
const AS_XGRAMMAR = (/** @type {string} */ module) => `
import { GrammarCompiler, StructuralTagItem, type StructuralTag, type StructuralTagFormat, type TagFormat } from "${module}";

const content: StructuralTagFormat = { type: "or", elements: [{ type: "any_text" }, { type: "regex", pattern: "a" }] };
const tag: TagFormat = { type: "tag", begin: "<a>", content, end: "</a>" };
const whole: StructuralTag = { format: { type: "triggered_tags", triggers: ["<a"], tags: [tag], stop_after_first: true } };
export const compiled = (compiler: GrammarCompiler) => [
  compiler.compileStructuralTag(whole), compiler.compileStructuralTag([new StructuralTagItem("<a>", "{}", "</a>")], ["<a"]),
];
`;
const WITH_LIBRARIES = `
import { LogitsProcessorList } from "@huggingface/transformers";
import { MLCEngine, type LogitProcessor } from "@mlc-ai/web-llm";
import type { CompiledGrammar } from "maskwright";
import { grammarLogitsProcessor } from "maskwright/adapters/transformers";
import { GrammarLogitProcessor } from "maskwright/adapters/web-llm";

export function processors(grammar: CompiledGrammar) {
  new LogitsProcessorList().push(grammarLogitsProcessor(grammar));
  const processor: LogitProcessor = new GrammarLogitProcessor();
  return new MLCEngine({ logitProcessorRegistry: new Map([["model", processor]]) });
}
`;
const STRICT = ["--strict", "--target", "es2022", "--lib", "es2023,dom", "--types", "node"];

describe("the package, installed", () => {
  /** @type {string} */
  let folder;
  before(async () => (folder = await consumer("package")));

  test("the README's programs run", async () => {
    const programs = [...(await readFile(README, "utf8")).matchAll(/^```js\n(.*?)^```$/gms)].map(([, source]) => source);
    assert.equal(programs.length, 3);
    const printed = [];
    for (const [i, source] of programs.entries()) printed.push(await run(folder, `readme_${i}.js`, source));
    assert.match(printed[0], /^\{ ok: (true|false) \}\n$/);
    assert.equal(printed[1], "[ '1', '2', '3' ]\n");
    assert.equal(printed[2], "SchemaError at /properties/a/type\n");
  });

  for (const [module, moduleResolution] of [["esnext", "bundler"], ["node16", "node16"], ["nodenext", "nodenext"]]) {
    test(`strict TypeScript, ${moduleResolution}`, async () => {
      await writeFile(join(folder, "program.ts"), PROGRAM);
      assert.equal(await complaints(folder, [...STRICT, "--module", module, "--moduleResolution", moduleResolution, "program.ts"]), "");
    });
  }

  test("a program in TypeScript for @mlc-ai/web-xgrammar needs another import, and nothing else", async () => {
    for (const module of ["@mlc-ai/web-xgrammar", "maskwright/compat/web-xgrammar"]) {
      await writeFile(join(folder, "xgrammar.ts"), AS_XGRAMMAR(module));
      assert.equal(await complaints(folder, [...STRICT, "--module", "esnext", "--moduleResolution", "bundler", "xgrammar.ts"]), "");
    }
  });

  test("the types of transformers.js and WebLLM take the adapters, and the examples are right", async () => {
    await writeFile(join(folder, "libraries.ts"), WITH_LIBRARIES);
    await cp(join(folder, "node_modules/maskwright/examples"), join(folder, "examples"), { recursive: true });
    assert.equal(await complaints(folder, [...STRICT, "--module", "nodenext", "--skipLibCheck", "--allowJs", "--checkJs",
      "libraries.ts", "examples/transformers.js", "examples/web_llm.js"]), "");
  });
});
