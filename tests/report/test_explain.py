"""What in the caller's structure rejects a text or a token: keywords by pointer, rules by name and place."""

from __future__ import annotations

from typing import Any

import pytest

import maskwright as mw
from maskwright.errors import ArgumentError, TokenizerError
from maskwright.report.left_recursion import left_recursive

INFO = mw.TokenizerInfo.from_vocab(
    [*(bytes((b,)) for b in range(256)), b"</s>", b"<tool>"], special_token_ids=[256, 257], stop_token_ids=[256]
)
COMPILER = mw.GrammarCompiler(INFO)
PERSON = {
    "type": "object",
    "properties": {
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "name": {"$ref": "#/$defs/name"},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 1},
    },
    "required": ["age"],
    "additionalProperties": False,
    "$defs": {"name": {"type": "string", "maxLength": 3}},
}
CASES = [
    ('{"age": "x"}', "/properties/age/type", "/age"),
    ('{"age": -1}', "/properties/age/minimum", "/age"),
    ('{"age": 121}', "/properties/age/maximum", "/age"),
    ("{}", "/required", ""),
    ("[]", "/type", ""),
    ('{"age":1, "name":"abcd"}', "/$defs/name/maxLength", "/name"),
    ('{"age":1,"tags":["c"]}', "/properties/tags/items/enum", "/tags/0"),
    ('{"age":1,"tags":[]}', "/properties/tags/minItems", "/tags"),
    ('{"agf":1}', "/additionalProperties", ""),
    ('{"age": x', "/properties/age", "/age"),
]


@pytest.mark.parametrize(("text", "pointer", "instance"), CASES)
def test_the_keyword_that_rejects_a_text(text: str, pointer: str, instance: str) -> None:
    compiled = COMPILER.compile_json_schema(PERSON)
    why = compiled.explain_rejection(text)
    assert why is not None
    assert (why.pointer, why.origin.instance) == (pointer, instance)
    assert why.continuation is not None
    assert compiled.explain_rejection(text[: why.offset].encode() + why.continuation) is None


def test_members_in_another_order() -> None:
    why = COMPILER.compile_json_schema(PERSON).explain_rejection('{"name":"a","age":1}')
    assert why is not None
    assert why.origin.by_order
    assert "any_order=True" in str(why)


def test_members_of_distinct_items_come_in_declared_order_whatever_the_options() -> None:
    schema = {"type": "array", "items": PERSON, "uniqueItems": True, "$defs": PERSON["$defs"]}
    why = COMPILER.compile_json_schema(schema).explain_rejection('[{"name":"a","age":1}]')
    assert why is not None
    assert not why.origin.by_order
    assert "any_order" not in str(why)


OPEN = {"type": "object", "properties": {"a": {"type": "string"}}}
STRICT_CASES = [
    (OPEN, '{"x":1}', "", "additionalProperties"),
    (OPEN, '{"a":"b","x":1}', "", "additionalProperties"),
    ({**OPEN, "required": ["a"]}, '{"x":1}', "", "additionalProperties"),
    ({"type": "object"}, '{"x":1}', "", "additionalProperties"),
    ({"type": "object", "properties": {"o": OPEN}}, '{"o":{"x":1}}', "/properties/o", "additionalProperties"),
    ({"anyOf": [OPEN, {"type": "null"}]}, '{"x":1}', "", "additionalProperties"),
    ({"type": "object", "patternProperties": {"^p": True}}, '{"x":1}', "", "additionalProperties"),
    ({"type": "array", "prefixItems": [True]}, "[1,2]", "", "items"),
    ({"type": "array", "items": [True]}, "[1,2]", "", "additionalItems"),
]


@pytest.mark.parametrize(("schema", "text", "pointer", "keyword"), STRICT_CASES)
def test_what_strict_mode_forbids(schema: Any, text: str, pointer: str, keyword: str) -> None:
    why = COMPILER.compile_json_schema(schema, strict_mode=True).explain_rejection(text)
    assert why is not None
    origin = why.origin
    assert (origin.pointer, origin.keyword, origin.value, origin.by_strict_mode) == (pointer, keyword, "false", True)
    assert f"to which strict_mode adds `{keyword}: false`" in str(why)


def test_what_strict_mode_forbids_in_a_tag() -> None:
    tag = {"type": "json_schema", "json_schema": OPEN, "strict_mode": True}
    why = COMPILER.compile_structural_tag({"format": tag}).explain_rejection('{"x":1}')
    assert why is not None
    assert why.origin.by_strict_mode
    assert why.pointer == "/format/json_schema"


