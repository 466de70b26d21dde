// The adapter for WebLLM. WebLLM itself needs WebGPU: its types are checked by consumer.test.js, and here a stand-in for
// MLCEngine calls the processor in the order in which its pipeline does (sampleTokenFromLogits, commitSamplerState).
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { GrammarCompiler, TokenizerInfo, frontEnds, load } from "../maskwright/src/index.js";
import { GrammarLogitProcessor } from "../maskwright/src/adapters/web-llm.js";
import { consumer, run } from "./consumer.js";

const VOCAB = [..."abc0123456789", "</s>"];
const END = VOCAB.length - 1;

/** An engine whose model likes high ids. */
function engineClass() {
  return class MLCEngine {
    /** @param {{logitProcessorRegistry: Map<string, any>}} config */
    constructor({ logitProcessorRegistry }) {
      this.registry = logitProcessorRegistry;
      this.chat = { completions: { create: async (/** @type {any} */ request) => this.#create(request) } };
    }
    /** @param {string} modelId */
    async reload(modelId) {
      this.processor = this.registry.get(modelId);
    }
    /** @param {any} request */
    async #create({ max_tokens }) {
      const { texts, end, width } = /** @type {any} */ (globalThis).standIn;
      this.processor.resetState();
      let content = "";
      for (let step = 0; step < max_tokens; ++step) {
        const logits = this.processor.processLogits(Float32Array.from({ length: width }, (_, id) => (id === end ? -1 : id)));
        const token = logits.indexOf(Math.max(...logits));
        this.processor.processSampledToken(token);
        if (token === end) break;
        content += texts[token];
      }
      return { choices: [{ message: { content } }] };
    }
  };
}

describe("logit processor", () => {
  /** @type {GrammarCompiler} */
  let compiler;
  before(async () => {
    await load();
    compiler = new GrammarCompiler(TokenizerInfo.fromVocab(VOCAB, { stopTokenIds: [END], specialTokenIds: [END] }));
  });
  after(() => frontEnds().close());

  /** @param {GrammarLogitProcessor} processor @param {number} maxTokens */
  async function write(processor, maxTokens) {
    Object.assign(globalThis, { standIn: { texts: VOCAB, end: END, width: VOCAB.length + 3 } });
    const engine = new (engineClass())({ logitProcessorRegistry: new Map([["model", processor]]) });
    await engine.reload("model");
    return (await engine.chat.completions.create({ max_tokens: maxTokens })).choices[0].message.content;
  }

  test("outputs, one after the other", async () => {
    const processor = new GrammarLogitProcessor();
    processor.begin(await compiler.compileRegex("a[0-5]"));
    assert.equal(await write(processor, 10), "a5");
    assert.equal(processor.matcher?.isTerminated(), true);
    processor.begin(await compiler.compileRegex("[bc]+a"), { maxTokens: 4 });
    assert.equal(await write(processor, 4), "ccca");
    processor.begin(null);
    assert.equal(await write(processor, 2), "undefinedundefined"); // what no token has is the likeliest
  });

  test("misuse is told, with a way out", async () => {
    const processor = new GrammarLogitProcessor();
    await assert.rejects(write(processor, 3), { name: "MatcherError", message: /no output was begun.*begin\(grammar\)/s });
    processor.begin(await compiler.compileRegex("a"));
    processor.processSampledToken(0);
    assert.throws(() => processor.processSampledToken(0), { name: "MatcherError", message: /token 0 is not allowed/ });
    processor.processSampledToken(END);
    assert.throws(() => processor.processLogits(new Float32Array(20)), { name: "MatcherError", message: /complete/ });
    processor.resetState();
    assert.deepEqual([...processor.processLogits(new Float32Array(2 + VOCAB.length))].indexOf(0), 0);
    assert.throws(() => processor.processLogits(new Float32Array(3)), { name: "TokenizerError", message: /vocabSize: 3/ });
    assert.throws(() => processor.begin(/** @type {any} */ (Promise.resolve())), { name: "ArgumentError" });
  });
});

test("the example, with a stand-in for the engine", async () => {
  const printed = await run(await consumer("web_llm"), "main.js", `
    import { describe } from "./node_modules/maskwright/examples/web_llm.js";
    import { frontEnds } from "maskwright";
    const texts = [...Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)), "\\u0120", "<|im_end|>"];
    const vocab = Object.fromEntries(texts.map((text, id) => [text, id]));
    const files = {
      "tokenizer.json": { model: { type: "BPE", vocab, merges: [] }, decoder: { type: "ByteLevel" },
        added_tokens: [{ id: 95, content: "<|im_end|>", special: true }] },
      "tokenizer_config.json": { eos_token: "<|im_end|>" },
      "mlc-chat-config.json": { vocab_size: 100, conv_template: { stop_token_ids: [95] } },
    };
    const { fetch } = globalThis;
    globalThis.fetch = async (url) => (String(url) in files ? Response.json(files[url]) : fetch(url));
    globalThis.standIn = { texts: texts.map((text) => text.replace("\\u0120", " ")), end: 95, width: 100 };
    ${engineClass}
    console.log(JSON.stringify(await describe({ MLCEngine: engineClass() }, "model", "")));
    frontEnds().close();`);
  const person = JSON.parse(printed);
  assert.deepEqual(Object.keys(person), ["name", "age"]);
  assert.ok(person.name.length <= 40 && person.age <= 150);
});
