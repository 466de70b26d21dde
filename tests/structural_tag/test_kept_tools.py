"""Tools and tags known from earlier requests: the same grammars, errors and reports as those met for the first time."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Iterator
from typing import Any

import pytest
from referencing import Registry
from referencing.jsonschema import DRAFT202012

import maskwright as mw
from maskwright.structural_tag import (
    OrFormat,
    StructuralTag,
    ToolRequest,
    get_model_structural_tag,
    register_model_structural_tag,
)
from maskwright.structural_tag.families import registry
from maskwright.structural_tag.formats.base import Format, shared
from maskwright.structural_tag.formats.classes import ConstStringFormat, JSONSchemaFormat, SequenceFormat, TagFormat
from maskwright.structural_tag.formats.content_keys import content_key
from maskwright.structural_tag.formats.defaults import read_tag
from maskwright.structural_tag.formats.kept import KEPT
from maskwright.structural_tag.texts.tokens import tokens_of
from structural_tag.spelling import accepts, vocabulary

INFO = vocabulary()
COMPILER = mw.GrammarCompiler(INFO, cache_enabled=False)


def num_made() -> int:
    """How often something was not found, and made."""
    return KEPT.statistics().misses


def lowered(it: Format, info: mw.TokenizerInfo = INFO) -> Any:
    """What is kept of what a known format became."""
    return it.known and KEPT.find((*it.known[:2], tokens_of(info).number))


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
    KEPT.clear()
    fresh = mw.Grammar.from_structural_tag(tag, tokenizer_info=INFO)
    for form in (tag, json.loads(json.dumps(tag)), json.dumps(tag), StructuralTag.from_json(tag)):
        known = mw.Grammar.from_structural_tag(form, tokenizer_info=INFO)
        assert known == fresh
        for text in texts:
            assert accepts(COMPILER.compile_grammar(known), text) == accepts(COMPILER.compile_grammar(fresh), text)


def test_only_what_is_new_is_made() -> None:
    KEPT.clear()
    first = read_tag(triggered(call("n", NUMBER), call("f", FLAG)))
    before = num_made()
    second = read_tag(triggered(call("f", {"type": "boolean"}), call("x", NUMBER), call("n", {"type": "integer"})))
    assert num_made() == before + 1
    assert second.format.tags[0] is first.format.tags[1]  # type: ignore[attr-defined]
    assert second.format.tags[2] is first.format.tags[0]  # type: ignore[attr-defined]
    mw.Grammar.from_structural_tag(first, tokenizer_info=INFO)
    begun = [lowered(tag) for tag in first.format.tags]  # type: ignore[attr-defined]
    mw.Grammar.from_structural_tag(second, tokenizer_info=INFO)
    again = [lowered(tag) for tag in second.format.tags]  # type: ignore[attr-defined]
    assert None not in begun
    assert again[0] is begun[1]
    assert again[2] is begun[0]


def test_many_tokenizers() -> None:
    tag = triggered(call("n", NUMBER))
    known = read_tag(tag).format.tags[0]  # type: ignore[attr-defined]
    for _ in range(20):
        info = vocabulary()
        compiled = mw.GrammarCompiler(info, cache_enabled=False).compile_structural_tag(tag)
        assert accepts(compiled, "<n>1</>")
        assert lowered(known, info) is not None


def test_equal_requests_have_equal_keys() -> None:
    for family in ("hermes", "llama", "harmony", "mistral_v3"):
        tags = [get_model_structural_tag(family, TOOLS[:n], reasoning="enabled") for n in (2, 3, 3)]
        KEPT.clear()
        tags.append(get_model_structural_tag(family, json.loads(json.dumps(TOOLS)), reasoning="enabled"))
        keys = [content_key(tag.format) for tag in tags]
        assert keys[0] != keys[1] == keys[2] == keys[3]


def test_a_compiler_finds_the_grammar_of_the_same_tools() -> None:
    compiler = mw.GrammarCompiler(INFO)

    def compiled(tools: list[Any], **more: Any) -> mw.CompiledGrammar:
        return compiler.compile_structural_tag(
            get_model_structural_tag("hermes", json.loads(json.dumps(tools)), **more)
        )

    first = compiled(TOOLS)
    assert compiled(TOOLS) is first
    assert compiled(TOOLS[::-1]) is not first
    assert compiled(TOOLS, strict_mode=True) is not first
    assert compiled(TOOLS, parallel_tool_calls=False) is not first


NUMBERED = {
    "type": "sequence",
    "elements": [{"type": "regex", "pattern": "[0-9]"}, {"type": "const_string", "value": ":"}],
}


def test_tags_of_several_parts() -> None:
    def tag(schema: Any) -> dict[str, Any]:
        inner = {"type": "json_schema", "json_schema": schema}
        content = {**NUMBERED, "elements": [*NUMBERED["elements"], {"type": "optional", "content": inner}]}
        return triggered(call("n", FLAG), {"begin": "<p", "content": content, "end": ">"})

    KEPT.clear()
    first, second = (read_tag(tag({"type": kind})).format for kind in ("integer", "integer"))
    other = read_tag(tag({"type": "boolean"})).format
    assert first.tags[1] is second.tags[1]  # type: ignore[attr-defined]
    assert other.tags[0] is first.tags[0]  # type: ignore[attr-defined]
    assert other.tags[1] is not first.tags[1]  # type: ignore[attr-defined]
    compiled = COMPILER.compile_structural_tag(tag({"type": "integer"}))
    for text, accepted in [("<p1:23>", True), ("<p1:>", True), ("<p:23>", False), ("<p1:true>", False)]:
        assert accepts(compiled, text) == accepted


@pytest.mark.parametrize("family", ["llama", "kimi", "kimi_k3", "mistral_v3", "mistral_v11", "command_a", "cohere"])
def test_families_find_their_calls(family: str) -> None:
    KEPT.clear()
    for tools in (TOOLS[1:], TOOLS, json.loads(json.dumps([TOOLS[2], TOOLS[0]]))):
        tag = get_model_structural_tag(family, tools, reasoning="disabled")
        mw.Grammar.from_structural_tag(tag, tokenizer_info=INFO)
    before = num_made()
    tag = get_model_structural_tag(family, TOOLS, reasoning="disabled")
    assert num_made() == before
    calls = [each for each in tags_in(tag.format) if each.capture and each.capture.startswith("call:")]
    assert {each.capture for each in calls} == {"call:a", "call:b", "call:c"}
    assert all(lowered(each) is not None for each in calls)


@pytest.mark.parametrize("options", [{}, {"strict_mode": True}, {"any_order": True, "max_whitespace_cnt": 2}])
def test_known_tools_and_options(options: dict[str, Any]) -> None:
    def grammar() -> mw.Grammar:
        tag = get_model_structural_tag("hermes", TOOLS, parallel_tool_calls=False, **options)
        data = StructuralTag.from_json(tag.to_json())
        assert data == tag
        assert mw.Grammar.from_structural_tag(data, tokenizer_info=INFO).dump() == dumped(tag)
        return mw.Grammar.from_structural_tag(tag, tokenizer_info=INFO)

    def dumped(tag: StructuralTag) -> str:
        return mw.Grammar.from_structural_tag(tag, tokenizer_info=INFO).dump()

    KEPT.clear()
    mw.Grammar.from_structural_tag(get_model_structural_tag("hermes", TOOLS), tokenizer_info=INFO)
    after_others = grammar()
    KEPT.clear()
    assert grammar().dump() == after_others.dump()


def test_options_for_known_tags_are_known() -> None:
    data = triggered(call("n", NUMBER), call("f", {"type": "object", "properties": {"a": FLAG}}))
    given: dict[str, Any] = {"strict_mode": True, "max_whitespace_cnt": 1}
    first = read_tag(data, given)
    mw.Grammar.from_structural_tag(data, tokenizer_info=INFO, **given)
    before = num_made()
    assert read_tag(json.loads(json.dumps(data)), given).format.tags[1] is first.format.tags[1]  # type: ignore[attr-defined]
    mw.Grammar.from_structural_tag(data, tokenizer_info=INFO, **given)
    assert num_made() == before
    plain, strict = (mw.Grammar.from_structural_tag(data, tokenizer_info=INFO, **o) for o in ({}, given))
    for grammar, taken in ((plain, True), (strict, False)):
        assert accepts(COMPILER.compile_grammar(grammar), '<f>{"b": 1}</>') == taken


def tags_in(it: Any) -> Iterator[TagFormat]:
    for inner in (it,) if isinstance(it, Format) else it if isinstance(it, tuple) else ():
        if isinstance(inner, TagFormat):
            yield inner
        if isinstance(inner, Format):
            for value in vars(inner).values():
                yield from tags_in(value)


def test_what_the_caller_changes_later() -> None:
    schema = {"type": "integer"}
    data = triggered(call("n", schema))
    compiler = mw.GrammarCompiler(INFO)
    first = compiler.compile_structural_tag(data)
    schema["type"] = "boolean"
    second = compiler.compile_structural_tag(data)
    schema["type"] = "integer"
    assert compiler.compile_structural_tag(data) is first
    assert second is not first
    assert accepts(first, "<n>1</>")
    assert accepts(second, "<n>true</>")


def test_nobody_changes_what_a_format_holds() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}}
    tools = [{"type": "function", "function": {"name": "n", "parameters": schema}}]
    data = triggered(call("n", schema))
    compiler = mw.GrammarCompiler(INFO)
    tags = [
        get_model_structural_tag("hermes", tools),
        StructuralTag.from_json(data),
        StructuralTag(TagFormat("<n>", JSONSchemaFormat(schema), "</>")),
    ]
    before = [tag.to_json() for tag in tags]
    compiled = [compiler.compile_structural_tag(tag) for tag in tags]
    schema["properties"]["n"]["type"] = "boolean"
    for tag in tags:
        for each in tags_in(tag.format):
            each.content.json_schema["properties"]["n"]["type"] = "null"  # type: ignore[attr-defined]
    assert [tag.to_json() for tag in tags] == before
    assert [compiler.compile_structural_tag(tag) for tag in tags] == compiled
    schema["properties"]["n"]["type"] = "integer"
    again = [get_model_structural_tag("hermes", tools), StructuralTag.from_json(data)]
    assert [tag.to_json() for tag in again] == before[:2]


@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, lambda tag: pickle.loads(pickle.dumps(tag))])
def test_copies_mean_the_same(copied: Any) -> None:
    tag = get_model_structural_tag("kimi", TOOLS)
    other = copied(tag)
    assert other == tag
    assert COMPILER.compile_structural_tag(other).grammar == COMPILER.compile_structural_tag(tag).grammar


def test_a_pickled_tag_names_nothing_of_this_process() -> None:
    state = pickle.loads(pickle.dumps(get_model_structural_tag("kimi", TOOLS)))
    assert [each for each in tags_in(state.format) if each.known is not None] == []


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
    KEPT.clear()
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
    with pytest.raises(mw.StructuralTagError):
        read_tag({"format": {"type": "tag", "begin": "", "content": [], "end": {}}})


def test_a_tool_is_known_wherever_it_stands() -> None:
    tools = [
        {"type": "function", "function": {"name": n, "parameters": {"type": "object", "properties": {n: {}}}}}
        for n in ("a", "b", "c")
    ]
    for family in ("hermes", "harmony", "qwen_3_coder", "kimi_k3", "gemma_4"):
        KEPT.clear()
        for order in (tools, tools[::-1], tools[1:]):
            before = num_made()
            tag = get_model_structural_tag(family, order, reasoning="disabled")
            mw.Grammar.from_structural_tag(tag, tokenizer_info=INFO)
            assert (num_made() == before) == (order != tools)


def test_tools_that_moved_are_found_where_they_stand_now() -> None:
    KEPT.clear()
    get_model_structural_tag("hermes", TOOLS)
    there, again = (get_model_structural_tag("hermes", TOOLS[1:]).format for _ in range(2))
    assert all(a is b for a, b in zip(there.tags, again.tags, strict=True))  # type: ignore[attr-defined]
    back = get_model_structural_tag("hermes", TOOLS).format.tags  # type: ignore[attr-defined]
    assert [tag.known.origin for tag in back] == [f"/tools/{i}/function/parameters" for i in range(3)]


def test_tools_that_are_reported_know_the_place() -> None:
    relaxed = {"type": "object", "properties": {"x": {"type": "string", "format": "unheard of"}}}
    tool = {"type": "function", "function": {"name": "r", "parameters": relaxed}}
    compiler = mw.GrammarCompiler(INFO)
    for tools in ([tool, *TOOLS], [*TOOLS, tool], [TOOLS[0], tool], [tool, *TOOLS]):
        for choice in ("auto", {"type": "function", "function": {"name": "r"}}):
            compiled = compiler.compile_structural_tag(get_model_structural_tag("hermes", tools, choice))
            place = f"/tools/{tools.index(tool)}/function/parameters/properties/x/format"
            assert [found.pointer for found in compiled.grammar.report] == [place]
            annotated = compiler.compile_structural_tag(
                get_model_structural_tag("hermes", tools, choice, parallel_tool_calls=False), formats="annotate"
            )
            assert [found.pointer for found in annotated.grammar.report] == [place]


def test_the_contents_of_a_registry_are_not_known() -> None:
    leads_out = {"type": "object", "properties": {"x": {"$ref": "urn:there"}}}
    tool = {"type": "function", "function": {"name": "r", "parameters": leads_out}}
    for kind, text in (("integer", "1"), ("boolean", "true")):
        documents = Registry().with_resource("urn:there", DRAFT202012.create_resource({"type": kind}))
        tag = get_model_structural_tag("hermes", [tool], "required", registry=documents)
        compiled = mw.GrammarCompiler(INFO).compile_structural_tag(tag)
        assert accepts(compiled, f'<tool_call>\n{{"name": "r", "arguments": {{"x": {text}}}}}\n</tool_call>')


def test_tools_that_moved_know_the_place_with_a_registry() -> None:
    leads_out = {"type": "object", "properties": {"x": {"$ref": "urn:there"}}}
    tool = {"type": "function", "function": {"name": "r", "parameters": leads_out}}
    for tools in ([tool, *TOOLS], [*TOOLS, tool]):
        tag = get_model_structural_tag("hermes", tools)
        for given in ({}, {"registry": Registry()}):
            with pytest.raises(mw.SchemaError) as error:
                COMPILER.compile_structural_tag(tag, **given)
            assert error.value.pointer == f"/tools/{tools.index(tool)}/function/parameters/properties/x/$ref"


def test_a_builder_that_makes_its_own_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_FAMILIES", dict(registry._FAMILIES))

    def built(request: ToolRequest) -> Format:
        return OrFormat(
            tuple([request.call(tool, f"{tool.name}:", request.arguments(tool), ".") for tool in request.tools])
        )

    register_model_structural_tag("of_a_test")(built)
    first, second = (get_model_structural_tag("of_a_test", TOOLS) for _ in range(2))
    assert first == second
    compiler = mw.GrammarCompiler(INFO)
    assert compiler.compile_structural_tag(first) is compiler.compile_structural_tag(second)
    assert accepts(compiler.compile_structural_tag(first), 'a:{"a": 1}.')


def test_shared_parts_are_known_by_identity_and_lowered_once() -> None:
    one, other = (shared(ConstStringFormat("x")) for _ in range(2))
    assert content_key(one) != content_key(other)
    tag = TagFormat("<", SequenceFormat((one, JSONSchemaFormat(NUMBER))), ">")
    for _ in range(2):
        grammar = COMPILER.compile_structural_tag(StructuralTag(tag))
        assert accepts(grammar, "<x1>")
        assert not accepts(grammar, "<1>")
    assert lowered(one) is not None
    assert lowered(other) is None


def test_what_is_kept_stays_bounded_while_tools_change() -> None:
    KEPT.clear()
    long = "x" * 100_000  # descriptions, which are content as well
    most = 0
    for i in range(400):
        tools = [{"type": "function", "function": {"name": f"f{i}_{j}", "description": long}} for j in range(2)]
        mw.Grammar.from_structural_tag(get_model_structural_tag("hermes", tools), tokenizer_info=INFO)
        most = max(most, KEPT.statistics().num_bytes)
    assert 30 << 20 < most <= 32 << 20
    assert KEPT.statistics().entries < 400
    KEPT.clear()


@pytest.mark.parametrize(
    "content",
    [
        {"type": "any_text"},
        {"type": "or", "elements": [{"type": "grammar", "grammar": 'root ::= "x" | <[0]>'}, {"type": "any_text"}]},
    ],
)
def test_a_tag_with_an_optional_end_that_stands_twice_in_a_grammar_is_the_same_in_the_next(content: Any) -> None:
    def listed() -> dict[str, Any]:
        tag = {"begin": "<twice>", "content": content, "end": ["</twice>", ""]}
        return {"type": "tags_with_separator", "tags": [tag], "separator": ",", "at_least_one": True}

    KEPT.clear()
    first = mw.Grammar.from_structural_tag({"format": listed()}).bound_to(INFO).dump()
    KEPT.clear()
    COMPILER.compile_structural_tag({"format": {"type": "sequence", "elements": [listed(), listed()]}})
    assert mw.Grammar.from_structural_tag({"format": listed()}).bound_to(INFO).dump() == first
