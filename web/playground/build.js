/**
 * Builds the playground, a static site: node web/playground/build.js build/playground, after `make web`.
 *
 * The page's own modules are copied as they are; each third-party library becomes one module in `vendor`.
 */
import { cp, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const OUT = process.argv[2] ?? "build/playground";
const HERE = fileURLToPath(new URL(".", import.meta.url));
const PACKAGE = join(HERE, "../maskwright");
const MODULES = join(HERE, "../node_modules");
const PYODIDE = ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"];
/** Vocabularies that are small, by the names of js-tiktoken. */
const RANKS = ["gpt2", "cl100k_base", "o200k_base"];

await rm(OUT, { recursive: true, force: true });
await mkdir(join(OUT, "pyodide"), { recursive: true });
await build({
  entryPoints: ["editor", "model", "railroad", "tokenizers"].map((name) => join(HERE, `vendor/${name}.js`)),
  outdir: join(OUT, "vendor"),
  bundle: true,
  // Its entry for browsers, which its package.json does not give to ES modules.
  alias: { "@huggingface/gguf": join(MODULES, "@huggingface/gguf/dist/browser/index.mjs") },
  format: "esm",
  minify: true,
  legalComments: "eof",
  target: "es2022",
  logLevel: "warning",
});

/** @type {(from: string, to: string) => Promise<void>} */
const copy = (from, to) => cp(from, join(OUT, to), { recursive: true });
for (const name of ["index.html", "style.css", "src"]) await copy(join(HERE, name), name);
for (const name of ["src", "maskwright.wasm", "frontends.zip"]) await copy(join(PACKAGE, name), `maskwright/${name}`);
for (const name of PYODIDE) {
  await copy(join(MODULES, "pyodide", name), `pyodide/${name}`).catch((error) => {
    if (error.code !== "ENOENT") throw error; // its main module has the one ending or the other
  });
}
for (const name of RANKS) await copy(join(MODULES, `js-tiktoken/dist/ranks/${name}.js`), `ranks/${name}.js`);
for (const threads of ["single-thread", "multi-thread"]) {
  await copy(join(MODULES, `@wllama/wllama/esm/${threads}/wllama.wasm`), `vendor/${threads}/wllama.wasm`);
}
