"""What docs/engines/xgrammar.md says of differences, by running both packages side by side.

A line says what each does with a text: True, False, or "error" where it refuses the schema, pattern or grammar. Where
another version of XGrammar differs, the page is to be changed with the line.
"""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest

pytest.importorskip("torch", reason="an optional dependency")
real = pytest.importorskip("xgrammar", reason="XGrammar is not installed: pip install xgrammar==0.2.8")
if real.__name__ != "xgrammar":
    pytest.skip("maskwright stands in for xgrammar in this process", allow_module_level=True)
import maskwright.compat.xgrammar as ours  # noqa: E402

ERROR = "error"
Answer = bool | str
A_AND_B = {
    "allOf": [
        {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
        {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]},
    ]
}
# schema, text, XGrammar 0.2.8, Maskwright
SCHEMAS: list[tuple[Any, str, Answer, Answer]] = [
    # wrong data that XGrammar accepts
    ({"type": "string", "format": "date"}, '"2023-02-31"', True, False),
    ({"type": "string", "minLength": 2, "pattern": "^a"}, '"a"', True, False),
    ({"type": "array", "uniqueItems": True, "items": {"enum": [1, 2]}}, "[1,1]", True, False),
    ({"type": "number", "multipleOf": 0.5}, "0.3", True, False),
    ({"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 3}]}, "5", True, False),
    ({"allOf": [{"type": "string"}, {"enum": ["yes", "no"]}]}, "42", True, False),
    (A_AND_B, '{"a":1}', True, False),
    ({"not": {"type": "string"}}, '"a"', True, False),
    ({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["b"]}, '{"a":1}', True, False),
    ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer"}}, "minimum": 5}, "3", True, False),
    ({"minimum": 5}, "3", True, False),
    (
        {"type": "object", "properties": {"a": {}}, "additionalProperties": True, "dependentRequired": {"a": ["b"]}},
        '{"a":1}',
        True,
        False,
    ),
    ({"type": "string"}, '"\\ud800"', True, False),
    # valid data that XGrammar refuses
    ({"type": "string", "pattern": "b"}, '"abc"', False, True),
    ({"type": "string", "minLength": 2, "pattern": "^a"}, '"ab"', False, True),
    ({"type": "array", "contains": {"const": 1}}, "[1]", False, True),
    ({"type": "integer", "maximum": 10**20}, "5", ERROR, True),
    ({"type": "integer", "minimum": 1.5, "maximum": 3.5}, "2", ERROR, True),
    ({"type": "object", "minProperties": 1}, '{"a":1}', ERROR, True),
    ({"type": "array", "minItems": 1}, "[1]", ERROR, True),
    ({"type": "object", "maxProperties": 1}, '{"a":1}', False, True),
    ({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["b"]}, '{"b":1}', False, True),
    ({"properties": {"a": {"type": "integer"}}}, "1", False, True),
    ({"enum": [{"k": 1}]}, '{"k": 1}', False, True),
    ({"type": "string", "maxLength": 2}, '"\\u0061b"', False, True),
    # one value, two spellings
    ({"const": 1.0}, "1", True, False),
    ({"const": 1.0}, "1.0", False, True),
    # a schema without any value
    ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}, "1", False, ERROR),
    # the same
    ({"type": "integer"}, str(2**70), True, True),
    ({"type": "integer"}, "1.0", False, False),
    ({"type": "integer"}, "-0", False, False),
    ({"type": "number"}, "1e999", True, True),
    ({"type": "object"}, '{"a":1}', True, True),
    ({"type": "object", "properties": {}}, '{"a":1}', False, False),
    ({"type": "object", "properties": {"a": {"type": "object"}}}, '{"a":{"b":1}}', True, True),
    ({"type": "object", "properties": {"a": {}}}, '{"a":1,"b":1}', False, False),
    ({"type": "array", "prefixItems": [{}]}, "[1,2]", False, False),
    ({"type": "array", "items": {"type": "integer"}}, "[ 1 ,\r\n\t2 ]", True, True),
    ({"type": "string", "format": "no such"}, '"x"', True, True),
]
REGEXES: list[tuple[str, str, Answer, Answer]] = [
    ("a.c", "a\nc", True, False),
    ("(?=a)ab", "ab", ERROR, True),
    (r"\bfoo\b", "foo", ERROR, True),
    ("(?i)a", "A", ERROR, True),
    (r"\p{L}", "é", ERROR, True),
    (r"\<", "<", True, ERROR),
    ("a$b", "ab", True, ERROR),
    (r"\d", "१", False, False),
    (r"\w", "é", False, False),
    ("[^a]", "\n", True, True),
    (r"[\s\S]*", "a\nb", True, True),
]
EBNF: list[tuple[str, str, Answer, Answer]] = [
    ('root ::= "a" (="b") "b"', "ab", ERROR, True),
    ("root ::= 'a'", "a", ERROR, True),
    ("root ::= [a-z]{2,3} # comment", "ab", True, True),
    ('root ::= root "a" | "b"', "baa", True, True),
    ('root ::= "a" root', "a", False, ERROR),
]


