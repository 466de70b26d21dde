/**
 * What a shareable link holds: kind, structure, text and tokenizer, in the fragment of the page's address, which is not
 * sent to any server.
 *
 *     location.hash = toFragment({ kind: "regex", source: "[a-z]+", text: "abc", tokenizer: "gpt2" });
 */
import { EXAMPLES } from "./examples.js";

const MOST = 200_000;

/** @typedef {{kind: string, source: string, text: string, tokenizer: string}} State */

/** @param {State} state */
export function toFragment(state) {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return "#" + btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** Reads a fragment; undefined where it is none of ours. @param {string} fragment @returns {State | undefined} */
export function fromFragment(fragment) {
  if (fragment.length < 2 || fragment.length > MOST) return undefined;
  try {
    const binary = atob(fragment.slice(1).replaceAll("-", "+").replaceAll("_", "/"));
    const data = JSON.parse(new TextDecoder().decode(Uint8Array.from(binary, (c) => c.charCodeAt(0))));
    const texts = [data.kind, data.source, data.text, data.tokenizer];
    if (!texts.every((text) => typeof text === "string") || !Object.hasOwn(EXAMPLES, data.kind)) return undefined;
    return { kind: data.kind, source: data.source, text: data.text, tokenizer: data.tokenizer };
  } catch {
    return undefined;
  }
}
