"""The bodies of definitions in Lark grammars: items, the operators between them, and brackets around them.

    a "b"* | ~c & d      an alternation of a sequence and a conjunction

`tag=NAME` remembers the text of an item to the end of its alternative, and `$tag` is that text again.
A stack of open brackets holds what is unfinished, so nesting costs no Python frames and is limited. Operators from the
tightest: `~` before an item (complement), repetitions after it, sequence, `&`, `|`, with a condition (`%if`) at the end
of an alternative. `HANDLERS` has the method for each kind of token (tokens.py) that only bodies have.
Tested by tests/frontends/test_lark.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from maskwright.errors import LarkSyntaxError, LimitError, Span
from maskwright.frontends.lark import ast
from maskwright.frontends.lark.cursor import MALFORMED_REPETITION, Cursor, extent
from maskwright.frontends.lark.parameters import parse_term
from maskwright.frontends.lark.tokens import (
    BINDING_NAME,
    COUNT_LOW,
    IS_CALL,
    NAME,
    PATTERN_FLAGS,
    PATTERN_TEXT,
    RANGE_END,
    RECALLED_NAME,
    SIDE_NAME,
    STRING_FLAG,
    STRING_TEXT,
)
from maskwright.frontends.notation.mistakes import NO_OPERAND, hint_at_head, hint_at_repetition
from maskwright.frontends.notation.quoted import Quoted, string_value
from maskwright.frontends.notation.token_literals import token_set
from maskwright.frontends.warnings.misread import misread_pattern, misread_text
from maskwright.frontends.warnings.notes import Misread, MisreadAt
from maskwright.ir import MAX_TEXT_NUMBER, UNBOUNDED

MAX_DEPTH: Final = 100
MAX_COUNT: Final = 2**31 - 1

_TIMES: Final = {"*": (0, UNBOUNDED), "+": (1, UNBOUNDED), "?": (0, 1)}
_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}


class _Binding(NamedTuple):
    """A name for the text of an item, by the item's place in its branch."""

    name: str
    number: int
    item: int
    span: Span


class _Frame:
    """What is open: a bracket or the body of a definition, with its finished branches and unfinished parts."""

    __slots__ = (
        "ampersand",
        "bindings",
        "branches",
        "commas",
        "condition",
        "items",
        "kind",
        "operands",
        "repetitions",
        "start",
        "tildes",
    )

    def __init__(self, kind: str, start: int) -> None:
        self.kind = kind
        self.start = start
        self.branches: list[ast.Node] = []
        self.operands: list[ast.Node] = []  # of the & that is open
        self.ampersand = 0  # where that is
        self.items: list[ast.Node] = []
        self.tildes: list[int] = []
        self.condition: ast.Call | None = None  # that the open branch ends with
        self.commas: list[ast.Node] = []
        self.repetitions = 0
        self.bindings: list[_Binding] = []  # of the open branch


