// CodeMirror, as one module (build.js).
export { json } from "@codemirror/lang-json";
export { HighlightStyle, syntaxHighlighting, syntaxTree } from "@codemirror/language";
export { lintGutter, setDiagnostics } from "@codemirror/lint";
export { Compartment, EditorState } from "@codemirror/state";
export { EditorView } from "@codemirror/view";
export { minimalSetup } from "codemirror";
export { tags } from "@lezer/highlight";
