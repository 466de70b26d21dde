"""The items of a response, and the events that tell how they grow.

    items.add([TextDelta("Hi")])    [("response.output_item.added", {…}), ("response.content_part.added", {…}), …]
    items.output                    [{"type": "message", "content": [{"type": "output_text", "text": "Hi", …}], …}]

One item is open at a time; another kind of part closes it.
Source: OpenAI's API reference, responses-streaming.
Tested by tests/serve/test_responses.py.
"""

from __future__ import annotations

import copy
import secrets
from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeAlias

from maskwright.events import ReasoningDelta, TextDelta
from maskwright.serve.replies.parts import CallDelta, Part

ItemEvent: TypeAlias = tuple[str, dict[str, Any]]  # type and fields

_TEXTS: Final = {"message": "output_text", "reasoning": "reasoning_text"}
_IDS: Final = {"message": "msg", "reasoning": "rs", "function_call": "fc", "custom_tool_call": "ctc"}
_ARGUMENTS: Final = {"function_call": "arguments", "custom_tool_call": "input"}


class Items:
    """The items so far.

    Attributes:
        output: the items, the open one included.
    """

    def __init__(self) -> None:
        self.output: list[dict[str, Any]] = []
        self._is_open = False

    def add(self, parts: Iterable[Part]) -> list[ItemEvent]:
        """Add parts; return what to tell about them."""
        return [event for part in parts for event in self._add(part)]

    def finish(self, *, is_complete: bool) -> list[ItemEvent]:
        """Close what is open; an output without anything has a message without text."""
        opened = [] if self.output else list(self._open_text("message"))
        return [*opened, *self._close("completed" if is_complete else "incomplete")]

    def _add(self, part: Part) -> Iterator[ItemEvent]:
        match part:
            case TextDelta(text):
                yield from self._text("message", text)
            case ReasoningDelta(text):
                yield from self._text("reasoning", text)
            case CallDelta():
                yield from self._call(part)

    def _text(self, kind: str, text: str) -> Iterator[ItemEvent]:
        if not self._is_open or self.output[-1]["type"] != kind:
            yield from self._close()
            yield from self._open_text(kind)
        item = self.output[-1]
        item["content"][0]["text"] += text
        extra: dict[str, Any] = {"logprobs": []} if kind == "message" else {}
        yield f"response.{_TEXTS[kind]}.delta", {**self._place(), "content_index": 0, "delta": text, **extra}

    def _open_text(self, kind: str) -> Iterator[ItemEvent]:
        item: dict[str, Any] = {"type": kind, "id": f"{_IDS[kind]}_{secrets.token_hex(12)}", "status": "in_progress"}
        part: dict[str, Any] = {"type": _TEXTS[kind], "text": ""}
        if kind == "message":
            item["role"] = "assistant"
            part.update(annotations=[], logprobs=[])
        else:
            item["summary"] = []
        yield self._open({**item, "content": []})
        self.output[-1]["content"].append(part)
        yield "response.content_part.added", {**self._place(), "content_index": 0, "part": copy.deepcopy(part)}

    def _call(self, part: CallDelta) -> Iterator[ItemEvent]:
        if part.id is not None:
            yield from self._close()
            kind = "custom_tool_call" if part.is_custom else "function_call"
            item = {"type": kind, "id": f"{_IDS[kind]}_{secrets.token_hex(12)}", "status": "in_progress"}
            yield self._open({**item, "call_id": part.id, "name": part.name, _ARGUMENTS[kind]: ""})
        if part.arguments:
            kind = self.output[-1]["type"]
            self.output[-1][_ARGUMENTS[kind]] += part.arguments
            yield f"response.{kind}_{_ARGUMENTS[kind]}.delta", {**self._place(), "delta": part.arguments}
        if part.is_done:
            yield from self._close()

    def _open(self, item: dict[str, Any]) -> ItemEvent:
        self.output.append(item)
        self._is_open = True
        index = len(self.output) - 1
        return "response.output_item.added", {"output_index": index, "item": copy.deepcopy(item)}

    def _close(self, status: str = "completed") -> Iterator[ItemEvent]:
        if not self._is_open:
            return
        self._is_open = False
        item = self.output[-1]
        item["status"] = status
        kind = item["type"]
        if kind in _ARGUMENTS:
            named = {"name": item["name"]} if kind == "function_call" else {}
            fields = {**self._place(), **named, _ARGUMENTS[kind]: item[_ARGUMENTS[kind]]}
            yield f"response.{kind}_{_ARGUMENTS[kind]}.done", fields
        else:
            part = item["content"][0]
            extra: dict[str, Any] = {"logprobs": []} if kind == "message" else {}
            place = {**self._place(), "content_index": 0}
            yield f"response.{part['type']}.done", {**place, "text": part["text"], **extra}
            yield "response.content_part.done", {**place, "part": copy.deepcopy(part)}
        yield "response.output_item.done", {"output_index": len(self.output) - 1, "item": copy.deepcopy(item)}

    def _place(self) -> dict[str, Any]:
        return {"item_id": self.output[-1]["id"], "output_index": len(self.output) - 1}
