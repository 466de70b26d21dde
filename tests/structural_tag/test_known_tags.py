"""Tags known from earlier requests: the same grammars, errors and reports as tags read for the first time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

import maskwright as mw
from maskwright.structural_tag import StructuralTag, get_model_structural_tag, known_tags
from maskwright.structural_tag.formats.base import Format, shared
from maskwright.structural_tag.formats.classes import ConstStringFormat, JSONSchemaFormat, SequenceFormat, TagFormat
from maskwright.structural_tag.formats.kept_schemas import SCHEMAS
from maskwright.structural_tag.known_tags import TAGS, content_key, read_known
from maskwright.structural_tag.texts.tokens import tokens_of
from structural_tag.spelling import accepts, vocabulary

INFO = vocabulary()
COMPILER = mw.GrammarCompiler(INFO, cache_enabled=False)


def forget() -> None:
    TAGS.clear()
    SCHEMAS.clear()


def call(name: str, schema: Any, **more: Any) -> dict[str, Any]:
    return {"begin": f"<{name}>", "content": {"type": "json_schema", "json_schema": schema}, "end": "</>", **more}


def triggered(*tags: Any, **more: Any) -> dict[str, Any]:
    return {"format": {"type": "triggered_tags", "triggers": ["<"], "tags": [*tags], **more}}


NUMBER, FLAG = {"type": "integer"}, {"type": "boolean"}
TOOLS = [
    {"type": "function", "function": {"name": n, "parameters": {"type": "object", "properties": {n: {"type": t}}}}}
    for n, t in [("a", "integer"), ("b", "string"), ("c", "array")]
]


@pytest.mark.parametrize(
    "tag",
    [
        triggered(call("n", NUMBER), call("f", FLAG)),
        triggered(call("f", FLAG), call("n", NUMBER), call("n", FLAG)),
        triggered(call("n", NUMBER), at_least_one=True, stop_after_first=True),
        triggered(call("n", NUMBER, capture="x"), call("f", FLAG, end=["</>", "!"]), capture="text"),
        {
            "format": {
                "type": "or",
                "elements": [{"type": "tag", **call("n", NUMBER)}, {"type": "tag", **call("f", FLAG)}],
            }
        },
        {"format": {"type": "tags_with_separator", "separator": ",", "tags": [call("n", NUMBER), call("f", FLAG)]}},
        {"format": {"type": "tag", "begin": "[", "end": "]", "content": {"type": "tag", **call("n", NUMBER, end="")}}},
        {
            "format": {
                "type": "sequence",
                "elements": [{"type": "star", "content": {"type": "tag", **call("n", NUMBER)}}],
            }
        },
    ],
)
def test_the_same_grammar(tag: dict[str, Any]) -> None:
    texts = [
        "<n>1</>",
        "<f>true</>",
        "<n>1</><f>true</>",
        "<n>1</>,<f>true</>",
        "<f>true!",
        "<n>x</>",
        "[<n>1]",
        "x",
        "",
    ]
    forget()
    fresh = mw.Grammar.from_structural_tag(tag, tokenizer_info=INFO)
    for form in (tag, json.loads(json.dumps(tag)), json.dumps(tag), StructuralTag.from_json(tag)):
        known = mw.Grammar.from_structural_tag(form, tokenizer_info=INFO)
        assert known == fresh
        for text in texts:
            assert accepts(COMPILER.compile_grammar(known), text) == accepts(COMPILER.compile_grammar(fresh), text)


def test_only_what_is_new_is_made() -> None:
    forget()
    first = read_known(triggered(call("n", NUMBER), call("f", FLAG)))
    second = read_known(triggered(call("f", {"type": "boolean"}), call("x", NUMBER), call("n", {"type": "integer"})))
    assert second.format.tags[0] is first.format.tags[1]  # type: ignore[attr-defined]
    assert second.format.tags[2] is first.format.tags[0]  # type: ignore[attr-defined]
    assert len(TAGS) == 3
    mw.Grammar.from_structural_tag(first, tokenizer_info=INFO)
    number = tokens_of(INFO).number
    begun = [tag.known.partial_tag[number] for tag in first.format.tags]  # type: ignore[attr-defined]
    mw.Grammar.from_structural_tag(second, tokenizer_info=INFO)
    again = [tag.known.partial_tag[number] for tag in second.format.tags]  # type: ignore[attr-defined]
    assert again[0] is begun[1]
    assert again[2] is begun[0]


def test_many_tokenizers() -> None:
    tag = triggered(call("n", NUMBER))
    known = read_known(tag).format.tags[0].known  # type: ignore[attr-defined]
    for _ in range(20):
        info = vocabulary()
        compiled = mw.GrammarCompiler(info, cache_enabled=False).compile_structural_tag(tag)
        assert accepts(compiled, "<n>1</>")
        assert tokens_of(info).number in known.partial_tag
    assert len(known.partial_tag) <= 8


def test_formats_are_known_by_their_fields() -> None:
    forget()
    tags = [get_model_structural_tag("hermes", TOOLS[:n], reasoning="enabled") for n in (2, 3, 3)]
    known = [read_known(tag) for tag in tags]
    assert len(TAGS) == 4  # three calls, and the reasoning
    assert content_key(known[1].format) == content_key(known[2].format) != content_key(known[0].format)
    assert [content_key(each.format) for each in known] == [content_key(tag.format) for tag in tags]


NUMBERED = {
    "type": "sequence",
    "elements": [{"type": "regex", "pattern": "[0-9]"}, {"type": "const_string", "value": ":"}],
}


def test_tags_of_several_parts() -> None:
    def tag(schema: Any) -> dict[str, Any]:
        inner = {"type": "json_schema", "json_schema": schema}
        content = {**NUMBERED, "elements": [*NUMBERED["elements"], {"type": "optional", "content": inner}]}
        return triggered(call("n", FLAG), {"begin": "<p", "content": content, "end": ">"})

    forget()
    first, second = (read_known(tag({"type": kind})).format for kind in ("integer", "integer"))
    other = read_known(tag({"type": "boolean"})).format
    assert first.tags[1] is second.tags[1]  # type: ignore[attr-defined]
    assert other.tags[0] is first.tags[0]  # type: ignore[attr-defined]
    assert other.tags[1] is not first.tags[1]  # type: ignore[attr-defined]
    compiled = COMPILER.compile_structural_tag(tag({"type": "integer"}))
    for text, accepted in [("<p1:23>", True), ("<p1:>", True), ("<p:23>", False), ("<p1:true>", False)]:
        assert accepts(compiled, text) == accepted


@pytest.mark.parametrize("family", ["llama", "kimi", "kimi_k3", "mistral_v3", "mistral_v11", "command_a", "cohere"])
def test_families_find_their_calls(family: str) -> None:
    forget()
    number = tokens_of(INFO).number
    for tools in (TOOLS[1:], TOOLS, json.loads(json.dumps([TOOLS[2], TOOLS[0]]))):
        known = read_known(get_model_structural_tag(family, tools, reasoning="disabled"))
        mw.Grammar.from_structural_tag(known, tokenizer_info=INFO)
    found = len(TAGS)
    assert found >= len(TOOLS)
    again = read_known(get_model_structural_tag(family, TOOLS, reasoning="disabled"))
    assert len(TAGS) == found
    calls = [each for each in tags_in(again.format) if each.capture and each.capture.startswith("call:")]
    assert {each.capture for each in calls} == {"call:a", "call:b", "call:c"}
    assert all(each.known and number in each.known.partial_tag for each in calls)


def tags_in(it: Any) -> Iterator[TagFormat]:
    for inner in (it,) if isinstance(it, Format) else it if isinstance(it, tuple) else ():
        if isinstance(inner, TagFormat):
            yield inner
        if isinstance(inner, Format):
            for value in vars(inner).values():
                yield from tags_in(value)


def test_what_the_caller_changes_later() -> None:
    schema = {"type": "integer"}
    parameters = {"type": "object", "properties": {"n": schema}}
    data = triggered(call("n", schema))
    made = get_model_structural_tag("hermes", [{"name": "n", "parameters": parameters}])
    for tag in (data, made):
        forget()
        compiler = mw.GrammarCompiler(INFO)
        first = compiler.compile_structural_tag(tag)
        schema["type"] = "boolean"
        second = compiler.compile_structural_tag(tag)
        schema["type"] = "integer"
        assert compiler.compile_structural_tag(tag) is first
        assert second is not first
    assert accepts(compiler.compile_structural_tag(data), "<n>1</>")


def test_numbers_and_booleans_are_told_apart() -> None:
    for const, text in [(1, "1"), (True, "true"), (1, "1")]:
        compiled = COMPILER.compile_structural_tag(triggered(call("n", {"const": const})))
        assert accepts(compiled, f"<n>{text}</>")
        assert not accepts(compiled, f"<n>{'true' if text == '1' else '1'}</>")


@pytest.mark.parametrize(
    ("tag", "pointer"),
    [
        (triggered(call("n", NUMBER), call("f", {"type": "nothing"})), "/format/tags/1/content/json_schema/type"),
        (triggered(call("f", {"type": "nothing"})), "/format/tags/0/content/json_schema/type"),
        (triggered(call("f", 3)), "/format/tags/0/content/json_schema"),
        (triggered(call("f", NUMBER, extra=1)), "/format/tags/0/extra"),
        (
            triggered(call("f", NUMBER, content={"type": "json_schema", "json_schema": NUMBER, "content": 3})),
            "/format/tags/0/content/content",
        ),
        (triggered(call("f", NUMBER, content={"type": "sequence", "elements": []})), "/format/tags/0/content/elements"),
        (
            triggered(call("f", NUMBER, content={"type": "optional", "content": {"type": "json_schema"}})),
            "/format/tags/0/content/content",
        ),
        (triggered(call("f", NUMBER), call("f", NUMBER, type="or")), "/format/tags/1/begin"),
        ({"format": {"type": "or", "elements": [call("f", NUMBER)]}}, "/format/elements/0"),
    ],
)
def test_errors_know_the_place(tag: dict[str, Any], pointer: str) -> None:
    for _ in range(2):
        with pytest.raises(mw.MaskwrightError) as error:
            COMPILER.compile_structural_tag(tag)
        assert error.value.pointer == pointer  # type: ignore[attr-defined]


def test_origins_are_for_errors_alone() -> None:
    forget()
    wrong = {"type": "function", "function": {"name": "w", "parameters": {"properties": {"x": {"type": "nothing"}}}}}
    for tools in ([wrong, *TOOLS], [*TOOLS, wrong], [TOOLS[0], wrong]):
        with pytest.raises(mw.MaskwrightError) as error:
            COMPILER.compile_structural_tag(get_model_structural_tag("hermes", tools))
        place = f"/tools/{tools.index(wrong)}/function/parameters/properties/x/type"
        assert error.value.pointer == place  # type: ignore[attr-defined]


def test_reports_know_the_place() -> None:
    relaxed = {"type": "string", "format": "unheard of"}
    for tags in ([call("n", NUMBER), call("r", relaxed)], [call("r", relaxed)]):
        grammar = mw.Grammar.from_structural_tag(triggered(*tags), tokenizer_info=INFO)
        assert [f.pointer for f in grammar.report] == [f"/format/tags/{len(tags) - 1}/content/json_schema/format"]


def test_tags_that_need_rules_of_their_grammar() -> None:
    inner = {"type": "triggered_tags", "triggers": ["("], "tags": [{**call("n", NUMBER), "begin": "("}]}
    outer = {"type": "tag", "begin": "<in>", "content": inner, "end": "</in>"}
    for first in ([], [call("n", NUMBER)]):
        compiled = COMPILER.compile_structural_tag(triggered(*first, outer))
        assert accepts(compiled, "a<in>b(1</>c</in>d")


def test_deep_and_strange_data_are_left_to_the_reader() -> None:
    deep: Any = {"type": "any_text"}
    for _ in range(300):
        deep = {"type": "optional", "content": deep}
    with pytest.raises(mw.LimitError):
        COMPILER.compile_structural_tag({"format": deep})
    schema: Any = {"type": "integer"}
    for _ in range(1_500):
        schema = {"$comment": [schema]}
    with pytest.raises(mw.MaskwrightError):
        COMPILER.compile_structural_tag(triggered(call("n", {**schema, "type": "nothing"})))
    assert known_tags._known_data({"tags": 3, "content": [], "elements": {}}, 0, None)["tags"] == 3


def test_a_tool_is_known_wherever_it_stands() -> None:
    tools = [
        {"type": "function", "function": {"name": n, "parameters": {"type": "object", "properties": {n: {}}}}}
        for n in ("a", "b", "c")
    ]
    for family in ("hermes", "harmony", "qwen_3_coder", "kimi_k3", "gemma_4"):
        forget()
        read_known(get_model_structural_tag(family, tools=tools))
        count = len(TAGS)
        assert count >= len(tools)
        read_known(get_model_structural_tag(family, tools=tools[::-1]))
        assert len(TAGS) == count


def test_shared_parts_are_known_by_identity_and_lowered_once() -> None:
    one, other = (shared(ConstStringFormat("x")) for _ in range(2))
    assert content_key(one) != content_key(other)
    tag = TagFormat("<", SequenceFormat((one, JSONSchemaFormat(NUMBER))), ">")
    for _ in range(2):
        grammar = COMPILER.compile_structural_tag(StructuralTag(tag))
        assert accepts(grammar, "<x1>")
        assert not accepts(grammar, "<1>")
    assert one.known is not None
    assert list(one.known.partial_tag) == [tokens_of(INFO).number]
