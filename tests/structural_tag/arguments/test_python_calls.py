"""Arguments in Python's syntax: what is accepted, that Python reads it, and that what it reads is valid."""

from __future__ import annotations

import ast
import json
from typing import Any

import jsonschema
import pytest

import maskwright as mw
from maskwright.errors import UnsupportedSchemaError
from maskwright.events import CallDone, EventReader, FieldDone, ValueDelta
from maskwright.structural_tag import get_model_structural_tag
from oracle.comparing import scaled, seeded
from structural_tag.arguments.styles import check, compiled, of
from structural_tag.families.readers import literal
from structural_tag.families.test_walks import text_of, walk
from structural_tag.spelling import accepts, vocabulary

SCHEMA = of(
    {
        "s": {"type": "string", "maxLength": 3},
        "b": {"type": "boolean"},
        "o": of({"a b": {"type": "null"}, "n": {"type": "number"}}, "n"),
        "m": {"type": "object", "additionalProperties": {"enum": [True, 1, "x", None]}, "maxProperties": 1},
        "l": {"type": "array", "items": {"type": ["integer", "boolean"]}, "maxItems": 2},
    },
    "b",
)


def test_arguments() -> None:
    accepted = [
        "b=True",
        's="a", b=False',
        'b=True, o={"a b": None, "n": -1.5e3}',
        'b=True, m={"k": None}',
        "b=True, m={}, l=[1, True]",
        "b=True, l=[]",
    ]
    rejected = [
        "",
        "b=true",
        "b=True,o={}",
        "b=True, o={}",
        "b=True, s=1",
        "o={'n': 1}",
        "b=True, l=[1,2]",
        "s='a', b=True",
    ]
    check(SCHEMA, "python", accepted, rejected)


@pytest.mark.parametrize("spelled", [r'"\n"', r'"\""', r'"é\\"', r'"\u00e9"', r'"€\t"', '"/"', r'"\ue000"'])
def test_strings_that_python_reads(spelled: str) -> None:
    grammar = compiled(of({"s": {"type": "string", "maxLength": 2}}), "python")
    assert accepts(grammar, f"s={spelled}")
    assert len(ast.literal_eval(spelled)) <= 2


@pytest.mark.parametrize("spelled", [r'"\/"', r'"\ud83d\ude00"', r'"\uD83D"', '"\n"', r'"\x41"', r'"\a"', '"""'])
def test_strings_that_python_or_json_read_otherwise(spelled: str) -> None:
    assert not accepts(compiled(of({"s": {"type": "string"}}), "python"), f"s={spelled}")
    assert not accepts(compiled(of({"s": {"type": "string", "pattern": ""}}), "python"), f"s={spelled}")


def test_names() -> None:
    grammar = compiled(
        {"type": "object", "properties": {"a": {"const": 1}}, "additionalProperties": {"const": 2}}, "python"
    )
    for text, good in {
        "a=1": True,
        "a=2": False,
        "b=2": True,
        "a=1, b_1=2, c=2": True,
        "if=2": False,
        "1b=2": False,
    }.items():
        assert accepts(grammar, text) == good, text
    for name in ("a-b", "class", ""):
        with pytest.raises(UnsupportedSchemaError, match="is not a valid argument name"):
            compiled(of({name: {}}), "python")


@pytest.mark.parametrize("style", ["python", "python_any"])
def test_walks_are_read_by_python(style: str) -> None:
    info = vocabulary(pieces=["True", "None", "={", '": ', ", ", '="', "b=", '"n'])
    grammar = mw.GrammarCompiler(info).compile_structural_tag(
        {"format": {"type": "json_schema", "json_schema": SCHEMA, "style": style}}
    )
    rng, ended = seeded(f"{style} calls"), 0
    for _ in range(scaled(60)):
        tokens = walk(grammar, rng)
        if tokens is None:
            continue
        read: Any = ast.parse(f"f({text_of(info, tokens)})", mode="eval").body
        arguments = {each.arg: literal(each.value) for each in read.keywords}
        assert not list(jsonschema.Draft202012Validator(SCHEMA).iter_errors(arguments))
        ended += 1
    assert ended > scaled(20)


