"""Strings: spellings, lengths, patterns and finite sets together."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest

from frontends.json_schema.checking import check, check_texts
from maskwright.errors import SchemaError, UnsupportedSchemaError
from maskwright.frontends.json_schema import schema_to_ir
from maskwright.frontends.json_schema.sets.strings import name_spellings, spelling


def test_a_string_is_what_json_says() -> None:
    check_texts(
        {"type": "string"},
        ['""', '"a/b"', '"\\/"', '"\\u00e9"', '"\\uD83D\\uDE00"', '"\x7f"', '"\\b\\f\\n\\r\\t\\"\\\\"', '"é€😀"'],
        ['"', '"\n"', '"\t"', '"\\x"', '"\\u12"', '"\\uD83D"', '"\\uDE00"', '"\\uD83D\\u0041"', "a", "'a'", '"a"b"'],
    )


def test_a_length_counts_characters_in_any_spelling() -> None:
    check_texts(
        {"minLength": 1, "maxLength": 2, "type": "string"},
        ['"é"', '"\\u00e9x"', '"\\ud83d\\ude00😀"', '"\\n\\\\"'],
        ['""', '"abc"', '"\\n\\n\\n"', '"\\u0061\\u0061\\u0061"'],
    )


def test_a_pattern_sees_through_the_escapes_that_json_needs() -> None:
    check_texts({"pattern": "^a\\n$", "type": "string"}, ['"a\\n"', '"a\\u000A"'], ['"a"', '"an"', '"a\\\\n"', '"a\n"'])
    check_texts({"pattern": '^"/$', "type": "string"}, ['"\\"/"', '"\\u0022\\/"'], ['"""/"', '"/"'])


def test_pattern_format_and_length_hold_together() -> None:
    schema = {"type": "string", "format": "date", "pattern": "^2024", "maxLength": 10, "minLength": 10}
    check(schema, ["2024-02-29"], ["2023-01-01", "2024-02-30", "2024", "x2024-01-01"])
    check({"allOf": [{"pattern": "a"}, {"pattern": "b"}], "type": "string"}, ["ab", "ba", "xaxbx"], ["a", "b", ""])


@pytest.mark.parametrize("pattern", ["^a{2,4}$", "^a", "^(a|bb)$", "^(?=a).?b?$", "a", "^$", "^.{3}$"])
def test_lengths_beside_patterns(pattern: str) -> None:
    texts = [*map("".join, (t for n in range(5) for t in itertools.product("ab", repeat=n))), "aaaaa"]
    for low, high in itertools.product((0, 1, 3, 5), (0, 1, 3, None)):
        schema: dict[str, Any] = {"type": "string", "pattern": pattern, "minLength": low}
        if high is not None:
            schema["maxLength"] = high
        right = [t for t in texts if re.search(pattern, t) and low <= len(t) <= (9 if high is None else high)]
        check(schema, right, [t for t in texts if t not in right])


def test_lengths_decide_which_patterns_are_left_out() -> None:
    either = {"anyOf": [{"pattern": "^..$"}, {"pattern": "a"}]}
    check({"type": "string", "not": {"pattern": "^..$"}, "minLength": 3}, ["abc"], ["ab", "a"])
    check({"type": "string", "not": {"not": either}, "minLength": 3}, ["abc", "bba"], ["ab", "bbb"])
    check({"type": "string", "not": {"pattern": "^.{2,3}$"}, "minLength": 3}, ["abcd"], ["abc", "ab"])
    with pytest.raises(UnsupportedSchemaError) as refused:
        schema_to_ir({"type": "string", "not": {"pattern": "(a+)\\1"}, "minLength": 3})
    assert refused.value.pointer == "/not/pattern"


def test_a_finite_set_is_filtered_by_all_else() -> None:
    schema = {"enum": ["a1", "b2", "a333", 5], "pattern": "^a", "maxLength": 3}
    check(schema, ["a1", 5], ["b2", "a333"])
    check({"enum": ["a", "b"], "not": {"const": "a"}}, ["b"], ["a"])


def test_canonical_spellings() -> None:
    assert spelling('a"\\/\n\x01é') == b'"a\\"\\\\/\\n\\u0001\xc3\xa9"'
    assert spelling("\ud800x") == b'"\\ud800x"'
    assert [text[1] for text in name_spellings("a/b")] == [b'"a/b"', b"a/b"]
    check_texts({"const": 'é"/'}, ['"é\\"/"'], ['"\\u00e9\\"/"', '"é\\"\\/"'])


def test_half_a_surrogate_pair_in_a_pattern_s_way_is_an_error() -> None:
    with pytest.raises(SchemaError):
        schema_to_ir({"enum": ["\ud800"], "pattern": "a"})
