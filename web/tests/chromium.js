/**
 * A page in Chromium, served on localhost: for the tests and the figures.
 *
 *     const page = await openPage({ isolated: true });
 *     await page.evaluate(async () => (await import("/web/maskwright/src/index.js")).load());
 *     await closePages();
 */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const TYPES = { ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm", ".html": "text/html",
  ".json": "application/json" };
const ISOLATED = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };
export const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--enable-precise-memory-info", "--js-flags=--expose-gc"];

/** Where Chromium is: `CHROMIUM`, or Debian's. */
export const executablePath = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser"]
  .find((path) => path && existsSync(path));

/** The reason to skip what needs it. @type {string | false} */
export const skip = executablePath ? false : "Chromium is not installed: apt-get install chromium, or set CHROMIUM";

/** @type {(() => Promise<unknown>)[]} */
const closers = [];

/** Opens an empty page whose origin serves the repository. @param {{isolated?: boolean}} [options] */
export async function openPage({ isolated = false } = {}) {
  const server = createServer((request, response) => answer(request, response, isolated ? ISOLATED : {}));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  closers.push(async () => server.close());
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  closers.push(() => browser.close());
  const page = await browser.newPage();
  await page.goto(`http://localhost:${port}/`);
  return page;
}

export async function closePages() {
  for (const close of closers.splice(0).reverse()) await close();
}

/**
 * @param {import("node:http").IncomingMessage} request
 * @param {import("node:http").ServerResponse} response
 * @param {Record<string, string>} headers
 */
async function answer(request, response, headers) {
  const path = normalize(decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname));
  const type = /** @type {Record<string, string>} */ (TYPES)[extname(path)] ?? "application/octet-stream";
  if (path === "/") {
    response.writeHead(200, { "Content-Type": "text/html", ...headers }).end("<!doctype html><title>test</title>");
    return;
  }
  try {
    const data = await readFile(join(ROOT, path));
    response.writeHead(200, { "Content-Type": type, "Content-Length": data.length, ...headers }).end(data);
  } catch {
    response.writeHead(404).end();
  }
}
