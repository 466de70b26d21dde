"""Why a text is rejected: where it leaves the structure, what asks for something else there, and a way to go on.

    compiled.explain_rejection('{"age": x}')
    # line 1, column 9 (byte 8): found `x`; expected a digit, `-` or white space; in the schema at /properties/age;
    # for example `0}` is valid here

This module has the data and the words. What may come next is asked of a fork of the kernel's matcher, byte by byte, so
that grammars and masks know nothing of it. Tested by tests/report/test_rejection.py and test_explain.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from maskwright import _kernel

_PRINTABLE = frozenset(range(0x20, 0x7F))
_CONTROL = frozenset(range(0x20))
_ASCII = frozenset(range(0x80))
_BROAD = (
    ("any character", _ASCII | frozenset(range(0xC2, 0xF5))),  # with the bytes that others begin with
    ("any printable ASCII character", _PRINTABLE),
    ("any ASCII character", _ASCII),
)
_CLASSES = (
    ("white space", frozenset(b" \t\n\r")),
    ("a digit", frozenset(b"0123456789")),
    ("a lowercase letter", frozenset(range(ord("a"), ord("z") + 1))),
    ("an uppercase letter", frozenset(range(ord("A"), ord("Z") + 1))),
)
_MORE_WHITE_SPACE = frozenset(b"\v\f\x1c\x1d\x1e\x1f")  # where the rest of it is
_BLANKS = {0x20: "a space", 0x0A: "a line break", 0x09: "a tab", 0x0D: "a carriage return", 0x0C: "a form feed"}
_FEW = 4  # control characters among the rest
MAX_SHOWN = 60


Reason: TypeAlias = Literal["allowed", "structure", "budget", "end", "special_token", "terminated"]


@dataclass(frozen=True)
class Origin:
    """What in the caller's structure decides at a place. What is not known is None.

    Attributes:
        pointer: The JSON pointer of the keyword of a schema, or of the sub-schema if no single keyword decides; in a
            structural tag, of the format.
        keyword: The keyword's name.
        value: What the schema has for it, as JSON, shortened.
        instance: The JSON pointer of the value in the output that it is about.
        by_order: Whether the member would be allowed at another place: see the option `any_order`.
        is_format: Whether `pointer` leads to a format of a structural tag, not into a schema.
        by_strict_mode: Whether the option `strict_mode` decides, as if the sub-schema at `pointer` had this keyword.
        rule: The name of the innermost rule of a grammar that the place lies in.
        part: The part of a regular expression from where it goes on; "" at its end.
        line: Where that rule is defined, or that part begins, from 1.
        column: Likewise, in characters.
    """

    pointer: str | None = None
    keyword: str | None = None
    value: str | None = None
    instance: str | None = None
    by_order: bool = False
    rule: str | None = None
    part: str | None = None
    line: int | None = None
    column: int | None = None
    is_format: bool = False
    by_strict_mode: bool = False

    def __str__(self) -> str:
        words = []
        if self.by_strict_mode:
            at = self.pointer or "its root"
            words.append(f"in the schema at {at}, to which strict_mode adds `{self.keyword}: {self.value}`")
        elif self.pointer is not None:
            asks = "" if self.keyword is None or self.value is None else f", which asks for {shown(self.value)}"
            whole = "structural tag" if self.is_format else "schema"
            place = f"in the {whole} at {self.pointer or 'its root'}" if self.keyword is None else f"by {self.pointer}"
            words.append(place + asks)
        if self.by_order:
            words.append("members come in the order of the schema (any_order=True allows any)")
        if self.rule is not None:
            place = "" if self.line is None else f" (line {self.line}, column {self.column})"
            words.append(f"in the rule {shown(self.rule)}{place}")
        if self.part is not None:
            place = f"column {self.column}" if self.line == 1 else f"line {self.line}, column {self.column}"
            words.append(f"in the pattern at {place}, {shown(self.part)}" if self.part else "the pattern ends there")
        return "; ".join(words)


NOWHERE = Origin()


@dataclass(frozen=True)
class Rejection:
    """Where and why a text is not an output of the structure.

    `offset`, `line` and `column` are the place, `found` is what stands there, and `expected` what could. With
    `continuation`, which is `continuation_token_ids` as tokens, an output goes on from there. `origin` says what asks
    for something else.
    """

    offset: int  # in bytes, of the first byte that no output has there; the length of the text if it ends too early
    line: int  # from 1
    column: int  # from 1, in characters
    found: str  # the character there; "" at the end of the text
    expected: tuple[str, ...]  # in words
    continuation: bytes | None  # after the first `offset` bytes, a short one; None if unknown
    continuation_token_ids: tuple[int, ...] | None = None  # the same as tokens; None if the vocabulary cannot spell it
    origin: Origin = NOWHERE  # what asks for something else

    @property
    def pointer(self) -> str | None:
        """That of the origin: the JSON pointer of the keyword of a schema, or of the sub-schema."""
        return self.origin.pointer

    @property
    def rule(self) -> str | None:
        """That of the origin: the name of the rule of a grammar."""
        return self.origin.rule

    def __str__(self) -> str:
        found = f"found {shown(self.found)}" if self.found else "the text ends too early"
        place = f"line {self.line}, column {self.column} (byte {self.offset})"
        return f"{place}: {found}{_advice(self.expected, self.origin, self.continuation)}"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # in IPython and notebooks
        printer.text(str(self))

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON data; the continuation as text, bytes that are not UTF-8 as `\\xNN`."""
        plain: dict[str, Any] = _plain(asdict(self))
        return plain


