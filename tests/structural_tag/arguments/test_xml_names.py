"""Names of members in XML-like styles: what can be written, patterns of names, and names that are not declared."""

from __future__ import annotations

import html
import itertools
import json
from typing import Any

import jsonschema
import pytest

import maskwright as mw
from maskwright.errors import SchemaError
from maskwright.events import CallDone, EventReader
from maskwright.structural_tag import get_model_structural_tag
from maskwright.structural_tag.formats.xml_styles import STYLES
from oracle.comparing import scaled, seeded, walk
from oracle.model import Language
from oracle.vocabularies import of as of_texts
from structural_tag.arguments.styles import COMPILER, M3, SPELLED, check, compiled, of
from structural_tag.spelling import accepts


@pytest.mark.parametrize("style", SPELLED)
@pytest.mark.parametrize("name", ["", "a\nb"])
def test_names_that_cannot_be_written(style: str, name: str) -> None:
    schema = of({"s": {"type": "string"}, "in": of({name: {"type": "string"}}, name)}, "s")
    schema["properties"][name] = {"type": "string"}
    with pytest.raises(SchemaError, match="is not a valid property name in this style") as caught:
        compiled({**schema, "required": ["s", name]}, style)
    assert caught.value.pointer == f"/format/json_schema/properties/{name}"
    # Left out, whether it is required or not, and reported; in JSON inside the style it is a name like others.
    s = SPELLED[style][0].format("x")
    for required in (["s"], ["s", name]):
        relaxed = compiled({**schema, "required": required}, style, on_unsupported="relax")
        assert accepts(relaxed, s)
        found = {(f.pointer, f.outcome) for f in relaxed.grammar.report}
        assert (f"/format/json_schema/properties/{name}", "relaxed") in found


@pytest.mark.parametrize(
    ("style", "good", "bad"),
    [
        ("qwen_xml", ["a<b", 'a"b', "a b", "größe"], ["a>b", "a</parameter>", "<parameter=x"]),
        ("mimo_xml", ["a<b"], ["a>b"]),
        ("minimax_xml", ["a<b", "a'b"], ['a"b', "a>b", "</invoke"]),
        ("minimax_m3_xml", ["a-b", "a.b"], ["a<b", "a>b"]),
        ("glm_xml", ["a<b", "a>b", 'a"b', "<a>"], ["a</arg_key>", "<arg_value>"]),
        ("deepseek_xml", ["a-b"], ['a"b', "a<b"]),
        ("cohere_xml", ["a<b", 'a"b', " a"], []),
        ("kimi_k3_xml", ["a<b", 'a"b'], []),
    ],
)
def test_names_that_would_end_early(style: str, good: list[str], bad: list[str]) -> None:
    escaped = {each[0]: each[1] for each in STYLES[style].escapes}
    for name in good:
        grammar = compiled(of({name: {"type": "string"}}, name), style)
        written = "".join(escaped.get(c, c) for c in name)
        text = SPELLED[style][0].format("x")
        for before, after in (('"s"', f'"{written}"'), ("<s>", f"<{written}>"), ("</s>", f"</{written}>")):
            text = text.replace(before, after)
        text = text.replace("=s>", f"={written}>").replace("key>s<", f"key>{written}<")
        assert accepts(grammar, text), (name, text)
    for name in bad:
        with pytest.raises(SchemaError, match="is not a valid property name in this style"):
            compiled(of({name: {"type": "string"}}, name), style)


OUTER, X = f"{M3}<o>{{}}{M3}</o>", f"{M3}<x>{{}}{M3}</x>"
FREE: list[dict[str, Any]] = [
    {"type": "object"},
    {"type": "object", "additionalProperties": True},
    {"type": "object", "additionalProperties": {"type": "string"}},
]


@pytest.mark.parametrize("free", FREE)
def test_free_objects_where_names_end_members(free: dict[str, Any]) -> None:
    """MiniMax M3 ends a member with its name, whatever it is."""
    schema = of({"s": {"type": "string"}, "o": free}, "o")
    good = [OUTER.format(""), OUTER.format(X.format("y")), OUTER.format(X.format("y") + X.format("z"))]
    bad = ["", OUTER.format("y"), *[OUTER.format(f"{M3}<xy>z{M3}</{name}>") for name in ("x", "xyz", "", "y", "o")]]
    check(schema, "minimax_m3_xml", good, bad)


