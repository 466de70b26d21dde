/**
 * Maskwright in the browser and in Node: exact and fast structured generation.
 *
 *     import { GrammarCompiler, GrammarMatcher, TokenizerInfo, allocateTokenBitmask, applyTokenBitmaskInplace, load }
 *       from "maskwright";
 *
 *     await load();
 *     const info = TokenizerInfo.fromTokenizerJson(tokenizerJson, { config: tokenizerConfig });
 *     const grammar = await new GrammarCompiler(info).compileJsonSchema({ type: "integer" });
 *     const matcher = new GrammarMatcher(grammar);
 *     const bitmask = allocateTokenBitmask(1, info.vocabSize);
 *     while (!matcher.isTerminated()) {
 *       matcher.fillNextTokenBitmask(bitmask);
 *       applyTokenBitmaskInplace(logits, bitmask);
 *       matcher.acceptToken(sample(logits));
 *     }
 */
export { allocateTokenBitmask, allowedTokens, applyTokenBitmaskInplace } from "./bitmask.js";
export { CompiledGrammar, GrammarCompiler } from "./compiler.js";
export * from "./errors.js";
export { EventReader } from "./events.js";
export { configureFrontEnds, frontEnds } from "./frontends.js";
export { load } from "./kernel.js";
export { BatchGrammarMatcher, GrammarMatcher } from "./matcher.js";
export { TokenizerInfo } from "./tokenizer.js";

/** @typedef {import("./compiler.js").Finding} Finding */
/** @typedef {import("./compiler.js").JsonSchemaOptions} JsonSchemaOptions */
/** @typedef {import("./compiler.js").ToolsOptions} ToolsOptions */
/** @typedef {import("./events.js").Event} Event */
/** @typedef {import("./frontends.js").FrontEndOptions} FrontEndOptions */
/** @typedef {import("./matcher.js").Capture} Capture */
/** @typedef {import("./matcher.js").MatcherOptions} MatcherOptions */
/** @typedef {import("./kernel.js").Precomputed} Precomputed */
/** @typedef {import("./tokenizer.js").Encode} Encode */
/** @typedef {import("./tokenizer.js").TokenizerOptions} TokenizerOptions */
