/**
 * A model of WebLLM writes JSON that is valid for a schema. For a page with WebGPU:
 *
 *     import * as webllm from "@mlc-ai/web-llm";
 *     console.log(await describe(webllm, "SmolLM2-135M-Instruct-q0f16-MLC", "https://huggingface.co/mlc-ai/SmolLM2-135M-Instruct-q0f16-MLC/resolve/main/"));
 */
import { GrammarCompiler, TokenizerInfo, load } from "maskwright";
import { GrammarLogitProcessor } from "maskwright/adapters/web-llm";

const PERSON = {
  type: "object",
  properties: { name: { type: "string", maxLength: 40 }, age: { type: "integer", minimum: 0, maximum: 150 } },
  required: ["name", "age"],
  additionalProperties: false,
};

/**
 * @param {Pick<typeof import("@mlc-ai/web-llm"), "MLCEngine">} webllm
 * @param {string} modelId
 * @param {string} folder where the model's tokenizer.json is
 */
export async function describe({ MLCEngine }, modelId, folder) {
  const processor = new GrammarLogitProcessor();
  const engine = new MLCEngine({ logitProcessorRegistry: new Map([[modelId, processor]]) });
  await Promise.all([engine.reload(modelId), load()]);

  const json = async (/** @type {string} */ name) => (await fetch(folder + name)).json();
  const [tokenizer, config, chat] = await Promise.all(["tokenizer.json", "tokenizer_config.json", "mlc-chat-config.json"].map(json));
  const info = TokenizerInfo.fromTokenizerJson(tokenizer, { config, vocabSize: chat.vocab_size,
    stopTokenIds: chat.conv_template.stop_token_ids });
  const grammar = await new GrammarCompiler(info).compileJsonSchema(PERSON);

  processor.begin(grammar, { maxTokens: 80 }); // before each request
  const reply = await engine.chat.completions.create({
    messages: [{ role: "user", content: "Describe Ada Lovelace as JSON: her name and age." }], max_tokens: 80 });
  return JSON.parse(reply.choices[0].message.content ?? "");
}
