/**
 * The worker in which the front-ends run (frontends.js): Pyodide with the archive that web/frontends/pack.py makes.
 * Requests come one after the other: `start`, then structures.
 */
import { CompiledGrammar } from "./compiler.js";
import { MaskwrightError } from "./errors.js";
import { load, loaded } from "./kernel.js";
import { TokenizerInfo } from "./tokenizer.js";

const isNode = typeof process !== "undefined" && Boolean(process.versions?.node);

/** @type {any} */
let compileStructure;

/** @param {{id: number} & Record<string, any>} request */
async function answer({ id, ...request }) {
  try {
    const result = request.kind === "start" ? await start(/** @type {any} */ (request)) : compile(request);
    return result.error ? { id, error: JSON.parse(result.error) } : { id, result };
  } catch (error) {
    if (error instanceof RangeError) { // the stack ended in the middle of Python, which cannot go on
      return { id, error: { type: "LimitError", message: "the structure nests too deep", fields: { limit: "depth" } }, isOver: true };
    }
    const { name, message, hint } = /** @type {MaskwrightError} */ (error);
    return { id, error: { type: name, message, fields: { hint } } };
  }
}

async function listen() {
  if (!isNode) {
    globalThis.onmessage = async ({ data }) => globalThis.postMessage(await answer(data));
    return;
  }
  const { parentPort } = await import(/* webpackIgnore: true */ /* @vite-ignore */ "node:worker_threads".toString());
  parentPort.on("message", async (/** @type {any} */ request) => parentPort.postMessage(await answer(request)));
}

// Not awaited: bundlers make workers of which many are no modules.
listen();

const IN_NODE = "npm install pyodide; or compile the structure ahead of time, with maskwright compile";
const IN_A_PAGE = "serve Pyodide's folder, and call configureFrontEnds({ pyodide: url }) with its address";

/** @param {{pyodide?: string, frontends: string, wasm: string}} options */
async function start({ pyodide, frontends, wasm }) {
  const module = pyodideModule(pyodide);
  const { loadPyodide } = await import(/* webpackIgnore: true */ /* @vite-ignore */ module).catch((error) => {
    throw new MaskwrightError(`Pyodide cannot be loaded: ${error.message}`, { hint: isNode ? IN_NODE : IN_A_PAGE });
  });
  const [python, archive] = await Promise.all([
    loadPyodide({ stderr: console.warn, ...(pyodide === undefined || isNode ? {} : { indexURL: withSlash(pyodide) }) }),
    loaded(frontends, "frontends.zip", "frontends").then((response) => response.arrayBuffer()),
  ]);
  python.unpackArchive(archive, "zip", { extractDir: "/maskwright" });
  python.runPython("import sys; sys.path.insert(0, '/maskwright')");
  python.pyimport("maskwright._kernel").compile_file = kernelCheck(await everything(wasm));
  compileStructure = python.pyimport("maskwright_web").compile_structure;
  return {};
}

/** @param {object} request */
function compile(request) {
  const made = compileStructure(JSON.stringify(request));
  const result = made.toJs({ dict_converter: Object.fromEntries });
  made.destroy();
  return result;
}

/** @param {string | undefined} folder */
function pyodideModule(folder) {
  if (folder !== undefined) return new URL("pyodide.mjs", withSlash(folder)).href;
  if (isNode) return "pyodide".toString();
  throw new MaskwrightError("where Pyodide is must be given", {
    hint: "call configureFrontEnds({ pyodide: url }) with the folder that holds pyodide.mjs",
  });
}

/** @param {string} url */
const withSlash = (url) => (url.endsWith("/") ? url : `${url}/`);

/** The kernel, and a vocabulary that can spell everything. @param {string} wasm */
async function everything(wasm) {
  await load({ wasm });
  const tokens = Array.from({ length: 257 }, (_, byte) => (byte < 256 ? Uint8Array.of(byte) : new Uint8Array()));
  return TokenizerInfo.fromVocab(tokens, { stopTokenIds: [256], vocabSize: 1 << 20 });
}

/** Python's way to ask whether a grammar can be compiled. @param {TokenizerInfo} info */
function kernelCheck(info) {
  return (/** @type {any} */ file) => {
    const bytes = file.toJs();
    file.destroy();
    try {
      new CompiledGrammar(info, bytes).dispose();
      return undefined;
    } catch (error) {
      const { name, message } = /** @type {Error} */ (error);
      return `${name}: ${message}`;
    }
  };
}
