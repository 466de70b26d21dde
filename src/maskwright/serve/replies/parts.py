"""An output taken apart as it comes: answer, reasoning, tool calls. Streams and whole replies read it the same way.

    reader = PartsReader(has_parts=True)
    for part in reader.feed(data, events): …                TextDelta, ReasoningDelta or CallDelta: what is new
    reader.content, reader.reasoning, reader.calls          all of it so far

The parts come from the matcher's events; nothing is parsed here. The arguments of a call are put together from its
fields as they grow, so what a stream brings piece by piece is what a whole reply has. A custom tool is called with the
text of its only field. White space around calls does not belong to the answer.
Tested by tests/serve/test_parts.py.
"""

from __future__ import annotations

import codecs
import json
import secrets
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from maskwright.events import CallDone, CallStarted, Event, FieldStarted, ReasoningDelta, TextDelta, ValueDelta
from maskwright.serve.replies.strings import StringReader


class CallDelta(NamedTuple):
    """More of a call, which has a number from 0; its id and name come with the first one.

    Of a custom tool, `arguments` is its input.
    """

    number: int
    arguments: str
    is_custom: bool = False
    id: str | None = None
    name: str | None = None
    is_done: bool = False


Part: TypeAlias = TextDelta | ReasoningDelta | CallDelta


@dataclass
class Call:
    """A call that the output has."""

    id: str
    name: str
    arguments: str = ""
    num_fields: int = 0
    text: StringReader | None = None

    @property
    def is_custom(self) -> bool:
        """Whether it is of a custom tool: then `arguments` is its input."""
        return self.text is not None


class PartsReader:
    """Takes one output apart.

    Args:
        has_parts: Whether the matcher reports parts; without, all is the answer.
        custom: The names of custom tools.
    """

    def __init__(self, has_parts: bool, custom: Collection[str] = ()) -> None:
        self._has_parts = has_parts
        self._custom = custom
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._white = ""  # at the end of the answer so far, perhaps before a call
        self.content = ""
        self.reasoning = ""
        self.calls: list[Call] = []

    def feed(self, data: bytes, events: Iterable[Event] = (), *, is_last: bool = False) -> list[Part]:
        """Return what is new, in order."""
        parts: list[Part] = []
        if not self._has_parts:
            self._answer(self._decoder.decode(data, is_last), parts)
            return parts
        for event in events:
            self._add(event, parts)
        if is_last and not self.calls:
            self._answer(self._white, parts)
        return parts

    def _add(self, event: Event, parts: list[Part]) -> None:
        match event:
            case TextDelta(text):
                text = self._white + text
                bare = text.rstrip()
                self._white = text[len(bare) :]
                self._answer(bare, parts)
            case ReasoningDelta(text):
                self.reasoning += text
                _append(parts, ReasoningDelta(text))
            case CallStarted(name):
                self._white = ""
                reader = StringReader() if name in self._custom else None
                call = Call(f"call_{secrets.token_hex(12)}", name, text=reader)
                self.calls.append(call)
                parts.append(CallDelta(len(self.calls) - 1, "", call.is_custom, call.id, name))
            case FieldStarted(name):
                call = self.calls[-1]
                if call.text is not None:
                    return
                lead = ", " if call.num_fields else "{"
                call.num_fields += 1
                self._argue(f"{lead}{json.dumps(name, ensure_ascii=False)}: ", parts)
            case ValueDelta(text):
                reader = self.calls[-1].text
                self._argue(text if reader is None else reader.feed(text), parts)
            case CallDone():
                call = self.calls[-1]
                self._argue("" if call.text is not None else "}" if call.num_fields else "{}", parts, is_done=True)

    def _answer(self, text: str, parts: list[Part]) -> None:
        if text:
            self.content += text
            _append(parts, TextDelta(text))

    def _argue(self, text: str, parts: list[Part], *, is_done: bool = False) -> None:
        """Add to the arguments of the current call."""
        call = self.calls[-1]
        call.arguments += text
        _append(parts, CallDelta(len(self.calls) - 1, text, call.is_custom, is_done=is_done))


def _append(parts: list[Part], new: Part) -> None:
    """Add a part, to the last one if that goes on."""
    last = parts[-1] if parts else None
    match last, new:
        case (TextDelta(before), TextDelta(text)):
            parts[-1] = TextDelta(before + text)
        case (ReasoningDelta(before), ReasoningDelta(text)):
            parts[-1] = ReasoningDelta(before + text)
        case (CallDelta() as call, CallDelta() as more) if call.number == more.number:
            parts[-1] = call._replace(arguments=call.arguments + more.arguments, is_done=more.is_done)
        case _:
            parts.append(new)
