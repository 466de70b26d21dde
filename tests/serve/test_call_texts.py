"""Calls as families write them: each is a call that the family's own grammar accepts, with these arguments."""

from __future__ import annotations

import json
from typing import Any

import pytest

import maskwright as mw
from maskwright.events import EventReader
from maskwright.serve.generation.call_texts import call_text
from maskwright.serve.replies.parts import PartsReader
from maskwright.structural_tag import get_model_structural_tag, model_families

ARGUMENTS = {"city": 'K\u00f6ln "am" Rhein', "days": 3, "units": ["C", "F"], "exact": True}
SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "units": {"type": "array", "items": {"type": "string"}},
        "exact": {"type": "boolean"},
    },
    "required": ["city", "days", "units", "exact"],
    "additionalProperties": False,
}
TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA}}]
INFO = mw.TokenizerInfo.from_vocab(
    [*(bytes((byte,)) for byte in range(256)), b"<stop>"], special_token_ids=[256], stop_token_ids=[256]
)
FREE = {"kimi_k3"}  # whose calls come after text of any length


@pytest.mark.parametrize("family", sorted(set(model_families()) - FREE))
def test_what_is_shown_is_what_the_output_is_held_to(family: str) -> None:
    text = call_text(family, "get_weather", ARGUMENTS)
    tag = get_model_structural_tag(family, TOOLS, "required", "disabled", parallel_tool_calls=False)
    compiled = mw.GrammarCompiler(INFO).compile_grammar(mw.Grammar.from_structural_tag(tag, tokenizer_info=INFO))
    matcher = mw.GrammarMatcher(compiled)
    assert matcher.accept_string(text)
    assert matcher.is_completed()
    reader = PartsReader(has_parts=True)
    reader.feed(text.encode(), EventReader(matcher).read(), is_last=True)
    (call,) = reader.calls
    assert (call.name, json.loads(call.arguments)) == ("get_weather", ARGUMENTS)


@pytest.mark.parametrize(
    ("family", "name", "arguments"),
    [
        ("kimi_k3", "f", {"a": 1}),
        ("hermes", "f", "not an object"),
        ("hermes", "f", ["not", "an", "object"]),
        ("hermes", "f", {"a": "long" * 5000}),
        ("gemma_3", "not an identifier", {"a": 1}),
    ],
)
def test_what_a_family_cannot_write_is_a_json_object(family: str, name: str, arguments: Any) -> None:
    assert json.loads(call_text(family, name, arguments)) == {"name": name, "arguments": arguments}


def test_no_arguments() -> None:
    assert call_text("hermes", "f", {}) == '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
