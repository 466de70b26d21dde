/** What callers pass, checked where it comes in. */
import { ArgumentError, LimitError, OptionError } from "./errors.js";

/** Libraries give ids as either. @typedef {number | bigint} TokenId */

/** @param {unknown} value */
export function typeName(value) {
  if (value === null) return "null";
  if (typeof value !== "object") return typeof value;
  return isModule(value) ? "Module" : value.constructor?.name || "object";
}

/** Whether it is what `import * as x` and `await import(x)` give. @param {any} value */
const isModule = (value) => value?.[Symbol.toStringTag] === "Module";

/**
 * @param {string} argument
 * @param {unknown} value
 * @param {string} expected
 * @param {string} [hint]
 */
export function wrongArgument(argument, value, expected, hint) {
  const found = typeof value === "number" && !Number.isFinite(value) ? value : typeName(value);
  return new ArgumentError(`${argument} must be ${expected}, not ${found}`, { argument, hint });
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
  if (!(value instanceof kind)) throw wrongArgument(argument, value, `${/^[AEIOU]/.test(kind.name) ? "an" : "a"} ${kind.name}`, hint);
  return value;
}

/**
 * @param {string} argument
 * @param {unknown} value
 * @param {string} [hint]
 * @returns {string}
 */
export function string(argument, value, hint) {
  if (typeof value !== "string") throw wrongArgument(argument, value, "a string", hint);
  return value;
}

/**
 * Values by their names.
 * @template {object} T
 * @param {string} argument
 * @param {T} value
 * @param {string} [hint]
 * @returns {T}
 */
export function object(argument, value, hint) {
  if (typeof value !== "object" || value === null || isIterable(value)) throw wrongArgument(argument, value, "an object", hint);
  return value;
}

/**
 * Options of which all names are known: another one would do nothing, so it is refused.
 * @template {object} T
 * @param {T} given
 * @param {readonly string[]} names
 * @returns {T}
 */
export function named(given, names) {
  for (const option of Object.keys(object("options", given, `pass { ${names[0]}: value }`))) {
    if (names.includes(option)) continue;
    const meant = names.find((name) => name.toLowerCase() === option.replaceAll("_", "").toLowerCase());
    const hint = meant ? `did you mean '${meant}'?` : `use one of: ${names.join(", ")}`;
    throw new OptionError(`unknown option '${option.slice(0, 60)}'`, { option, hint });
  }
  return given;
}

/**
 * The JSON text of data. Where `JSON.stringify` would drop or change what is in the data, it is refused, since the
 * structure would be another one. Members that are undefined are left out.
 * @param {string} argument
 * @param {unknown} value
 * @param {string} [base] the JSON pointer of the data, where it is a part
 * @returns {string}
 */
export function jsonText(argument, value, base = "") {
  /** @type {Map<unknown, string>} */
  const pointers = new Map();
  try {
    return JSON.stringify(value, function (key, each) {
      const holder = pointers.get(this);
      const pointer = holder === undefined ? base : `${holder}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      if (!(each === undefined && holder !== undefined && !Array.isArray(this))) checkJson(argument, each, pointer);
      if (typeof each === "object") pointers.set(each, pointer);
      return each;
    });
  } catch (error) {
    if (error instanceof RangeError) throw new LimitError(`${argument} nests too deep`, { limit: "depth" });
    if (error instanceof TypeError && /circular|cyclic/i.test(error.message)) throw new ArgumentError(`${argument} contains itself`, { argument });
    throw error;
  }
}

/** @param {string} argument @param {any} value @param {string} pointer */
function checkJson(argument, value, pointer) {
  if (value === null || typeof value === "boolean" || typeof value === "string" || Number.isFinite(value)) return;
  if (typeof value === "object" && !Object.keys(value).includes(VALIDATOR) && !isModule(value)) {
    const prototype = Object.getPrototypeOf(value);
    if (Array.isArray(value) || prototype === null || Object.getPrototypeOf(prototype) === null) return;
  }
  const found = typeof value === "number" ? String(value) : typeName(value);
  const place = pointer && `at #${pointer}: `;
  throw new ArgumentError(`${place}${argument} must be made of JSON values, not ${found}`, {
    argument, pointer, hint: wayToJson(value),
  });
}

/** What schemas of Zod, Valibot, ArkType and the like have (standardschema.dev). */
const VALIDATOR = "~standard";

/** @param {any} value */
function wayToJson(value) {
  if (value instanceof Promise) return "await it";
  if (value instanceof RegExp) return "pass its source";
  if (typeof value === "bigint") return "pass a number, or all as a JSON text";
  if (value?.[VALIDATOR]) return "pass its JSON Schema, such as z.toJSONSchema(schema) of Zod 4";
  if (isModule(value)) return "pass its default";
  return "use null, booleans, finite numbers, strings, arrays and plain objects";
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
    throw wrongArgument(argument, value, "an integer", wayToInteger(value));
  }
  if (/** @type {number} */ (value) < atLeast) {
    throw new ArgumentError(`${argument} must be >= ${atLeast}, not ${value}`, { argument });
  }
  return /** @type {number} */ (value);
}

/** @param {unknown} value */
function wayToInteger(value) {
  if (typeof value === "number" && Number.isFinite(value)) return "pass Math.trunc(value)";
  return Array.isArray(value) || ArrayBuffer.isView(value) ? "pass one item, such as value[0]" : undefined;
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

/** Texts apart. @param {unknown} value @returns {value is Iterable<unknown>} */
export const isIterable = (value) => typeof value === "object" && value !== null && Symbol.iterator in value;

/**
 * @param {string} argument
 * @param {unknown} value an array or a typed array of integers
 * @returns {Int32Array}
 */
export function tokenIds(argument, value) {
  if (value instanceof Int32Array) return value;
  if (!isIterable(value)) {
    throw wrongArgument(argument, value, "an array of integers", typeof value === "number" ? "pass [value]" : undefined);
  }
  return Int32Array.from(value, (id) => tokenId(`each of ${argument}`, id));
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

/** Whether UTF-8 spells it: half of a character beyond U+FFFF is no text. @param {unknown} text */
export const isWellFormed = (text) => typeof text !== "string" || !/\p{Surrogate}/u.test(text);

/**
 * @param {string} argument
 * @param {unknown} value
 * @param {string} [hint]
 * @returns {Uint8Array}
 */
export function encoded(argument, value, hint) {
  if (typeof value === "string") return new TextEncoder().encode(value);
  if (value instanceof Uint8Array) return value;
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  throw wrongArgument(argument, value, "a string or a Uint8Array", hint);
}
