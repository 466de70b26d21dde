"""Format classes and structural tags: both spellings, defaults, the older form, and errors by pointer."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

import maskwright as mw
from maskwright import structural_tag as st
from maskwright.errors import LimitError, StructuralTagError
from structural_tag.spelling import accepts, vocabulary

TEXT = {"type": "any_text"}
TAG = {"type": "tag", "begin": "<a>", "content": TEXT, "end": "</a>"}
EVERY: list[tuple[st.Format, dict[str, Any]]] = [
    (st.ConstStringFormat("x"), {"type": "const_string", "value": "x"}),
    (
        st.JSONSchemaFormat({"type": "null"}, style="glm_xml", max_whitespace_cnt=2),
        {"type": "json_schema", "json_schema": {"type": "null"}, "style": "glm_xml", "max_whitespace_cnt": 2},
    ),
    (st.QwenXMLParameterFormat({}), {"type": "qwen_xml_parameter", "json_schema": {}}),
    (st.AnyTextFormat(), TEXT),
    (st.AnyTextFormat(excludes=("a",), max_chars=3), {"type": "any_text", "excludes": ["a"], "max_chars": 3}),
    (st.GrammarFormat('root ::= "a"'), {"type": "grammar", "grammar": 'root ::= "a"'}),
    (st.RegexFormat("a+"), {"type": "regex", "pattern": "a+"}),
    (st.TokenFormat("<x>"), {"type": "token", "token": "<x>"}),
    (st.ExcludeTokenFormat((1, "<x>")), {"type": "exclude_token", "exclude_tokens": [1, "<x>"]}),
    (st.AnyTokensFormat((1,), 5), {"type": "any_tokens", "exclude_tokens": [1], "max_tokens": 5}),
    (st.SequenceFormat((st.AnyTextFormat(),)), {"type": "sequence", "elements": [TEXT]}),
    (st.OrFormat((st.AnyTextFormat(),)), {"type": "or", "elements": [TEXT]}),
    (st.OptionalFormat(st.AnyTextFormat()), {"type": "optional", "content": TEXT}),
    (st.PlusFormat(st.AnyTextFormat()), {"type": "plus", "content": TEXT}),
    (st.StarFormat(st.AnyTextFormat()), {"type": "star", "content": TEXT}),
    (st.RepeatFormat(1, -1, st.AnyTextFormat()), {"type": "repeat", "min": 1, "max": -1, "content": TEXT}),
    (st.TagFormat("<a>", st.AnyTextFormat(), "</a>"), TAG),
    (
        st.NamedTagFormat("<{name}>", "[a-z]+", st.AnyTextFormat(), "</{name}>"),
        {"type": "named_tag", "begin": "<{name}>", "name": "[a-z]+", "content": TEXT, "end": "</{name}>"},
    ),
    (
        st.TagFormat(st.TokenFormat(3), st.AnyTextFormat(), ("x", "y")),
        {"type": "tag", "begin": {"type": "token", "token": 3}, "content": TEXT, "end": ["x", "y"]},
    ),
    (
        st.TriggeredTagsFormat(("<",), (st.TagFormat("<a>", st.AnyTextFormat(), "</a>"),), at_least_one=True),
        {"type": "triggered_tags", "triggers": ["<"], "tags": [TAG], "at_least_one": True},
    ),
    (
        st.TagsWithSeparatorFormat((st.TagFormat("<a>", st.AnyTextFormat(), "</a>"),), ","),
        {"type": "tags_with_separator", "tags": [TAG], "separator": ","},
    ),
    (
        st.DispatchFormat((("<", st.AnyTextFormat()),), loop=False),
        {"type": "dispatch", "rules": [["<", TEXT]], "loop": False},
    ),
    (st.TokenDispatchFormat(((3, st.AnyTextFormat()),)), {"type": "token_dispatch", "rules": [[3, TEXT]]}),
    (
        st.TokenTriggeredTagsFormat((3,), (st.TagFormat(st.TokenFormat(3), st.AnyTextFormat(), "x"),)),
        {
            "type": "token_triggered_tags",
            "trigger_tokens": [3],
            "tags": [{"type": "tag", "begin": {"type": "token", "token": 3}, "content": TEXT, "end": "x"}],
        },
    ),
]


def test_every_format_is_here() -> None:
    assert {type(made) for made, _ in EVERY} == set(st.Format.__subclasses__())


@pytest.mark.parametrize(("made", "data"), EVERY)
def test_both_spellings(made: st.Format, data: dict[str, Any]) -> None:
    assert made.to_dict() == data
    tag = st.StructuralTag(format=made)
    assert tag == st.StructuralTag.from_json({"type": "structural_tag", "format": data})
    assert tag == st.StructuralTag.from_json(tag.to_json()) == st.StructuralTag(format=data)  # type: ignore[arg-type]


def test_a_dict_does_for_a_format() -> None:
    assert st.OptionalFormat(TEXT) == st.OptionalFormat(st.AnyTextFormat())  # type: ignore[arg-type]


def test_formats_do_not_change() -> None:
    with pytest.raises(AttributeError):
        st.ConstStringFormat("x").value = "y"  # type: ignore[misc]


def test_the_older_form() -> None:
    structures = [{"begin": "<f>", "schema": '{"type": "integer"}', "end": "</f>"}]
    data = {"type": "structural_tag", "structures": structures, "triggers": ["<f"]}
    compiled = mw.GrammarCompiler(vocabulary()).compile_structural_tag(json.dumps(data))
    assert accepts(compiled, "one <f>1</f>, two")
    assert not accepts(compiled, "one <f>x</f>")


NO_TEXT = {
    "type": "object",
    "properties": {"a": {"type": "string", "pattern": "^[0-9]+$", "allOf": [{"pattern": "^[a-z]+$"}]}},
    "required": ["a"],
}
ENDLESS = {"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}


def wrong(format_: Any) -> dict[str, Any]:
    return {"format": format_}


@pytest.mark.parametrize(
    ("data", "pointer", "message"),
    [
        ("[1]", "", "must be an object"),
        ("{", "", "is not valid JSON"),
        ({"type": "json_schema"}, "/type", "expected the type 'structural_tag'"),
        ({"type": "structural_tag"}, "", "requires the field 'format'"),
        (wrong(3), "/format", "a format"),
        (wrong({"value": "x"}), "/format", "has no type"),
        (wrong({"type": "any_txt"}), "/format/type", "did you mean 'any_text'"),
        (wrong({"type": "ebnf"}), "/format/type", "did you mean 'grammar'"),
        (wrong({"type": "json"}), "/format/type", "did you mean 'json_schema'"),
        (wrong({"type": "foo"}), "/format/type", "the types are: "),
        (wrong({"type": "object", "properties": {}}), "/format/type", "wrap the schema"),
        (wrong({"type": "json_schema", "json_schema": "{}"}), "/format/json_schema", "not its JSON text"),
        ({"type": "object", "properties": {}}, "/type", "compile_json_schema"),
        ({"properties": {}}, "/properties", "compile_json_schema"),
        ({"type": ["object"]}, "/type", "compile_json_schema"),
        ({"type": "function"}, "/type", "get_model_structural_tag"),
        ({"type": "regex", "pattern": "a"}, "/type", "wrap the format"),
        ({"type": "else"}, "/type", "write {"),
        (wrong({"type": "grammar", "grammar": 'start: "a"'}), "/format/grammar", "write EBNF here"),
        (wrong({"type": "json_schema", "json_schema": int}), "/format/json_schema", "TypeAdapter"),
        (wrong({"type": "const_string"}), "/format", "requires the field 'value'"),
        (wrong({"type": "const_string", "value": 1}), "/format/value", "expected a string, found a number"),
        (wrong({"type": "const_string", "value": "\ud800"}), "/format/value", "surrogate"),
        (wrong({"type": "any_text", "exclude": []}), "/format/exclude", "did you mean 'excludes'"),
        (wrong({"type": "any_text", "excludes": ["a", ""]}), "/format/excludes/1", "empty"),
        (wrong({"type": "any_text", "max_chars": "3"}), "/format/max_chars", "an integer"),
        (wrong({"type": "any_text", "max_chars": 10**12}), "/format/max_chars", "expected an integer"),
        (wrong({"type": "json_schema", "json_schema": []}), "/format/json_schema", "JSON Schema"),
        (wrong({"type": "json_schema", "json_schema": {}, "style": "toml"}), "/format/style", "expected one of json"),
        (wrong({"type": "sequence", "elements": []}), "/format/elements", "empty"),
        (wrong({"type": "sequence", "elements": [TEXT, {"type": "x"}]}), "/format/elements/1/type", "unknown"),
        (wrong({"type": "or", "elements": {}}), "/format/elements", "expected an array"),
        (wrong({"type": "repeat", "min": 3, "max": 2, "content": TEXT}), "/format/max", "must be >= min"),
        (wrong({"type": "repeat", "min": 0, "max": 2**31, "content": TEXT}), "/format/max", "from 0 to 2,147,483,647"),
        (wrong({"type": "repeat", "min": -1, "max": 2, "content": TEXT}), "/format/min", "from 0 to"),
        (wrong({**TAG, "begin": TEXT}), "/format/begin", "expected a string or a token"),
        (wrong({"type": "triggered_tags", "triggers": [], "tags": [TAG]}), "/format/triggers", "empty"),
        (wrong({"type": "triggered_tags", "triggers": ["<"], "tags": [TEXT]}), "/format/tags/0", "expected a tag"),
        (
            wrong({"type": "triggered_tags", "triggers": ["<"], "tags": [TAG], "at_least_one": 1}),
            "/format/at_least_one",
            "true or false",
        ),
        (wrong({"type": "dispatch", "rules": [["<"]]}), "/format/rules/0", "a pair"),
        (wrong({"type": "dispatch", "rules": [["<", 1]]}), "/format/rules/0/1", "a format"),
        (wrong({"type": "token", "token": 1.5}), "/format/token", "a token"),
        (wrong({"type": "token", "token": -1}), "/format/token", "no token with id -1"),
        (wrong({"type": "regex", "pattern": "("}), "/format/pattern", "invalid pattern"),
        (wrong({"type": "grammar", "grammar": "root ::= x"}), "/format/grammar", "column 10"),
        (
            wrong({"type": "json_schema", "json_schema": {}, "whitespace_pattern": "x"}),
            "/format/whitespace_pattern",
            "may match U.0078",
        ),
        (
            wrong({"type": "json_schema", "json_schema": {}, "whitespace_pattern": " ", "max_whitespace_cnt": 1}),
            "/format/whitespace_pattern",
            "max_whitespace_cnt",
        ),
        (wrong({"type": "regex", "pattern": "a$b"}), "/format/pattern", "no text matches"),
        (wrong({"type": "regex", "pattern": "a", "excludes": ["a"]}), "/format/pattern", "without an excluded text"),
        (wrong({"type": "grammar", "grammar": 'root ::= "[" root "]"'}), "/format/grammar", "no text matches"),
        (wrong({"type": "json_schema", "json_schema": NO_TEXT}), "/format/json_schema", "contradict each other"),
        (wrong({"type": "json_schema", "json_schema": ENDLESS}), "/format/json_schema", "contradict each other"),
        (
            wrong({"type": "json_schema", "json_schema": NO_TEXT, "style": "qwen_xml"}),
            "/format/json_schema",
            "contradict each other",
        ),
        ({"structures": {}, "triggers": ["<"]}, "/structures", "an array"),
        ({"structures": [{"begin": "<"}], "triggers": ["<"]}, "/structures/0", "begin, schema and end"),
        ({"structures": [{"begin": "<", "schema": 1, "end": ""}], "triggers": ["<"]}, "/structures/0/schema", "JSON"),
    ],
)
def test_errors(data: Any, pointer: str, message: str) -> None:
    with pytest.raises(StructuralTagError, match=message) as caught:
        mw.Grammar.from_structural_tag(data)
    assert caught.value.pointer == pointer


def test_schema_errors_are_pointed_at() -> None:
    schema = {"properties": {"a": {"type": "objekt"}}}
    with pytest.raises(mw.SchemaError) as caught:
        mw.Grammar.from_structural_tag(wrong({"type": "json_schema", "json_schema": schema}))
    assert caught.value.pointer == "/format/json_schema/properties/a/type"
    with pytest.raises(StructuralTagError) as nothing:
        mw.Grammar.from_structural_tag(wrong({"type": "json_schema", "json_schema": False}))
    assert nothing.value.pointer == "/format/json_schema"


@pytest.mark.parametrize("depth", [150, 5_000, 200_000])
def test_depth_is_limited(depth: int) -> None:
    text = '{"format": ' + '{"type": "star", "content": ' * depth + '{"type": "any_text"}' + "}" * depth + "}"
    with pytest.raises(LimitError):
        mw.Grammar.from_structural_tag(text)


def test_depth_of_classes_is_limited() -> None:
    made: st.Format = st.AnyTextFormat()
    for _ in range(150):
        made = st.OptionalFormat(made)
    with pytest.raises(LimitError):
        mw.Grammar.from_structural_tag(st.StructuralTag(format=made))


def test_depth_that_is_allowed() -> None:
    made: st.Format = st.ConstStringFormat("x")
    for _ in range(90):
        made = st.OptionalFormat(made)
    compiled = mw.GrammarCompiler(vocabulary()).compile_structural_tag(st.StructuralTag(format=made).to_json())
    assert accepts(compiled, "x")
    assert accepts(compiled, "")
    assert not accepts(compiled, "xx")


def test_names_of_captures_can_be_left_out() -> None:
    tag = st.get_model_structural_tag("hermes", [{"type": "function", "function": {"name": "f"}}])
    assert st.StructuralTag.from_json(tag.to_json()) == tag
    assert '"capture"' in tag.to_json()
    assert '"capture"' not in tag.to_json(captures=False)
    with pytest.raises(StructuralTagError, match="NUL character"):
        st.AnyTextFormat(capture="a\0")


@pytest.mark.parametrize(("written", "value"), [("3", 3), ("3.0", 3.0), ("1e400", Decimal("1e400"))])
def test_numbers_in_a_tags_text_are_exact(written: str, value: object) -> None:
    text = f'{{"format": {{"type": "json_schema", "json_schema": {{"maximum": {written}}}}}}}'
    tag = st.StructuralTag.from_json(text)
    assert isinstance(tag.format, st.JSONSchemaFormat)
    read = tag.format.json_schema["maximum"]
    assert (type(read), read) == (type(value), value)
    if isinstance(value, Decimal):
        with pytest.raises(StructuralTagError, match="cannot be written as JSON"):
            tag.to_json()
    else:
        assert json.loads(tag.to_json())["format"]["json_schema"]["maximum"] == value


@pytest.mark.parametrize("written", ["NaN", "Infinity", "-Infinity"])
def test_what_is_not_a_number_of_json_is_refused(written: str) -> None:
    with pytest.raises(StructuralTagError, match=f"{written} is not a JSON number"):
        st.StructuralTag.from_json(f'{{"format": {{"type": "json_schema", "json_schema": {{"maximum": {written}}}}}}}')