@pytest.mark.parametrize("free", FREE)
def test_relaxed_free_objects_may_end_members_with_any_name(free: dict[str, Any]) -> None:
    schema = of({"s": {"type": "string"}, "o": free}, "o")
    relaxed = compiled(schema, "minimax_m3_xml", on_unsupported="relax")
    found = relaxed.grammar.report[0]
    assert (found.pointer, found.keyword) == ("/format/json_schema/properties/o", "additionalProperties")
    good = [OUTER.format(""), OUTER.format(X.format("y")), OUTER.format(f"{M3}<x>y{M3}</z>")]
    assert [text for text in good if not accepts(relaxed, text)] == []
    bad = ["", OUTER.format("y"), OUTER.format(f"{M3}<x>y"), OUTER.format(f"{M3}<x>y{M3}</>")]
    assert [text for text in bad if accepts(relaxed, text)] == []
    mw.GrammarMatcher(relaxed, max_tokens=500)


def test_free_objects_in_free_objects() -> None:
    nested = of({"o": {"type": "object"}}, "o")
    exact = compiled(nested, "minimax_m3_xml")
    assert accepts(exact, OUTER.format(X.format(X.format("1") + f"{M3}<l>{X.format('')}{M3}</l>")))
    assert not accepts(exact, OUTER.format(X.format(X.format("1") + f"{M3}<l>{X.format('')}{M3}</x>")))
    relaxed = compiled(nested, "minimax_m3_xml", on_unsupported="relax")
    assert accepts(
        relaxed, OUTER.format(X.format(X.format("1") + f"{M3}<l>{M3}<item>{X.format('2')}{M3}</item>{M3}</l>"))
    )


def test_closed_objects_have_no_free_members() -> None:
    for closed in ({"type": "object", "properties": {}}, {"type": "object", "additionalProperties": False}):
        check(of({"o": closed}, "o"), "minimax_m3_xml", [OUTER.format("")], [OUTER.format(X.format("y"))])
    check(of({"o": {"type": "object"}}, "o"), "minimax_m3_xml", [OUTER.format("")], [OUTER.format(X)], strict_mode=True)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "additionalProperties": {"enum": [1, "b"]}},
        {"type": "object", "patternProperties": {"^a": {"const": 1}}, "additionalProperties": {"type": "object"}},
        {"type": "object", "patternProperties": {"^a": {"const": "b"}}, "properties": {"b": {"const": 1}}},
    ],
)
def test_masks_where_names_end_members(schema: dict[str, Any]) -> None:
    marks = [
        M3,
        f"{M3}<",
        f"{M3}</",
        f"{M3}<a",
        "<",
        "</",
        "</a",
        ">",
        "a>",
        "b>1",
        f"1{M3}",
        "a",
        "b",
        "ab",
        "1",
        "\n",
    ]
    vocab = of_texts(*marks, f"{M3}</ab>{M3}<", "ba>", "é", "_")
    grammar = mw.Grammar.from_structural_tag(
        {"format": {"type": "json_schema", "json_schema": schema, "style": "minimax_m3_xml"}}
    )
    model = Language(grammar.ir)
    for i in range(scaled(5)):
        walk(mw.GrammarCompiler(vocab.info()).compile_grammar(grammar), model, vocab, seeded(f"{schema} {i}"), steps=5)


