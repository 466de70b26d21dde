/**
 * A project that has installed the package: what `npm pack` ships, in a folder of its own.
 *
 *     const folder = await consumer();
 *     await run(folder, "main.js", 'import { load } from "maskwright"; await load(); console.log(1)');  // "1\n"
 */
import { execFile } from "node:child_process";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const execute = promisify(execFile);
const WEB = fileURLToPath(new URL("..", import.meta.url));
const OTHERS = ["@huggingface", "@mlc-ai", "@types", "js-tiktoken", "pyodide"];

/** Makes the folder anew. @param {string} name */
export async function consumer(name) {
  const folder = join(WEB, "../build/web/consumers", name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, "node_modules/maskwright"), { recursive: true });
  const { stdout } = await execute("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: join(WEB, "maskwright") });
  await execute("tar", ["-xzf", stdout.trim(), "--strip-components=1", "-C", "node_modules/maskwright"], { cwd: folder });
  for (const other of OTHERS) await symlink(join(WEB, "node_modules", other), join(folder, "node_modules", other));
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  return folder;
}

/** Runs a module there in Node. @param {string} folder @param {string} file @param {string} source @returns {Promise<string>} */
export async function run(folder, file, source) {
  await writeFile(join(folder, file), source);
  return (await execute(process.execPath, [file], { cwd: folder })).stdout;
}

/** Checks types there; the complaints. @param {string} folder @param {string[]} options @returns {Promise<string>} */
export async function complaints(folder, options) {
  const tsc = join(WEB, "node_modules/typescript/bin/tsc");
  return execute(process.execPath, [tsc, "--noEmit", ...options], { cwd: folder }).then(() => "", (error) => error.stdout);
}
