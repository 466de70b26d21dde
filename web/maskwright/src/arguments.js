/** What callers pass, checked where it comes in. */
import { ArgumentError } from "./errors.js";

/** @param {unknown} value */
export function typeName(value) {
  if (value === null) return "null";
  if (typeof value !== "object") return typeof value;
  return value.constructor?.name ?? "object";
}

/**
 * @param {string} argument
 * @param {unknown} value
 * @param {string} expected
 * @param {string} [hint]
 */
export function wrongArgument(argument, value, expected, hint) {
  return new ArgumentError(`${argument} must be ${expected}, not ${typeName(value)}`, { argument, hint });
}

/**
 * @template T
 * @param {string} argument
 * @param {unknown} value
 * @param {abstract new (...args: any[]) => T} kind
 * @param {string} [hint]
 * @returns {T}
 */
export function instance(argument, value, kind, hint) {
  if (!(value instanceof kind)) throw wrongArgument(argument, value, `a ${kind.name}`, hint);
  return value;
}

/**
 * @param {string} argument
 * @param {unknown} value
 * @param {number} [atLeast]
 * @returns {number}
 */
export function integer(argument, value, atLeast = -Infinity) {
  if (typeof value === "bigint") value = Number(value);
  if (!Number.isInteger(value)) {
    throw wrongArgument(argument, value, "an integer", typeof value === "number" ? "pass Math.trunc(value)" : undefined);
  }
  if (/** @type {number} */ (value) < atLeast) {
    throw new ArgumentError(`${argument} must be >= ${atLeast}, not ${value}`, { argument });
  }
  return /** @type {number} */ (value);
}

/** Ids beyond what the kernel can count are none that any vocabulary has. @param {number} id */
const inRange = (id) => (id < -1 || id > 0x7fffffff ? -1 : id);

/**
 * @param {string} argument
 * @param {unknown} value
 * @returns {number}
 */
export function tokenId(argument, value) {
  if (argument === "tokenId" && typeof value === "string") {
    throw wrongArgument(argument, value, "an integer", "pass a token's id; acceptString accepts text");
  }
  return inRange(integer(argument, value));
}

/**
 * @param {string} argument
 * @param {unknown} value an array or a typed array of integers
 * @returns {Int32Array}
 */
export function tokenIds(argument, value) {
  if (value instanceof Int32Array) return value;
  const items = /** @type {Iterable<unknown>} */ (value);
  if (value === null || typeof value !== "object" || typeof items[Symbol.iterator] !== "function") {
    throw wrongArgument(argument, value, "an array of integers", typeof value === "number" ? "pass [value]" : undefined);
  }
  return Int32Array.from(items, (id) => tokenId(`each of ${argument}`, id));
}

/**
 * @param {string} argument
 * @param {unknown} value
 * @param {string} [hint]
 * @returns {Uint8Array}
 */
export function bytes(argument, value, hint) {
  if (value instanceof Uint8Array) return value;
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  throw wrongArgument(argument, value, "a Uint8Array or an ArrayBuffer", hint);
}

/**
 * @param {string} argument
 * @param {unknown} value
 * @returns {Uint8Array}
 */
export function encoded(argument, value) {
  if (typeof value === "string") return new TextEncoder().encode(value);
  if (value instanceof Uint8Array) return value;
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  throw wrongArgument(argument, value, "a string or a Uint8Array");
}
