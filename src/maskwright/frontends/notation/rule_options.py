"""Options in brackets after a rule's name: `text[lazy, stop="</a>", max_chars=80]`, in EBNF and Lark alike.

    >>> from maskwright.errors import LarkSyntaxError
    >>> text = '[lazy, suffix="b"]'
    >>> [(option.name, option.value) for option in parse_options(text, 0, text, LarkSyntaxError)]
    [('lazy', True), ('suffix', 'b')]

`lazy`, `suffix`, `stop` and `max_chars` restrict the texts of a regular body; `capture` and `stop_capture` name what
the body and its end match (`captured_ends.py` parts them); `max_tokens` and `temperature` are of any body,
and are about all that the rule matches.
Tested by tests/frontends/test_ebnf.py, tests/corpus/.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from maskwright.errors import GrammarError, Span
from maskwright.frontends.captured_ends import UnclearEndError, parted
from maskwright.frontends.notation.quoted import STRING, Quoted, string_value
from maskwright.frontends.texts import shortest, text_before, text_of_length
from maskwright.ir import OP_LITERAL, Expr, alt, and_, capture, literal, seq, span, text

MAX_CHARS: Final = 10**9
MAX_TOKENS: Final = 10**9
MAX_TEMPERATURE: Final = 100

# What a header may hold between its brackets; the parsers build their token patterns from it.
BRACKETS: Final = rf"\[(?:[^\]\n\"'/]|{STRING}|/(?:[^/\\\n]|\\.)+/[imslux]*){{0,200}}\]"
_OPTION: Final = re.compile(
    rf"\s*([A-Za-z_]\w*)\s*(?:=\s*(?:({STRING})(i?)|/((?:[^/\\\n]|\\.)+)/([imslux]*)|(-?[0-9]+(?:\.[0-9]+)?)|(\w+))\s*)?"
    r"(?:,|(?=\]))"
)
OPTION_NAMES: Final = ("lazy", "suffix", "stop", "max_chars", "capture", "stop_capture", "max_tokens", "temperature")
_OF_ANY_BODY: Final = frozenset(("capture", "max_tokens", "temperature"))
_NEEDED: Final = {
    "lazy": "true or false",
    "max_chars": "a whole number",
    "capture": "a name in quotes, or nothing",
    "stop_capture": "a name in quotes",
    "max_tokens": f"a whole number from 0 to {MAX_TOKENS}",
    "temperature": f"a number from 0 to {MAX_TEMPERATURE}",
}


class RegexValue(NamedTuple):
    """An option's value between slashes."""

    pattern: str
    flags: str


class FoldedText(NamedTuple):
    """A string as an option's value, in upper and lower case: `"end"i`."""

    text: str

    def as_regex(self) -> RegexValue:
        """The same as a regular expression."""
        escaped = (c if c.isalnum() else f"\\U{ord(c):08x}" for c in self.text)
        return RegexValue("".join(escaped), "i")


class NameValue(NamedTuple):
    """An option's value that names a rule or a terminal."""

    name: str


OptionValue: TypeAlias = "str | int | float | bool | RegexValue | FoldedText | NameValue"


class RuleOption(NamedTuple):
    """One option: the value is True for a bare name."""

    name: str
    value: OptionValue
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
            raise error("malformed rule option", source=source, span=span, hint="write name or name=value")
        option = _option(match, start, source, error)
        if option.name in options:
            raise error(
                f"the option {option.name} is given twice", source=source, span=option.span, hint="leave one out"
            )
        options[option.name] = option
        at = match.end()
    _check_captures(options, source, error)
    return tuple(options.values())


def _check_captures(options: dict[str, RuleOption], source: str, error: type[GrammarError]) -> None:
    """What is captured must be distinguishable from the end that follows it."""
    ends = [options[name] for name in ("suffix", "stop") if name in options]
    first = next((options[name] for name in ("capture", "stop_capture") if name in options), None)
    if first is None:
        return
    if "stop_capture" in options and not ends:
        raise error("stop_capture needs stop or suffix", source=source, span=first.span, hint="add suffix=…")
    if len(ends) > 1:
        raise error("a captured rule cannot have both suffix and stop", source=source, span=ends[1].span)


def _option(match: re.Match[str], start: int, source: str, error: type[GrammarError]) -> RuleOption:
    name, quoted, folded, pattern, flags, number, word = match.groups()
    span = Span(start + match.start(1), start + match.end())
    if name not in OPTION_NAMES:
        known = ", ".join(OPTION_NAMES)
        raise error(f"unknown rule option {name[:40]!r}", source=source, span=span, hint=f"known: {known}")
    value: OptionValue = True
    if quoted is not None:
        string = string_value(Quoted(quoted, start + match.start(2)), source, error)
        value = FoldedText(string) if folded and string else string
    elif pattern is not None:
        value = RegexValue(pattern, flags)
    elif number is not None:
        value = float(number) if "." in number else int(number[:20])
    elif word is not None:
        value = {"true": True, "false": False}.get(word.lower(), NameValue(word))
    if not _is_valid(name, value):
        needed = _NEEDED.get(name, "a string, a /regex/ or a terminal")
        raise error(f"rule option {name} takes {needed}", source=source, span=span)
    return RuleOption(name, value, span)