@pytest.mark.parametrize(("schema", "text", "theirs", "mine"), SCHEMAS, ids=str)
def test_schemas(schema: Any, text: str, theirs: Answer, mine: Answer) -> None:
    assert answer(real, real.Grammar.from_json_schema, schema, text) == theirs
    assert answer(ours, ours.Grammar.from_json_schema, schema, text) == mine


@pytest.mark.parametrize(("pattern", "text", "theirs", "mine"), REGEXES)
def test_regular_expressions(pattern: str, text: str, theirs: Answer, mine: Answer) -> None:
    assert answer(real, real.Grammar.from_regex, pattern, text) == theirs
    assert answer(ours, ours.Grammar.from_regex, pattern, text) == mine


@pytest.mark.parametrize(("grammar", "text", "theirs", "mine"), EBNF)
def test_grammars(grammar: str, text: str, theirs: Answer, mine: Answer) -> None:
    assert answer(real, real.Grammar.from_ebnf, grammar, text) == theirs
    assert answer(ours, ours.Grammar.from_ebnf, grammar, text) == mine


def test_special_tokens_are_no_text_here() -> None:
    pytest.importorskip("transformers", reason="an optional dependency")
    from small_models import make_tokenizer

    tokenizer = make_tokenizer()
    for package, expected in ((real, True), (ours, False)):
        info = package.TokenizerInfo.from_huggingface(tokenizer)
        matcher = package.GrammarMatcher(package.GrammarCompiler(info).compile_json_schema({"type": "string"}))
        assert matcher.accept_string('"')
        assert matcher.accept_token(tokenizer.bos_token_id) == expected


def test_the_mask_of_an_output_that_ended_without_a_stop_token() -> None:
    for package, expected in ((real, [1]), (ours, [0])):
        compiled = package.GrammarCompiler(package.TokenizerInfo(["</s>", "a"])).compile_regex("a")
        matcher = package.GrammarMatcher(compiled, terminate_without_stop_token=True)
        assert matcher.accept_token(1)
        bitmask = package.allocate_token_bitmask(1, 2)
        assert matcher.fill_next_token_bitmask(bitmask)
        assert bitmask[0].tolist() == expected


def test_a_matcher_twice_in_a_batch() -> None:
    for package in (real, ours):
        compiled = package.GrammarCompiler(package.TokenizerInfo(["</s>", "a"])).compile_regex("a")
        matcher, bitmask = package.GrammarMatcher(compiled), package.allocate_token_bitmask(2, 2)
        fill = package.BatchGrammarMatcher().batch_fill_next_token_bitmask
        if package is real:
            fill([matcher, matcher], bitmask)
        else:
            with pytest.raises(RuntimeError, match="more than once"):
                fill([matcher, matcher], bitmask)


def test_what_was_serialized_cannot_be_mixed() -> None:
    theirs, mine = (package.Grammar.from_regex("a").serialize_json() for package in (real, ours))
    with pytest.raises(ours.DeserializeVersionError):
        ours.Grammar.deserialize_json(theirs)
    with pytest.raises(real.DeserializeVersionError):
        real.Grammar.deserialize_json(mine)


def test_an_unknown_field_of_a_tag() -> None:
    tag = json.dumps({"type": "structural_tag", "format": {"type": "any_text", "no_such": 1}})
    assert answer(real, real.Grammar.from_structural_tag, tag, "a") is True
    assert answer(ours, ours.Grammar.from_structural_tag, tag, "a") == ERROR


def answer(package: Any, read: Any, source: Any, text: str) -> Answer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return bool(package.testing._is_grammar_accept_string(read(source), text))
        except RuntimeError:
            return ERROR
