"""Structural tags, tools and the formats of models in the compatibility module."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("torch", reason="an optional dependency")
pydantic = pytest.importorskip("pydantic", reason="an optional dependency")
from xgrammar_cases import accepts  # noqa: E402

import maskwright.compat.xgrammar as xgr  # noqa: E402
from maskwright import structural_tag as native  # noqa: E402
from maskwright.compat.xgrammar import structural_tag as st  # noqa: E402
from maskwright.structural_tag.formats.base import TYPES, readers_of  # noqa: E402

SCHEMA = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
TOOLS: list[Any] = [
    {"type": "function", "function": {"name": "f", "parameters": SCHEMA}},
    {"type": "function", "function": {"name": "g", "strict": False, "parameters": SCHEMA}},
    {"type": "web_search", "name": "search", "parameters": SCHEMA},
]
MODELS = [
    "cohere",
    "deepseek_r1",
    "deepseek_v3_1",
    "deepseek_v3_2",
    "deepseek_v4",
    "deepseek_v4_1",
    "exaone",
    "glm_4_7",
    "harmony",
    "kimi",
    "kimi_k3",
    "llama",
    "mimo",
    "minimax",
    "minimax_m3",
    "qwen_3",
    "qwen_3_5",
    "qwen_3_coder",
]


def test_every_format_is_a_class_with_fields_that_maskwright_reads() -> None:
    classes = {name: cls for name, cls in vars(st).items() if name.endswith("Format") and hasattr(cls, "model_fields")}
    by_type = {cls.model_fields["type"].default: cls for cls in classes.values() if "type" in cls.model_fields}
    assert set(by_type) == {name for name in TYPES if name}
    for name, cls in by_type.items():
        assert set(cls.model_fields) - {"type"} <= set(readers_of(TYPES[name])), name


def test_a_tag_goes_through_json_and_keeps_fields_of_maskwrights() -> None:
    data = {"type": "tag", "begin": "<", "content": {"type": "any_text", "capture": "inner"}, "end": [">", "!"]}
    tag = xgr.StructuralTag(format=data)
    assert isinstance(tag.format, st.TagFormat)
    assert isinstance(tag.format.content, st.AnyTextFormat)
    assert json.loads(tag.model_dump_json())["format"]["content"]["capture"] == "inner"
    assert xgr.StructuralTag.from_json(tag.model_dump_json()) == tag
    assert xgr.StructuralTag.from_json(tag.model_dump()) == tag
    for given in (tag, tag.model_dump(), tag.model_dump_json()):
        assert accepts(xgr.Grammar.from_structural_tag(given), "<ab!")


def test_named_tags_are_read() -> None:
    tag = st.NamedTagFormat(begin="<{name}>", name="[a-z]+", content=st.AnyTextFormat(), end="</{name}>")
    grammar = xgr.Grammar.from_structural_tag(xgr.StructuralTag(format=tag))
    assert accepts(grammar, "<ab>text</ab>")
    assert not accepts(grammar, "<ab>text</abc>")


def test_a_field_that_no_format_has_is_refused_when_the_tag_is_read() -> None:
    tag = xgr.StructuralTag(format={"type": "any_text", "exclude": ["a"]})
    with pytest.raises(xgr.InvalidStructuralTagError, match="excludes"):
        xgr.Grammar.from_structural_tag(tag)


def test_malformed_tags_are_pydantics_errors() -> None:
    for text in ("{", "{}", '{"format": {"type": "no such"}}'):
        with pytest.raises(pydantic.ValidationError):
            xgr.StructuralTag.from_json(text)
    with pytest.raises(TypeError):
        xgr.StructuralTag.from_json(3)  # type: ignore[arg-type]


def test_the_older_form() -> None:
    class Arguments(pydantic.BaseModel):  # type: ignore[misc, name-defined]
        x: int

    for schema in (SCHEMA, json.dumps(SCHEMA), Arguments):
        items = [xgr.StructuralTagItem(begin="<f>", schema=schema, end="</f>")]
        for grammar in (
            xgr.Grammar.from_structural_tag(items, ["<f"]),
            xgr.Grammar.from_structural_tag(tags=items, triggers=["<f"]),
            xgr.Grammar.from_structural_tag(triggers=["<f"], tags=items),
            xgr.Grammar.from_structural_tag(xgr.StructuralTag.from_legacy_structural_tag(items, ["<f"])),
        ):
            assert accepts(grammar, 'Well: <f>{"x": 1}</f> done')
            assert not accepts(grammar, "<f>{}</f>")
    with pytest.raises(TypeError):
        xgr.Grammar.from_structural_tag(items, ["<f"], 3)
    with pytest.raises(TypeError):
        xgr.Grammar.from_structural_tag(tag=items)


def test_schemas_in_tags_have_xgrammars_defaults() -> None:
    grammar = xgr.Grammar.from_structural_tag({"format": {"type": "json_schema", "json_schema": SCHEMA}})
    assert accepts(grammar, '{"x":' + " " * 100 + "1}")
    assert not accepts(grammar, '{"x": 1, "y": 2}')
    bounded = {"type": "json_schema", "json_schema": SCHEMA, "max_whitespace_cnt": 2}
    assert not accepts(xgr.Grammar.from_structural_tag({"format": bounded}), '{"x":   1}')


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("choice", ["auto", "required", "none", {"type": "function", "function": {"name": "f"}}])
def test_every_model_of_xgrammars(model: str, choice: Any) -> None:
    for reasoning in ("enabled", "disabled", "auto", True, False):
        tag = xgr.get_model_structural_tag(model, TOOLS[:2], choice, reasoning, parallel_tool_calls=False)
        assert isinstance(tag, xgr.StructuralTag)
        assert "capture" not in tag.model_dump_json()
        xgr.Grammar.from_structural_tag(tag)


def test_the_tag_of_a_model_is_that_of_maskwright() -> None:
    tag = xgr.get_model_structural_tag("qwen_3", TOOLS[:1], "required", False)
    call = '<tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call>'
    grammar = xgr.Grammar.from_structural_tag(tag)
    assert accepts(grammar, call)
    assert not accepts(grammar, call.replace("1", '"1"'))
    assert not accepts(grammar, "Hello.")
    expected = native.get_model_structural_tag("qwen_3", TOOLS[:1], "required", "disabled", any_order=False)
    assert tag == xgr.StructuralTag.from_json(expected.to_dict(captures=False))
    builder = xgr.builtin_structural_tag.get_qwen_3_structural_tag  # type: ignore[attr-defined]
    functions, builtins, simplified = xgr.normalize_tool_choice(TOOLS[:1], "required")
    assert builder(functions, builtins, simplified, "disabled") == tag


def test_what_tools_leave_open() -> None:
    undeclared = {"type": "function", "function": {"name": "h"}}
    grammar = xgr.Grammar.from_structural_tag(xgr.get_model_structural_tag("llama", [undeclared], "required"))
    assert accepts(grammar, '{"name": "h", "parameters": {"any": [1]}}')
    loose = xgr.Grammar.from_structural_tag(xgr.get_model_structural_tag("llama", TOOLS[1:2], "required"))
    assert accepts(loose, '{"name": "g", "parameters": {"y": 2}}')
    strict = xgr.Grammar.from_structural_tag(xgr.get_model_structural_tag("llama", TOOLS[:1], "required"))
    assert not accepts(strict, '{"name": "f", "parameters": {"x": 1, "y": 2}}')


def test_built_in_tools_are_harmonys() -> None:
    browser = {"type": "web_search", "name": "browser.search"}
    assert "browser.search" in xgr.get_model_structural_tag("harmony", [browser], "required").model_dump_json()
    tag = xgr.get_model_structural_tag("llama", TOOLS, "required")
    assert tag == xgr.get_model_structural_tag("llama", TOOLS[:2], "required")


def test_tool_choices() -> None:
    functions, builtins, choice = xgr.normalize_tool_choice(TOOLS, "auto")
    assert [each.function.name for each in functions] == ["f", "g"]
    assert choice == "auto"
    assert [each.name for each in builtins] == ["search"]
    assert xgr.normalize_tool_choice(TOOLS, "none") == ([], [], "auto")
    assert xgr.normalize_tool_choice(None, None) == ([], [], "auto")
    assert xgr.normalize_tool_choice(TOOLS, "required")[2] == "required"
    named = xgr.normalize_tool_choice(TOOLS, {"type": "function", "function": {"name": "g"}})
    assert ([each.function.name for each in named[0]], named[1:]) == (["g"], ([], "forced"))
    builtin = xgr.normalize_tool_choice(TOOLS, {"type": "web_search"})
    assert (builtin[0], builtin[1][0].name, builtin[2]) == ([], "search", "forced")
    references = [{"type": "function", "function": {"name": "f"}}, {"type": "web_search"}]
    allowed = {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": references}}
    some = xgr.normalize_tool_choice(TOOLS, allowed)
    assert ([each.function.name for each in some[0]], len(some[1]), some[2]) == (["f"], 1, "required")


@pytest.mark.parametrize(
    ("tools", "choice"),
    [
        (None, "required"),
        ([], "required"),
        (TOOLS, "foo"),
        (TOOLS, {"type": "function", "function": {"name": "no such"}}),
        (TOOLS, {"type": "no_such"}),
        (TOOLS, {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [{"type": "function"}]}}),
        ({"a": 1}, "auto"),
        ([{"type": "function"}], "auto"),
        ([3], "auto"),
    ],
)
def test_wrong_tools_and_choices_are_value_errors(tools: Any, choice: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 (pydantic's or ours)
        xgr.normalize_tool_choice(tools, choice)


def test_a_format_of_ones_own() -> None:
    seen: dict[str, Any] = {}

    @xgr.register_model_structural_tag("of my own")
    def build(tools: Any, builtin_tools: Any, tool_choice: Any, reasoning: Any, **options: Any) -> xgr.StructuralTag:
        seen.update(options, tools=tools, builtin_tools=builtin_tools, tool_choice=tool_choice, reasoning=reasoning)
        return xgr.StructuralTag(format=st.AnyTextFormat())

    tag = xgr.get_builtin_structural_tag("of my own", TOOLS, reasoning=True, any_order=True)
    assert tag.format == st.AnyTextFormat()
    assert seen.pop("tools")[0].function.name == "f"
    assert seen.pop("builtin_tools")[0].type == "web_search"
    assert seen == {
        "tool_choice": "auto",
        "reasoning": "enabled",
        "any_order": True,
        "exclude_special_tokens": True,
        "max_whitespace_cnt": None,
        "parallel_tool_calls": True,
    }
