/**
 * Railroad diagrams of a grammar, from the EBNF that `Grammar.to_ebnf` writes.
 *
 *     parent.replaceChildren(...diagrams('root ::= "a" [0-9]+\n'));
 *
 * What would not be read in a drawing (long or deep bodies, intersections, complements) is a box with its text.
 */
import railroad from "../vendor/railroad.js";
import { make } from "./show.js";

const { Choice, Diagram, NonTerminal, OneOrMore, Optional, Sequence, Skip, Terminal, ZeroOrMore, Comment } = railroad;
const MOST_RULES = 40;
const MOST_DEPTH = 5;
const MOST_TEXT = 500;
const SHORT = 36;

const PART = /\s+|"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|[A-Za-z_][\w-]*(?:\("[^"]*"\))?|\{\d*,?\d*\}|<[^>]*>|./gsu;

/** @param {string} ebnf @returns {HTMLElement[]} */
export function diagrams(ebnf) {
  const rules = ebnf.split("\n").filter((line) => line.includes("::="));
  const drawn = rules.slice(0, MOST_RULES).map((line) => {
    const at = line.indexOf("::=");
    const figure = make("div", {}, make("h3", { textContent: line.slice(0, at).trim() }));
    figure.append(Diagram(bodyOf(line.slice(at + 3).trim())).toSVG());
    return figure;
  });
  if (rules.length > MOST_RULES) {
    drawn.push(make("p", { className: "note", textContent: `and ${rules.length - MOST_RULES} more rules, in the EBNF below` }));
  }
  return drawn;
}

/** @param {string} text */
function bodyOf(text) {
  if (text.length > MOST_TEXT) return box(text);
  const parts = (text.match(PART) ?? []).filter((part) => part.trim());
  let at = 0;

  /** @param {number} depth @returns {any} */
  function choice(depth) {
    const branches = [sequence(depth)];
    while (parts[at] === "|") {
      ++at;
      branches.push(sequence(depth));
    }
    return branches.length === 1 ? branches[0] : Choice(0, ...branches);
  }

  /** @param {number} depth */
  function sequence(depth) {
    const items = [];
    while (at < parts.length && parts[at] !== "|" && parts[at] !== ")") items.push(repeated(depth));
    return items.length === 0 ? Skip() : items.length === 1 ? items[0] : Sequence(...items);
  }

  /** @param {number} depth */
  function repeated(depth) {
    let item = atom(depth);
    for (;;) {
      const mark = parts[at];
      if (mark === "*") item = ZeroOrMore(item);
      else if (mark === "+") item = OneOrMore(item);
      else if (mark === "?") item = Optional(item);
      else if (/^\{\d*,?\d*\}$/.test(mark ?? "")) item = OneOrMore(item, Comment(`${mark.slice(1, -1).replace(",", " to ")} times`));
      else return item;
      ++at;
    }
  }

  /** @param {number} depth */
  function atom(depth) {
    const part = parts[at++];
    if (part === "(") {
      const begin = at;
      const inner = choice(depth + 1);
      const end = at++;
      return depth < MOST_DEPTH ? inner : box(parts.slice(begin, end).join(" "));
    }
    if (/^[A-Za-z_]/.test(part) && !part.includes("(")) return NonTerminal(part);
    return Terminal(short(part));
  }

  if (parts.includes("&") || parts.includes("~")) return box(text);
  const drawn = choice(0);
  return at < parts.length ? box(text) : drawn;
}

/** @param {string} text */
const box = (text) => NonTerminal(short(text));
/** @param {string} text */
const short = (text) => (text.length > SHORT ? `${text.slice(0, SHORT - 1)}…` : text);