@pytest.mark.parametrize(
    ("schema", "text", "pointer"),
    [
        ({**OPEN, "required": ["a"]}, "{}", "/required"),
        ({**OPEN, "additionalProperties": False}, '{"x":1}', "/additionalProperties"),
        (OPEN, '{"a":1}', "/properties/a/type"),
        (OPEN, "[]", "/type"),
        ({"type": "array", "prefixItems": [True], "maxItems": 1, "items": True}, "[1,2]", "/maxItems"),
        ({"properties": {"a": OPEN, "b": True}, "required": ["a", "b"]}, '{"b":1,"a":{}}', "/properties"),
    ],
)
def test_what_a_schema_forbids_in_strict_mode_too(schema: Any, text: str, pointer: str) -> None:
    why = COMPILER.compile_json_schema(schema, strict_mode=True).explain_rejection(text)
    assert why is not None
    assert (why.pointer, why.origin.by_strict_mode) == (pointer, False)


def test_the_value_of_a_keyword_is_that_of_the_schema() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "null"}, "b": True}, "required": ["a", "b"]}
    why = COMPILER.compile_json_schema(schema).explain_rejection('{"b":1,"a":null}')
    assert why is not None
    assert (why.pointer, why.origin.value) == ("/properties", '{"a": {"type": "null"}, "b": true}')


def test_a_branch_that_the_text_has_chosen() -> None:
    branches = [
        {"type": "object", "properties": {"kind": {"const": kind}, "value": {"type": type_}}, "required": ["kind"]}
        for kind, type_ in (("x", "integer"), ("y", "string"))
    ]
    compiled = COMPILER.compile_json_schema({"anyOf": branches})
    why = compiled.explain_rejection('{"kind": "y", "value": 1}')
    assert why is not None
    assert why.pointer == "/anyOf/1/properties/value/type"


def test_a_schema_that_was_changed_since_is_not_blamed() -> None:
    schema = {"type": "integer"}
    grammar = mw.Grammar.from_json_schema(schema)
    schema["type"] = "string"
    why = COMPILER.compile_grammar(grammar).explain_rejection("x")
    assert why is not None
    assert why.pointer is None


def test_the_rule_of_a_grammar() -> None:
    ebnf = COMPILER.compile_grammar('root ::= item ("," item)*\nitem ::= digits | "(" root ")"\n  digits ::= [0-9]+\n')
    why = ebnf.explain_rejection("12;")
    assert why is not None
    assert (why.rule, why.origin.line, why.origin.column) == ("digits", 3, 3)
    lark = COMPILER.compile_lark('start: "(" pair ")"\npair: NUM "," NUM\nNUM: /[0-9]/\n')
    why = lark.explain_rejection("(1;")
    assert why is not None
    assert (why.rule, why.origin.line, why.origin.column) == ("pair", 2, 1)


@pytest.mark.parametrize(
    ("pattern", "text", "part", "column"),
    [
        ("[0-9]{4}-[0-9]{2}", "12x", "[0-9]{4}-[0-9]{2}", 1),
        ("[0-9]{4}-[0-9]{2}", "1234x", "-[0-9]{2}", 9),
        ("[0-9]{4}-[0-9]{2}", "1234-567", "", 18),
        ("^(foo|bar)+$", "foobax", "r)+$", 9),
        (r"a\.b|c", "ac", r"\.b|c", 2),
        ("é+x", "éy", "x", 3),
        ("(?i:ab)c", "aBd", "c", 8),
        (r"a(?!b)[a-z]", "ab", None, None),
    ],
)
def test_the_part_of_a_pattern(pattern: str, text: str, part: str | None, column: int | None) -> None:
    why = COMPILER.compile_regex(pattern).explain_rejection(text)
    assert why is not None
    assert (why.origin.part, why.origin.column) == (part, column)


def test_the_part_of_a_pattern_on_another_line() -> None:
    why = COMPILER.compile_regex("a b\n  c", flags="x").explain_rejection("abd")
    assert why is not None
    assert (why.origin.part, why.origin.line, why.origin.column) == ("c", 2, 3)
    assert "in the pattern at line 2, column 3, `c`" in str(why)


def test_the_part_of_a_pattern_that_takes_a_token() -> None:
    matcher = mw.GrammarMatcher(COMPILER.compile_regex("(ab)+c"))
    assert matcher.accept_string("ab")
    assert [matcher.explain(text).origin.column for text in ("a", "c", "ab")] == [2, 6, 2]


