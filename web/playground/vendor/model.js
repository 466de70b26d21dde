// llama.cpp as WebAssembly, and the reader of a GGUF file's header, as one module (build.js).
export { gguf } from "@huggingface/gguf";
export { LoggerWithoutDebug, Wllama } from "@wllama/wllama";
