"""The values that are open where the beginning of a JSON text ends.

    >>> [(value.start, value.step) for value in open_values(b'{"a": [1, "x')]
    [(0, None), (6, 'a'), (10, 1)]

A value that is about to begin is open, and so is a number or a word at the very end, which may go on. A name that is
not yet closed is the last value (`is_name`). The text is taken to be the beginning of valid JSON: of another one, the
answer says nothing.
Cost: linear in the text. Tested by tests/frontends/json_schema/report/test_schema_blame.py.
"""

from __future__ import annotations

import json
import re
from typing import Final, NamedTuple

_TOKEN: Final = re.compile(rb'[ \t\r\n]+|"(?:[^"\\]|\\.)*"?|[{}\[\],:]|[^ \t\r\n{}\[\],:"]+', re.DOTALL)


class OpenValue(NamedTuple):
    """Where a value starts, and its name or index in the value around it; or where a name starts."""

    start: int
    step: str | int | None
    is_name: bool = False


class _Frame:
    """A container that is open, or the text itself: whether a value is open in it, and which."""

    __slots__ = ("has_value", "is_object", "is_waiting", "start", "step")

    def __init__(self, is_object: bool, step: str | int | None, start: int) -> None:
        self.is_object, self.step, self.start = is_object, step, start
        self.has_value = not is_object
        self.is_waiting = not is_object  # for the value's first character


def open_values(prefix: bytes) -> list[OpenValue]:
    """Return the values that are open at the end of `prefix`, the outermost first."""
    frames = [_Frame(False, None, 0)]
    names: list[OpenValue] = []
    for token in _TOKEN.finditer(prefix):
        if token[0].startswith(b'"') and _is_name(frames[-1]) and not _is_closed(token[0]):
            names.append(OpenValue(token.start(), None, is_name=True))
        _read(token[0], token.start(), token.end() == len(prefix), frames)
    return [OpenValue(frame.start, frame.step) for frame in frames if frame.has_value] + names


def _read(written: bytes, start: int, is_last: bool, frames: list[_Frame]) -> None:
    frame, first = frames[-1], written[:1]
    if first in (b" ", b"\t", b"\r", b"\n"):
        if frame.is_waiting:
            frame.start = start + len(written)
    elif first in (b"{", b"["):
        frame.is_waiting = False
        frames.append(_Frame(first == b"{", None if first == b"{" else 0, start + 1))
    elif first in (b"}", b"]"):
        if len(frames) > 1:
            frames.pop()
            _close(frames)
    elif first == b",":
        if isinstance(frame.step, int):
            frame.step, frame.start, frame.has_value, frame.is_waiting = frame.step + 1, start + 1, True, True
    elif first == b":":
        frame.start, frame.has_value, frame.is_waiting = start + 1, True, True
    elif _is_name(frame):
        frame.step = _text_of(written)
    else:
        frame.is_waiting = False
        if not is_last or (first == b'"' and len(written) > 1 and _is_closed(written)):
            _close(frames)


def _close(frames: list[_Frame]) -> None:
    """End the value that is open in the innermost container. That of the text itself stays."""
    frames[-1].is_waiting = False
    if len(frames) > 1:
        frames[-1].has_value = False


def _is_name(frame: _Frame) -> bool:
    """Whether the next value is the name of a member."""
    return frame.is_object and not frame.has_value


def _is_closed(written: bytes) -> bool:
    """Whether a string has its closing quote."""
    return re.fullmatch(rb'"(?:[^"\\]|\\.)*"', written, re.DOTALL) is not None


def _text_of(written: bytes) -> str:
    """The text of a name, as far as it is written."""
    try:
        name = json.loads(written.decode("utf-8", "replace"))
    except ValueError:
        return written.decode("utf-8", "replace").strip('"')
    return name if isinstance(name, str) else ""
