"""What a tool may be: a function, a custom tool, or one that the models of the family have built in."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright import openai_shapes
from maskwright.errors import RequestError
from maskwright.structural_tag import get_model_structural_tag, model_families
from maskwright.structural_tag.families import built_in_tools

BODY = {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
SCHEMA = BODY["parameters"]


@pytest.mark.parametrize("family", ["hermes", "harmony"])
@pytest.mark.parametrize(
    ("tool", "hint"),
    [
        ({"type": "fnction", "function": BODY}, "did you mean 'function'?"),
        ({"type": "Function", "function": BODY}, "did you mean 'function'?"),
        ({"type": "tool", "function": BODY}, "did you mean 'function'?"),
        ({"type": "FUNCTION", **BODY}, "did you mean 'function'?"),
        ({"type": "functions"}, "did you mean 'function'?"),
        ({"type": "fnction", "name": "python"}, "did you mean 'function'?"),
        ({"type": "Custom", "custom": {"name": "f"}}, "did you mean 'custom'?"),
        (SCHEMA, "as its parameters"),
        ({"type": "string"}, "as its parameters"),
        ({"type": "web_search"}, "write a function that does the same"),
        ({"type": "mcp", "server_label": "x"}, "write a function that does the same"),
        ({"type": "web_search", "name": "search"}, "write a function that does the same"),
    ],
    ids=str,
)
def test_other_types_are_refused_with_what_to_write(family: str, tool: Any, hint: str) -> None:
    with pytest.raises(RequestError, match="unknown tool type") as caught:
        get_model_structural_tag(family, [BODY, tool])
    assert caught.value.pointer == "/tools/1/type"
    assert hint in str(caught.value.hint)


def test_a_request_to_a_server_is_refused_likewise() -> None:
    for request in ({"tools": [{"type": "fnction", "function": BODY}]}, {"tools": [{"type": "web_search"}]}):
        with pytest.raises(RequestError, match="unknown tool type") as caught:
            openai_shapes.chat_completion({"messages": [], **request}, model="qwen_3")
        assert caught.value.pointer == "/tools/0/type"


def test_a_family_may_have_tools_built_in() -> None:
    with_tools = [family for family in model_families() if built_in_tools(family)]
    assert with_tools == ["harmony", "gpt_oss"]
    tools = [{"type": "python"}, {"type": "browser.search"}, {"type": "web_search", "name": "browser.open"}]
    text = get_model_structural_tag("harmony", tools, "required").to_json()
    assert all(f"to={name}" in text for name in ("python", "browser.search", "browser.open"))
    assert openai_shapes.chat_completion({"messages": [], "tools": tools}, model="gpt_oss") is not None


def test_built_in_tools_are_refused_where_another_family_has_read_them_before() -> None:
    get_model_structural_tag("harmony", [{"type": "python"}])
    with pytest.raises(RequestError, match="unknown tool type 'python'"):
        get_model_structural_tag("hermes", [{"type": "python"}])
