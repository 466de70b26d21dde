// What cuts text into tokens, as one module (build.js).
export { Tokenizer } from "@huggingface/tokenizers";
export { Tiktoken } from "js-tiktoken/lite";
