"""Patterns with back-references in JSON Schema: what is accepted, every mask bit, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

import maskwright
from maskwright.frontends.json_schema import JsonSchemaOptions, schema_to_ir
from oracle.comparing import compare_with_oracle, scaled, seeded
from oracle.vocabularies import BYTES, of, strings

VOCAB = of(
    *strings(b'ab"\\/', 1), '"a', 'b"', "a/", "/a", "ab", '\\"', "\\\\", '"a/a"', "u0061", "é", "\\u00e9", "c3", "n",
    stop=(b"</s>",), padding=3,
)  # fmt: skip


def check_texts(schema: Any, valid: list[str], invalid: list[str], **options: Any) -> None:
    compiled = maskwright.GrammarCompiler(BYTES.info()).compile_json_schema(schema, **options)
    for text in (*valid, *invalid):
        matcher = maskwright.GrammarMatcher(compiled)
        assert (matcher.accept_string(text) and matcher.is_completed()) == (text in valid), text


@pytest.mark.parametrize(
    ("pattern", "valid", "invalid"),
    [
        (r"^(['\"])[a-z]*\1$", [r'"\"ab\""', r'''"'ab'"''', r'"\u0022ab\""'], [r'''"\"ab'"''']),
        (r"^\d{4}([-/.])\d\d\1\d\d$", ['"2024-05-06"', r'"2024/05\/06"'], ['"2024-05/06"']),
        (r"^(\w+) \1$", ['"ab ab"'], ['"ab a"', '" "', '"ab ab "']),
        (r"(\w)\1", ['"hello"'], ['"helo"']),
        (r"(\w\w+) \1", ['"the the"', '"bathe the"', '"in the then"'], ['"the a"', '"a a"']),
        (r"^(.+)=\1$", [r'"é=é"', r'"\"=\""', r'"\t/=\t/"'], [r'"é=\u00e9"', r'"\"=\u0022"', '"a=b"', r'"\/=/"']),
        (r"^(.+)=\1[é/]$", [r'"é=é\u00e9"', r'"a=a\/"'], ['"é=éb"']),
        (r"^(?:(\w+)|-)=\1$", ['"ab=ab"', '"-="'], ['"-=-"', '"ab="']),
        (r"^<(?<tag>[a-z]+)>.*</\k<tag>>$", ['"<b>x</b>"', '"<b></b></b>"'], ['"<b>x</bb>"']),
        (r"^\s*<([A-Za-z]+).+?(\/>|\/\1>)\s*$", ['" <a x/>"', '"<ab x/ab>"', '"<ab x/a>"'], ['"<ab x/b>"']),
    ],
)
def test_what_is_accepted(pattern: str, valid: list[str], invalid: list[str]) -> None:
    check_texts({"type": "string", "pattern": pattern}, valid, invalid)
    schema = {"type": "object", "properties": {"x": {"type": "string", "pattern": pattern}}, "required": ["x"]}
    check_texts(schema, [f'{{"x": {text}}}' for text in valid], [f'{{"x": {text}}}' for text in invalid])


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": r"^([ab]+)\1$"},
        {"type": "string", "pattern": r"([ab]+)/\1"},
        {"type": "string", "pattern": r"^([^a])/\1$"},
        {"type": "string", "pattern": r"^(?:(\w+)|\")/\1$"},
        {"type": "string", "pattern": r"^([ab])/\1$"},
        {"type": "array", "items": {"type": "string", "pattern": r"^(a+)b\1$"}},
        {"anyOf": [{"type": "string", "pattern": r"^(a+)b\1$"}, {"type": "string", "pattern": r"^(b+)a\1$"}]},
        {"patternProperties": {r"^([ab])/\1$": {"const": "a"}}, "additionalProperties": False, "type": "object"},
        {"propertyNames": {"pattern": r"^([ab])\1$"}, "additionalProperties": {"const": ""}, "type": "object"},
    ],
    ids=str,
)
def test_masks(schema: Any) -> None:
    grammar = maskwright.Grammar.from_json_schema(schema, any_whitespace=False)
    compare_with_oracle(grammar.ir, VOCAB, seeded(str(schema)), steps=4, walks=scaled(5))


def test_lengths_that_the_pattern_has_anyway() -> None:
    check_texts({"type": "string", "pattern": r"^(\w+) \1$", "minLength": 1}, ['"ab ab"'], ['"ab a"'])


MANY = "a back-reference to a group with many texts is possible only where the pattern alone limits the string"


@pytest.mark.parametrize(
    ("schema", "pointer", "message"),
    [
        ({"pattern": r"^(\w+) \1$", "maxLength": 5}, "/pattern", MANY),
        ({"pattern": r"^(\w+) \1$", "enum": ["a a"]}, "/pattern", MANY),
        ({"pattern": r"^(\w+) \1$", "format": "date"}, "/pattern", MANY),
        ({"not": {"pattern": r"^(\w+) \1$"}}, "/not/pattern", MANY),
        ({"propertyNames": {"pattern": r"^(\w+) \1$"}}, "/propertyNames/pattern", MANY),
        ({"patternProperties": {r"^(\w+) \1$": {}}}, r"/patternProperties/^(\w+) \1$", MANY),
        ({"allOf": [{"pattern": r"^(\w+) \1$"}, {"pattern": "a"}]}, "/allOf/0/pattern", MANY),
        ({"pattern": r"^(a)\2$"}, "/pattern", "the pattern has no group '2'"),
        ({"pattern": r"^(\w+)\b \1$"}, "/pattern", "assertions beside back-references"),
    ],
)
def test_refused(schema: Any, pointer: str, message: str) -> None:
    with pytest.raises(maskwright.SchemaError, match="cannot be used") as caught:
        schema_to_ir(schema)
    assert message in str(caught.value)
    assert caught.value.pointer == pointer
    assert caught.value.hint


def test_groups_whose_one_spelling_is_not_allowed() -> None:
    with pytest.raises(maskwright.UnsupportedSchemaError, match="beyond ASCII"):
        schema_to_ir({"pattern": r"^(.+)=\1$"}, JsonSchemaOptions(ensure_ascii=True))
    check_texts({"pattern": r"^([ -~]+)=\1$", "type": "string"}, ['"a=a"'], ['"a=b"'], ensure_ascii=True)
    guided = {"pattern": r"^(.+)=\1$", "x-guidance": {"json_allowed_escapes": "n"}}
    with pytest.raises(maskwright.UnsupportedSchemaError, match="takes escapes that json_allowed_escapes leaves out"):
        schema_to_ir(guided)
    check_texts({**guided, "pattern": r"^(\w+)=\1$", "type": "string"}, ['"a=a"'], ['"a=b"'])
