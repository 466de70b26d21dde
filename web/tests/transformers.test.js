// The adapter for transformers.js: with its real LogitsProcessorList and made-up logits, and with SmolLM2 where
// MASKWRIGHT_MODELS or build/models has smollm2-onnx (python tests/engines/models.py).
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { LogitsProcessorList, Tensor } from "@huggingface/transformers";

import { GrammarCompiler, TokenizerInfo, frontEnds, load } from "../maskwright/src/index.js";
import { grammarLogitsProcessor } from "../maskwright/src/adapters/transformers.js";
import { consumer, run } from "./consumer.js";

const VOCAB = [..."abc0123456789", "</s>"];
const END = VOCAB.length - 1;
const WIDTH = 20; // logits that no token has
const ONNX = [process.env.MASKWRIGHT_MODELS, fileURLToPath(new URL("../../build/models", import.meta.url))]
  .map((folder) => folder && resolve(folder, "smollm2-onnx")).find((folder) => folder && existsSync(folder));

describe("logits processor", () => {
  /** @type {GrammarCompiler} */
  let compiler;
  before(async () => {
    await load();
    compiler = new GrammarCompiler(TokenizerInfo.fromVocab(VOCAB, { stopTokenIds: [END], specialTokenIds: [END] }));
  });
  after(() => frontEnds().close());

  /**
   * The loop of generate(): the same arrays grow, and all rows go on until each has its stop token.
   * @param {any} processor @param {number} numRows @param {number} maxNewTokens
   */
  function generate(processor, numRows, maxNewTokens) {
    const processors = new LogitsProcessorList();
    processors.push(processor);
    const ids = Array.from({ length: numRows }, () => [7n, 8n]);
    for (let step = 0; step < maxNewTokens && !ids.every((row) => row.slice(2).includes(BigInt(END))); ++step) {
      // The higher the id, the likelier: what no token has would come first.
      const logits = new Tensor("float32", Float32Array.from({ length: numRows * WIDTH }, (_, i) => i % WIDTH), [numRows, WIDTH]);
      const { data } = processors(ids, logits);
      ids.forEach((row, i) => {
        const scores = data.subarray(i * WIDTH, (i + 1) * WIDTH);
        row.push(BigInt(scores.indexOf(Math.max(...scores))));
      });
    }
    return ids.map((row) => row.slice(2).map((id) => VOCAB[Number(id)] ?? "?").join(" "));
  }

  test("each row has its grammar; one that has ended waits for the others", async () => {
    const [short, long] = [await compiler.compileRegex("a[0-5]"), await compiler.compileRegex("[ab]{3}c")];
    assert.deepEqual(generate(grammarLogitsProcessor([short, long]), 2, 10), ["a 5 </s> </s> </s>", "b b b c </s>"]);
    assert.deepEqual(generate(grammarLogitsProcessor(short), 2, 10), ["a 5 </s>", "a 5 </s>"]);
    assert.deepEqual(generate(grammarLogitsProcessor([short, null]), 2, 3), ["a 5 </s>", "? ? ?"]);
  });

  test("within a budget, every output is complete", async () => {
    const grammar = await compiler.compileRegex("[bc]+a");
    assert.deepEqual(generate(grammarLogitsProcessor(grammar), 1, 5), ["c c c c c"]);
    assert.deepEqual(generate(grammarLogitsProcessor(grammar, { maxNewTokens: 5 }), 1, 5), ["c c c c a"]);
  });

  test("misuse is told, with a way out", async () => {
    const grammar = await compiler.compileRegex("a[0-5]");
    const logits = () => new Tensor("float32", new Float32Array(WIDTH), [1, WIDTH]);
    assert.throws(() => grammarLogitsProcessor(/** @type {any} */ (Promise.resolve())), { name: "ArgumentError", message: /Promise.*await/s });
    assert.throws(() => generate(grammarLogitsProcessor([grammar]), 2, 3), { name: "ArgumentError", message: /1 grammars, but 2 prompts/ });
    const used = grammarLogitsProcessor(grammar);
    generate(used, 1, 5);
    assert.throws(() => used([[7n]], logits()), { name: "MatcherError", message: /a processor for each call/ });
    const overruled = grammarLogitsProcessor(grammar);
    overruled([[7n]], logits());
    assert.throws(() => overruled([[7n, 2n]], logits()), { name: "MatcherError", message: /row 0: token 2 .*last in the list/s });
    const unended = grammarLogitsProcessor(grammar);
    for (const ids of [[7n], [7n, 0n], [7n, 0n, 5n]]) unended([ids], logits());
    assert.throws(() => unended([[7n, 0n, 5n, BigInt(END)]], logits()), { name: "MatcherError", message: /eos_token_id/ });
    assert.throws(() => grammarLogitsProcessor(grammar)([[7n]], new Tensor("float32", new Float32Array(9), [1, 9])),
      { name: "TokenizerError", message: /vocabSize: 9/ });
  });
});

test("SmolLM2 writes JSON and a tool call", { skip: ONNX ? false : "there is no smollm2-onnx: python tests/engines/models.py" }, async (t) => {
  const folder = await consumer("transformers");
  await layOut(/** @type {string} */ (ONNX), join(folder, "models/smollm2"));
  const [person, call] = JSON.parse(await run(folder, "main.js", `
    import { AutoModelForCausalLM, AutoTokenizer, env } from "@huggingface/transformers";
    import { frontEnds } from "maskwright";
    import { answers } from "./node_modules/maskwright/examples/transformers.js";
    Object.assign(env, { localModelPath: "models/", allowRemoteModels: false });
    const tokenizer = await AutoTokenizer.from_pretrained("smollm2");
    const model = await AutoModelForCausalLM.from_pretrained("smollm2", { dtype: "fp32", device: "cpu" });
    // ONNX Runtime GenAI leaves the last dimension of the cache unnamed for transformers.js.
    for (const { shape } of model.sessions.model.inputMetadata) if (shape?.[3] === "kv_cache_dim") shape[3] = model.config.head_dim;
    console.log(JSON.stringify(await answers(tokenizer, model)));
    frontEnds().close();`));
  t.diagnostic(`${person} ${call}`);
  assert.deepEqual(Object.keys(JSON.parse(person)), ["name", "age"]);
  const { name, arguments: given } = JSON.parse(call.match(/^<tool_call>\n(.*?)\n<\/tool_call>/s)[1]);
  assert.equal(name, "get_weather");
  assert.ok(["celsius", "fahrenheit"].includes(given.unit));
});

/** A folder for transformers.js from one for ONNX Runtime GenAI. @param {string} from @param {string} to */
async function layOut(from, to) {
  const { model } = JSON.parse(await readFile(join(from, "genai_config.json"), "utf8"));
  const { hidden_size, head_size, num_attention_heads, num_hidden_layers, num_key_value_heads } = model.decoder;
  const { vocab_size, eos_token_id, bos_token_id } = model;
  await mkdir(join(to, "onnx"), { recursive: true });
  await writeFile(join(to, "config.json"), JSON.stringify({ model_type: "llama", hidden_size, head_dim: head_size,
    num_attention_heads, num_hidden_layers, num_key_value_heads, vocab_size, eos_token_id, bos_token_id }));
  for (const name of ["tokenizer.json", "tokenizer_config.json"]) await symlink(join(from, name), join(to, name));
  for (const name of ["model.onnx", "model.onnx.data"]) await symlink(join(from, name), join(to, "onnx", name));
}