def test_left_recursive_rules_are_left_out() -> None:
    lark = mw.Grammar.from_lark('start: sum\nsum: sum "+" NUM | NUM\nNUM: /[0-9]+/\n')
    names = [lark.ir.rules[i].name for i in left_recursive(lark.ir)]
    assert names == ["sum"]
    why = COMPILER.compile_grammar(lark).explain_rejection("1+2+x")
    assert why is not None
    assert why.rule == "start"


def test_a_schema_in_a_structural_tag() -> None:
    content = {"type": "json_schema", "json_schema": PERSON}
    tag = {"type": "tag", "begin": "<f=a>", "content": content, "end": "</f>"}
    tags = {"type": "triggered_tags", "triggers": ["<f="], "tags": [tag]}
    compiled = COMPILER.compile_structural_tag({"type": "structural_tag", "format": tags})
    why = compiled.explain_rejection('hello <f=a>{"age": 121}</f>')
    assert why is not None
    assert why.pointer == "/format/tags/0/content/json_schema/properties/age/maximum"


def test_a_token_and_a_text_at_a_matcher() -> None:
    matcher = mw.GrammarMatcher(COMPILER.compile_json_schema(PERSON))
    assert matcher.accept_string('{"age": 1')
    refused = matcher.explain(ord("x"))
    assert (refused.allowed, refused.reason, refused.text) == (False, "structure", b"x")
    assert refused.continuation == b"}"
    assert refused.continuation_token_ids == (ord("}"),)
    partly = matcher.explain("2x")
    assert (partly.allowed, partly.offset, partly.pointer) == (False, 1, "/properties/age")
    assert matcher.explain("2}").allowed
    assert matcher.explain(256).reason == "end"
    assert matcher.explain(257).reason == "special_token"
    assert matcher.num_accepted_tokens == 1
    assert matcher.accept_string("}")
    assert matcher.explain(256).allowed
    assert matcher.accept_token(256)
    assert matcher.explain(ord("x")).reason == "terminated"


def test_the_rule_that_takes_a_token() -> None:
    matcher = mw.GrammarMatcher(COMPILER.compile_grammar('root ::= "a" digits\ndigits ::= [0-9]+\n'))
    taken = matcher.explain("a")
    assert (taken.allowed, taken.rule) == (True, "root")
    assert matcher.accept_string("a")
    taken = matcher.explain(ord("1"))
    assert (taken.allowed, taken.rule, taken.origin.line) == (True, "digits", 2)


def test_what_fits_the_structure_but_no_longer_the_budget() -> None:
    matcher = mw.GrammarMatcher(COMPILER.compile_regex("(ab)+"), max_tokens=4)
    assert matcher.accept_tokens(list(b"abab")) == 4
    matcher.rollback(1)
    assert matcher.explain(ord("b")).allowed
    assert matcher.accept_token(ord("b"))
    assert matcher.explain(ord("a")).reason == "budget"
    assert matcher.explain(ord("c")).reason == "structure"


def test_arguments_are_checked() -> None:
    matcher = mw.GrammarMatcher(COMPILER.compile_regex("a"))
    with pytest.raises(ArgumentError):
        matcher.explain(None)  # type: ignore[arg-type]
    with pytest.raises(TokenizerError):
        matcher.explain(258)


ONE_OF_TWO = {
    "type": "object",
    "anyOf": [
        {"properties": {"a": {"type": "integer"}}, "required": ["a"]},
        {"properties": {"b": {"type": "string"}}},
    ],
    "unevaluatedProperties": False,
}
TREE = {
    "$id": "http://example.com/tree",
    "$dynamicAnchor": "node",
    "type": "object",
    "properties": {"data": {"type": "integer"}, "children": {"type": "array", "items": {"$dynamicRef": "#node"}}},
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("schema", "text", "pointer"),
    [
        (ONE_OF_TWO, '{"c": 1}', "/unevaluatedProperties"),
        (ONE_OF_TWO, '{"a": "x"}', "/anyOf/0/properties/a/type"),
        (TREE, '{"children": [{"data": "x"}]}', "/properties/children/items/$dynamicRef"),
    ],
)
def test_keywords_that_depend_on_others(schema: dict[str, Any], text: str, pointer: str) -> None:
    compiled = COMPILER.compile_json_schema(schema)
    for _ in range(2):
        why = compiled.explain_rejection(text)
        assert why is not None
        assert why.pointer == pointer


def test_how_much_of_a_text_fits() -> None:
    matcher = mw.GrammarMatcher(COMPILER.compile_regex("abc"))
    assert "`ax` is not allowed: only its first byte fits; expected `bc`" in str(matcher.explain("ax"))
    assert "`abx` is not allowed: only its first 2 bytes fit; expected `c`" in str(matcher.explain("abx"))
