"""Grammars and compiled grammars as bytes and back: the same rules, masks, reports and explanations."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from referencing import Registry
from referencing.jsonschema import DRAFT202012
from saved_bytes import INFO, STOP, THINK, masks, sealed

import maskwright as mw
from maskwright import structural_tag
from maskwright.ir.portable import to_bytes

sys.path.append(str(Path(__file__).parents[1] / "corpus"))
from test_grammar_corpus import CASES, WORKING, grammar_of, texts_of

REGISTRY = Registry().with_resource("urn:x", DRAFT202012.create_resource({"type": "integer"}))
COMPILER = mw.GrammarCompiler(INFO)
SCHEMAS: list[Any] = [
    {"type": "object", "properties": {"day": {"format": "date"}, "n": {"multipleOf": 0.1}}, "required": ["day"]},
    {"$defs": {"n\0": {"properties": {"next": {"$ref": "#/$defs/n\0"}}}}, "$ref": "#/$defs/n\0"},
    {"type": "array", "uniqueItems": True, "items": {"enum": [1, 2, 3]}, "titel": "misspelled"},
    {"patternProperties": {"^a\0?é?": {"type": "integer"}}, "minProperties": 1},
    '{"type": "number", "minimum": 0.1, "description": "a text, with its numbers as they are"}',
    True,
]
SCHEMA_TEXTS = [
    b'{"day": "2024-02-29", "n": 0.3}',
    b'{"next": {"next": 3}}',
    b"[1, 2, 2]",
    b'{"ab": 1, "": 2}',
    b"0.05",
    b"nul",
]
TAG = {
    "type": "tag",
    "begin": "<think>",
    "content": {"type": "json_schema", "json_schema": {"type": "integer"}, "capture": "n"},
    "end": "</s>",
}
TOOLS = [
    {"type": "function", "function": {"name": f"f{i}", "parameters": {"properties": {"x": {"const": i}}}}}
    for i in range(8)
]


def test_the_corpus_comes_back() -> None:
    for name in WORKING:
        grammar = grammar_of(name)
        again = mw.Grammar.deserialize(grammar.serialize())
        assert again == grammar, name
        assert again.dump() == grammar.dump(), name
        assert (again.report, again.source) == (grammar.report, grammar.source), name
        assert [str(w) for w in again.warnings] == [str(w) for w in grammar.warnings], name


@pytest.mark.parametrize("part", range(8))
def test_the_corpus_has_the_same_masks(part: int) -> None:
    for name in WORKING[part::8]:
        compiled = COMPILER.compile_grammar(grammar_of(name))
        again = mw.CompiledGrammar.deserialize(compiled.serialize(), INFO)
        assert again.has_captures == compiled.has_captures, name
        for text in texts_of(name):
            assert masks(again, text[:300]) == masks(compiled, text[:300]), name
    assert len(CASES) > 600


@pytest.mark.parametrize("schema", SCHEMAS, ids=range(len(SCHEMAS)))
@pytest.mark.parametrize("options", [{}, {"any_order": True, "separators": (", ", ": "), "any_whitespace": False}])
def test_json_schemas(schema: Any, options: Any) -> None:
    compiled = COMPILER.compile_json_schema(schema, **options)
    again = mw.CompiledGrammar.deserialize(compiled.serialize(), INFO)
    assert again.grammar == compiled.grammar
    assert again.grammar.report == compiled.grammar.report
    for text in SCHEMA_TEXTS:
        assert masks(again, text) == masks(compiled, text)
        assert str(again.explain_rejection(text)) == str(compiled.explain_rejection(text))


def test_a_grammar_can_be_compiled_when_it_is_back() -> None:
    grammar = mw.Grammar.from_json_schema(SCHEMAS[0])
    again = mw.Grammar.deserialize(grammar.serialize())
    for text in SCHEMA_TEXTS:
        assert masks(COMPILER.compile_grammar(again), text) == masks(COMPILER.compile_grammar(grammar), text)


def test_explanations() -> None:
    compiled = COMPILER.compile_json_schema({"properties": {"age": {"maximum": 150}}})
    found = mw.CompiledGrammar.deserialize(compiled.serialize(), INFO).explain_rejection('{"age": 200}')
    assert found is not None
    assert found.pointer == "/properties/age/maximum"
    compiled = COMPILER.compile_grammar('root ::= "<" name\nname ::= [a-z]+')
    found = mw.CompiledGrammar.deserialize(compiled.serialize(), INFO).explain_rejection("<ab1")
    assert found is not None
    assert found.rule == "name"
    assert str(found) == str(compiled.explain_rejection("<ab1"))


def test_a_source_that_is_not_plain_data_is_left_out() -> None:
    compiled = COMPILER.compile_json_schema({"properties": {"a": {"$ref": "urn:x"}}}, registry=REGISTRY)
    again = mw.CompiledGrammar.deserialize(compiled.serialize(), INFO)
    assert again.grammar.source is None
    found = again.explain_rejection('{"a": "x"}')
    assert found is not None
    assert found.pointer is None


def test_numbers_too_long_to_be_written_are_left_out() -> None:
    grammar = mw.Grammar.from_json_schema({"type": "string", "default": 10**5000})
    again = mw.Grammar.deserialize(grammar.serialize())
    assert again == grammar
    assert again.source is None


def test_captures_and_special_tokens() -> None:
    compiled = COMPILER.compile_structural_tag({"format": TAG})
    again = mw.CompiledGrammar.deserialize(compiled.serialize(), INFO)
    matcher = mw.GrammarMatcher(again)
    assert mw.GrammarMatcher(again).accept_token(THINK)
    for token in (THINK, *b"12"):
        assert matcher.accept_token(token)
    assert matcher.get_open_captures() == [("n", b"12")]


def test_a_tag_is_bound_to_the_tokenizer_with_which_it_is_compiled() -> None:
    grammar = mw.Grammar.from_structural_tag({"format": TAG})
    again = mw.Grammar.deserialize(grammar.serialize())
    assert again == grammar
    compiled = COMPILER.compile_grammar(again)
    assert masks(compiled, b"")[0] == {THINK}


def test_a_tag_that_is_more_than_data_is_saved_when_it_is_bound() -> None:
    tag = {**TAG, "content": {"type": "json_schema", "json_schema": {"$ref": "urn:x"}}}
    with pytest.raises(mw.GrammarError, match="more than plain data"):
        mw.Grammar.from_structural_tag({"format": tag}, registry=REGISTRY).serialize()
    bound = mw.Grammar.from_structural_tag({"format": tag}, registry=REGISTRY, tokenizer_info=INFO)
    assert mw.Grammar.deserialize(bound.serialize()) == bound


def test_token_sets_are_looked_up_again() -> None:
    compiled = COMPILER.compile_grammar('root ::= "a" <think> | <[^257,0-96,99-256]>')
    again = mw.CompiledGrammar.deserialize(compiled.serialize(), INFO)
    assert masks(again, b"a") == masks(compiled, b"a")
    assert masks(again, b"a")[1] == {STOP, THINK}
    with pytest.raises(mw.GrammarError, match="no token '<think>'"):
        mw.GrammarCompiler(mw.TokenizerInfo.from_vocab(["a"], stop_token_ids=[])).compile_grammar(
            mw.Grammar.deserialize(compiled.serialize())
        )


def test_tools_are_compiled_to_be_saved() -> None:
    tag = structural_tag.get_model_structural_tag("hermes", tools=TOOLS)
    compiled = COMPILER.compile_structural_tag(tag)
    again = mw.CompiledGrammar.deserialize(compiled.serialize(), INFO)
    text = b'<tool_call>\n{"name": "f3", "arguments": {"x": 3}}\n</tool_call>'
    assert len(masks(again, text)) == len(text) + 1
    assert masks(again, text) == masks(compiled, text)
    assert again.grammar == compiled.grammar


def test_what_maskwright_compile_writes_is_read() -> None:
    grammar = mw.Grammar.from_regex("a{2,5}")
    again = mw.Grammar.deserialize(to_bytes(grammar.ir))
    assert again == grammar
    assert again.source is None


def test_saved_twice_is_the_same() -> None:
    saved = mw.Grammar.from_json_schema(SCHEMAS[0]).serialize()
    assert mw.Grammar.deserialize(saved).serialize() == saved
    compiled = COMPILER.compile_json_schema(SCHEMAS[0]).serialize()
    assert mw.CompiledGrammar.deserialize(compiled, INFO).serialize() == compiled


def test_another_process_reads_it(tmp_path: Path) -> None:
    compiled = COMPILER.compile_json_schema(SCHEMAS[0])
    (tmp_path / "grammar").write_bytes(compiled.serialize())
    (tmp_path / "tokenizer").write_bytes(INFO.serialize())
    program = """
