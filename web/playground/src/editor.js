/**
 * The structure's editor: CodeMirror, with errors underlined where they are.
 *
 *     const editor = new StructureEditor(parent, changed);
 *     editor.set('{"type": "x"}', true);
 *     editor.show(error);   // with line, column and span, or with a JSON pointer
 */
import {
  Compartment, EditorState, EditorView, HighlightStyle, json, lintGutter, minimalSetup, setDiagnostics,
  syntaxHighlighting, syntaxTree, tags,
} from "../vendor/editor.js";

const COLOURS = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--key)" },
  { tag: tags.string, color: "var(--string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--number)" },
]);

export class StructureEditor {
  #view;
  #language = new Compartment();
  #isJson = false;

  /** @param {HTMLElement} parent @param {() => void} changed */
  constructor(parent, changed) {
    this.#view = new EditorView({
      parent,
      state: EditorState.create({
        extensions: [
          minimalSetup, lintGutter(), syntaxHighlighting(COLOURS), this.#language.of([]), EditorView.lineWrapping,
          EditorView.contentAttributes.of({ "aria-label": "Structure", tabindex: "0" }),
          EditorView.updateListener.of((update) => update.docChanged && changed()),
        ],
      }),
    });
  }

  get text() {
    return this.#view.state.doc.toString();
  }

  /** @param {string} text @param {boolean} isJson */
  set(text, isJson) {
    this.#isJson = isJson;
    this.#view.dispatch({
      changes: { from: 0, to: this.#view.state.doc.length, insert: text },
      effects: this.#language.reconfigure(isJson ? json() : []),
    });
  }

  /** Underlines what an error says; without one, nothing. @param {any} [error] */
  show(error) {
    const found = error ? this.#places(error).map(({ from, to }) => ({ from, to, severity: "error", message: error.message })) : [];
    this.#view.dispatch(setDiagnostics(this.#view.state, found));
  }

  /** @param {any} error @returns {{from: number, to: number}[]} */
  #places(error) {
    const { state } = this.#view;
    if (error.span) return [spanIn(this.text, error.span)];
    const mistake = this.#isJson && error.message.match(/not valid JSON.*line (\d+) column (\d+)/);
    if (mistake) return [characterAt(state.doc, Number(mistake[1]), Number(mistake[2]))];
    const pointers = error.pointers ?? (error.pointer === undefined ? [] : [error.pointer]);
    const places = pointers.map((/** @type {string} */ pointer) => placeOf(state, pointer)).filter(Boolean);
    return places.length > 0 ? places : [{ from: 0, to: state.doc.length }];
  }
}

/** A character, or where the text ends too early, the last. @param {any} doc @param {number} line @param {number} column */
function characterAt(doc, line, column) {
  const { from } = doc.line(Math.min(line, doc.lines));
  const last = Math.max(0, doc.length - 1);
  const at = Math.min(from + column - 1, last);
  return { from: at, to: Math.min(at + 1, doc.length) };
}

/** At least one character: where the text ends too early, the last. @param {string} text @param {number[]} span */
function spanIn(text, [from, end]) {
  if (from >= text.length) return { from: Math.max(0, text.length - 1), to: text.length };
  const isPair = (text.codePointAt(from) ?? 0) > 0xffff;
  return { from, to: Math.min(Math.max(end, from + (isPair ? 2 : 1)), text.length) };
}

/**
 * Where the value of a JSON pointer is, or its nearest ancestor that is there.
 * @param {any} state
 * @param {string} pointer
 */
function placeOf(state, pointer) {
  let node = syntaxTree(state).topNode.firstChild;
  const steps = pointer.split("/").slice(1).map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  let place = node && { from: node.from, to: node.to };
  for (const step of steps) {
    const found = node && (node.name === "Array" ? elementOf(node, Number(step)) : memberOf(state, node, step));
    if (!found) break;
    place = { from: found.from, to: found.to };
    node = found.name === "Property" ? found.lastChild : found;
  }
  return place;
}

/** @param {any} node @param {string} name */
function memberOf(state, node, name) {
  return node.getChildren("Property").find((/** @type {any} */ property) => {
    const key = property.getChild("PropertyName");
    try {
      return key && JSON.parse(state.sliceDoc(key.from, key.to)) === name;
    } catch {
      return false;
    }
  });
}

/** @param {any} node @param {number} index */
function elementOf(node, index) {
  let child = node.firstChild?.nextSibling; // past the bracket
  for (let i = 0; child; child = child.nextSibling) {
    if (child.name === "," || child.name === "]" || child.name === "⚠") continue;
    if (i++ === index) return child;
  }
  return undefined;
}
