/**
 * Reading a model's output as it is generated: content, reasoning, tool calls and their arguments, from the captures.
 *
 *     const reader = new EventReader(matcher);             // of a grammar from compileTools
 *     while (!matcher.isTerminated()) {
 *       matcher.acceptToken(sample(…));
 *       for (const event of reader.read()) {
 *         if (event.type === "textDelta") show(event.text);
 *         if (event.type === "callDone") run(event.name, JSON.parse(event.arguments));
 *       }
 *     }
 *
 * As src/maskwright/events.py, which says how captures become events. Joined, the `valueDelta`s of a field are the JSON
 * text of its value. After a rollback, what was reported past that point no longer holds: `read` drops it from `events`
 * and reports again. Tested by web/tests/functions.test.js.
 */
import { instance } from "./arguments.js";
import { MatcherError } from "./errors.js";
import { GrammarMatcher } from "./matcher.js";

/**
 * @typedef {{type: "textDelta", text: string} | {type: "reasoningDelta", text: string}
 *   | {type: "callStarted", name: string} | {type: "fieldStarted", name: string}
 *   | {type: "valueDelta", json: string} | {type: "fieldDone", json: string}
 *   | {type: "callDone", name: string, arguments: string}} Event
 */
/** @typedef {{kind: string, firstPiece: number, text: string, numParts: number, isPart: boolean}} Open */
/** @typedef {{numEvents: number, numPieces: number, open: Open[]}} Place a place in the events, to go back to */
/**
 * Where a call of `read` ended: in the matcher's history, in its captures, and in the events.
 * @typedef {{numEntries: number, serial: bigint, isOver: boolean, numEdges: number, numBytes: number, place: Place}} Mark
 */

/** @type {Record<string, (text: string) => string>} */
const NAMES = { key: JSON.parse, name: String, attribute: unescaped };
/** @type {Record<string, [string, string]>} */
const BRACKETS = {
  value: ["", ""], string: ['"', '"'], padded: ['"', '"'], single: ['"', '"'], object: ["{", "}"], array: ["[", "]"],
  true: ["true", ""], false: ["false", ""], null: ["null", ""],
};
const HOLDERS = ["call", "arguments", "object"]; // of names
/** @type {Open} */
const NOTHING = { kind: "", firstPiece: 0, text: "", numParts: 0, isPart: false };

/** The kinds of captures in which one of this kind is a part of its own. @param {string} kind */
function holdersOf(kind) {
  if (kind in NAMES) return HOLDERS;
  if (kind in BRACKETS) return [...HOLDERS, "array"];
  return kind === "arguments" ? ["call"] : [""]; // the outermost
}

/** Makes events of captures that open and close, and of the text in between. */
class Recorder {
  /** @type {Event[]} */
  events = [];
  /** Of the JSON text of all arguments. @type {string[]} */
  #pieces = [];
  /** Its objects are replaced, never changed, so that places can hold them. @type {Open[]} */
  #open = [];

  /** @returns {Place} */
  place() {
    return { numEvents: this.events.length, numPieces: this.#pieces.length, open: [...this.#open] };
  }

  /** @param {Place} place */
  goBack({ numEvents, numPieces, open }) {
    this.events.length = numEvents;
    this.#pieces.length = numPieces;
    this.#open = [...open];
  }

  /** @param {string} text */
  text(text) {
    const { kind } = this.#inner;
    if (text === "") return;
    if (kind === "content") this.events.push({ type: "textDelta", text });
    else if (kind === "reasoning") this.events.push({ type: "reasoningDelta", text });
    else if (kind === "value") this.#value(text);
    else if (kind === "string") this.#value(JSON.stringify(text).slice(1, -1));
    else if (kind === "padded") this.#value(JSON.stringify(this.#count() === 0 ? text.replace(/^\n/, "") : text).slice(1, -1));
    else if (kind === "single") this.#value(text.replaceAll('"', '\\"'));
    else if (kind === "arguments") this.#pieces.push(text);
    else if (kind in NAMES) {
      this.#change({ text: this.#inner.text + text });
      if (kind === "key" && this.#holder === "arguments") this.#pieces.push(text); // in JSON, a name is there already
    }
  }

  /** @param {string} name of the capture */
  begin(name) {
    const outer = this.#inner;
    const [kind, ...rest] = name.split(":");
    const tool = rest.join(":");
    if (!holdersOf(kind).includes(outer.kind)) {
      this.#open.push({ ...outer, isPart: true });
      return;
    }
    if (outer.kind === "array") this.#value(this.#count() ? ", " : "");
    this.#open.push({ ...NOTHING, kind, firstPiece: this.#pieces.length, text: tool });
    if (kind === "call") this.events.push({ type: "callStarted", name: tool });
    if (kind in BRACKETS) this.#value(BRACKETS[kind][0]);
  }

  end() {
    const done = /** @type {Open} */ (this.#open.pop());
    const { kind } = done;
    if (done.isPart) {
      if (kind in NAMES) this.#change({ text: done.text });
    } else if (kind in NAMES) {
      this.#named(NAMES[kind](done.text));
    } else if (kind in BRACKETS) {
      this.#value(BRACKETS[kind][1]);
      if (["call", "arguments"].includes(this.#inner.kind)) this.events.push({ type: "fieldDone", json: this.#since(done) });
    } else if (kind === "call") {
      if (done.numParts) this.#pieces.push("}");
      this.events.push({ type: "callDone", name: done.text, arguments: this.#since(done) || "{}" });
    }
  }

  /** @param {string} name */
  #named(name) {
    const holder = this.#inner.kind;
    if (holder !== "object") this.events.push({ type: "fieldStarted", name });
    if (holder === "arguments") return;
    const lead = this.#count() ? ", " : holder === "call" ? "{" : "";
    const spelled = `${lead}${JSON.stringify(name)}: `;
    if (holder === "call") this.#pieces.push(spelled);
    else this.#value(spelled);
  }

  get #inner() {
    return this.#open.at(-1) ?? NOTHING;
  }

  /** The kind of the innermost capture that is not a name. */
  get #holder() {
    return this.#open.findLast(({ kind }) => !(kind in NAMES))?.kind;
  }

  /** Counts one more part of the innermost capture; returns how many there were. */
  #count() {
    const { numParts } = this.#inner;
    this.#change({ numParts: numParts + 1 });
    return numParts;
  }

  /** @param {Partial<Open>} fields of the innermost capture */
  #change(fields) {
    this.#open[this.#open.length - 1] = { ...this.#inner, ...fields };
  }

  /** @param {string} json */
  #value(json) {
    if (json === "") return;
    this.#pieces.push(json);
    this.events.push({ type: "valueDelta", json });
  }

  /** @param {Open} begin */
  #since(begin) {
    return this.#pieces.slice(begin.firstPiece).join("");
  }
}

