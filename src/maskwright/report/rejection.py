"""Why a text is rejected: where it leaves the structure, what was expected there, and a way to go on that is valid.

    compiled.explain_rejection('{"age": x}')
    # line 1, column 9 (byte 8): found `x`; expected a digit, `-` or white space; for example `0}` is valid here

All of it is asked of a fork of the kernel's matcher, byte by byte, so that grammars and masks know nothing of it.
Invariants: no accepted byte is a dead end, so `continuation` walks forward only. It prefers bytes that close something,
and those that it has written less often. A loop that only a certain text ends (`.* "end"`) is left by the masks of a
token budget instead (`by_budget`). What either returns was accepted, and completed the output.
Tested by tests/report/test_rejection.py.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from maskwright import _kernel
from maskwright.errors import LimitError, UnsatisfiableError
from maskwright.tokenizer import TokenizerInfo

MAX_CONTINUATION = 256  # bytes
_PRINTABLE = frozenset(range(0x20, 0x7F))
_CLASSES = (
    ("a digit", frozenset(b"0123456789")),
    ("a lowercase letter", frozenset(range(ord("a"), ord("z") + 1))),
    ("an uppercase letter", frozenset(range(ord("A"), ord("Z") + 1))),
)
_BLANKS = {0x20: "a space", 0x0A: "a line break", 0x09: "a tab", 0x0D: "a carriage return"}
_ORDER = (b"\"'}])>", b"0123456789", b"abcdefghijklmnopqrstuvwxyz", b",;:.", b" \n", b"{[(<")
_RANK = {byte: rank for rank, group in enumerate(_ORDER) for byte in group}
_LAST_RANK = len(_ORDER)
_FEW = 4
_MAX_TRIED = 64  # tokens
_MAX_SHOWN = 60


@dataclass(frozen=True)
class Rejection:
    """Where and why a text is not an output of the structure."""

    offset: int  # in bytes, of the first byte that no output has there; the length of the text if it ends too early
    line: int  # from 1
    column: int  # from 1, in characters
    found: str  # the character there; "" at the end of the text
    expected: tuple[str, ...]  # in words
    continuation: bytes | None  # after the first `offset` bytes: a short one, not always the shortest; None if unknown

    def __str__(self) -> str:
        found = f"found {shown(self.found)}" if self.found else "the text ends too early"
        expected = f"; expected {listed(self.expected)}" if self.expected else ""
        example = ""
        if self.continuation:
            example = f"; for example {shown(self.continuation.decode('utf-8', 'backslashreplace'))} is valid here"
        return f"line {self.line}, column {self.column} (byte {self.offset}): {found}{expected}{example}"

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON data; the continuation as text, bytes that are not UTF-8 as `\\xNN`."""
        text = None if self.continuation is None else self.continuation.decode("utf-8", "backslashreplace")
        return {**asdict(self), "expected": list(self.expected), "continuation": text}


def explain(grammar: _kernel.CompiledGrammar, info: TokenizerInfo, data: bytes) -> Rejection | None:
    """Explain why a text is rejected, from the beginning of an output; None if it is a whole output.

    Raises:
        LimitError: The grammar is too ambiguous.
    """
    matcher = _kernel.Matcher(grammar, list(info.stop_token_ids), False)
    offset = 0
    if matcher.accept_bytes(data):
        offset = len(data)
        if matcher.is_completed():
            return None
    else:
        while offset < len(data) and matcher.accept_bytes(data[offset : offset + 1]):
            offset += 1
    before = data[:offset].decode("utf-8", "ignore")
    return Rejection(
        offset=offset,
        line=before.count("\n") + 1,
        column=len(before) - (before.rfind("\n") + 1) + 1,
        found=_first_character(data[offset : offset + 4]),
        expected=expected(matcher),
        continuation=_completion(grammar, info, matcher, data[:offset]),
    )


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
    """A set of bytes as a person would name it."""
    rest = set(allowed)
    words = []
    missing = sorted(_PRINTABLE - rest)
    if len(missing) <= _FEW:
        exceptions = " except " + listed([_one(byte) for byte in missing], "and") if missing else ""
        words.append("any printable ASCII character" + exceptions)
        rest -= _PRINTABLE
    for name, members in _CLASSES:
        if members <= rest:
            words.append(name)
            rest -= members
    words += [_one(byte) for byte in sorted(rest) if byte < 0x80]
    high = {byte for byte in rest if byte >= 0x80}
    if high:
        words.append("the next byte of a character" if max(high) < 0xC0 else "a non-ASCII character")
    return words


