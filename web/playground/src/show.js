/** How bytes and numbers are shown, and small helpers for the page. */

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const VISIBLE = new Map([["\n", "⏎"], ["\t", "⇥"], ["\r", "␍"], [" ", "·"]]);

/** Text as it is, with white space visible; what is not whole characters in hexadecimal. @param {Uint8Array} bytes */
export function shown(bytes) {
  let text;
  try {
    text = strict.decode(bytes);
  } catch {
    return Array.from(bytes, hex).join(" ");
  }
  return Array.from(text, (c) => VISIBLE.get(c) ?? (c < " " || c === "\x7f" ? hex(c.charCodeAt(0)) : c)).join("");
}

/** @param {number} byte */
const hex = (byte) => `0x${byte.toString(16).padStart(2, "0").toUpperCase()}`;

/** Bytes as ranges, such as `0–9 A–F`. @param {number[]} bytes ascending */
export function ranges(bytes) {
  /** @type {[number, number][]} */
  const found = [];
  for (const byte of bytes) {
    const last = found.at(-1);
    if (last && last[1] === byte - 1 && isOfOneKind(last[0], byte)) last[1] = byte;
    else found.push([byte, byte]);
  }
  return found.map(([from, to]) => (to - from < 2 ? series(from, to) : `${one(from)}–${one(to)}`)).join("  ");
}

/** @param {number} from @param {number} to */
const series = (from, to) => (from === to ? one(from) : `${one(from)}  ${one(to)}`);
/** @param {number} byte */
const one = (byte) => (byte < 0x80 ? shown(Uint8Array.of(byte)) : hex(byte));
/** @param {number} a @param {number} b */
const isOfOneKind = (a, b) => kind(a) === kind(b);
/** @param {number} byte */
function kind(byte) {
  const c = String.fromCharCode(byte);
  return byte >= 0x80 ? "high" : /[0-9]/.test(c) ? "digit" : /[a-z]/.test(c) ? "lower" : /[A-Z]/.test(c) ? "upper" : "other";
}

/** @param {number} number */
export const count = (number) => number.toLocaleString("en");

/** @param {number} us */
export const duration = (us) => (us >= 1000 ? `${(us / 1000).toFixed(us >= 10_000 ? 0 : 1)} ms` : `${us.toFixed(0)} µs`);

/** @param {string} id @returns {any} */
export const element = (id) => document.getElementById(id);

/**
 * @param {string} name
 * @param {Record<string, any>} [properties]
 * @param {...(Node | string)} children
 */
export function make(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}