import sys, maskwright as mw
from pathlib import Path
folder = Path(sys.argv[1])
info = mw.TokenizerInfo.deserialize((folder / "tokenizer").read_bytes())
compiled = mw.CompiledGrammar.deserialize((folder / "grammar").read_bytes(), info)
assert "maskwright.frontends.lark.parser" not in sys.modules
print(compiled.explain_rejection('{"day": 1}'))
"""
    command = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.strip() == str(compiled.explain_rejection('{"day": 1}')), done.stderr


def test_refused() -> None:
    saved = COMPILER.compile_regex("a+").serialize()
    other = mw.TokenizerInfo.from_vocab(["a", "b"], stop_token_ids=[])
    with pytest.raises(mw.TokenizerError, match="a different tokenizer"):
        mw.CompiledGrammar.deserialize(saved, other)
    with pytest.raises(mw.GrammarError, match="not compiled"):
        mw.CompiledGrammar.deserialize(mw.Grammar.from_regex("a+").serialize(), INFO)
    with pytest.raises(mw.GrammarError, match="version 2; this release"):
        mw.Grammar.deserialize(saved[:4] + b"\x02" + saved[5:])
    with pytest.raises(mw.GrammarError, match="not a saved grammar"):
        mw.Grammar.deserialize(INFO.serialize())
    with pytest.raises(mw.GrammarError, match="checksum"):
        mw.Grammar.deserialize(saved[:-1] + b"\xff")
    with pytest.raises(mw.ArgumentError, match="data must be bytes, not str"):
        mw.Grammar.deserialize("x")  # type: ignore[arg-type]
    with pytest.raises(mw.OptionError, match="memory_budget_bytes must be >= 0"):
        mw.CompiledGrammar.deserialize(saved, INFO, memory_budget_bytes=-1)


@pytest.mark.parametrize(
    ("notes", "message"),
    [
        ("[]", "notes are not as"),
        ("{", "not JSON"),
        ("[" * 200_000, "not JSON"),
        ('{"rules": ["a", "b"]}', "other names"),
        ('{"rules": [1]}', "notes are not as"),
        ('{"report": [["/a", "type", "ignored", "x"]]}', "report is not one"),
        ('{"report": 3}', "notes are not as"),
        ('{"warnings": [["m"]]}', "warnings are none"),
        ('{"warnings": [["m", "r", "1", 1, null]]}', "notes are not as"),
        ('{"source": {"kind": "pickle", "text": "x"}}', "unknown kind"),
        ('{"source": {"kind": "regex", "text": "x"}}', "notes are not as"),
        ('{"source": {"kind": "lark", "text": {}}}', "notes are not as"),
        ('{"is_unbound": 1}', "notes are not as"),
        ('{"tokenizer": 1}', "notes are not as"),
        ('{"captures": "yes"}', "notes are not as"),
    ],
)
def test_notes_that_are_none(notes: str, message: str) -> None:
    data = to_bytes(mw.Grammar.from_regex("a").ir, notes=notes.encode())
    assert data == sealed(data)
    with pytest.raises(mw.GrammarError, match=message):
        mw.Grammar.deserialize(data)


def test_notes_say_the_release() -> None:
    saved = mw.Grammar.from_regex("a").serialize()
    notes = json.JSONDecoder().raw_decode(saved[saved.index(b"{") :].decode("latin-1"))[0]
    assert notes["maskwright"] == mw.__version__