class Body:
    """The body that is being read, if any. `misread` receives what is surely meant as something else."""

    __slots__ = ("cursor", "frame", "misread", "stack")

    def __init__(self, cursor: Cursor, misread: list[MisreadAt]) -> None:
        self.cursor = cursor
        self.misread = misread
        self.frame: _Frame | None = None  # the innermost that is open
        self.stack: list[_Frame] = []  # those around it

    def begin(self, start: int) -> None:
        self.frame = _Frame("body", start)

    def end(self) -> ast.Node | None:
        """Return what was read since `begin`; None if no body is open."""
        frame = self.frame
        if frame is None:
            return None
        if self.stack:
            raise self._not_closed(frame)
        node = self._alternatives(frame)
        self.frame = None
        return node

    def _frame(self, token: re.Match[str]) -> _Frame:
        if self.frame is None:
            start, end = extent(token)
            raise self.cursor.error("expected a rule", start, end, hint_at_head(self.cursor.source, start, ":"))
        return self.frame

    def push(self, token: re.Match[str], node: ast.Node) -> None:
        frame = self.frame
        if frame is None or frame.condition is not None:
            self._check_not_over(self._frame(token), token)
        assert frame is not None
        if frame.tildes:
            for start in reversed(frame.tildes):
                node = ast.Not(Span(start, node.span.end), node)
            frame.tildes.clear()
        frame.items.append(node)
        frame.repetitions = 0

    def word(self, token: re.Match[str]) -> None:
        """Read a name, or a call with a parameter; what begins a definition is the parser's."""
        name, call = token.group(NAME, IS_CALL)
        start = token.start()
        if call is None:
            return self.push(token, ast.Name(Span(*token.span(NAME)), name))
        term, self.cursor.position = parse_term(self.cursor.source, token.end(IS_CALL))
        self.push(token, ast.Parametric(Span(start, self.cursor.position), name, term))

    def _string(self, token: re.Match[str]) -> None:
        quoted, flag = token.group(STRING_TEXT, STRING_FLAG)
        value = string_value(Quoted(quoted, token.start()), self.cursor.source, LarkSyntaxError)
        span = Span(*token.span("string"))
        self._note(misread_text(value, "/{}/".format(value.replace("/", "\\/"))), span)
        self.push(token, ast.Text(span, value, flag is not None))

    def _range(self, token: re.Match[str]) -> None:
        frame = self._frame(token)
        first = frame.items[-1] if frame.items and frame.repetitions == 0 else None
        tildes = []
        while isinstance(first, ast.Not):
            tildes.append(first.span.start)
            first = first.item
        last = string_value(Quoted(token[RANGE_END], token.start(RANGE_END)), self.cursor.source, LarkSyntaxError)
        if not isinstance(first, ast.Text) or len(first.value) != 1 or len(last) != 1 or first.value > last:
            hint = 'write "a".."z", with one character on each side'
            raise self.cursor.error("malformed range", *extent(token), hint)
        node: ast.Node = ast.Range(Span(first.span.start, token.end("range")), first.value, last)
        for start in reversed(tildes):
            node = ast.Not(Span(start, node.span.end), node)
        frame.items[-1] = node

    def _pattern(self, token: re.Match[str]) -> None:
        pattern, flags = token[PATTERN_TEXT], token[PATTERN_FLAGS]
        if "\n" in pattern and "x" not in flags:
            raise self.cursor.error(
                "unterminated regex: it must end on its line", token.start(), token.start() + 1, "add /"
            )
        span = Span(*token.span("pattern"))
        self._note(misread_pattern(pattern, flags), span)
        self.push(token, ast.Pattern(span, pattern, flags))

    def _note(self, misread: Misread | None, span: Span) -> None:
        if misread is not None:
            self.misread.append(MisreadAt(self.cursor.rule, span, misread))

    def _tokens(self, token: re.Match[str]) -> None:
        span = Span(*token.span("tokens"))
        self.push(token, ast.Tokens(span, token_set(token["tokens"], span, self.cursor.source, LarkSyntaxError)))

    def _side(self, token: re.Match[str]) -> None:
        self.push(token, ast.Side(Span(*token.span("side")), token[SIDE_NAME]))

    def _condition(self, token: re.Match[str]) -> None:
        frame = self._frame(token)
        self._check_not_over(frame, token)
        frame.condition, self.cursor.position = parse_term(self.cursor.source, token.end("condition"))

    def _check_not_over(self, frame: _Frame, token: re.Match[str]) -> None:
        if frame.condition is not None:
            hint = "put the condition last, or the alternative into parentheses"
            raise self.cursor.error("a condition must come last in its alternative", *extent(token), hint)

    def _bind(self, token: re.Match[str]) -> None:
        frame, name, span = self._frame(token), token[BINDING_NAME], Span(token.start(), token.end("binding"))
        self._check_not_over(frame, token)
        known = self._bindings()
        if any(binding.name == name for binding in known):
            raise self.cursor.error(f"{name[:60]!r} names a text already", *span, "use another name")
        number = MAX_TEXT_NUMBER - len(known)
        if number < 1:
            message = f"more than {MAX_TEXT_NUMBER} texts are remembered at once"
            raise LimitError(message, limit="remembered_texts", hint="begin an alternative of its own: ( … )")
        frame.bindings.append(_Binding(name, number, len(frame.items), span))

    def _bindings(self) -> list[_Binding]:
        """Those of all open brackets that can be recalled here: a template's argument is a rule of its own."""
        frames = [*self.stack, self.frame]
        inside = max((i for i, frame in enumerate(frames) if frame is not None and frame.kind == "{"), default=0)
        return [binding for frame in frames[inside:] if frame is not None for binding in frame.bindings]

    def _recall(self, token: re.Match[str]) -> None:
        frame, name, span = self._frame(token), token[RECALLED_NAME], Span(token.start(), token.end("recall"))
        for binding in self._bindings():
            if binding.name == name and not (binding in frame.bindings and binding.item >= len(frame.items)):
                return self.push(token, ast.Recall(span, binding.number))
        before = f"write {name[:60]}=TERMINAL before it, in the same alternative or in one around it"
        hint = f"{before}; write a regular expression in /…/"
        raise self.cursor.error(f"no text is named {name[:60]!r} here", *span, hint)

    def _alias(self, token: re.Match[str]) -> None:
        self._frame(token)  # names a node of Lark's tree, which nobody builds here

    def _tilde(self, token: re.Match[str]) -> None:
        frame = self._frame(token)
        frame.tildes.append(token.start())
        if len(frame.tildes) > MAX_DEPTH:
            hint = "leave out each pair of ~: two of them cancel out"
            raise LimitError(f"an item has more than {MAX_DEPTH} complement operators", limit="lark depth", hint=hint)

    def _times(self, token: re.Match[str]) -> None:
        self._repeat(token, *_TIMES[token["times"]])

    def _count(self, token: re.Match[str]) -> None:
        low, comma, high, least, most = token.groups()[COUNT_LOW - 1 : COUNT_LOW + 4]
        if any(digits and (len(digits) > 10 or int(digits) > MAX_COUNT) for digits in (low, high, least, most)):
            raise self.cursor.error(f"a count above {MAX_COUNT:,} is not supported", *extent(token))
        if least is not None:
            minimum, maximum = int(least), int(most or least)
        elif low or high:
            minimum = int(low or 0)
            maximum = minimum if comma is None else int(high) if high else UNBOUNDED
        else:
            raise self.cursor.error(MALFORMED_REPETITION[0], *extent(token), MALFORMED_REPETITION[1])
        if maximum != UNBOUNDED and maximum < minimum:
            raise self.cursor.error("the upper bound is below the lower bound", *extent(token))
        self._repeat(token, minimum, maximum)

    def _repeat(self, token: re.Match[str], minimum: int, maximum: int) -> None:
        frame = self._frame(token)
        self._check_not_over(frame, token)
        if not frame.items or frame.tildes:
            start, end = extent(token)
            hint = hint_at_repetition(self.cursor.source, start, "// or #", "/…/")
            raise self.cursor.error("nothing to repeat", start, end, hint)
        frame.repetitions += 1
        if frame.repetitions > MAX_DEPTH:
            hint = "use one of them: (a*)* means a*"
            raise LimitError(f"an item has more than {MAX_DEPTH} repetition operators", limit="lark depth", hint=hint)
        item = frame.items[-1]
        frame.items[-1] = ast.Repeat(Span(item.span.start, extent(token)[1]), item, minimum, maximum)

    def _ampersand(self, token: re.Match[str]) -> None:
        frame = self._frame(token)
        frame.ampersand = token.start()
        frame.operands.append(self._operand(frame))

    def _bar(self, token: re.Match[str]) -> None:
        frame = self._frame(token)
        frame.branches.append(self._conjunction(frame))

    def _open(self, token: re.Match[str]) -> None:
        frame = self._frame(token)
        if len(self.stack) >= MAX_DEPTH:
            hint = "move inner groups into rules of their own"
            raise LimitError(f"the grammar nests more than {MAX_DEPTH} groups", limit="lark depth", hint=hint)
        self.stack.append(frame)
        self.frame = _Frame(self.cursor.source[token.start()], token.start())

    def _arguments(self, token: re.Match[str]) -> None:
        frame = self._frame(token)
        if not frame.items or not isinstance(frame.items[-1], ast.Name) or frame.items[-1].span.end != token.start():
            raise self.cursor.unexpected(token.start())
        self._open(token)

    def _comma(self, token: re.Match[str]) -> None:
        frame = self._frame(token)
        if frame.kind != "{":
            hint = "parts follow each other without commas, alternatives are separated by |"
            raise self.cursor.error("unexpected character", *extent(token), hint)
        frame.commas.append(self._alternatives(frame))

    def close(self, token: re.Match[str]) -> None:
        bracket = token["close"]
        frame = self._frame(token)
        if not self.stack:
            hint = f'remove it, or write "{bracket}" for the character'
            raise self.cursor.error(f"unmatched {bracket!r}", *extent(token), hint)
        if _CLOSING[frame.kind] != bracket:
            raise self._not_closed(frame)
        body = self._alternatives(frame)
        outer = self.frame = self.stack.pop()
        span = Span(frame.start, token.end("close"))
        if bracket == "}":
            template = outer.items.pop()
            assert isinstance(template, ast.Name)
            node: ast.Node = ast.Use(Span(template.span.start, span.end), template.name, (*frame.commas, body))
            outer.items.append(node)
        else:
            self.push(token, body if bracket == ")" else ast.Repeat(span, body, 0, 1))

    def _not_closed(self, frame: _Frame) -> LarkSyntaxError:
        return self.cursor.error("unclosed bracket", frame.start, frame.start + 1, f"add {_CLOSING[frame.kind]}")

    def _sequence(self, frame: _Frame) -> ast.Node:
        if frame.tildes:
            hint = "~ stands before what it complements; a repetition is written ~2 or ~1..3"
            raise self.cursor.error("nothing to complement", frame.tildes[-1], frame.tildes[-1] + 1, hint)
        items = frame.items
        for binding in frame.bindings:
            if binding.item >= len(items):
                raise self.cursor.error("nothing to remember", *binding.span, "write name=TERMINAL without spaces")
            item = items[binding.item]
            items[binding.item] = ast.Remember(Span(binding.span.start, item.span.end), item, binding.number)
        frame.items, frame.repetitions, frame.bindings = [], 0, []
        if len(items) == 1:
            return items[0]
        here = self.cursor.position
        span = Span(items[0].span.start, items[-1].span.end) if items else Span(here, here)
        return ast.Seq(span, tuple(items))

    def _operand(self, frame: _Frame) -> ast.Node:
        if not frame.items and not frame.tildes:
            raise self.cursor.error(NO_OPERAND[0], frame.ampersand, frame.ampersand + 1, NO_OPERAND[1])
        return self._sequence(frame)

    def _conjunction(self, frame: _Frame) -> ast.Node:
        if frame.operands:
            operands, frame.operands = (*frame.operands, self._operand(frame)), []
            node: ast.Node = ast.And(Span(operands[0].span.start, operands[-1].span.end), operands)
        else:
            node = self._sequence(frame)
        if frame.condition is not None:
            node = ast.Conditional(Span(node.span.start, frame.condition.span.end), node, frame.condition)
            frame.condition = None
        return node

    def _alternatives(self, frame: _Frame) -> ast.Node:
        last = self._conjunction(frame)
        if not frame.branches:
            return last
        branches, frame.branches = (*frame.branches, last), []
        return ast.Alt(Span(branches[0].span.start, last.span.end), branches)


HANDLERS: Final[dict[str, Callable[[Body, re.Match[str]], None]]] = {
    "string": Body._string,
    "pattern": Body._pattern,
    "count": Body._count,
    "bar": Body._bar,
    "times": Body._times,
    "open": Body._open,
    "arguments": Body._arguments,
    "comma": Body._comma,
    "tilde": Body._tilde,
    "ampersand": Body._ampersand,
    "range": Body._range,
    "alias": Body._alias,
    "binding": Body._bind,
    "recall": Body._recall,
    "tokens": Body._tokens,
    "side": Body._side,
    "condition": Body._condition,
}
