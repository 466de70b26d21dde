"""Outputs taken apart: what is new, in order, and what it adds up to."""

from __future__ import annotations

import json

import pytest

import maskwright as mw
from maskwright.events import (
    CallDone,
    CallStarted,
    EventReader,
    FieldDone,
    FieldStarted,
    ReasoningDelta,
    TextDelta,
    ValueDelta,
)
from maskwright.serve.replies.parts import CallDelta, PartsReader
from maskwright.serve.replies.strings import StringReader
from maskwright.structural_tag import get_model_structural_tag
from structural_tag.families.transcripts import FAMILIES, TOOLS
from structural_tag.spelling import vocabulary


def test_text_without_parts() -> None:
    reader = PartsReader(has_parts=False)
    data = "é\n".encode()
    assert [reader.feed(data[i : i + 1]) for i in range(3)] == [[], [TextDelta("é")], [TextDelta("\n")]]
    assert reader.content == "é\n"
    assert reader.feed(b"\xc3", is_last=True) == [TextDelta("\N{REPLACEMENT CHARACTER}")]


def test_a_call_with_fields() -> None:
    reader = PartsReader(has_parts=True)
    events = [TextDelta("Well.\n"), CallStarted("f"), FieldStarted("a"), ValueDelta("1"), FieldDone("1")]
    first, *rest = reader.feed(b"", events)
    assert first == TextDelta("Well.")
    (delta,) = rest
    assert isinstance(delta, CallDelta)
    assert (delta.number, delta.name, delta.arguments, delta.is_done) == (0, "f", '{"a": 1', False)
    events = [FieldStarted('b"'), ValueDelta('"x"'), FieldDone('"x"'), CallDone("f", "…"), TextDelta("\n")]
    assert reader.feed(b"", events, is_last=True) == [CallDelta(0, ', "b\\"": "x"}', is_done=True)]
    (call,) = reader.calls
    assert json.loads(call.arguments) == {"a": 1, 'b"': "x"}
    assert reader.content == "Well."


def test_a_custom_tool_is_called_with_a_text() -> None:
    reader = PartsReader(has_parts=True, custom={"sql"})
    (started,) = reader.feed(b"", [CallStarted("sql"), FieldStarted("input"), ValueDelta('"a\\')])
    assert isinstance(started, CallDelta)
    assert (started.name, started.arguments, started.is_custom) == ("sql", "a", True)
    events = [ValueDelta('nb"'), FieldDone('"a\\nb"'), CallDone("sql", "…"), CallStarted("f"), CallDone("f", "{}")]
    more, other = reader.feed(b"", events, is_last=True)
    assert more == CallDelta(0, "\nb", is_custom=True, is_done=True)
    assert isinstance(other, CallDelta)
    assert (other.is_custom, other.arguments) == (False, "{}")
    assert [(call.is_custom, call.arguments) for call in reader.calls] == [(True, "a\nb"), (False, "{}")]


@pytest.mark.parametrize("ensure_ascii", [True, False])
def test_a_string_is_read_in_any_pieces(ensure_ascii: bool) -> None:
    text = 'a"\\\n\x1fé\u2028😀/\\u00e9"\\'
    data = json.dumps(text, ensure_ascii=ensure_ascii).replace("/", "\\/")
    for size in range(1, len(data) + 1):
        reader, found = StringReader(), ""
        for begin in range(0, len(data), size):
            found += reader.feed(data[begin : begin + size])
            assert text.startswith(found)
        assert found == text


def test_calls_without_arguments() -> None:
    reader = PartsReader(has_parts=True)
    parts = reader.feed(b"", [CallStarted("f"), CallDone("f", "{}"), CallStarted("g"), CallDone("g", "{}")])
    assert [(p.number, p.name, p.arguments, p.is_done) for p in parts if isinstance(p, CallDelta)] == [
        (0, "f", "{}", True),
        (1, "g", "{}", True),
    ]
    assert len({call.id for call in reader.calls}) == 2


def test_white_space_belongs_to_the_answer_unless_there_are_calls() -> None:
    reader = PartsReader(has_parts=True)
    assert reader.feed(b"", [TextDelta("a \n")]) == [TextDelta("a")]
    assert reader.feed(b"", [TextDelta("b ")]) == [TextDelta(" \nb")]
    assert reader.feed(b"", [], is_last=True) == [TextDelta(" ")]


def test_reasoning() -> None:
    reader = PartsReader(has_parts=True)
    events = [ReasoningDelta("hm"), ReasoningDelta("m\n"), TextDelta("Yes")]
    assert reader.feed(b"", events) == [ReasoningDelta("hmm\n"), TextDelta("Yes")]
    assert (reader.reasoning, reader.content) == ("hmm\n", "Yes")


COMPILER = mw.GrammarCompiler(vocabulary())


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_calls_of_all_families(family: str) -> None:
    """Arguments that were put together from their fields are those of the finished call."""
    matcher = mw.GrammarMatcher(
        COMPILER.compile_structural_tag(get_model_structural_tag(family, TOOLS, "required", False))
    )
    events_of, reader = EventReader(matcher), PartsReader(has_parts=True)
    streamed: dict[int, str] = {}
    done: list[str] = []
    for character in FAMILIES[family].calls():
        assert matcher.accept_string(character)
        events = events_of.read()
        done += [event.arguments for event in events if isinstance(event, CallDone)]
        for part in reader.feed(b"", events):
            if isinstance(part, CallDelta):
                streamed[part.number] = streamed.get(part.number, "") + part.arguments
    assert [json.loads(text) for text in streamed.values()] == [json.loads(text) for text in done]
    assert [json.loads(call.arguments) for call in reader.calls] == [{"city": "Paris", "days": 3}]