def _is_valid(name: str, value: object) -> bool:
    if name == "lazy":
        return isinstance(value, bool)
    if name == "max_chars":
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_CHARS
    if name == "max_tokens":
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_TOKENS
    if name == "temperature":
        return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= MAX_TEMPERATURE
    if name in ("capture", "stop_capture"):
        return (isinstance(value, str) and value != "") or (name == "capture" and value is True)
    return isinstance(value, (str, RegexValue, FoldedText, NameValue))


def has_empty_budget(options: Sequence[RuleOption]) -> bool:
    """Whether a rule must lie in no token at all: such budgets are resolved when all rules are known."""
    return any(option.name == "max_tokens" and option.value == 0 for option in options)


def stop_text(options: Sequence[RuleOption]) -> str | None:
    """The text of the option `stop`, if it is a string that is not empty."""
    value = next((option.value for option in options if option.name == "stop"), None)
    return value if isinstance(value, str) and value else None


def may_have_any_body(options: Sequence[RuleOption]) -> bool:
    """Whether options leave the texts of a rule as they are, so that its body need not be regular."""
    return all(option.name in _OF_ANY_BODY for option in options)


def capture_name(rule: str, options: Sequence[RuleOption]) -> str | None:
    """What the texts of a rule are captured by: its own name, unless another is given."""
    value = next((option.value for option in options if option.name == "capture"), None)
    return rule if value is True else value if isinstance(value, str) else None


def as_span(body: Expr, options: Sequence[RuleOption]) -> Expr:
    """All that a rule matches, within its budget of tokens and at its temperature."""
    given: dict[str, Any] = {option.name: option.value for option in options}
    return span(body, given.get("max_tokens"), given.get("temperature"))


class Reading(NamedTuple):
    """What options need of the grammar that they stand in."""

    value_expr: Callable[[RuleOption], Expr]  # makes the expression of a value that is not a string
    error: Callable[[str, Span, str], GrammarError]  # by message, place and hint


def with_options(rule: str, body: Expr, options: Sequence[RuleOption], reading: Reading) -> Expr:
    """Restrict the body of a rule as its options say.

    `suffix` and `stop` both mean: the body goes on until that text comes for the first time, which belongs to it.
    An empty one means nothing. `max_chars` counts the characters of the body without it, and `capture` is of the body
    without it, by the name of the rule unless another is given. `max_tokens` and `temperature` are of both.
    """
    return as_span(_with_text_options(rule, body, options, reading), options)


def _with_text_options(rule: str, body: Expr, options: Sequence[RuleOption], reading: Reading) -> Expr:
    given = {option.name: option.value for option in options}
    name = capture_name(rule, options)
    if "max_chars" in given:
        limit = given["max_chars"]
        assert isinstance(limit, int)
        body = and_(body, text_of_length(0, limit))
    ends = [option for option in options if option.name in ("suffix", "stop") and option.value != ""]
    if ends and ("capture" in given or "stop_capture" in given):
        end_name = given.get("stop_capture")
        assert end_name is None or isinstance(end_name, str)
        ways = _parted(body, ends[0], reading)
        return alt(*(seq(capture(name, before), capture(end_name, end)) for before, end in ways))
    if ends:
        return shortest(seq(body, alt(*(_end_expr(end, reading) for end in ends))))
    return capture(name, shortest(body) if given.get("lazy") else body)


def _end_expr(end: RuleOption, reading: Reading) -> Expr:
    return text(end.value) if isinstance(end.value, str) else reading.value_expr(end)


def _parted(body: Expr, end: RuleOption, reading: Reading) -> list[tuple[Expr, Expr]]:
    """The texts before an end, and the ends that may follow them."""
    expr = _end_expr(end, reading)
    if expr[0] == OP_LITERAL:
        return [(text_before(body, [literal(bytes((byte,))) for byte in expr[1]]), expr)]
    if isinstance(end.value, FoldedText):
        characters = [reading.value_expr(end._replace(value=FoldedText(c))) for c in end.value.text]
        return [(text_before(body, characters), expr)]
    try:
        return parted(body, expr)
    except UnclearEndError:
        message = f"a captured rule cannot have a {end.name} whose matches overlap in many ways"
        hint = "use an end that cannot come within itself, or capture a rule around this one"
        raise reading.error(message, end.span, hint) from None
