"""Options in brackets after a rule's name: `text[lazy, stop="</a>", max_chars=80]`, in EBNF and Lark alike.

    >>> from maskwright.errors import LarkSyntaxError
    >>> text = '[lazy, suffix="b"]'
    >>> [(option.name, option.value) for option in parse_options(text, 0, text, LarkSyntaxError)]
    [('lazy', True), ('suffix', 'b')]

`lazy`, `suffix`, `stop` and `max_chars` are said by the IR: they restrict the texts of a regular body. `capture`,
`max_tokens` and `temperature` concern the run and are refused by name, as is every other.
Tested by tests/frontends/test_ebnf.py, tests/corpus/.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from maskwright.errors import GrammarError, Span
from maskwright.frontends.quoted import STRING, Quoted, string_value
from maskwright.frontends.texts import shortest, text_of_length
from maskwright.ir import Expr, alt, and_, seq, text

MAX_CHARS = 10**9

# What a header may hold between its brackets; the parsers build their token patterns from it.
BRACKETS = rf"\[(?:[^\]\n\"'/]|{STRING}|/(?:[^/\\\n]|\\.)+/[imslux]*){{0,200}}\]"
_OPTION = re.compile(
    rf"\s*([A-Za-z_]\w*)\s*(?:=\s*(?:({STRING})|/((?:[^/\\\n]|\\.)+)/([imslux]*)|(-?[0-9]+(?:\.[0-9]+)?)|(\w+))\s*)?"
    r"(?:,|(?=\]))"
)
_SAID_BY_THE_IR = ("lazy", "suffix", "stop", "max_chars")
_REFUSED = {
    "capture": "captures are not supported",
    "stop_capture": "captures are not supported",
    "max_tokens": "a limit on tokens inside a rule is not supported",
    "temperature": "a temperature of a rule is not supported",
}


class RegexValue(NamedTuple):
    """An option's value between slashes."""

    pattern: str
    flags: str


class NameValue(NamedTuple):
    """An option's value that names a rule or a terminal."""

    name: str


class RuleOption(NamedTuple):
    """One option: the value is True for a bare name."""

    name: str
    value: str | int | float | bool | RegexValue | NameValue
    span: Span


def parse_options(brackets: str, start: int, source: str, error: type[GrammarError]) -> tuple[RuleOption, ...]:
    """Read `[…]`, which stands at `start` of the source.

    Raises:
        GrammarError: of the given class: an option is malformed, unknown, given twice, or cannot be enforced.
    """
    options: dict[str, RuleOption] = {}
    at, end = 1, len(brackets) - 1
    while brackets[at:end].strip():
        match = _OPTION.match(brackets, at)
        if match is None:
            span = Span(start + at, start + end)
            raise error("a malformed rule option", source=source, span=span, hint="write name or name=value")
        option = _option(match, start, source, error)
        if option.name in options:
            raise error(f"the option {option.name} is given twice", source=source, span=option.span)
        options[option.name] = option
        at = match.end()
    return tuple(options.values())


def _option(match: re.Match[str], start: int, source: str, error: type[GrammarError]) -> RuleOption:
    name, quoted, pattern, flags, number, word = match.groups()
    span = Span(start + match.start(1), start + match.end())
    if name in _REFUSED:
        raise error(f"rule option {name}: {_REFUSED[name]}", source=source, span=span, hint="leave it out")
    if name not in _SAID_BY_THE_IR:
        known = ", ".join(_SAID_BY_THE_IR)
        raise error(f"unknown rule option {name[:40]!r}", source=source, span=span, hint=f"known: {known}")
    value: str | int | float | bool | RegexValue | NameValue = True
    if quoted is not None:
        value = string_value(Quoted(quoted, start + match.start(2)), source, error)
    elif pattern is not None:
        value = RegexValue(pattern, flags)
    elif number is not None:
        value = float(number) if "." in number else int(number[:20])
    elif word is not None:
        value = {"true": True, "false": False}.get(word.lower(), NameValue(word))
    if not _is_valid(name, value):
        needed = {"lazy": "true or false", "max_chars": "a whole number"}.get(name, "a string, a /regex/ or a terminal")
        raise error(f"rule option {name} takes {needed}", source=source, span=span)
    return RuleOption(name, value, span)


def _is_valid(name: str, value: object) -> bool:
    if name == "lazy":
        return isinstance(value, bool)
    if name == "max_chars":
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_CHARS
    return isinstance(value, (str, RegexValue, NameValue))


def with_options(body: Expr, options: Sequence[RuleOption], value_expr: Callable[[RuleOption], Expr]) -> Expr:
    """Restrict a regular body as its options say; `value_expr` makes the expression of a regex or a name.

    `suffix` and `stop` both mean: the body goes on until that text comes for the first time, which belongs to it.
    An empty one means nothing. `max_chars` counts the characters of the body without it.
    """
    given = {option.name: option for option in options}
    if "max_chars" in given:
        limit = given["max_chars"].value
        assert isinstance(limit, int)
        body = and_(body, text_of_length(0, limit))
    endings = [
        text(given[name].value) if isinstance(given[name].value, str) else value_expr(given[name])  # type: ignore[arg-type]
        for name in ("suffix", "stop")
        if name in given and given[name].value != ""
    ]
    if endings:
        return shortest(seq(body, alt(*endings)))
    return shortest(body) if "lazy" in given and given["lazy"].value else body