@dataclass(frozen=True)
class Explanation:
    """Whether a token or a text is allowed where a matcher stands, and why.

    Attributes:
        allowed: As `accept_token` and `accept_string` would answer.
        reason: "structure": the structure requires something else there. "budget": the structure allows it, but no
            output that goes on with it fits into `max_tokens`. "end": it is a stop token, and the output is not
            complete. "special_token": it has no text, and nothing names it there. "terminated": the output is over.
        token_id: The token, if one was asked about.
        text: What was asked about, as bytes; of a special token, none.
        offset: How many of these bytes are allowed.
        expected: What may come after them, in words.
        continuation: What completes the output after them, a short text; None if unknown.
        continuation_token_ids: The same as tokens; None if the vocabulary cannot spell it.
        origin: What takes the first byte, if it is allowed; what asks for something else, if it is not.
    """

    allowed: bool
    reason: Reason
    token_id: int | None
    text: bytes
    offset: int
    expected: tuple[str, ...]
    continuation: bytes | None
    continuation_token_ids: tuple[int, ...] | None
    origin: Origin = NOWHERE

    @property
    def pointer(self) -> str | None:
        """That of the origin: the JSON pointer of the keyword of a schema, or of the sub-schema."""
        return self.origin.pointer

    @property
    def rule(self) -> str | None:
        """That of the origin: the name of the rule of a grammar."""
        return self.origin.rule

    def __str__(self) -> str:
        what = shown(self.text.decode("utf-8", "backslashreplace"))
        if self.token_id is not None:
            what = f"token {self.token_id} ({what})" if self.text else f"token {self.token_id}"
        if self.allowed:
            return f"{what} is allowed" + (f" {self.origin}" if self.origin != NOWHERE else "")
        reason = _REASONS[self.reason]
        if self.reason == "structure" and self.offset:
            reason = "only its first byte fits" if self.offset == 1 else f"only its first {self.offset} bytes fit"
        return f"{what} is not allowed: {reason}{_advice(self.expected, self.origin, self.continuation)}"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # in IPython and notebooks
        printer.text(str(self))

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON data; bytes as text, those that are not UTF-8 as `\\xNN`."""
        plain: dict[str, Any] = _plain(asdict(self))
        return plain


_REASONS = {
    "structure": "the structure requires something else here",
    "budget": "the structure allows it, but no output that goes on with it fits into max_tokens",
    "end": "it ends the output, which is not complete",
    "special_token": "it is a special token, which nothing names here",
    "terminated": "the output is over",
}


def _advice(expected: tuple[str, ...], origin: Origin, continuation: bytes | None) -> str:
    advice = f"; expected {listed(expected)}" if expected else ""
    if origin != NOWHERE:
        advice += f"; {origin}"
    if continuation:
        advice += f"; for example {shown(continuation.decode('utf-8', 'backslashreplace'))} is valid here"
    return advice


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return list(value) if isinstance(value, tuple) else value


def place_of(data: bytes, offset: int) -> tuple[int, int, str]:
    """The line and the column of a byte, from 1, columns in characters; and the character there."""
    before = data[:offset].decode("utf-8", "ignore")
    column = len(before) - (before.rfind("\n") + 1) + 1
    return before.count("\n") + 1, column, _first_character(data[offset : offset + 4])


def shortened(value: Any) -> str:
    """A keyword's value as JSON, on one line and not too long."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…"


