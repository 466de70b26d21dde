"""Reading a model's output as it is generated: content, reasoning, tool calls and their arguments, from the captures.

    reader = EventReader(matcher)                    # of a grammar from get_model_structural_tag
    while not matcher.is_terminated():
        matcher.accept_token(sample(…))
        for event in reader.read():
            match event:
                case TextDelta(text): print(text, end="")
                case CallStarted(name): print(f"calling {name}")
                case ValueDelta(json): print(json, end="")

The matcher knows where it is in the output, so no second parser is needed. Families name their parts (`capture=` of the
formats); an event is reported as soon as all parses of the output agree on it, and more output never retracts it.

    captures                       events
    content, reasoning             TextDelta, ReasoningDelta
    call:NAME                      CallStarted … CallDone
      key, name, attribute           FieldStarted: of a member in JSON, as it is, with XML's escapes
      value, string, padded, single, ValueDelta …, FieldDone: as JSON text, whatever the format writes
      object, array, true …

Joined, the deltas of a field are the JSON text of its value, and `CallDone.arguments` is that of all arguments.
After a rollback, what was reported past that point no longer holds: `read` drops it from `events` and reports again.
Invariant: `events` is what a new reader would report, up to where deltas are cut.
Cost: about a microsecond a byte of output, plus about ten for a call of `read`.
Tested by tests/structural_tag/families/test_reader.py.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable
from html import unescape
from typing import Final, NamedTuple, TypeAlias

from maskwright import _kernel
from maskwright.errors import MatcherError
from maskwright.matcher import GrammarMatcher
from maskwright.support.arguments import instance


class TextDelta(NamedTuple):
    """More of the answer's text."""

    text: str


class ReasoningDelta(NamedTuple):
    """More of the reasoning."""

    text: str


class CallStarted(NamedTuple):
    """A call of this tool has begun."""

    name: str


class FieldStarted(NamedTuple):
    """An argument of the current call has begun."""

    name: str


class ValueDelta(NamedTuple):
    """More of the JSON text of the current argument's value."""

    json: str


class FieldDone(NamedTuple):
    """The current argument is complete; `json` is the JSON text of its value."""

    json: str


class CallDone(NamedTuple):
    """The current call is complete; `arguments` is the JSON text of all its arguments."""

    name: str
    arguments: str


Event: TypeAlias = TextDelta | ReasoningDelta | CallStarted | FieldStarted | ValueDelta | FieldDone | CallDone

_NAMES: Final[dict[str, Callable[[str], str]]] = {"key": json.loads, "name": str, "attribute": unescape}
_BRACKETS: Final = {
    "value": ("", ""),
    "string": '""',
    "padded": '""',
    "single": '""',
    "object": "{}",
    "array": "[]",
} | {constant: (constant, "") for constant in ("true", "false", "null")}
_HOLDERS: Final = ("call", "arguments", "object")  # of names


def _holders_of(kind: str) -> tuple[str, ...]:
    """The kinds of captures in which one of this kind is a part of its own."""
    if kind in _NAMES:
        return _HOLDERS
    if kind in _BRACKETS:
        return (*_HOLDERS, "array")
    return ("call",) if kind == "arguments" else ("",)  # the outermost


class _Open(NamedTuple):
    """A capture that is open."""

    kind: str
    first_piece: int
    text: str = ""  # of a name, or the name of the called tool
    num_parts: int = 0  # members or items so far
    is_part: bool = False  # of one whose text it belongs to


class _Place(NamedTuple):
    """A place in the events, to go back to."""

    num_events: int = 0
    num_pieces: int = 0
    open: tuple[_Open, ...] = ()


