r"""Grammars written out again: as EBNF, as Lark, and, where they are regular, as a regular expression.

    >>> from maskwright.frontends.ebnf import ebnf_to_ir
    >>> print(to_ebnf(ebnf_to_ir('root ::= "a" [^b-d]* | "(" root ")"')))
    root ::= "a" [^b-d]* | "(" root ")"

What is printed can be read again and has the same language and captures, those that leave out their end, as structural
tags have them, apart; the rules keep their names where the notation admits them,
and the root of EBNF is called `root`, that of Lark `start`. Parametric rules are printed in Lark, and unfolded for the
other two (`unfolding.py`). Bytes that are not whole characters can be written in EBNF
only, as `Byte("80-bf")`. Expressions are folded from their leaves, without recursion.
Tested by tests/frontends/test_printing.py.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from operator import is_
from typing import ClassVar, Final, NamedTuple

from maskwright.errors import GrammarError, LimitError
from maskwright.frontends.charset import CodePointSet
from maskwright.frontends.notation.characters import branches, pieces
from maskwright.frontends.notation.parameter_notation import shown_condition, shown_steps
from maskwright.frontends.notation.unfolding import unfolded
from maskwright.frontends.regular import spelled_out
from maskwright.ir import (
    OP_ALT,
    OP_AND,
    OP_CALL,
    OP_CAPTURE,
    OP_EMPTY,
    OP_GUARD,
    OP_LITERAL,
    OP_NEVER,
    OP_NOT,
    OP_RECALL,
    OP_REF,
    OP_REMEMBER,
    OP_REPEAT,
    OP_SCOPE,
    OP_SEQ,
    OP_SET,
    OP_SPAN,
    OP_SUBSTRINGS,
    OP_TOKENS,
    UNBOUNDED,
    Expr,
    GrammarIR,
    Rule,
    TokenSet,
    call,
    operands,
    postorder,
    ref,
    uses_parameter,
)
from maskwright.ir.parameters import SELF

_REGULAR_HINT: Final = "use EBNF: Grammar.to_ebnf, or --to ebnf"
MAX_PRINTED: Final = 20_000_000  # characters

_ALT, _AND, _SEQ, _REPEAT, _ATOM = 0, 1, 2, 3, 4  # how tightly a shown expression holds together
_SHORT_COUNTS: Final = {(0, UNBOUNDED): "*", (1, UNBOUNDED): "+", (0, 1): "?"}


def to_ebnf(grammar: GrammarIR) -> str:
    """Write a grammar in EBNF."""
    return _Ebnf(unfolded(grammar)).grammar()


def to_lark(grammar: GrammarIR) -> str:
    """Write a grammar in Lark's syntax.

    Raises:
        GrammarError: It holds bytes that are not whole characters.
    """
    if uses_parameter(grammar.rules[grammar.root].body):  # which the root cannot in Lark
        rules = (*grammar.rules, Rule("start", ref(grammar.root)))
        grammar = GrammarIR(rules, len(grammar.rules), grammar.token_sets)
    return _Lark(grammar).grammar()


def to_regex(grammar: GrammarIR) -> str:
    """Write a grammar as one regular expression.

    Raises:
        GrammarError: It is recursive, or holds tokens, intersections, complements, bytes that are not characters, or
            substrings of a long text.
    """
    grammar = unfolded(grammar)
    bodies = [rule.body for rule in grammar.rules]
    supplied = {index for index, _ in grammar.token_sets}
    root = spelled_out(bodies[grammar.root], lambda index: None if index in supplied else bodies[index])
    if root is None and any(node[0] == OP_SUBSTRINGS for body in bodies for node in postorder(body)):
        raise GrammarError("the grammar contains substrings of a text that is too long to print", hint=_REGULAR_HINT)
    if root is None or grammar.root in supplied:
        raise GrammarError("the grammar is not regular: it is recursive or contains tokens", hint=_REGULAR_HINT)
    return _Regex(grammar).expression(root)


class Shown(NamedTuple):
    """A printed expression, and how tightly it holds together."""

    text: str
    level: int


class _Notation:
    """What the notations share: the operators and their order."""

    blank: ClassVar[str] = " "
    empty: ClassVar[str] = '""'
    name_pattern: ClassVar[re.Pattern[str]]
    root_name: ClassVar[str]

    def __init__(self, grammar: GrammarIR) -> None:
        self._grammar = _with_options_as_rules(grammar)
        self._token_sets = dict(grammar.token_sets)
        self._names: dict[int, str] = {}
        self._parts_of: dict[int, Sequence[Expr | str | CodePointSet]] = {}  # by identity: rules share expressions

    def grammar(self) -> str:
        order = [i for i in _reachable(self._grammar) if i not in self._token_sets or i == self._grammar.root]
        taken = {self.root_name}
        for index in order:
            name = self.root_name if index == self._grammar.root else self._name(self._grammar.rules[index].name, taken)
            taken.add(name)
            self._names[index] = name
        return "\n".join(
            [*(f"{self.head(i)}{self._options(i)}{self.defines} {self._body(i)}" for i in order), *self.helpers()]
        )

    def head(self, index: int) -> str:
        return self._names[index]

    def helpers(self) -> Iterable[str]:
        """Rules that the notation needs beside those of the grammar; asked for last."""
        return ()

    def _options(self, index: int) -> str:
        body = self._grammar.rules[index].body
        said: dict[str, object] = {}
        if body[0] == OP_SPAN:
            said = {"max_tokens": body[2], "temperature": body[3]}
            body = body[1]
        if _is_written(body):
            said["capture"] = self.literal(body[2]).text
        shown = ", ".join(f"{name}={value}" for name, value in said.items() if value is not None)
        return f"[{shown}]" if shown else ""

    defines: ClassVar[str]

    def _name(self, wanted: str, taken: set[str]) -> str:
        name = wanted if self.name_pattern.fullmatch(wanted) else self.legal_name(wanted)
        unique, n = name, 2
        while unique in taken:
            unique, n = f"{name}_{n}", n + 1
        return unique

    def _body(self, index: int) -> str:
        token_set = self._token_sets.get(index)
        return self.tokens(token_set) if token_set is not None else self.expression(self._grammar.rules[index].body)

    def expression(self, root: Expr) -> str:
        """Print an expression: parts before what they are part of."""
        parts_of = self._parts_of

        def inner(node: Expr) -> list[Expr]:
            parts = parts_of.get(id(node))
            if parts is None:
                parts = parts_of[id(node)] = self._parts(node)
            return [part for part in parts if isinstance(part, Expr)]

        order = postorder(root, inner)
        waiting = Counter(id(part) for node in order for part in parts_of[id(node)])
        done: dict[int, Shown] = {}
        for node in order:
            parts = parts_of[id(node)]
            done[id(node)] = shown = self._join(node, [self._shown(part, done) for part in parts])
            if len(shown.text) > MAX_PRINTED:
                raise LimitError("the grammar is too large to print", limit="printed size")
            for part in parts:  # texts of deep expressions are long, so those that are in their parents go
                waiting[id(part)] -= 1
                if not waiting[id(part)]:
                    done.pop(id(part), None)
        return done[id(root)].text

    def _parts(self, node: Expr) -> Sequence[Expr | str | CodePointSet]:
        """What to print inside: expressions, strings and sets of characters."""
        if node[0] == OP_ALT:
            characters, others = branches(node)
            return [*others, characters] if characters else others
        if node[0] in (OP_SEQ, OP_LITERAL, OP_SET):
            found = pieces(node)
            return [] if found == [node] else found
        return operands(node)

    def _shown(self, part: Expr | str | CodePointSet, done: dict[int, Shown]) -> Shown:
        if isinstance(part, Expr):
            return done[id(part)]
        if isinstance(part, str):
            return self.literal(part)
        return self.literal(chr(part.ranges[0][0])) if len(part) == 1 else self.characters(part)

    def _join(self, node: Expr, parts: list[Shown]) -> Shown:
        op = node[0]
        if op in (OP_LITERAL, OP_SET, OP_SEQ) and parts:
            return self._joined(parts, _SEQ, self.blank)
        if op == OP_ALT:
            return self._joined(parts, _ALT, f"{self.blank}|{self.blank}")
        if op == OP_REPEAT:
            return Shown(self._inside(parts[0], _ATOM) + _count(node[2], node[3]), _REPEAT)
        if op == OP_REF:
            return Shown(self.reference(node[1]), _ATOM)
        if op == OP_EMPTY:
            return Shown(self.empty, _ATOM)
        if op == OP_SUBSTRINGS:
            return Shown(self.substrings(self._chunks(node)), _ATOM)
        if op == OP_TOKENS:
            return Shown(self.tokens(TokenSet(id_ranges=tuple(_id_ranges(node[1])))), _ATOM)
        if op == OP_AND:
            return self.intersection(parts)
        if op == OP_NOT:
            return self.complement(parts[0])
        if op in (OP_CAPTURE, OP_SPAN):
            return parts[0]
        if op in (OP_GUARD, OP_CALL):
            return self.parametric(node, parts)
        if op in (OP_SCOPE, OP_REMEMBER, OP_RECALL):
            return self.remembered(node, parts)
        return self.bytes(0 if op == OP_NEVER else node[1])

    def _joined(self, parts: list[Shown], level: int, joint: str) -> Shown:
        if len(parts) == 1:
            return parts[0]
        return Shown(joint.join(self._inside(part, level) for part in parts), level)

    def _inside(self, part: Shown, level: int) -> str:
        """A part of something that holds together this tightly."""
        return self.group(part.text) if part.level < level else part.text

    def group(self, text: str) -> str:
        return f"({text})"

    def intersection(self, parts: list[Shown]) -> Shown:
        return self._joined(parts, _AND, " & ")

    def complement(self, part: Shown) -> Shown:
        return Shown("~" + self._inside(part, _ATOM), _ATOM)

    def reference(self, index: int) -> str:
        token_set = self._token_sets.get(index)
        return self._names[index] if token_set is None else self.tokens(token_set)

    def parametric(self, node: Expr, parts: list[Shown]) -> Shown:
        raise AssertionError("notations without parameters are given unfolded grammars")

    def remembered(self, node: Expr, parts: list[Shown]) -> Shown:
        hint = "use EBNF: Grammar.to_ebnf, or --to ebnf"
        raise GrammarError("the grammar remembers text, which this notation cannot write", hint=hint)

    def legal_name(self, wanted: str) -> str:
        raise NotImplementedError

    def literal(self, text: str) -> Shown:
        raise NotImplementedError

    def characters(self, chars: CodePointSet) -> Shown:
        raise NotImplementedError

    def tokens(self, token_set: TokenSet) -> str:
        return token_set.dump()

    def substrings(self, chunks: list[str]) -> str:
        raise NotImplementedError

    def _chunks(self, node: Expr) -> list[str]:
        try:
            return [chunk.decode() for chunk in node[1]]
        except UnicodeDecodeError:
            hint = "no notation can write such chunks; use dump()"
            raise GrammarError("the grammar contains substrings of bytes that are not characters", hint=hint) from None

    def bytes(self, members: int | bytes) -> Shown:
        """One byte of a set of bits, or these bytes, that are not characters."""
        raise GrammarError(
            "the grammar contains bytes that are not whole characters",
            hint="use EBNF, which has Byte(…) for them: Grammar.to_ebnf, or --to ebnf",
        )


class _Ebnf(_Notation):
    name_pattern = re.compile(
        r"(?!(?:Regex|Substring|TagDispatch|TokenTagDispatch|ExcludeToken|Token|Byte)\Z)[A-Za-z_][A-Za-z0-9_.\-]*"
    )
    root_name = "root"
    defines = " ::="

    def _join(self, node: Expr, parts: list[Shown]) -> Shown:
        if node[0] == OP_SEQ:
            parts = self._with_groups(self._parts_of[id(node)], parts)
        return super()._join(node, parts)

    def _with_groups(self, parts: Sequence[Expr | str | CodePointSet], shown: list[Shown]) -> list[Shown]:
        """A name holds to the end of its group, so one ends where a text takes the place of an earlier one."""
        out: list[Shown] = []
        held: list[tuple[int, int]] = []  # numbers, and where they are remembered
        for part, text in zip(parts, shown, strict=True):
            if isinstance(part, Expr) and part[0] == OP_REMEMBER:
                while held and held[-1][0] <= part[2]:
                    begin = held.pop()[1]
                    out[begin:] = [Shown(self.group(self._joined(out[begin:], _SEQ, self.blank).text), _ATOM)]
                held.append((part[2], len(out)))
            out.append(text)
        return out

    def remembered(self, node: Expr, parts: list[Shown]) -> Shown:
        if node[0] == OP_RECALL:
            return Shown(f"$text{node[1]}", _ATOM)
        if node[0] == OP_SCOPE:
            return Shown(self.group(parts[0].text), _ATOM)
        return Shown(f"text{node[2]}={self._inside(parts[0], _REPEAT)}", _REPEAT)

    def legal_name(self, wanted: str) -> str:
        return "r" + re.sub(r"[^A-Za-z0-9_]+", "_", wanted)

    def literal(self, text: str) -> Shown:
        return Shown('"' + "".join(_escaped(c, '"\\') for c in text) + '"', _ATOM)

    def characters(self, chars: CodePointSet) -> Shown:
        return Shown(_char_class(chars, "[]^-\\"), _ATOM)

    def tokens(self, token_set: TokenSet) -> str:
        if all(re.fullmatch(r"<[^<>\s\[\],]+>", name) for name in token_set.names):
            return token_set.dump()
        members = [self.literal(name).text for name in token_set.names]
        for first, last in token_set.id_ranges:
            members += map(str, range(first, last + 1))
        return f"{'ExcludeToken' if token_set.negated else 'Token'}({', '.join(members)})"

    def substrings(self, chunks: list[str]) -> str:
        return f"Substring({', '.join(self.literal(chunk).text for chunk in chunks)})"

    def bytes(self, members: int | bytes) -> Shown:
        if isinstance(members, bytes):
            return Shown(" ".join(self.bytes(1 << b).text for b in members), _SEQ)
        shown = ",".join(f"{a:02x}" if a == b else f"{a:02x}-{b:02x}" for a, b in _bit_ranges(members))
        return Shown(f'Byte("{shown}")', _ATOM)


class _Lark(_Notation):
    name_pattern = re.compile(r"[a-z_]*[a-z][a-z0-9_]*")
    root_name = "start"
    defines = ":"

    def __init__(self, grammar: GrammarIR) -> None:
        super().__init__(grammar)
        self._parametric = {i for i, rule in enumerate(self._grammar.rules) if uses_parameter(rule.body)}
        self._helpers: dict[str, str] = {}  # the bodies of rules that pass a value on, and their names

    def head(self, index: int) -> str:
        return self._names[index] + ("::_" if index in self._parametric else "")

    def reference(self, index: int) -> str:
        return super().reference(index) + ("::0" if index in self._parametric else "")

    def parametric(self, node: Expr, parts: list[Shown]) -> Shown:
        if node[0] == OP_GUARD:
            return Shown(f"{self._inside(parts[0], _AND)} %if {shown_condition(node[2])}", _ALT)
        if node[1] not in self._parametric:
            return Shown(self.reference(node[1]), _ATOM)
        steps, name = shown_steps(node[2]), self._names[node[1]]
        for step in reversed(steps[1:]):
            body = f"{name}::{step}"
            if body not in self._helpers:
                self._helpers[body] = self._name("passed_on", {*self._names.values(), *self._helpers.values()})
            name = self._helpers[body]
        return Shown(f"{name}::{steps[0]}", _ATOM)

    def helpers(self) -> Iterable[str]:
        return [f"{name}::_: {body}" for body, name in self._helpers.items()]

    def legal_name(self, wanted: str) -> str:
        return "r_" + re.sub(r"[^a-z0-9_]+", "_", wanted.lower())

    def literal(self, text: str) -> Shown:
        return Shown('"' + "".join(_escaped(c, '"\\') for c in text) + '"', _ATOM)

    def characters(self, chars: CodePointSet) -> Shown:
        return Shown(f"/{_char_class(chars, _REGEX_CLASS)}/", _ATOM)

    def substrings(self, chunks: list[str]) -> str:
        return "%regex " + json.dumps({"substring_chunks": chunks}, ensure_ascii=False)


class _Regex(_Notation):
    blank = ""
    empty = "(?:)"

    def group(self, text: str) -> str:
        return f"(?:{text})"

    def literal(self, text: str) -> Shown:
        return Shown("".join(_escaped(c, _REGEX_SPECIAL) for c in text), _ATOM if len(text) == 1 else _SEQ)

    def characters(self, chars: CodePointSet) -> Shown:
        return Shown(_char_class(chars, _REGEX_CLASS), _ATOM)

    def intersection(self, parts: list[Shown]) -> Shown:
        raise GrammarError(
            "the grammar contains an intersection",
            hint="use EBNF or Lark, which have & and ~: Grammar.to_ebnf, or --to ebnf",
        )

    def complement(self, part: Shown) -> Shown:
        return self.intersection([part])


_REGEX_SPECIAL: Final = ".^$*+?{}[]\\|()/"
_REGEX_CLASS: Final = "[]^-\\/&~"


def _escaped(c: str, special: str) -> str:
    if c in special:
        return "\\" + c
    short = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(c)
    if short:
        return short
    if c.isprintable():
        return c
    return f"\\x{ord(c):02x}" if c <= "\xff" else f"\\u{ord(c):04x}" if c <= "\uffff" else f"\\U{ord(c):08x}"


def _char_class(chars: CodePointSet, special: str) -> str:
    negated = 0x10FFFF in chars
    ranges = (~chars).ranges if negated else chars.ranges
    if negated and not ranges:
        return "[\\x00-\\U0010ffff]"
    inside = "".join(
        _escaped(chr(a), special) if a == b else f"{_escaped(chr(a), special)}-{_escaped(chr(b), special)}"
        for a, b in ranges
    )
    return f"[{'^' if negated else ''}{inside}]"


def _count(minimum: int, maximum: int) -> str:
    short = _SHORT_COUNTS.get((minimum, maximum))
    if short:
        return short
    if minimum == maximum:
        return f"{{{minimum}}}"
    return f"{{{minimum},}}" if maximum == UNBOUNDED else f"{{{minimum},{maximum}}}"


def _is_written(node: Expr) -> bool:
    """Whether an expression is a capture that can be written as an option of a rule."""
    return bool(node[0] == OP_CAPTURE and not node[3])


def _with_options_as_rules(grammar: GrammarIR) -> GrammarIR:
    """The same, with spans and captures only as whole bodies of rules: options stand at rules."""
    rules = list(grammar.rules)
    plain: set[int] = set()  # expressions without options, by identity: rules share many
    for index in range(len(rules)):
        body = rules[index].body
        whole_body = [body, body[1]] if body[0] == OP_SPAN else [body]
        moved: dict[int, Expr] = {}
        for node in postorder(body, lambda part: () if id(part) in plain else operands(part)):
            old = operands(node)
            if node[0] not in (OP_SPAN, OP_CAPTURE) and all(id(part) in plain for part in old):
                plain.add(id(node))
                continue
            new = [moved.get(id(part), part) for part in old]
            whole = node if all(map(is_, new, old)) else Expr((node[0], *new, *node[1 + len(new) :]))
            if (node[0] == OP_SPAN and node is not body) or (
                _is_written(node) and not any(node is part for part in whole_body)
            ):
                name = re.sub(r"\W", "_", node[2]) if node[0] == OP_CAPTURE else f"{rules[index].name}_span"
                rules.append(Rule(name, whole))
                whole = call(len(rules) - 1, SELF) if uses_parameter(whole) else ref(len(rules) - 1)
            moved[id(node)] = whole
        rules[index] = Rule(rules[index].name, moved.get(id(body), body))
    return GrammarIR(tuple(rules), grammar.root, grammar.token_sets)


def _reachable(grammar: GrammarIR) -> list[int]:
    """The root, and the rules that it leads to, in order of appearance."""
    order = {grammar.root: None}
    pending = [grammar.root]
    seen: set[int] = set()  # expressions, by identity: rules share many
    for index in pending:  # grows meanwhile
        for node in postorder(grammar.rules[index].body, lambda part: () if id(part) in seen else operands(part)):
            seen.add(id(node))
            if node[0] in (OP_REF, OP_CALL) and node[1] not in order:
                order[node[1]] = None
                pending.append(node[1])
    return list(order)


def _id_ranges(ids: Iterable[int]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for token in ids:
        if out and out[-1][1] == token - 1:
            out[-1] = (out[-1][0], token)
        else:
            out.append((token, token))
    return out


def _bit_ranges(mask: int) -> list[tuple[int, int]]:
    return _id_ranges(b for b in range(256) if mask >> b & 1)