def _first_character(data: bytes) -> str:
    """The character that these bytes begin with; `\\xNN` where they begin with none, as in the middle of one."""
    text = data.decode("utf-8", "backslashreplace")
    return text[:4] if data[:1] >= b"\x80" and text.startswith("\\x") else text[:1]


def _one(byte: int) -> str:
    return _BLANKS.get(byte) or (shown(chr(byte)) if byte in _PRINTABLE else f"byte 0x{byte:02X}")


def _completion(
    grammar: _kernel.CompiledGrammar, info: TokenizerInfo, matcher: _kernel.Matcher, prefix: bytes
) -> bytes | None:
    """What completes the output after this prefix, where the matcher stands; None if neither way finds a text."""
    found = continuation(matcher)
    return by_budget(grammar, info, prefix) if found is None else found


def by_budget(grammar: _kernel.CompiledGrammar, info: TokenizerInfo, prefix: bytes) -> bytes | None:
    """What completes the output after this prefix, by the masks of a token budget that still suffices."""
    num_tokens = 2  # the prefix counts as one
    while num_tokens <= MAX_CONTINUATION:
        try:
            matcher = _kernel.Matcher(grammar, list(info.stop_token_ids), False, num_tokens, True)
        except (LimitError, UnsatisfiableError):
            num_tokens *= 2
            continue
        if matcher.accept_bytes(prefix):
            return _written(matcher, info)
        num_tokens *= 2
    return None


def _written(matcher: _kernel.Matcher, info: TokenizerInfo) -> bytes | None:
    """The text of the first allowed tokens, up to the end. None if a special token is needed."""
    text = b""
    mask = np.zeros((info.vocab_size + 31) // 32, np.int32)
    while not matcher.is_completed():
        matcher.fill_next_token_bitmask(mask)
        allowed = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))
        token_id = next((int(i) for i in allowed[:_MAX_TRIED] if info.decode([int(i)])), None)
        if token_id is None or not matcher.accept_token(token_id):
            return None
        text += info.decode([token_id])
    return text


def continuation(matcher: _kernel.Matcher) -> bytes | None:
    """A short text that completes the output. None where no text does, such as before a special token, or none is found
    within `MAX_CONTINUATION` bytes. The matcher does not move.
    """
    twin = _kernel.Matcher(matcher)
    text = bytearray()
    uses: Counter[int] = Counter()
    while not twin.is_completed():
        if len(text) > MAX_CONTINUATION:
            return None
        step = twin.forced_bytes()
        if step:
            if not twin.accept_bytes(step):
                return None
        else:
            byte = _accepted(twin, uses)
            if byte is None:
                return None
            uses[byte] += 1
            step = bytes((byte,))
        text += step
    return bytes(text)


def _accepted(matcher: _kernel.Matcher, uses: Counter[int]) -> int | None:
    """Accept the byte that is preferred among those that are allowed."""
    for byte in sorted(range(256), key=lambda b: (_RANK.get(b, _LAST_RANK) + _LAST_RANK * uses[b], b)):
        if matcher.accept_bytes(bytes((byte,))):
            return byte
    return None


def listed(words: list[str] | tuple[str, ...], last: str = "or") -> str:
    """`a`, `b` or `c`"""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def shown(text: str) -> str:
    """A text in backticks, on one line and not too long."""
    cut = text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "…"
    return "`" + "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut) + "`"
