r"""The arguments of EBNF's macros: from behind an opening parenthesis up to the closing one, in one pass.

    >>> arguments = parse_arguments('Token(1, "<a>", loop=false)', 6)
    >>> [a.value for a in arguments.positional], arguments.named["loop"].value
    ([1, '<a>'], False)

Strings, numbers, names, and groups of these in parentheses, which do not nest; options as name=value. What a macro
makes of them is in macros.py. Tested by tests/frontends/test_ebnf_macros.py.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from maskwright.errors import EbnfSyntaxError, Span
from maskwright.frontends.notation.quoted import STRING, Quoted, string_value

_ARGUMENT: Final = re.compile(
    rf"\s*(?:(?P<keyword>[A-Za-z_]\w*)\s*=(?!=)|(?P<string>{STRING})|(?P<number>[0-9]{{1,10}})(?![A-Za-z0-9_])"
    r"|(?P<name>[A-Za-z0-9_.\-]+)|(?P<mark>[(),]))\s*"
)
_PLAIN_STRING: Final = re.compile(r'\s*"([ !#-\[\]-~]*)"\s*,')  # without escapes, and the comma behind it
_BOOLEANS: Final = {"true": True, "false": False, "True": True, "False": False}


class Value(NamedTuple):
    """An argument: a str, int or bool, a `RuleName`, or a tuple of values."""

    value: Any
    span: Span


class RuleName(str):
    """The name of a rule, as an argument."""

    __slots__ = ()


class Arguments(NamedTuple):
    """What a macro was given, and where in the source it ends."""

    positional: list[Value]
    named: dict[str, Value]
    end: int


def parse_arguments(source: str, start: int) -> Arguments:
    """Read arguments from behind an opening parenthesis up to the closing one.

    Raises:
        EbnfSyntaxError: They are malformed.
    """
    return _Reader(source, start).read()


class _Reader:
    """What was read so far, and what is open: an option without its value, a group in parentheses."""

    def __init__(self, source: str, start: int) -> None:
        self._source = source
        self._at = start
        self._positional: list[Value] = []
        self._named: dict[str, Value] = {}
        self._option: str | None = None
        self._group: list[Value] | None = None
        self._group_start = 0
        self._needs_comma = False

    def read(self) -> Arguments:
        while True:
            self._plain_strings()
            token = _ARGUMENT.match(self._source, self._at)
            if token is None:
                raise self._error("malformed argument", Span(self._at, self._at + 1))
            kind, span = token.lastgroup, Span(*token.span(token.lastgroup or 0))
            self._at = token.end()
            if kind == "mark":
                if token["mark"] == ")" and self._group is None:
                    return self._finished(span)
                self._mark(token["mark"], span)
            elif self._needs_comma:
                raise self._error("expected a comma", span)
            elif kind == "keyword":
                self._begin_option(token["keyword"], span)
            else:
                self._add(_value(token, span, self._source))

    def _plain_strings(self) -> None:
        """Read strings without escapes at once: there may be hundreds of thousands."""
        if self._option is None and self._group is None and not self._needs_comma:
            while plain := _PLAIN_STRING.match(self._source, self._at):
                first, last = plain.span(1)
                self._positional.append(Value(plain[1], Span(first - 1, last + 1)))
                self._at = plain.end()

    def _mark(self, mark: str, span: Span) -> None:
        if mark == ",":
            if not self._needs_comma:
                raise self._error("expected an argument before this comma", span)
            self._needs_comma = False
        elif mark == ")":
            assert self._group is not None
            value, self._group = Value(tuple(self._group), Span(self._group_start, span.end)), None
            self._add(value)
        else:
            self._begin_group(span)

    def _begin_group(self, span: Span) -> None:
        if self._needs_comma:
            raise self._error("expected a comma", span)
        if self._group is not None:
            raise self._error("parentheses cannot be nested here", span)
        self._group, self._group_start = [], span.start

    def _begin_option(self, name: str, span: Span) -> None:
        if self._option is not None or self._group is not None:
            raise self._error("an option is not allowed here", span)
        self._option = name

    def _add(self, value: Value) -> None:
        self._needs_comma = True
        if self._group is not None:
            self._group.append(value)
        elif self._option is None:
            self._positional.append(value)
        elif self._option in self._named:
            raise self._error(f"the option {self._option} is given twice", value.span)
        else:
            self._named[self._option], self._option = value, None

    def _finished(self, span: Span) -> Arguments:
        if self._option is not None:
            raise self._error("this option has no value", span)
        return Arguments(self._positional, self._named, span.end)

    def _error(self, message: str, span: Span) -> EbnfSyntaxError:
        hint = "arguments are separated by commas"
        return EbnfSyntaxError(message, source=self._source, span=span, hint=hint)


def _value(token: re.Match[str], span: Span, source: str) -> Value:
    if token["string"] is not None:
        return Value(string_value(Quoted(token["string"], span.start), source, EbnfSyntaxError), span)
    if token["number"] is not None:
        return Value(int(token["number"]), span)
    name = token["name"]
    return Value(_BOOLEANS.get(name, RuleName(name)), span)
