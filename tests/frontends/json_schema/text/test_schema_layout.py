"""White space and punctuation."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from frontends.json_schema.checking import check_texts
from frontends.json_schema.grammar_matcher import accepts_text
from maskwright.frontends.json_schema import JsonSchemaOptions, schema_to_ir
from maskwright.frontends.json_schema.emit.layout import MAX_INDENTED

SCHEMA: Any = {
    "properties": {"a": {"items": {"type": "integer"}}, "b": {"type": "object"}, "c": {"properties": {"d": {}}}},
    "required": ["a"],
    "type": "object",
}
VALUES: list[Any] = [
    {"a": []},
    {"a": [1, 2], "b": {}, "c": {"d": [[], {}, [1]]}},
    {"a": [1], "b": {"x": {"y": [None]}}, "c": {}, "z": {"w": 1}},
]


def test_white_space_between_tokens_by_default() -> None:
    check_texts(
        SCHEMA,
        ['{"a":[]}', '{ "a" : [ 1 , 2 ] , "b" : { } }', '{\n\t"a":\r\n[\n]\n}', '{"a":' + " " * 32 + "[]}"],
        [
            ' {"a":[]}',
            '{"a":[]} ',
            '{"a":[1 2]}',
            '{"a":\v[]}',
            '{"a":' + " " * 33 + "[]}",
            '{"a":[1,,2]}',
            '{"a":[1,]}',
        ],
    )


def test_the_longest_run_of_white_space() -> None:
    check_texts(SCHEMA, ['{ "a":[]}'], ['{  "a":[]}'], max_whitespace_cnt=1)
    check_texts(SCHEMA, ['{"a":[1,2]}'], ['{"a": [1,2]}'], max_whitespace_cnt=0)


@pytest.mark.parametrize("indent", [None, 0, 1, 4])
@pytest.mark.parametrize("separators", [None, (",", ":"), (" , ", " : ")])
def test_fixed_layouts_are_those_of_json_dumps(indent: int | None, separators: tuple[str, str] | None) -> None:
    options = JsonSchemaOptions(any_whitespace=False, indent=indent, separators=separators)
    grammar = schema_to_ir(SCHEMA, options)
    for value in VALUES:
        text = json.dumps(value, indent=indent, separators=separators)
        assert accepts_text(grammar, text), text
        for i, gap in itertools.product(range(0, len(text), 3), " \n"):
            other = text[:i] + gap + text[i:]
            inside_a_string = text[:i].count('"') % 2
            assert inside_a_string or not accepts_text(grammar, other), other


def test_deep_values_go_on_in_one_line() -> None:
    grammar = schema_to_ir(True, JsonSchemaOptions(any_whitespace=False, indent=1))
    value: Any = [1, 2]
    for _ in range(MAX_INDENTED - 1):
        value = [value]
    assert accepts_text(grammar, json.dumps(value, indent=1))
    assert not accepts_text(grammar, json.dumps([value], indent=1))
    text = json.dumps([value], indent=1).replace("\n" + " " * 13, "\n" + " " * 13, 1)
    lines = text.split("\n")
    inner = lines.index(" " * MAX_INDENTED + "[")
    joined = "[1, 2]".join(["\n".join(lines[:inner]) + "\n" + " " * MAX_INDENTED, "\n" + "\n".join(lines[inner + 4 :])])
    assert json.loads(joined) == [value]
    assert accepts_text(grammar, joined)


def test_recursive_schemas_may_be_indented() -> None:
    schema = {"type": "array", "items": {"$ref": "#"}}
    grammar = schema_to_ir(schema, JsonSchemaOptions(any_whitespace=False, indent=2))
    assert accepts_text(grammar, json.dumps([[], [[[]]]], indent=2))
    assert not accepts_text(grammar, "[[], [[[]]]]")


def test_all_grammars_open_with_the_same_rules() -> None:
    a, b = schema_to_ir({"type": "null"}), schema_to_ir({"items": {"type": "string"}})
    assert [x is y for x, y in zip(a.rules, b.rules, strict=False)][:13] == [True] * 13
    opening = "string integer number large unsigned name ws colon comma value array object member"
    assert [rule.name for rule in a.rules[:13]] == opening.split()
