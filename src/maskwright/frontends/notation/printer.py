"""What printed notations share: the operators, their order, the names of rules and their options.

    alternatives < intersections < sequences < repetitions < atoms       what holds together less gets parentheses

A notation is a subclass that spells literals, sets of characters, tokens and names. Expressions are folded from their
leaves, without recursion.
Tested by tests/frontends/test_printing.py.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import ClassVar, Final, NamedTuple

from maskwright.errors import GrammarError, LimitError
from maskwright.frontends.charset import CodePointSet
from maskwright.frontends.notation.characters import branches, pieces
from maskwright.frontends.notation.option_rules import is_written, with_options_as_rules
from maskwright.frontends.notation.spellings import count, escaped, ranges_of
from maskwright.ir import (
    OP_ALT,
    OP_AND,
    OP_CALL,
    OP_CAPTURE,
    OP_DISTINCT,
    OP_EMPTY,
    OP_GUARD,
    OP_LITERAL,
    OP_MULTIPLE,
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
    OP_VALUE,
    Expr,
    GrammarIR,
    TokenSet,
    operands,
    postorder,
)

MAX_PRINTED: Final = 20_000_000  # characters

ALT, AND, SEQ, REPEAT, ATOM = 0, 1, 2, 3, 4  # how tightly a shown expression holds together


class Shown(NamedTuple):
    """A printed expression, and how tightly it holds together."""

    text: str
    level: int


class Printer:
    """What the notations share: the operators and their order."""

    blank: ClassVar[str] = " "
    empty: ClassVar[str] = '""'
    joint: ClassVar[str] = "_"  # before the number of a name that another rule has, too
    name_pattern: ClassVar[re.Pattern[str]]
    root_name: ClassVar[str]

    def __init__(self, grammar: GrammarIR) -> None:
        self._grammar = with_options_as_rules(grammar)
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
        if is_written(body):
            said["capture"] = self.literal(body[2]).text
        shown = ", ".join(f"{name}={value}" for name, value in said.items() if value is not None)
        return f"[{shown}]" if shown else ""

    defines: ClassVar[str]

    def _name(self, wanted: str, taken: set[str]) -> str:
        name = wanted if self.name_pattern.fullmatch(wanted) else self.legal_name(wanted)
        unique, n = name, 2
        while unique in taken:
            unique, n = f"{name}{self.joint}{n}", n + 1
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
                hint = "keep the text that it was read from"
                raise LimitError("the grammar is too large to print", limit="printed size", hint=hint)
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
            return self._joined(parts, SEQ, self.blank)
        if op == OP_ALT:
            return self._joined(parts, ALT, f"{self.blank}|{self.blank}")
        if op == OP_REPEAT:
            return Shown(self._inside(parts[0], ATOM) + count(node[2], node[3]), REPEAT)
        if op == OP_REF:
            return Shown(self.reference(node[1]), ATOM)
        if op == OP_EMPTY:
            return Shown(self.empty, ATOM)
        if op == OP_SUBSTRINGS:
            return Shown(self.substrings(self._chunks(node)), ATOM)
        if op == OP_TOKENS:
            return Shown(self.tokens(TokenSet(id_ranges=tuple(ranges_of(node[1])))), ATOM)
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
        if op == OP_DISTINCT:
            return self.distinct(node, parts)
        if op == OP_VALUE:
            raise GrammarError("the grammar compares JSON values, which no notation can write")
        if op == OP_MULTIPLE:
            raise GrammarError("the grammar has numbers that must be multiples, which no notation can write")
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
        return self._joined(parts, AND, " & ")

    def complement(self, part: Shown) -> Shown:
        return Shown("~" + self._inside(part, ATOM), ATOM)

    def reference(self, index: int) -> str:
        token_set = self._token_sets.get(index)
        return self._names[index] if token_set is None else self.tokens(token_set)

    def parametric(self, node: Expr, parts: list[Shown]) -> Shown:
        raise AssertionError("notations without parameters are given unfolded grammars")

    def remembered(self, node: Expr, parts: list[Shown]) -> Shown:
        hint = "use EBNF: Grammar.to_ebnf, or --to ebnf"
        raise GrammarError("the grammar remembers text, which this notation cannot write", hint=hint)

    def distinct(self, node: Expr, parts: list[Shown]) -> Shown:
        hint = "use EBNF: Grammar.to_ebnf, or --to ebnf"
        raise GrammarError("the grammar has a list of distinct elements, which this notation cannot write", hint=hint)

    def legal_name(self, wanted: str) -> str:
        raise NotImplementedError

    def literal(self, text: str) -> Shown:
        return Shown('"' + "".join(escaped(c, '"\\') for c in text) + '"', ATOM)

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