def test_dictionaries_are_told_as_json() -> None:
    schema = of({"o": {"type": "object"}, "n": {"type": "integer"}}, "o")
    tag = get_model_structural_tag("llama_4_pythonic", [{"name": "f", "parameters": schema}], "required", "disabled")
    matcher = mw.GrammarMatcher(mw.GrammarCompiler(vocabulary()).compile_structural_tag(tag))
    assert matcher.accept_string(r'[f(o={"a\u00e9": 1, "b": {"c": [True, {}], "d": {}}}, n=2)]')
    events = EventReader(matcher).read()
    done = [event.arguments for event in events if isinstance(event, CallDone)]
    assert [json.loads(arguments) for arguments in done] == [{"o": {"aé": 1, "b": {"c": [True, {}], "d": {}}}, "n": 2}]
    deltas = "".join(event.json for event in events if isinstance(event, ValueDelta))
    assert deltas == "".join(event.json for event in events if isinstance(event, FieldDone))


def test_either_quotes_and_constants_of_json() -> None:
    accepted = [
        "b=true",
        "b=True",
        "s='a', b=false",
        's="a", b=False',
        'b=true, o={"a b": null, "n": 1}',
        "b=True, m={\"k\": 'x'}",
        "b=True, l=[1, true]",
    ]
    rejected = ["s='abcd', b=True", "s='a\", b=True", "b=TRUE", r"s='\'', b=True", "s='''', b=True", "o={'n': 1}"]
    check(SCHEMA, "python_any", accepted, rejected)


@pytest.mark.parametrize(
    "spelled", [r"'\n'", "'\"'", r"'é\\'", r"'\u00e9'", "'/'", "''", "'\"\"'", r"""'\\"'""", r'"\"\n"', r"'\u0027'"]
)
@pytest.mark.parametrize("string", [{"maxLength": 3}, {}])
def test_strings_in_either_quotes_are_reported_as_json(spelled: str, string: dict[str, Any]) -> None:
    tool = {"name": "f", "parameters": of({"s": {"type": "string", **string}})}
    tag = get_model_structural_tag("lfm_2", [tool], "required", "disabled")
    matcher = mw.GrammarMatcher(mw.GrammarCompiler(vocabulary()).compile_structural_tag(tag))
    as_text = f"<|tool_call_start|>[f(s={spelled})]<|tool_call_end|>"
    if spelled == r"""'\\"'""" and string:  # an escape and a double quote: only where any string may stand
        assert not matcher.accept_string(as_text)
        return
    assert matcher.accept_string(as_text)
    events = EventReader(matcher).read()
    [done] = [event.arguments for event in events if isinstance(event, CallDone)]
    assert json.loads(done) == {"s": ast.literal_eval(spelled)}


def test_enumerated_strings_in_single_quotes() -> None:
    grammar = compiled(of({"s": {"enum": ['say "a"', "it's", "b\\c"]}}), "python_any")
    for text, good in {
        "s='say \"a\"'": True,
        r's="say \"a\""': True,
        's="it\'s"': True,
        "s='it's'": False,
        r"s='b\\c'": True,
        r"s='b\c'": False,
        r"s='say \"a\"'": False,
    }.items():
        assert accepts(grammar, text) == good, text


@pytest.mark.parametrize("style", ["python", "python_any"])
def test_strings_of_grammars(style: str) -> None:
    nested = {"type": "string", "x-grammar": {"syntax": "lark", "definition": 'start: "a" start "\\"" | "\\n"'}}
    check(of({"s": nested}, "s"), style, [r's="\n"', r's="aa\n\"\""'], [r's="a\n"', 's="a"', r's="\x0a"'])
    regular = {"type": "string", "x-grammar": {"syntax": "regex", "definition": '[^b]*"'}}
    check(of({"s": regular}, "s"), style, [r's="\""', r's="é\""'], ['s="a"', r's="b\""'])
    check(of({"s": {**regular, "maxLength": 2}}, "s"), style, [r's="é\""'], [r's="aa\""'])
