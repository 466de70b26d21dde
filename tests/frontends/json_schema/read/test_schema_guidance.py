"""`x-guidance`: the layout that a schema asks for itself."""

from __future__ import annotations

import re
from typing import Any

import pytest

from frontends.json_schema.checking import check_texts
from frontends.json_schema.grammar_matcher import accepts_text
from maskwright import Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo, check
from maskwright.errors import SchemaError, UnsupportedSchemaError
from maskwright.frontends.json_schema import JsonSchemaOptions, schema_to_ir

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "array", "items": {"type": "integer"}}, "b": {"type": "null"}},
    "additionalProperties": False,
}
COMPACT = '{"a":[1,2],"b":null}'
COMMON = '{"a":[1, 2], "b":null}'
USUAL = '{"a": [1, 2], "b": null}'
SPACED = '{ "a" : [ 1 , 2 ] , "b" : null }'
WIDE = '{"a":  [1,  2],  "b":  null}'
TEXTS = [COMPACT, COMMON, USUAL, SPACED, WIDE]


@pytest.mark.parametrize(
    ("guidance", "accepted"),
    [
        ({}, TEXTS),
        ({"lenient": True}, TEXTS),
        ({"whitespace_flexible": True}, TEXTS),
        ({"whitespace_flexible": False}, [COMPACT]),
        ({"whitespace_flexible": False, "item_separator": ", "}, [COMMON]),
        ({"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}, [USUAL]),
        ({"whitespace_flexible": False, "item_separator": ", ?", "key_separator": ":\\s?"}, [COMPACT, COMMON, USUAL]),
        ({"whitespace_flexible": False, "item_separator": r"\s{0,2},\s{0,2}"}, [COMPACT, COMMON]),
        ({"whitespace_flexible": False, "item_separator": r"[,;] +", "key_separator": "[^ ] {2}"}, [WIDE]),
        ({"whitespace_pattern": " "}, [COMPACT, COMMON, USUAL, SPACED]),
        ({"whitespace_pattern": ""}, [COMPACT]),
        ({"whitespace_pattern": " {0,2}", "whitespace_flexible": False}, TEXTS),
    ],
    ids=str,
)
@pytest.mark.parametrize("options", [{}, {"any_whitespace": False, "indent": 2}, {"whitespace_pattern": "\t"}], ids=str)
def test_it_counts_instead_of_the_options(guidance: Any, accepted: list[str], options: dict[str, Any]) -> None:
    if guidance.keys() <= {"lenient"}:
        options = {}  # it says nothing of white space
    rejected = [text for text in TEXTS if text not in accepted]
    check_texts({**SCHEMA, "x-guidance": guidance}, accepted, rejected, **options)


def test_of_a_separator_only_what_is_json_remains() -> None:
    asked = {"whitespace_flexible": False, "item_separator": r"\s{0,2}[,;]\s{0,2}", "key_separator": r".*:.*"}
    good = ['{"a":[1 ,\t\n2],"b":null}', '{"a"  :  [1\r,2]  ,  "b" :\tnull}']
    bad = ["[1;2]", "[1\u00a0,2]", "[1\v,2]", "[1   ,2]", "[1,2,]"]
    bad = [f'{{"a":{each}}}' for each in bad] + ['{"a"::[1]}', '{"a" [1]}', '{"a":\n[1]}']
    check_texts({**SCHEMA, "x-guidance": asked}, good, bad)
    inner = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 4}
    check_texts({**inner, "x-guidance": asked}, ["[1 , 2]", "[1,2,\n\n3,4]"], ["[1]", "[1;2]", "[1,2,3,4,5]"])


def test_other_options_stay() -> None:
    schema = {**SCHEMA, "x-guidance": {"whitespace_flexible": False}}
    check_texts(schema, ['{"b":null,"a":[]}'], ['{"b": null, "a": []}'], any_order=True)


def test_inside_it_is_an_annotation() -> None:
    inner = {"type": "array", "x-guidance": {"whitespace_flexible": False}}
    check_texts({"type": "array", "items": inner}, ["[[ ]]"], [])
    found = {k.pointer: (k.outcome, k.suggestion) for k in check({"items": inner}).keywords}
    assert found["/items/x-guidance"] == ("annotation", "write it there")


def test_what_does_not_count_is_reported() -> None:
    asked = {"item_separator": ", ", "key_separator": ":", "whitespace_pattern": " ", "json_escapes": "n"}
    schema = {"type": "null", "x-guidance": asked}
    expected = ["/x-guidance/item_separator", "/x-guidance/json_escapes"]
    assert [finding.pointer for finding in Grammar.from_json_schema(schema).report] == expected
    report = check(schema)
    assert report.verdict == "enforced"
    assert {k.pointer: k.outcome for k in report.keywords} == {
        "/type": "enforced",
        "/x-guidance/item_separator": "annotation",
        "/x-guidance/key_separator": "enforced",
        "/x-guidance/whitespace_pattern": "enforced",
        "/x-guidance/json_escapes": "annotation",
    }


@pytest.mark.parametrize(
    ("guidance", "pointer", "kind"),
    [
        ([], "/x-guidance", SchemaError),
        ({"whitespace_flexible": 1}, "/x-guidance/whitespace_flexible", SchemaError),
        ({"item_separator": None}, "/x-guidance/item_separator", SchemaError),
        ({"item_separator": ";"}, "/x-guidance/item_separator", UnsupportedSchemaError),
        ({"item_separator": ",\\s?;"}, "/x-guidance/item_separator", UnsupportedSchemaError),
        ({"item_separator": "\u00a0,"}, "/x-guidance/item_separator", UnsupportedSchemaError),
        ({"item_separator": ""}, "/x-guidance/item_separator", UnsupportedSchemaError),
        ({"item_separator": ",("}, "/x-guidance/item_separator", UnsupportedSchemaError),
        ({"key_separator": ",\\s?"}, "/x-guidance/key_separator", UnsupportedSchemaError),
        ({"json_allowed_escapes": "nx"}, "/x-guidance/json_allowed_escapes", SchemaError),
        ({"json_allowed_escapes": ["n"]}, "/x-guidance/json_allowed_escapes", SchemaError),
        ({"whitespace_pattern": "x"}, "/x-guidance/whitespace_pattern", SchemaError),
        ({"whitespace_pattern": "("}, "/x-guidance/whitespace_pattern", SchemaError),
    ],
    ids=str,
)
def test_mistakes(guidance: Any, pointer: str, kind: type[SchemaError]) -> None:
    with pytest.raises(kind) as caught:
        schema_to_ir({"type": "null", "x-guidance": guidance}, JsonSchemaOptions(on_unsupported="relax"))
    assert type(caught.value) is kind
    assert caught.value.pointer == pointer


def test_a_lenient_schema_leaves_out_what_cannot_be_enforced() -> None:
    schema = {"type": "array", "uniqueItems": True, "items": {"maxItems": 2}, "x-guidance": {"lenient": True}}
    assert [finding[:3] for finding in Grammar.from_json_schema(schema).report] == [
        ("/uniqueItems", "uniqueItems", "relaxed")
    ]
    with pytest.raises(UnsupportedSchemaError):
        Grammar.from_json_schema({**schema, "x-guidance": {"lenient": False}})


def test_one_of_is_coerced_where_it_cannot_be_enforced() -> None:
    unclear = {"items": {"oneOf": [{"format": "idn-hostname"}, {"minLength": 3}]}}
    coerced = {**unclear, "x-guidance": {"coerce_one_of": True}}
    with pytest.raises(UnsupportedSchemaError):
        Grammar.from_json_schema(unclear)
    assert ("/items/oneOf", "relaxed") in [(f.pointer, f.outcome) for f in Grammar.from_json_schema(coerced).report]
    exact = {"oneOf": [{"type": "integer"}, {"minimum": 5}], "x-guidance": {"coerce_one_of": True}}
    check_texts(exact, ["3", "5.5", '"a"'], ["7", "4.5"])


TEXTS_OF_STRINGS = [
    "a",
    "é",
    r"\n",
    r"\u000a",
    r"\"",
    r"\\",
    r"\/",
    "/",
    r"\u00e9",
    r"\ud83d\ude00",
    "😀",
    r"a\tb\nc",
    r"\u0022",
]


@pytest.mark.parametrize("letters", ["", "n", 'nrbtf\\"', 'nrbtf\\"u', "u", 'tn"/\\'])
@pytest.mark.parametrize(
    "inside",
    [{"type": "string"}, {"pattern": "(?s)^.*$", "type": "string"}, {"minLength": 1, "type": "string"}],
    ids=str,
)
def test_only_allowed_escapes_are_written(letters: str, inside: Any) -> None:
    def is_allowed(text: str) -> bool:
        return all(escape[1] in letters for escape in re.findall(r"\\.", text))

    plain = [text for text in TEXTS_OF_STRINGS if accepts_text(schema_to_ir(inside), f'"{text}"')]
    assert len(plain) > 8
    asked = {"x-guidance": {"json_allowed_escapes": letters}}
    accepted = [text for text in plain if is_allowed(text)]
    for schema, form in (
        ({**inside, **asked}, '"%s"'),
        ({"items": inside, **asked}, '["a", "%s"]'),
        ({"additionalProperties": inside, "properties": {"b": True}, **asked}, '{"b": "%s", "c": "%s"}'),
    ):
        right = [form.replace("%s", text) for text in accepted]
        check_texts(schema, right, [form.replace("%s", text) for text in plain if text not in accepted])


def test_values_and_names_are_written_with_allowed_escapes() -> None:
    values = {"enum": ["a\n/", 'q"', {"k\t": 1}], "x-guidance": {"json_allowed_escapes": "u"}}
    check_texts(values, [r'"a\u000a/"', r'"q\u0022"', r'{"k\u0009": 1}'], [r'"a\n/"', r'"q\""', r'{"k\t": 1}'])
    for schema in ({"const": "a\n"}, {"properties": {"a\u0001": {}}}):
        with pytest.raises(UnsupportedSchemaError, match="which json_allowed_escapes leaves out") as caught:
            schema_to_ir({**schema, "x-guidance": {"json_allowed_escapes": '\\"'}})
        assert caught.value.pointer == "/x-guidance/json_allowed_escapes"


def test_in_a_tag_other_schemas_keep_their_escapes() -> None:
    pytest.importorskip("maskwright._kernel", reason="the kernel is not built", exc_type=ImportError)
    info = TokenizerInfo.from_vocab([*(bytes((byte,)) for byte in range(256)), b""], stop_token_ids=[256])
    free = {"type": "array", "items": {"type": "string"}}
    held = {**free, "x-guidance": {"json_allowed_escapes": '"'}}
    elements = [{"type": "json_schema", "json_schema": schema} for schema in (free, held, free)]
    tag = {"format": {"type": "sequence", "elements": elements}}
    compiled = GrammarCompiler(info).compile_structural_tag(tag)
    for texts, is_accepted in (((r"\n", r"\"", r"\n"), True), ((r"\n", r"\n", r"\n"), False)):
        output = "".join(f'["{text}"]' for text in texts)
        assert GrammarMatcher(compiled).accept_string(output) == is_accepted
