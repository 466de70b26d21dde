r"""From the text of a Lark grammar to its syntax tree, in one pass.

One compiled pattern finds the next token, and the name of the group that matched chooses the method that handles it. A
stack of open brackets holds what is unfinished, so nesting costs no Python frames and is limited; only `%lark {…}`
parses within a parse, to a small depth.

    >>> document = parse('start: "a" | b~2\n%ignore " "\nb: /[0-9]+/')
    >>> [d.name for d in document.definitions], document.ignored[0].value
    (['start', 'b'], ' ')

Newlines do not matter: a body ends where the next definition or statement begins. Operators from the tightest:
`~` before an item (complement), repetitions after it, sequence, `&`, `|`. Cost: about three microseconds a token.
Sources: Lark's grammar reference; llguidance's documentation of its dialect.
Tested by tests/frontends/test_lark.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Final

from maskwright.errors import LarkSyntaxError, LimitError, Span
from maskwright.frontends.lark import ast
from maskwright.frontends.lark.grammar_options import wrong_option
from maskwright.frontends.lark.parameters import parse_term
from maskwright.frontends.lark.tokens import (
    COUNT_LOW,
    DECLARE,
    EMBEDDED_KIND,
    HEADER,
    IMPORT,
    IMPORT_NAMES,
    IS_CALL,
    IS_PARAMETRIC,
    LATE_BRACKETS,
    NAME,
    OPTION_BRACKETS,
    PARAMETERS,
    PATTERN_FLAGS,
    PATTERN_TEXT,
    RANGE_END,
    SIDE_NAME,
    STRING_FLAG,
    STRING_TEXT,
    TOKEN,
    WORD,
)
from maskwright.frontends.notation.mistakes import hint_at, hint_at_head, malformed_head_at
from maskwright.frontends.notation.quoted import BYTE_ORDER_MARK, Quoted, string_value
from maskwright.frontends.notation.rule_options import RuleOption, parse_options
from maskwright.frontends.notation.token_literals import token_set
from maskwright.ir import UNBOUNDED
from maskwright.support.interruption import interrupt_checkpoint

MAX_DEPTH: Final = 100
MAX_EMBEDDED: Final = 8
MAX_COUNT: Final = 2**31 - 1

_TIMES: Final = {"*": (0, UNBOUNDED), "+": (1, UNBOUNDED), "?": (0, 1)}
_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}
_UNEXPECTED: Final = {
    '"': ("unterminated string", 'add "'),
    "'": ("unterminated string", "add '"),
    "/": ("unterminated regex", "add /, and write \\/ for a slash inside"),
    "{": ("malformed repetition", "write {n}, {n,}, {n,m} or {,m}; ( … )* for any number of times"),
    "<": ("malformed token literal", "write <name> or <[1,2-5]>"),
}


def parse(source: str) -> ast.Document:
    """Parse a grammar.

    Raises:
        LarkSyntaxError: The text is malformed; `span` says where.
        LimitError: It nests too deep.
    """
    return _Parser(source, 0, 0).parse()


class _Frame:
    """What is open: a bracket or the body of a definition, with its finished branches and unfinished parts."""

    __slots__ = ("branches", "commas", "condition", "items", "kind", "operands", "repetitions", "start", "tildes")

    def __init__(self, kind: str, start: int) -> None:
        self.kind = kind
        self.start = start
        self.branches: list[ast.Node] = []
        self.operands: list[ast.Node] = []  # of the & that is open
        self.items: list[ast.Node] = []
        self.tildes: list[int] = []
        self.condition: ast.Call | None = None  # that the open branch ends with
        self.commas: list[ast.Node] = []
        self.repetitions = 0


class _Parser:
    def __init__(self, source: str, position: int, embedding: int) -> None:
        self.source = source
        self.position = position
        self.embedding = embedding  # how many %lark {…} are around
        self.is_over = False
        self.frame: _Frame | None = None
        self.stack: list[_Frame] = []
        self.finish: Callable[[ast.Node], None] | None = None  # what to do with the body that is open
        self.rule: str | None = None  # whose body is open
        self.mode = "define"
        self.definitions: list[ast.Definition] = []
        self.imports: list[ast.Import] = []
        self.ignored: list[ast.Node] = []
        self.declared: list[ast.Name] = []
        self.options: dict[str, Any] = {}

    def error(self, message: str, start: int, end: int, hint: str | None = None) -> LarkSyntaxError:
        rule = malformed_head_at(self.source, start, ":") or self.rule
        return LarkSyntaxError(message, source=self.source, span=Span(start, end), hint=hint, rule=rule)

    def parse(self) -> ast.Document:
        try:
            self._read()
        except LarkSyntaxError as error:
            raise error.name_rule(self.rule)  # noqa: B904
        return ast.Document(
            self.source,
            tuple(self.definitions),
            tuple(self.imports),
            tuple(self.ignored),
            tuple(self.declared),
            self.options,
        )

    def _read(self) -> None:
        source, end, match_token = self.source, len(self.source), TOKEN.match
        if not self.embedding and source.startswith(BYTE_ORDER_MARK):
            self.position = 1
        while self.position < end and not self.is_over:
            interrupt_checkpoint()
            token = match_token(source, self.position)
            if token is None:
                raise self._unexpected(self.position)
            kind = token.lastgroup
            self.position = token.end()
            if kind != "blank":
                assert kind is not None
                _HANDLERS[kind](self, token)
        if self.embedding and not self.is_over:
            raise self.error("unclosed %lark", end, end, "add }")
        self._end_body()
        if self.mode != "define":
            raise self.error(f"%{self.mode} needs a definition", end, end, f"write %{self.mode} name: body")

    # Items and operators.

    def _frame(self, token: re.Match[str]) -> _Frame:
        if self.frame is None:
            start, end = _extent(token)
            raise self.error("expected a rule", start, end, hint_at_head(self.source, start, ":"))
        return self.frame

    def _push(self, token: re.Match[str], node: ast.Node) -> None:
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

    def _word(self, token: re.Match[str]) -> None:
        name, header, call = token.group(NAME, HEADER, IS_CALL)
        if header is not None:
            return self._definition(token)
        start = token.start()
        if call is None:
            return self._push(token, ast.Name(Span(*token.span(NAME)), name))
        term, self.position = parse_term(self.source, token.end(IS_CALL))
        self._push(token, ast.Parametric(Span(start, self.position), name, term))

    def _string(self, token: re.Match[str]) -> None:
        quoted, flag = token.group(STRING_TEXT, STRING_FLAG)
        value = string_value(Quoted(quoted, token.start()), self.source, LarkSyntaxError)
        self._push(token, ast.Text(Span(*token.span("string")), value, flag is not None))

    def _range(self, token: re.Match[str]) -> None:
        frame = self._frame(token)
        first = frame.items[-1] if frame.items and frame.repetitions == 0 else None
        last = string_value(Quoted(token[RANGE_END], token.start(RANGE_END)), self.source, LarkSyntaxError)
        if not isinstance(first, ast.Text) or len(first.value) != 1 or len(last) != 1 or first.value > last:
            raise self.error("malformed range", *_extent(token), 'write "a".."z", with one character on each side')
        frame.items[-1] = ast.Range(Span(first.span.start, token.end("range")), first.value, last)

    def _pattern(self, token: re.Match[str]) -> None:
        pattern, flags = token[PATTERN_TEXT], token[PATTERN_FLAGS]
        if "\n" in pattern and "x" not in flags:
            raise self.error("unterminated regex: it must end on its line", token.start(), token.start() + 1, "add /")
        self._push(token, ast.Pattern(Span(*token.span("pattern")), pattern, flags))

    def _tokens(self, token: re.Match[str]) -> None:
        span = Span(*token.span("tokens"))
        self._push(token, ast.Tokens(span, token_set(token["tokens"], span, self.source, LarkSyntaxError)))

    def _side(self, token: re.Match[str]) -> None:
        self._push(token, ast.Side(Span(*token.span("side")), token[SIDE_NAME]))

    def _condition(self, token: re.Match[str]) -> None:
        frame = self._frame(token)
        self._check_not_over(frame, token)
        frame.condition, self.position = parse_term(self.source, token.end("condition"))

    def _check_not_over(self, frame: _Frame, token: re.Match[str]) -> None:
        if frame.condition is not None:
            hint = "put the condition last, or the alternative into parentheses"
            raise self.error("a condition must come last in its alternative", *_extent(token), hint)

    def _alias(self, token: re.Match[str]) -> None:
        self._frame(token)  # names a node of Lark's tree, which nobody builds here

    def _tilde(self, token: re.Match[str]) -> None:
        frame = self._frame(token)
        frame.tildes.append(token.start())
        if len(frame.tildes) > MAX_DEPTH:
            raise LimitError(f"an item has more than {MAX_DEPTH} complement operators", limit="lark depth")

    def _times(self, token: re.Match[str]) -> None:
        self._repeat(token, *_TIMES[token["times"]])

    def _count(self, token: re.Match[str]) -> None:
        low, comma, high, least, most = token.groups()[COUNT_LOW - 1 : COUNT_LOW + 4]
        if any(digits and (len(digits) > 10 or int(digits) > MAX_COUNT) for digits in (low, high, least, most)):
            raise self.error(f"a count above {MAX_COUNT:,} is not supported", *_extent(token))
        if least is not None:
            minimum, maximum = int(least), int(most or least)
        elif low or high:
            minimum = int(low or 0)
            maximum = minimum if comma is None else int(high) if high else UNBOUNDED
        else:
            raise self.error(_UNEXPECTED["{"][0], *_extent(token), _UNEXPECTED["{"][1])
        if maximum != UNBOUNDED and maximum < minimum:
            raise self.error("the upper bound is below the lower bound", *_extent(token))
        self._repeat(token, minimum, maximum)

    def _repeat(self, token: re.Match[str], minimum: int, maximum: int) -> None:
        frame = self._frame(token)
        self._check_not_over(frame, token)
        if not frame.items or frame.tildes:
            raise self.error(
                "nothing to repeat", *_extent(token), 'write "…" around characters that stand for themselves'
            )
        frame.repetitions += 1
        if frame.repetitions > MAX_DEPTH:
            raise LimitError(f"an item has more than {MAX_DEPTH} repetition operators", limit="lark depth")
        item = frame.items[-1]
        frame.items[-1] = ast.Repeat(Span(item.span.start, _extent(token)[1]), item, minimum, maximum)

    def _ampersand(self, token: re.Match[str]) -> None:
        frame = self._frame(token)
        frame.operands.append(self._sequence(frame))

    def _bar(self, token: re.Match[str]) -> None:
        frame = self._frame(token)
        frame.branches.append(self._conjunction(frame))

    # Brackets.

    def _open(self, token: re.Match[str]) -> None:
        frame = self._frame(token)
        if len(self.stack) >= MAX_DEPTH:
            raise LimitError(f"the grammar nests more than {MAX_DEPTH} groups", limit="lark depth")
        self.stack.append(frame)
        self.frame = _Frame(self.source[token.start()], token.start())

    def _arguments(self, token: re.Match[str]) -> None:
        frame = self._frame(token)
        if not frame.items or not isinstance(frame.items[-1], ast.Name) or frame.items[-1].span.end != token.start():
            raise self._unexpected(token.start())
        self._open(token)

    def _comma(self, token: re.Match[str]) -> None:
        frame = self._frame(token)
        if frame.kind != "{":
            raise self.error("unexpected character", *_extent(token), "separate alternatives with |")
        frame.commas.append(self._alternatives(frame))

    def _close(self, token: re.Match[str]) -> None:
        bracket = token["close"]
        if bracket == "}" and self.embedding and not self.stack:
            self.is_over = True
            return
        frame = self._frame(token)
        if not self.stack:
            raise self.error(
                f"unmatched {bracket!r}", *_extent(token), f'remove it, or write "{bracket}" for the character'
            )
        if _CLOSING[frame.kind] != bracket:
            raise self.error("unclosed bracket", frame.start, frame.start + 1, f"add {_CLOSING[frame.kind]}")
        body = self._alternatives(frame)
        outer = self.frame = self.stack.pop()
        span = Span(frame.start, token.end("close"))
        if bracket == "}":
            template = outer.items.pop()
            assert isinstance(template, ast.Name)
            node: ast.Node = ast.Use(Span(template.span.start, span.end), template.name, (*frame.commas, body))
            outer.items.append(node)
        else:
            self._push(token, body if bracket == ")" else ast.Repeat(span, body, 0, 1))

    def _not_closed(self, frame: _Frame) -> LarkSyntaxError:
        return self.error("unclosed bracket", frame.start, frame.start + 1, f"add {_CLOSING[frame.kind]}")

    def _sequence(self, frame: _Frame) -> ast.Node:
        if frame.tildes:
            hint = "~ stands before what it complements; a repetition is written ~2 or ~1..3"
            raise self.error("nothing to complement", frame.tildes[-1], frame.tildes[-1] + 1, hint)
        items = frame.items
        frame.items, frame.repetitions = [], 0
        if len(items) == 1:
            return items[0]
        span = Span(items[0].span.start, items[-1].span.end) if items else Span(self.position, self.position)
        return ast.Seq(span, tuple(items))

    def _conjunction(self, frame: _Frame) -> ast.Node:
        node = self._sequence(frame)
        if frame.operands:
            operands, frame.operands = (*frame.operands, node), []
            node = ast.And(Span(operands[0].span.start, node.span.end), operands)
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

    # Definitions and statements.

    def _begin_body(self, start: int, finish: Callable[[ast.Node], None]) -> None:
        self.frame = _Frame("body", start)
        self.finish = finish

    def _end_body(self) -> None:
        if self.stack:
            assert self.frame is not None
            raise self._not_closed(self.frame)
        if self.frame is not None and self.finish is not None:
            self.finish(self._alternatives(self.frame))
        self.frame = self.finish = self.rule = None

    def _definition(self, token: re.Match[str]) -> None:
        name, span = token[NAME], Span(*token.span(NAME))
        self._end_body()
        self.rule = name
        before = self.source[self.source.rfind("\n", 0, token.start()) + 1 : token.start()].strip()
        if before.strip(BYTE_ORDER_MARK) and self.mode == "define" and not before.endswith("{"):
            raise self.error("a definition must start on a line of its own", *span, "begin a new line before it")
        if not (name.islower() or name.isupper()):
            raise self.error(f"{name[:60]!r} is in mixed case", *span, "rules are lower-case, terminals upper-case")
        parameters = tuple(WORD.findall(token[PARAMETERS])) if token[PARAMETERS] else ()
        options: tuple[RuleOption, ...] = ()
        if token[OPTION_BRACKETS] and token[LATE_BRACKETS]:
            raise self.error(
                "the options are given in two places", *token.span(LATE_BRACKETS), "write them once, as name::_[…]"
            )
        for group in (OPTION_BRACKETS, LATE_BRACKETS):
            if token[group]:
                options = parse_options(token[group], token.start(group), self.source, LarkSyntaxError)
        if parameters and options:
            raise self.error("a template cannot have options", *span, "give them to a rule that uses it")
        is_parametric, mode = token[IS_PARAMETRIC] is not None, self.mode
        if is_parametric and (parameters or ast.is_terminal_name(name)):
            kind = "template" if parameters else "terminal"
            raise self.error(f"a {kind} cannot have a parameter", *span, "write a rule name::_")
        self.mode = "define"

        def finish(body: ast.Node) -> None:
            self.definitions.append(ast.Definition(name, span, parameters, options, is_parametric, body, mode))

        self._begin_body(span.start, finish)

    def _statement(self, token: re.Match[str]) -> None:
        name, start = token["statement"], token.start()
        self._end_body()
        handler = _STATEMENTS.get(name)
        if name in ("%json", "%regex", "%lark"):
            kinds = "a JSON object, true or false" if name == "%json" else "{"
            raise self.error(f"{name} must be followed by {kinds}", *_extent(token), f"write {name} {{…}}")
        if handler is None:
            raise self.error(f"unknown statement {name[:40]}", *_extent(token), f"known: {', '.join(_STATEMENTS)}")
        handler(self, start)

    def _ignore(self, start: int) -> None:
        end = self.position

        def finish(body: ast.Node) -> None:
            if isinstance(body, ast.Seq) and not body.items:
                raise self.error("nothing to ignore", start, end, "write %ignore NAME or %ignore /regex/")
            self.ignored.append(body)

        self._begin_body(start, finish)

    def _set_mode(self, start: int) -> None:
        self.mode = self.source[start + 1 : self.position].strip()

    def _declare(self, start: int) -> None:
        match = DECLARE.match(self.source, start)
        if match is None:
            raise self.error("malformed %declare", start, self.position, "write %declare NAME NAME")
        for word in WORD.finditer(self.source, match.start(1), match.end(1)):
            self.declared.append(ast.Name(Span(*word.span()), word.group()))
        self.position = match.end()

    def _import(self, start: int) -> None:
        match = IMPORT.match(self.source, start)
        if match is None:
            raise self.error("malformed %import", start, self.position, "write %import common.NAME")
        path, opening, alias = match.groups()
        self.position = match.end()
        if opening is None:
            module, _, name = path.rpartition(".")
            if not module.strip("."):
                hint = "write %import module.name, or %import module (name, name)"
                raise self.error("the import does not name a module", *match.span(1), hint)
            self.imports.append(ast.Import(Span(*match.span(1)), module, name, alias or name))
            return
        names = IMPORT_NAMES.match(self.source, match.end())
        if names is None:
            raise self.error("malformed %import", start, match.end(), "write %import common (NAME, NAME)")
        for word in WORD.finditer(self.source, names.start(1), names.end(1)):
            self.imports.append(ast.Import(Span(*word.span()), path, word.group(), word.group()))
        self.position = names.end()

    def _options(self, start: int) -> None:
        value = self._json(start)
        if not isinstance(value, dict):
            raise self.error("grammar options must be an object", start, self.position, 'write {"option": value}')
        for name, chosen in value.items():
            wrong = wrong_option(name, chosen)
            if wrong is not None:
                raise self.error(wrong[0], start, self.position, wrong[1])
        self.options.update(value)

    def _embedded(self, token: re.Match[str]) -> None:
        kind = token[EMBEDDED_KIND]
        if kind == "lark":
            if self.embedding >= MAX_EMBEDDED:
                raise LimitError(f"%lark nests more than {MAX_EMBEDDED} levels deep", limit="lark depth")
            inner = _Parser(self.source, token.end() + 1, self.embedding + 1)
            value: Any = inner.parse()
            self.position = inner.position
        else:
            value = self._json(token.start())
        self._push(token, ast.Embedded(Span(token.start(), self.position), kind, value))

    def _json(self, start: int) -> Any:
        """Read the JSON value at the position; `start` is where the statement begins."""
        try:
            begin = len(self.source) - len(self.source[self.position :].lstrip())
            value, self.position = json.JSONDecoder().raw_decode(self.source, begin)
        except json.JSONDecodeError as error:
            raise self.error(f"not valid JSON: {error.msg}", error.pos, error.pos + 1) from error
        except (RecursionError, ValueError) as error:
            raise self.error(
                "the JSON is nested too deeply, or a number in it is out of range", start, self.position
            ) from error
        return value

    def _unexpected(self, position: int) -> LarkSyntaxError:
        message, hint = _UNEXPECTED.get(self.source[position], ("unexpected character", None))
        if self.source.startswith("->", position):
            message, hint = "the alias has no name", "write -> name"
        hint = hint or hint_at(self.source, position, ":", "/…/")
        return self.error(message, position, position + 1, hint)


def _extent(token: re.Match[str]) -> tuple[int, int]:
    assert token.lastgroup is not None
    return token.span(token.lastgroup)


_HANDLERS: Final[dict[str, Callable[[_Parser, re.Match[str]], None]]] = {
    "word": _Parser._word,
    "string": _Parser._string,
    "pattern": _Parser._pattern,
    "count": _Parser._count,
    "bar": _Parser._bar,
    "times": _Parser._times,
    "open": _Parser._open,
    "close": _Parser._close,
    "arguments": _Parser._arguments,
    "comma": _Parser._comma,
    "tilde": _Parser._tilde,
    "ampersand": _Parser._ampersand,
    "range": _Parser._range,
    "alias": _Parser._alias,
    "tokens": _Parser._tokens,
    "side": _Parser._side,
    "condition": _Parser._condition,
    "embedded": _Parser._embedded,
    "statement": _Parser._statement,
}
_STATEMENTS: Final[dict[str, Callable[[_Parser, int], None]]] = {
    "%ignore": _Parser._ignore,
    "%import": _Parser._import,
    "%declare": _Parser._declare,
    "%override": _Parser._set_mode,
    "%extend": _Parser._set_mode,
    "%llguidance": _Parser._options,
    "%grammar_options": _Parser._options,
}