/** Reports the output of one matcher as events. */
export class EventReader {
  #matcher;
  #recorder = new Recorder();
  /** @type {Mark[]} */
  #marks = [{ numEntries: 0, serial: 0n, isOver: false, numEdges: 0, numBytes: 0, place: this.#recorder.place() }];

  /** @param {GrammarMatcher} matcher of a grammar whose formats have captures, as those of `compileTools` do */
  constructor(matcher) {
    this.#matcher = instance("matcher", matcher, GrammarMatcher);
    if (!matcher.compiledGrammar.hasCaptures) {
      throw new MatcherError("there are no events to read: the grammar has no captures", {
        hint: 'use compileTools, or set capture in the tag\'s formats, such as capture: "content"',
      });
    }
  }

  /** All events so far, up to the last call of `read`. */
  get events() {
    return this.#recorder.events;
  }

  /** The events since the last call; after a rollback, since the last call that still holds. @returns {Event[]} */
  read() {
    const last = this.#lastThatHolds();
    const { edges, data, numEntries, serial } = this.#matcher.getSettledCaptures(last.numEdges, last.numBytes);
    let at = 0;
    for (const { name, position, opens } of edges) {
      const end = Math.max(at, position - last.numBytes);
      this.#recorder.text(replaced(data.subarray(at, end)));
      at = end;
      if (opens) this.#recorder.begin(name);
      else this.#recorder.end();
    }
    const rest = data.subarray(at);
    const half = halfCharacter(rest);
    this.#recorder.text(replaced(rest.subarray(0, rest.length - half)));
    this.#marks.push({
      numEntries, serial, isOver: this.#matcher.isTerminated(), numEdges: last.numEdges + edges.length,
      numBytes: last.numBytes + data.length - half, place: this.#recorder.place(),
    });
    return this.events.slice(last.place.numEvents);
  }

  /** Drops what was read of a history that was rolled back. */
  #lastThatHolds() {
    const matcher = this.#matcher;
    for (;;) {
      const last = /** @type {Mark} */ (this.#marks.at(-1));
      const goesOn = last.isOver && !(matcher.isTerminated() && matcher.numAcceptedTokens <= last.numEntries + 1);
      if (this.#marks.length === 1 || (matcher.hasHistory(last.numEntries, last.serial) && !goesOn)) return last;
      this.#marks.pop();
      this.#recorder.goBack(/** @type {Mark} */ (this.#marks.at(-1)).place);
    }
  }
}

/** @param {Uint8Array} data */
const replaced = (data) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(data);

/** How many bytes at the end begin a character and do not end it. @param {Uint8Array} data @returns {number} */
function halfCharacter(data) {
  for (let size = 1; size <= Math.min(3, data.length); ++size) {
    const tail = data.subarray(data.length - size);
    if ((tail[0] & 0xc0) === 0x80) continue;
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(tail, { stream: true }) === "" ? size : 0;
    } catch {
      return 0;
    }
  }
  return 0;
}

const ENTITIES = /** @type {Record<string, string>} */ ({ lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" });

/** @param {string} text with XML's escapes */
function unescaped(text) {
  return text.replace(/&(?:#x([0-9a-f]+)|#([0-9]+)|([a-z]+));/gi, (whole, hex, decimal, name) => {
    if (name) return ENTITIES[name] ?? whole;
    return String.fromCodePoint(hex ? parseInt(hex, 16) : Number(decimal));
  });
}
