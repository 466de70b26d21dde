/**
 * A model of transformers.js writes JSON that is valid for a schema, and a tool call. In Node:
 *
 *     npm install maskwright pyodide @huggingface/transformers
 *     node node_modules/maskwright/examples/transformers.js HuggingFaceTB/SmolLM2-135M-Instruct
 */
import { AutoModelForCausalLM, AutoTokenizer, LogitsProcessorList } from "@huggingface/transformers";
import { GrammarCompiler, TokenizerInfo, frontEnds, load } from "maskwright";
import { grammarLogitsProcessor } from "maskwright/adapters/transformers";

const PERSON = {
  type: "object",
  properties: { name: { type: "string", maxLength: 40 }, age: { type: "integer", minimum: 0, maximum: 150 } },
  required: ["name", "age"],
  additionalProperties: false,
};
const WEATHER = {
  type: "function",
  function: {
    name: "get_weather",
    parameters: {
      type: "object",
      properties: { city: { type: "string", maxLength: 30 }, unit: { enum: ["celsius", "fahrenheit"] } },
      required: ["city", "unit"],
      additionalProperties: false,
    },
  },
};

/** Answers two questions. @param {any} tokenizer @param {any} model */
export async function answers(tokenizer, model) {
  await load();
  const info = TokenizerInfo.fromTransformersJs(tokenizer, { vocabSize: model.config.vocab_size });
  const compiler = new GrammarCompiler(info);

  /** @param {string} question @param {import("maskwright").CompiledGrammar} grammar */
  async function answer(question, grammar) {
    const prompt = `<|im_start|>user\n${question}<|im_end|>\n<|im_start|>assistant\n`;
    const inputs = tokenizer(prompt, { add_special_tokens: false });
    const processors = new LogitsProcessorList();
    processors.push(grammarLogitsProcessor(grammar, { maxNewTokens: 80 }));
    const ids = await model.generate({ ...inputs, max_new_tokens: 80, do_sample: false, logits_processor: processors,
      eos_token_id: info.stopTokenIds });
    return tokenizer.decode(ids.slice(null, [inputs.input_ids.dims[1], null])[0], { skip_special_tokens: true });
  }

  return [
    await answer("Describe Ada Lovelace as JSON: her name and age.", await compiler.compileJsonSchema(PERSON)),
    await answer("What is the weather in Oslo, in celsius? Answer with a <tool_call> of get_weather.",
      await compiler.compileTools("hermes", [WEATHER], "required", { parallelToolCalls: false })),
  ];
}

if (process.argv[2]) {
  const [tokenizer, model] = await Promise.all([AutoTokenizer, AutoModelForCausalLM].map((each) => each.from_pretrained(process.argv[2])));
  for (const text of await answers(tokenizer, model)) console.log(text);
  frontEnds().close();
}