class _Recorder:
    """Makes events of captures that open and close, and of the text in between."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._pieces: list[str] = []  # of the JSON text of all arguments
        self._open: list[_Open] = []

    def place(self) -> _Place:
        return _Place(len(self.events), len(self._pieces), tuple(self._open))

    def go_back(self, place: _Place) -> None:
        del self.events[place.num_events :]
        del self._pieces[place.num_pieces :]
        self._open = list(place.open)

    def text(self, text: str) -> None:
        kind = self._inner.kind
        if not text:
            return
        if kind == "content":
            self.events.append(TextDelta(text))
        elif kind == "reasoning":
            self.events.append(ReasoningDelta(text))
        elif kind == "value":
            self._value(text)
        elif kind in ("string", "padded"):
            if kind == "padded" and self._count() == 0:
                text = text.removeprefix("\n")
            self._value(json.dumps(text, ensure_ascii=False)[1:-1])
        elif kind == "single":
            self._value(text.replace("'", "").replace('"', '\\"'))
        elif kind == "arguments":
            self._pieces.append(text)
        elif kind in _NAMES:
            self._open[-1] = self._inner._replace(text=self._inner.text + text)
            if kind == "key" and self._holder == "arguments":  # in JSON, a name is there already
                self._pieces.append(text)

    def begin(self, name: str) -> None:
        outer = self._inner
        kind, _, tool = name.partition(":")
        if outer.kind not in _holders_of(kind):
            self._open.append(outer._replace(is_part=True))
            return
        if outer.kind == "array":
            self._value(", " if self._count() else "")
        self._open.append(_Open(kind, len(self._pieces), tool))
        if kind == "call":
            self.events.append(CallStarted(tool))
        self._value(_BRACKETS[kind][0] if kind in _BRACKETS else "")

    def end(self) -> None:
        done = self._open.pop()
        kind = done.kind
        if done.is_part:
            if kind in _NAMES:
                self._open[-1] = self._inner._replace(text=done.text)
        elif kind in _NAMES:
            self._named(_NAMES[kind](done.text))
        elif kind in _BRACKETS:
            self._value(_BRACKETS[kind][1])
            if self._inner.kind in ("call", "arguments"):
                self.events.append(FieldDone(self._since(done)))
        elif kind == "call":
            if done.num_parts:
                self._pieces.append("}")
            self.events.append(CallDone(done.text, self._since(done) or "{}"))

    def _named(self, name: str) -> None:
        holder = self._inner.kind
        if holder != "object":
            self.events.append(FieldStarted(name))
        if holder == "arguments":
            return
        lead = ", " if self._count() else "{" if holder == "call" else ""
        spelled = f"{lead}{json.dumps(name, ensure_ascii=False)}: "
        if holder == "call":
            self._pieces.append(spelled)
        else:
            self._value(spelled)

    @property
    def _inner(self) -> _Open:
        return self._open[-1] if self._open else _NOTHING

    @property
    def _holder(self) -> str:
        """The kind of the innermost capture that is not a name."""
        return next(each.kind for each in reversed(self._open) if each.kind not in _NAMES)

    def _count(self) -> int:
        """Count one more part of the innermost capture; return how many there were."""
        inner = self._inner
        self._open[-1] = inner._replace(num_parts=inner.num_parts + 1)
        return inner.num_parts

    def _value(self, text: str) -> None:
        if text:
            self._pieces.append(text)
            self.events.append(ValueDelta(text))

    def _since(self, begin: _Open) -> str:
        return "".join(self._pieces[begin.first_piece :])


_NOTHING: Final = _Open("", 0)


class _Mark(NamedTuple):
    """Where a call of `read` ended: in the matcher's history, in its captures, and in the events."""

    num_entries: int
    serial: int
    is_over: bool
    num_edges: int
    num_bytes: int
    place: _Place


class EventReader:
    """Reports the output of one matcher as events.

    Args:
        matcher: The matcher of a structural tag whose formats have captures, as those of `get_model_structural_tag` do.

    Raises:
        ArgumentError: `matcher` is not a `GrammarMatcher`.
        MatcherError: The grammar has no captures.
    """

    def __init__(self, matcher: GrammarMatcher) -> None:
        self._matcher = instance("matcher", matcher, GrammarMatcher, "make one with GrammarMatcher(compiled_grammar)")
        self._program = matcher.compiled_grammar.capture_program
        if not matcher.compiled_grammar.has_captures:
            raise MatcherError(
                "there are no events to read: the grammar has no captures",
                hint="use get_model_structural_tag, or set capture in the tag's formats, such as capture='content'",
            )
        self._recorder = _Recorder()
        self._marks = [_Mark(0, 0, False, 0, 0, _Place())]

    @property
    def events(self) -> list[Event]:
        """All events so far, up to the last call of `read`."""
        return self._recorder.events

    def read(self) -> list[Event]:
        """Return the events since the last call; after a rollback, since the last call that still holds.

        Raises:
            LimitError: The output has too many parses.
        """
        last = self._last_that_holds()
        edges, data, (num_entries, serial) = _kernel.settled_captures(
            self._matcher, self._program, last.num_edges, last.num_bytes
        )
        at = 0
        for name, position, opens in edges:
            self._recorder.text(data[at : position - last.num_bytes].decode("utf-8", "replace"))
            at = position - last.num_bytes
            if opens:
                self._recorder.begin(name)
            else:
                self._recorder.end()
        rest, half = _decoded(data[at:])
        self._recorder.text(rest)
        self._marks.append(
            _Mark(
                num_entries,
                serial,
                self._matcher.is_terminated(),
                last.num_edges + len(edges),
                last.num_bytes + len(data) - half,
                self._recorder.place(),
            )
        )
        return self.events[last.place.num_events :]

    def _last_that_holds(self) -> _Mark:
        """Drop what was read of a history that was rolled back."""
        marks, matcher = self._marks, self._matcher
        last = marks[-1]
        while len(marks) > 1:
            goes_on = last.is_over and not (
                matcher.is_terminated() and matcher.num_accepted_tokens <= last.num_entries + 1
            )
            if _kernel.has_history(matcher, last.num_entries, last.serial) and not goes_on:
                break
            marks.pop()
            last = marks[-1]
            self._recorder.go_back(last.place)
        return last


def _decoded(data: bytes) -> tuple[str, int]:
    """The whole characters, and the number of bytes of half a one at the end."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    return decoder.decode(data), len(decoder.getstate()[0])
