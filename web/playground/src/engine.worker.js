/**
 * The engine of the page: tokenizer, grammar, and matchers. It answers one request after the other; engine.js has the
 * deadlines. Tested by web/tests/playground.test.js.
 */
import {
  GrammarCompiler, GrammarMatcher, allocateTokenBitmask, allowedTokens, configureFrontEnds, frontEnds, load,
} from "../maskwright/src/index.js";
import { readTokenizer } from "./tokenizers.js";

const MOST_TOKENS = 2000;
const MOST_CANDIDATES = 60;
const COMPILE_MS = 8000;

configureFrontEnds({ pyodide: new URL("../pyodide/", import.meta.url).href, timeoutMs: COMPILE_MS });

/** @type {import("../maskwright/src/index.js").TokenizerInfo} */
let info;
/** @type {GrammarCompiler} */
let compiler;
/** @type {import("../maskwright/src/index.js").CompiledGrammar | undefined} */
let grammar;
/** The tokens of the last text. @type {number[]} */
let tokens = [];
/** Of the generation that runs. @type {GrammarMatcher | undefined} */
let writing;

/** @type {Record<string, (request: any) => any>} */
const operations = {
  async tokenizer({ source }) {
    await load();
    info = await readTokenizer(source);
    compiler = new GrammarCompiler(info);
    grammar = undefined;
    return { vocabSize: info.vocabSize };
  },

  warmUp: () => frontEnds().warmUp(),

  async compile({ kind, source }) {
    grammar = undefined;
    const began = performance.now();
    grammar = await compileAs[kind](source);
    return { report: grammar.report, fileBytes: grammar.file.length, ms: performance.now() - began };
  },

  async ebnf({ kind, source }) {
    return { ebnf: await frontEnds().toEbnf(kind, source) };
  },

  trace({ text, ids = info.encode(text) }) {
    tokens = ids.slice(0, MOST_TOKENS);
    return { ...traced(tokens), isCut: tokens.length < ids.length };
  },

  inspect: ({ index }) => inspected(index),

  /** Begins an output of at most so many tokens. */
  begin({ maxTokens }) {
    writing?.dispose();
    writing = new GrammarMatcher(current(), { maxTokens });
  },

  /** The mask of the output's next token, and how long it took. */
  mask() {
    const bitmask = allocateTokenBitmask(1, info.vocabSize);
    const began = performance.now();
    begun().fillNextTokenBitmask(bitmask);
    return { bitmask, us: 1000 * (performance.now() - began) };
  },

  accept({ token }) {
    if (!begun().acceptToken(token)) throw new Error(`token ${token} is not allowed`);
    return { isTerminated: begun().isTerminated(), isCompleted: begun().isCompleted() };
  },
};

/** @type {Record<string, (source: string) => Promise<import("../maskwright/src/index.js").CompiledGrammar>>} */
const compileAs = {
  json_schema: (source) => compiler.compileJsonSchema(source),
  regex: (source) => compiler.compileRegex(source),
  ebnf: (source) => compiler.compileGrammar(source),
  lark: (source) => compiler.compileLark(source),
  structural_tag: (source) => compiler.compileStructuralTag(source),
};

function current() {
  if (!grammar) throw new Error("no structure is compiled");
  return grammar;
}

function begun() {
  if (!writing) throw new Error("no output was begun");
  return writing;
}

/** Takes the tokens one by one up to the first that is refused. @param {number[]} ids */
function traced(ids) {
  const matcher = new GrammarMatcher(current());
  const bitmask = allocateTokenBitmask(1, info.vocabSize);
  /** @type {{id: number, bytes: Uint8Array, state: string, numAllowed: number, us: number}[]} */
  const steps = [];
  let isRefused = false;
  for (const id of ids) {
    const bytes = info.tokenBytes[id];
    if (isRefused) {
      steps.push({ id, bytes, state: "unread", numAllowed: 0, us: 0 });
      continue;
    }
    const began = performance.now();
    matcher.fillNextTokenBitmask(bitmask);
    const us = 1000 * (performance.now() - began);
    isRefused = !matcher.acceptToken(id);
    steps.push({ id, bytes, state: isRefused ? "refused" : "accepted", numAllowed: countOf(bitmask), us });
  }
  const isCompleted = !isRefused && matcher.isCompleted();
  matcher.dispose();
  return { steps, isCompleted, isRefused, maskBytes: 4 * bitmask.length };
}

/** What may come at a place, and how far the token there gets. @param {number} index */
function inspected(index) {
  const matcher = new GrammarMatcher(current());
  if (matcher.acceptTokens(tokens.slice(0, index)) < index) throw new Error("the text was refused before this token");
  const bitmask = allocateTokenBitmask(1, info.vocabSize);
  matcher.fillNextTokenBitmask(bitmask);
  const ids = allowedTokens(bitmask, info.vocabSize);
  const bytes = index < tokens.length ? info.tokenBytes[tokens[index]] : new Uint8Array();
  const numTaken = taken(matcher, bytes);
  const there = matcher.fork();
  if (numTaken > 0) there.acceptString(bytes.slice(0, numTaken));
  const nextBytes = Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => mayCome(there, byte));
  there.dispose();
  const [mayEnd, forced] = [matcher.isCompleted(), matcher.findJumpForwardString()];
  matcher.dispose();
  return {
    numAllowed: ids.length,
    candidates: spread(ids, MOST_CANDIDATES).map((id) => ({ id, bytes: info.tokenBytes[id] ?? new Uint8Array() })),
    bytes, numTaken, nextBytes, mayEnd, forced,
  };
}

/** How many of the bytes can be accepted. @param {GrammarMatcher} matcher @param {Uint8Array} bytes */
function taken(matcher, bytes) {
  const at = matcher.fork();
  let count = 0;
  while (count < bytes.length && at.acceptString(bytes.slice(count, count + 1))) ++count;
  at.dispose();
  return count;
}

/** @param {GrammarMatcher} matcher @param {number} byte */
function mayCome(matcher, byte) {
  if (!matcher.acceptString(Uint8Array.of(byte))) return false;
  matcher.rollback(1);
  return true;
}

/** So many of them, evenly. @param {number[]} ids @param {number} most */
function spread(ids, most) {
  if (ids.length <= most) return ids;
  return Array.from({ length: most }, (_, i) => ids[Math.floor((i * ids.length) / most)]);
}

/** @param {Int32Array} bitmask */
function countOf(bitmask) {
  let count = 0;
  for (let word of bitmask) for (; word !== 0; word &= word - 1) ++count;
  const padding = 32 * bitmask.length - info.vocabSize;
  return padding > 0 && bitmask.at(-1) === -1 ? count - padding : count;
}

/** Requests wait for each other. */
let queue = Promise.resolve();
globalThis.onmessage = ({ data: { id, op, ...request } }) => {
  queue = queue.then(async () => {
    try {
      globalThis.postMessage({ id, result: await operations[op](request) });
    } catch (error) {
      const { name, message, ...fields } = /** @type {any} */ (error);
      globalThis.postMessage({ id, error: { ...plain(fields), name, message: message ?? String(error) } });
    }
  });
};

/** What can be sent to the page. @param {Record<string, unknown>} fields */
function plain(fields) {
  return JSON.parse(JSON.stringify(fields));
}
