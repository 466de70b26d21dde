/**
 * Runs the calls of dump_functions.py on the npm package, in Node or in a page, and says what differs from what the
 * Python package returned.
 */
import {
  BatchGrammarMatcher, CompiledGrammar, EventReader, GrammarMatcher, TokenizerInfo, allocateTokenBitmask,
  applyTokenBitmaskInplace,
} from "../maskwright/src/index.js";
import { crc32, fromBase64 } from "./replay.js";

/** @param {string} name */
const camelCase = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
/** @param {Record<string, any>} fields */
const camelCased = (fields) => Object.fromEntries(Object.entries(fields).map(([name, value]) => [camelCase(name), value]));
/** @param {Uint8Array} data */
const toBase64 = (data) => btoa(String.fromCharCode(...data));

/** How JavaScript says what Python's errors say. @type {[RegExp, string][]} */
const WORDS = [
  [/an int\b/, "an integer"], [/\bint\(/, "Math.trunc("], [/a sequence of ints/, "an array of integers"],
  [/not (int|float)$/, "not number"], [/not str$/, "not string"], [/not None$/, "not null"], [/not -1\.0$/, "not -1"],
  [/a numpy array or a torch tensor, not NoneType/, "an Int32Array, not null"], [/maskwright\./, ""],
  [/stopTokenIds=\[/, "stopTokenIds: ["], [/vocabSize= if/, "vocabSize if"],
];

/** @param {unknown} text */
function inJavaScript(text) {
  if (typeof text !== "string") return text;
  const translated = text.replace(/\b[a-z]+(_[a-z]+)+/g, (name) => (name === "eot_id" ? name : camelCase(name)));
  return WORDS.reduce((out, [from, to]) => out.replace(from, to), translated);
}

/** @param {any} data @returns {{numCalls: number, numErrors: number, differences: string[]}} */
export function replayFunctions(data) {
  const info = new TokenizerInfo({
    tokenBytes: data.tokens.map(fromBase64), specialTokenIds: data.special, stopTokenIds: data.stop, vocabSize: data.vocabSize,
  });
  const report = new Report();
  for (const each of data.matchers) {
    const grammar = new CompiledGrammar(info, fromBase64(each.file));
    const made = attempt(() => new GrammarMatcher(grammar, camelCased(each.options)));
    report.compare(each.name, made instanceof GrammarMatcher ? undefined : made, each.error);
    if (made instanceof GrammarMatcher) runSteps(made, each.steps, each.name, info, report);
  }
  for (const { file, steps } of data.batches) {
    const grammar = new CompiledGrammar(info, fromBase64(file));
    const batch = new BatchGrammarMatcher([0, 1, 2].map(() => new GrammarMatcher(grammar)));
    runSteps(batch, steps, "batch", info, report);
  }
  for (const each of data.events) runEvents(each, info, report);
  for (const each of data.apply) runApply(each, report);
  for (const each of data.tokenizers) runTokenizer(each, report);
  return report;
}

class Report {
  numCalls = 0;
  numErrors = 0;
  /** @type {string[]} */
  differences = [];

  /** @param {string} what @param {any} found @param {any} expected */
  compare(what, found, expected) {
    ++this.numCalls;
    if (expected?.error) {
      ++this.numErrors;
      expected = Object.fromEntries(Object.entries(expected).map(([name, value]) => [name, inJavaScript(value)]));
      found = Object.fromEntries(Object.keys(expected).map((name) => [name, found?.[name]]));
    }
    const [a, b] = [JSON.stringify(found ?? null), JSON.stringify(expected ?? null)];
    if (a !== b) this.differences.push(`${what}:\n  here     ${a.slice(0, 400)}\n  natively ${b.slice(0, 400)}`);
  }
}

/** @param {any} target @param {any[]} steps @param {string} name @param {TokenizerInfo} info @param {Report} report */
function runSteps(target, steps, name, info, report) {
  for (const [method, given, expected, written] of steps) {
    if (method === "fork") {
      target = target.fork();
      continue;
    }
    /** @type {Int32Array | undefined} */
    let bitmask;
    const args = given.map((/** @type {any} */ each) => {
      if (each?.rows) return (bitmask = allocateTokenBitmask(each.rows, info.vocabSize));
      if (each?.b64) return fromBase64(each.b64);
      return each;
    });
    const member = camelCase(method);
    const result = attempt(() => (typeof target[member] === "function" ? target[member](...args) : target[member]));
    const what = `${name}: ${member}(${JSON.stringify(given).slice(1, -1)})`;
    report.compare(what, plain(result), expected);
    if (bitmask) report.compare(`${what}, the bitmask`, crc32(bitmask), written);
  }
}

/** @param {any} each @param {TokenizerInfo} info @param {Report} report */
function runEvents({ name, file, steps, events }, info, report) {
  const matcher = new GrammarMatcher(new CompiledGrammar(info, fromBase64(file)));
  const reader = new EventReader(matcher);
  for (const [piece, expected] of steps) {
    if (typeof piece === "number") matcher.acceptToken(piece);
    else if (typeof piece === "string") matcher.acceptString(piece);
    else matcher.rollback(piece.rollback);
    report.compare(`${name}: events after ${JSON.stringify(piece)}`, reader.read(), expected);
  }
  report.compare(`${name}: all events`, reader.events, events);
}

/** @param {any} each @param {Report} report */
function runApply({ size, logits, bitmask, after }, report) {
  for (const kind of [Float32Array, Float64Array]) {
    const found = kind.from(logits.flat());
    applyTokenBitmaskInplace(found, Int32Array.from(bitmask.flat()), { vocabSize: size });
    report.compare(`apply ${size}`, [...found].map((value) => (value === -Infinity ? null : value)), after.flat());
  }
}

/** @param {any} each @param {Report} report */
function runTokenizer({ name, kind, source, options, result }, report) {
  const make = /** @type {any} */ (TokenizerInfo)[kind];
  const { specialTokens, ...rest } = camelCased(options);
  const found = attempt(() => make.call(TokenizerInfo, source, specialTokens ? { specialTokens, ...rest } : rest));
  const what = `${name} ${JSON.stringify(options)}`;
  if (!(found instanceof TokenizerInfo)) {
    report.compare(what, found, result);
    return;
  }
  const { tokens, decoded, ...fields } = result;
  report.compare(`${what}: bytes`, found.tokenBytes.map(toBase64), tokens);
  for (const [field, value] of Object.entries(fields)) report.compare(`${what}: ${field}`, /** @type {any} */ (found)[field], value);
  if (decoded) report.compare(`${what}: decode`, toBase64(found.decode(decoded[0])), decoded[1]);
}

/** @template T @param {() => T} action @returns {T | {error: string, message: string}} */
function attempt(action) {
  try {
    return action();
  } catch (thrown) {
    const { name, message, ...fields } = /** @type {Error} */ (thrown);
    return { error: name, ...fields, message: message.split("\n  hint: ")[0] };
  }
}

/** @param {any} value @returns {any} */
function plain(value) {
  if (value instanceof Uint8Array) return { b64: toBase64(value) };
  if (Array.isArray(value)) return value.map(plain);
  const isRecord = value !== null && typeof value === "object" && !("error" in value);
  return isRecord ? Object.values(value).map(plain) : value;
}
