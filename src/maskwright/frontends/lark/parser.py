r"""From the text of a Lark grammar to its syntax tree, in one pass.

One compiled pattern finds the next token, and the name of the group that matched chooses the method that handles it:
here those that begin definitions and statements (statements.py reads the short ones), in body.py those of bodies. Only
`%lark {…}` parses within a parse, to a small depth.

    >>> document = parse('start: "a" | b~2\n%ignore " "\nb: /[0-9]+/')
    >>> [d.name for d in document.definitions], document.ignored[0].value
    (['start', 'b'], ' ')

Newlines do not matter: a body ends where the next definition or statement begins. Cost: about three microseconds a
token. Sources: Lark's grammar reference; llguidance's documentation of its dialect.
Tested by tests/frontends/test_lark.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from maskwright.errors import LarkSyntaxError, LimitError, Span
from maskwright.frontends.lark import ast
from maskwright.frontends.lark.body import HANDLERS, Body
from maskwright.frontends.lark.cursor import Cursor, extent
from maskwright.frontends.lark.statements import read_declaration, read_import, read_options
from maskwright.frontends.lark.tokens import (
    EMBEDDED_KIND,
    HEADER,
    IS_PARAMETRIC,
    LATE_BRACKETS,
    NAME,
    OPTION_BRACKETS,
    PARAMETERS,
    TOKEN,
    WORD,
)
from maskwright.frontends.notation.quoted import BYTE_ORDER_MARK
from maskwright.frontends.notation.rule_options import RuleOption, parse_options
from maskwright.frontends.warnings.notes import MisreadAt
from maskwright.support.interruption import interrupt_checkpoint

MAX_EMBEDDED: Final = 8


def parse(source: str, misread: list[MisreadAt] | None = None) -> ast.Document:
    """Parse a grammar.

    Args:
        source: The text.
        misread: Receives what is surely meant as something else, for the warnings.

    Raises:
        LarkSyntaxError: The text is malformed; `span` says where.
        LimitError: It nests too deep.
    """
    return _Parser(source, 0, 0, [] if misread is None else misread).parse()


class _Parser:
    def __init__(self, source: str, position: int, embedding: int, misread: list[MisreadAt]) -> None:
        self.cursor = Cursor(source, position)
        self.body = Body(self.cursor, misread)
        self.finish: Callable[[ast.Node], None] | None = None  # what to do with the body that is open
        self.embedding = embedding  # how many %lark {…} are around
        self.is_over = False
        self.mode = "define"
        self.definitions: list[ast.Definition] = []
        self.imports: list[ast.Import] = []
        self.ignored: list[ast.Node] = []
        self.declared: list[ast.Name] = []
        self.options: dict[str, Any] = {}

    def parse(self) -> ast.Document:
        try:
            self._read()
        except LarkSyntaxError as error:
            raise error.name_rule(self.cursor.rule)  # noqa: B904
        return ast.Document(
            self.cursor.source,
            tuple(self.definitions),
            tuple(self.imports),
            tuple(self.ignored),
            tuple(self.declared),
            self.options,
        )

    def _read(self) -> None:
        cursor, body, match_token = self.cursor, self.body, TOKEN.match
        source, end = cursor.source, len(cursor.source)
        if not self.embedding and source.startswith(BYTE_ORDER_MARK):
            cursor.position = 1
        while cursor.position < end and not self.is_over:
            interrupt_checkpoint()
            token = match_token(source, cursor.position)
            if token is None:
                raise cursor.unexpected(cursor.position)
            kind = token.lastgroup
            cursor.position = token.end()
            if kind in HANDLERS:
                HANDLERS[kind](body, token)
            elif kind != "blank":
                assert kind is not None
                _HANDLERS[kind](self, token)
        if self.embedding and not self.is_over:
            raise cursor.error("unclosed %lark", end, end, "add }")
        self._end_body()
        if self.mode != "define":
            raise cursor.error(f"%{self.mode} needs a definition", end, end, f"write %{self.mode} name: body")

    def _begin_body(self, start: int, finish: Callable[[ast.Node], None]) -> None:
        self.body.begin(start)
        self.finish = finish

    def _end_body(self) -> None:
        node = self.body.end()
        if node is not None and self.finish is not None:
            self.finish(node)
        self.finish = self.cursor.rule = None

    def _word(self, token: re.Match[str]) -> None:
        if token[HEADER] is None:
            self.body.word(token)
        else:
            self._definition(token)

    def _close(self, token: re.Match[str]) -> None:
        if token["close"] == "}" and self.embedding and not self.body.stack:
            self.is_over = True
        else:
            self.body.close(token)

    def _definition(self, token: re.Match[str]) -> None:
        name, span = token[NAME], Span(*token.span(NAME))
        self._end_body()
        self.cursor.rule = name
        self._check_head(token, name, span)
        parameters = tuple(WORD.findall(token[PARAMETERS])) if token[PARAMETERS] else ()
        options = self._rule_options(token)
        is_parametric, mode = token[IS_PARAMETRIC] is not None, self.mode
        if parameters and options:
            raise self.cursor.error("a template cannot have options", *span, "give them to a rule that uses it")
        if is_parametric and (parameters or ast.is_terminal_name(name)):
            kind = "template" if parameters else "terminal"
            raise self.cursor.error(f"a {kind} cannot have a parameter", *span, "write a rule name::_")
        self.mode = "define"

        def finish(body: ast.Node) -> None:
            self.definitions.append(ast.Definition(name, span, parameters, options, is_parametric, body, mode))

        self._begin_body(span.start, finish)

    def _check_head(self, token: re.Match[str], name: str, span: Span) -> None:
        source = self.cursor.source
        before = source[source.rfind("\n", 0, token.start()) + 1 : token.start()].strip()
        if before.strip(BYTE_ORDER_MARK) and self.mode == "define" and not before.endswith("{"):
            hint = "begin a new line before it"
            raise self.cursor.error("a definition must start on a line of its own", *span, hint)
        if not (name.islower() or name.isupper()):
            hint = "rules are lower-case, terminals upper-case"
            raise self.cursor.error(f"{name[:60]!r} is in mixed case", *span, hint)

    def _rule_options(self, token: re.Match[str]) -> tuple[RuleOption, ...]:
        if token[OPTION_BRACKETS] and token[LATE_BRACKETS]:
            hint = "write them once, as name::_[…]"
            raise self.cursor.error("the options are given in two places", *token.span(LATE_BRACKETS), hint)
        for group in (OPTION_BRACKETS, LATE_BRACKETS):
            if token[group]:
                return parse_options(token[group], token.start(group), self.cursor.source, LarkSyntaxError)
        return ()

    def _embedded(self, token: re.Match[str]) -> None:
        kind, cursor = token[EMBEDDED_KIND], self.cursor
        if kind == "lark":
            if self.embedding >= MAX_EMBEDDED:
                hint = "write inner grammars as rules of the outer one"
                raise LimitError(f"%lark nests more than {MAX_EMBEDDED} levels deep", limit="lark depth", hint=hint)
            inner = _Parser(cursor.source, token.end() + 1, self.embedding + 1, self.body.misread)
            value: Any = inner.parse()
            cursor.position = inner.cursor.position
        else:
            value = cursor.read_json(token.start())
        self.body.push(token, ast.Embedded(Span(token.start(), cursor.position), kind, value))

    def _statement(self, token: re.Match[str]) -> None:
        name, start = token["statement"], token.start()
        self._end_body()
        handler = _STATEMENTS.get(name)
        if name in ("%json", "%regex", "%lark"):
            kinds = "a JSON object, true or false" if name == "%json" else "{"
            raise self.cursor.error(f"{name} must be followed by {kinds}", *extent(token), f"write {name} {{…}}")
        if handler is None:
            hint = f"known: {', '.join(_STATEMENTS)}"
            raise self.cursor.error(f"unknown statement {name[:40]}", *extent(token), hint)
        handler(self, start)

    def _ignore(self, start: int) -> None:
        end = self.cursor.position

        def finish(body: ast.Node) -> None:
            if isinstance(body, ast.Seq) and not body.items:
                hint = "write %ignore NAME or %ignore /regex/"
                raise self.cursor.error("nothing to ignore", start, end, hint)
            self.ignored.append(body)

        self._begin_body(start, finish)

    def _set_mode(self, start: int) -> None:
        self.mode = self.cursor.source[start + 1 : self.cursor.position].strip()

    def _declare(self, start: int) -> None:
        self.declared += read_declaration(self.cursor, start)

    def _import(self, start: int) -> None:
        self.imports += read_import(self.cursor, start)

    def _options(self, start: int) -> None:
        self.options.update(read_options(self.cursor, start))


_HANDLERS: Final[dict[str, Callable[[_Parser, re.Match[str]], None]]] = {
    "word": _Parser._word,
    "close": _Parser._close,
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