NAMES = ["x_", "x_a", "xa", "n", "ab", "é_x_", "a&b", "x_&", "c", "_", "d", "10", "a&amp;b"]
NAMED = [
    {"patternProperties": {"^x_": {"type": "integer"}}},
    {
        "patternProperties": {"^x_": {"type": "integer"}, "_": {"type": "integer", "maximum": 5}},
        "additionalProperties": False,
    },
    {"patternProperties": {"^x_": {"type": "integer"}, "a": {"type": "boolean"}}, "additionalProperties": {"const": 1}},
    {"patternProperties": {"&": {"type": "integer"}}, "additionalProperties": False},
    {"patternProperties": {"^x_": False}, "additionalProperties": {"type": "integer"}},
    {"patternProperties": {"^.$": {"type": "integer"}}, "properties": {"n": {"maximum": 1}}},
    {"patternProperties": {"^x_": {"type": "integer"}}, "required": ["x_a"]},
    {"propertyNames": {"pattern": "^x_"}, "additionalProperties": {"type": "integer"}},
    {"propertyNames": {"maxLength": 2}, "additionalProperties": {"type": "integer"}},
    {"propertyNames": {"enum": ["ab", "a&b", "n"]}, "properties": {"n": {"type": "integer"}, "d": True}},
    {"propertyNames": {"not": {"enum": ["ab", "x_"]}}, "additionalProperties": {"type": "integer"}},
    {"propertyNames": {"anyOf": [{"minLength": 3}, {"const": "n"}]}, "patternProperties": {"a": {"const": 9}}},
]
ESCAPED = {"cohere_xml", "kimi_k3_xml"}
OF_A_MEMBER = {
    "qwen_xml": "<parameter={}>{}</parameter>",
    "minimax_xml": '<parameter name="{}">{}</parameter>',
    "glm_xml": "<arg_key>{}</arg_key><arg_value>{}</arg_value>",
    "cohere_xml": '<cofl:value name="{}" type="json">{}</cofl:value>',
    "kimi_k3_xml": '<|open|>argument key="{}" type="{kind}"<|sep|>{}<|close|>argument<|sep|>',
    "gemma": "{{{}:{}}}",
    "python": "{}={}",
}


@pytest.mark.parametrize("style", OF_A_MEMBER)
@pytest.mark.parametrize("schema", NAMED)
def test_patterns_and_names_of_members(schema: dict[str, Any], style: str) -> None:
    schema = {"type": "object", **schema}
    grammar, validator = compiled(schema, style), jsonschema.Draft202012Validator(schema)
    for name, (value, literal) in itertools.product(NAMES, [(3, "3"), (9, "9"), (True, "true")]):
        spelled = html.escape(name) if style in ESCAPED else name
        kind = "boolean" if value is True else "number"
        text = OF_A_MEMBER[style].format(spelled, literal.title() if style == "python" else literal, kind=kind)
        can_be_written = name.isascii() and name.isidentifier() if style == "python" else True
        expected = validator.is_valid({name: value}) and can_be_written
        assert accepts(grammar, text) == expected, (text, schema)
    empty = "{}" if style == "gemma" else ""
    assert accepts(grammar, empty) == validator.is_valid({})


def test_patterns_in_dictionaries_of_python() -> None:
    schema = of({"o": {"type": "object", "patternProperties": {"^x ": {"const": 1}}, "additionalProperties": False}})
    check(schema, "python", ['o={"x ": 1}', 'o={"x \\"": 1}', "o={}"], ['o={"x": 1}', 'o={"x ": 2}', 'o={"y": 1}'])


def test_patterns_where_names_end_members() -> None:
    schema = {"type": "object", "patternProperties": {"^x_": {"type": "integer"}}, "additionalProperties": False}
    member = f"{M3}<{{}}>1{M3}</{{}}>"
    good = ["", member.format("x_", "x_"), member.format("x_a", "x_a") + member.format("x_b", "x_b")]
    check(schema, "minimax_m3_xml", good, [member.format("x_a", "x_b"), member.format("y", "y")])
    declared = {**of({"a": {"type": "integer"}}), "patternProperties": {"^x_": {"type": "integer"}}}
    good = ["", member.format("a", "a"), member.format("a", "a") + member.format("x_", "x_")]
    check(declared, "minimax_m3_xml", good, [member.format("b", "b"), member.format("x_", "x_a")])
    schema = of({"a": {"type": "integer"}, "bc": {"type": "integer"}}, propertyNames={"maxLength": 1})
    check(schema, "minimax_m3_xml", [f"{M3}<a>1{M3}</a>", ""], [f"{M3}<bc>1{M3}</bc>"])


def test_an_escaped_name_that_is_not_declared_is_reported_as_it_is() -> None:
    tool = {"name": "f", "parameters": {"type": "object", "additionalProperties": {"type": "string"}}}
    tag = get_model_structural_tag("cohere", [tool], "required", "disabled")
    matcher = mw.GrammarMatcher(COMPILER.compile_structural_tag(tag))
    member = '<cofl:value name="a&amp;b&lt;" type="raw">x</cofl:value>'
    call = f'<cofl:tool_call id="0" name="f">{member}</cofl:tool_call>'
    assert matcher.accept_string(f"<cofl:tool_calls>{call}</cofl:tool_calls>")
    [done] = [event.arguments for event in EventReader(matcher).read() if isinstance(event, CallDone)]
    assert json.loads(done) == {"a&b<": "x"}