def expected(matcher: _kernel.Matcher) -> tuple[str, ...]:
    """What text may come next, in words; the end of the output where it is complete. The matcher does not move.

    Raises:
        LimitError: The grammar is too ambiguous.
    """
    forced = matcher.forced_bytes()
    if len(forced) > 1:
        return (shown(forced.decode("utf-8", "backslashreplace")),)
    twin = _kernel.Matcher(matcher)
    allowed = set()
    for byte in range(256):
        if twin.accept_bytes(bytes((byte,))):
            allowed.add(byte)
            twin.rollback(1)
    return (*in_words(allowed), *(("the end of the output",) if matcher.is_completed() else ()))


def in_words(allowed: set[int]) -> list[str]:
    """A set of bytes as a person would name it: as a broad class and what that lacks, if that is less to say."""
    return list(_in_words(frozenset(allowed)))


@lru_cache(128)
def _in_words(allowed: frozenset[int]) -> tuple[str, ...]:
    plain = _members_in_words(allowed)
    ways = [(len(plain), plain)]
    for name, members in _BROAD:
        if not any(byte >= 0x80 for byte in members - allowed):
            exceptions, others = _exceptions(members - allowed, allowed), _members_in_words(allowed - members)
            but = f" except {listed(exceptions, 'and')}" if exceptions else ""
            ways.append((1 + len(exceptions) + len(others), [name + but, *others]))
    return tuple(min(ways, key=lambda way: way[0])[1])


def _exceptions(missing: frozenset[int], allowed: frozenset[int]) -> list[str]:
    """What a broad class lacks; control characters count as one thing, DEL among them."""
    words, controls = [], sorted(allowed & _CONTROL)
    if missing & _CONTROL and len(controls) < _FEW:
        but = f" other than {listed([_one(byte) for byte in controls], 'and')}" if controls else ""
        words.append("control characters" + but)
        missing -= _CONTROL | {0x7F}
    return words + _members_in_words(missing)


def _members_in_words(allowed: frozenset[int]) -> list[str]:
    rest, words = set(allowed), []
    for name, members in _CLASSES:
        if members <= rest:
            words.append(name)
            rest -= members if name != "white space" else members | _MORE_WHITE_SPACE
    words += [_run(first, last) for first, last in _runs(byte for byte in rest if byte < 0x80)]
    high = {byte for byte in rest if byte >= 0x80}
    if high:
        words.append("the next byte of a character" if max(high) < 0xC0 else "a non-ASCII character")
    return words


def _first_character(data: bytes) -> str:
    """The character that these bytes begin with; `\\xNN` where they begin with none, as in the middle of one."""
    text = data.decode("utf-8", "backslashreplace")
    return text[:4] if data[:1] >= b"\x80" and text.startswith("\\x") else text[:1]


def _runs(members: Iterable[int]) -> list[tuple[int, int]]:
    """Bytes as runs: digits and letters, or bytes that are not printable, that follow each other by three or more; each
    other one alone.
    """
    runs: list[tuple[int, int]] = []
    for byte in sorted(members):
        if runs and runs[-1][1] == byte - 1 and _kind(byte) == _kind(byte - 1) != "other":
            runs[-1] = (runs[-1][0], byte)
        else:
            runs.append((byte, byte))
    return [
        part
        for first, last in runs
        for part in ([(first, last)] if last - first > 1 else [(byte, byte) for byte in range(first, last + 1)])
    ]


def _kind(byte: int) -> Literal["alphanumeric", "control", "other"]:
    return "control" if byte not in _PRINTABLE else "alphanumeric" if chr(byte).isalnum() else "other"


def _run(first: int, last: int) -> str:
    if first == last:
        return _one(first)
    if first in _PRINTABLE:
        return f"{_one(first)} to {_one(last)}"
    return f"byte 0x{first:02X} to 0x{last:02X}"


def _one(byte: int) -> str:
    return _BLANKS.get(byte) or (shown(chr(byte)) if byte in _PRINTABLE else f"byte 0x{byte:02X}")


def listed(words: list[str] | tuple[str, ...], last: str = "or") -> str:
    """`a`, `b` or `c`"""
    if len(words) == 1:
        return words[0]
    comma = "," if " except " in words[-2] else ""  # what follows is no exception
    return f"{', '.join(words[:-1])}{comma} {last} {words[-1]}"


def shown(text: str) -> str:
    """A text in backticks, on one line and not too long."""
    cut = text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…"
    return "`" + "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut) + "`"
