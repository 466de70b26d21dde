/**
 * Times of schemas of build/web/cases/schemas.json, for figures.js: in a page, and in Node.
 *
 *     const times = await prepare((path) => fetch(path).then((r) => r.text()));
 *     await times.ours(0);     // [of the first run, the best of three]: {load, first, token}, ms
 *     await times.compiled(0); // the same: {compile}, by the front-ends in Pyodide, and the kernel
 */
import {
  CompiledGrammar, GrammarCompiler, GrammarMatcher, TokenizerInfo, allocateTokenBitmask, frontEnds, load,
} from "../maskwright/src/index.js";

const REPEATS = 3;

/** @param {(path: string) => Promise<string>} read */
export async function prepare(read) {
  await load();
  const { cases, stop, vocabSize } = JSON.parse(await read("/build/web/cases/schemas.json"));
  const info = TokenizerInfo.fromTiktoken(await read("/build/web/cases/vocabulary.tiktoken"),
    { specialTokens: { "<|stop|>": stop[0] }, stopTokenIds: stop });
  const bitmask = allocateTokenBitmask(1, vocabSize);
  new CompiledGrammar(info, bytes(cases[0].file)); // builds the kernel's form of the vocabulary
  return {
    /** @param {number} i */
    ours: (i) => measured(async () => {
      const file = bytes(cases[i].file);
      const begin = performance.now();
      const grammar = new CompiledGrammar(info, file);
      const made = performance.now();
      const matcher = new GrammarMatcher(grammar);
      matcher.fillNextTokenBitmask(bitmask);
      const first = performance.now();
      for (const token of cases[i].tokens) {
        matcher.fillNextTokenBitmask(bitmask);
        if (!matcher.acceptToken(token)) throw new Error(`refused ${token}`);
      }
      const end = performance.now();
      matcher.dispose();
      grammar.dispose();
      return { load: made - begin, first: first - made, token: (end - first) / cases[i].tokens.length };
    }),

    /** @param {number} i */
    compiled: (i) => measured(async () => {
      const compiler = new GrammarCompiler(info, { cacheEnabled: false });
      const begin = performance.now();
      const grammar = await compiler.compileJsonSchema(cases[i].schema);
      const end = performance.now();
      grammar.dispose();
      return { compile: end - begin };
    }),

    warmUp: () => frontEnds().warmUp(),

    /** The same with @mlc-ai/web-xgrammar. @param {any} xgrammar */
    async theirs(xgrammar) {
      const characters = byteCharacters();
      const vocab = info.tokenBytes.map((token, id) =>
        id === stop[0] ? "<|stop|>" : Array.from(token, (byte) => characters[byte]).join(""));
      const theirInfo = await xgrammar.TokenizerInfo.createTokenizerInfo(vocab, "byte_level", false, vocabSize, stop);
      return (/** @type {number} */ i) => measured(async () => {
        const compiler = await xgrammar.GrammarCompiler.createGrammarCompiler(theirInfo, false);
        const begin = performance.now();
        const grammar = await compiler.compileJSONSchema(cases[i].schema, true, undefined, undefined, false);
        const made = performance.now();
        const matcher = await xgrammar.GrammarMatcher.createGrammarMatcher(grammar);
        await matcher.getNextTokenBitmask();
        const first = performance.now();
        for (const token of cases[i].tokens) {
          await matcher.getNextTokenBitmask();
          if (!matcher.acceptToken(token)) throw new Error(`refused ${token}`);
        }
        const end = performance.now();
        for (const each of [matcher, grammar, compiler]) each.dispose();
        return { compile: made - begin, first: first - made, token: (end - first) / cases[i].tokens.length };
      });
    },
  };
}

/** The figures of the first run, and the least of each. @param {() => Promise<Record<string, number>>} once */
async function measured(once) {
  const first = await once();
  const least = { ...first };
  for (let i = 1; i < REPEATS; ++i) {
    for (const [key, value] of Object.entries(await once())) least[key] = Math.min(least[key], value);
  }
  return [first, least];
}

/** @param {string} base64 */
const bytes = (base64) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));

/** GPT-2's character for each byte. */
function byteCharacters() {
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const isShown = (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
    return String.fromCharCode(isShown ? byte : next++);
  });
}
