"""White space by a pattern: where it stands, that every text stays JSON, and which patterns are refused."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from frontends.json_schema.checking import check_texts
from frontends.json_schema.grammar_matcher import accepts_text
from frontends.json_schema.random_schemas import Maker, plain_text
from maskwright import CompiledGrammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from maskwright.errors import OptionError, UnsatisfiableError, UnsupportedSchemaError
from maskwright.frontends.json_schema import JsonSchemaOptions, schema_to_ir
from maskwright.frontends.json_schema.emit.layout import layout_of
from oracle.comparing import compile_fresh, scaled, seeded, walk
from oracle.model import Language
from oracle.vocabularies import of

PATTERNS = [" ", "", r"[ \n]{0,3}", r"( |\n {2,4})?", r"\t+", r"\r\n|", r"(?!\n\n)[ \n]{1,2}"]
GAPS = ["", " ", "\n", "\t", "\r", "  ", "\n  ", "\n\n", "\r\n", " \n ", "    ", "\n    "]
SCHEMA: Any = {
    "type": "object",
    "properties": {"a": {"items": {"enum": ["", [], {}]}, "type": "array"}, "b": {"type": "null"}},
    "additionalProperties": False,
}
COMPILER = GrammarCompiler(
    TokenizerInfo.from_vocab([*[bytes([i]) for i in range(256)], "<stop>"], stop_token_ids=[256])
)
COMPACT: Any = {"any_whitespace": False, "separators": (",", ":")}
SPACED: Any = {"whitespace_pattern": " "}
VALUES: list[list[str]] = [  # cut between tokens
    ["{", "}"],
    ["{", '"b"', ":", "null", "}"],
    ["{", '"a"', ":", "[", "]", "}"],
    ["{", '"a"', ":", "[", '""', ",", '""', "]", ",", '"b"', ":", "null", "}"],
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_it_stands_between_any_two_tokens(pattern: str) -> None:
    grammar = schema_to_ir(SCHEMA, JsonSchemaOptions(whitespace_pattern=pattern))
    usual = next(gap for gap in GAPS if re.fullmatch(pattern, gap))
    for tokens in VALUES:
        for place, gap in itertools.product(range(1, len(tokens)), GAPS):
            text = usual.join(tokens[:place]) + gap + usual.join(tokens[place:])
            assert accepts_text(grammar, text) == bool(re.fullmatch(pattern, gap)), text
        text = usual.join(tokens)
        assert not accepts_text(grammar, f" {text}")
        assert not accepts_text(grammar, f"{text} ")


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {"type": "array", "contains": {"const": 1}, "items": {"enum": [1, []]}},
        {"type": "array", "prefixItems": [{"const": 1}, {"type": "array"}], "minItems": 1},
        {"type": "array", "uniqueItems": True, "items": {"enum": [1, 2]}},
        {"type": "object", "minProperties": 1, "properties": {"a": {"const": 1}}, "additionalProperties": False},
        {"type": "object", "patternProperties": {"^a": {"type": "array"}}},
    ],
    ids=str,
)
@pytest.mark.parametrize("any_order", [False, True])
def test_in_arrays_and_objects_of_every_kind(schema: Any, any_order: bool) -> None:
    valid = ["[ ]", "[ 1 ]", "[ 1 , [ ] ]", "[ 1 , 2 ]", "[ 2 , 1 ]", "{ }", '{ "a" : 1 }', '{ "a" : [ { } ] }']
    spaced = schema_to_ir(schema, JsonSchemaOptions(whitespace_pattern=" ", any_order=any_order))
    compact = schema_to_ir(schema, JsonSchemaOptions(whitespace_pattern="", any_order=any_order))
    accepted = 0
    for text in valid:
        bare = text.replace(" ", "")
        assert accepts_text(spaced, text) == accepts_text(compact, bare)
        assert not accepts_text(compact, text)
        assert not accepts_text(spaced, bare)
        accepted += accepts_text(compact, bare)
    assert accepted


def test_in_random_schemas() -> None:
    told = Counter[bool]()
    for seed in range(scaled(150)):
        maker = Maker(seed)
        schema = maker.document()
        try:
            compact, spaced = (schema_to_ir(schema, JsonSchemaOptions(**how)) for how in (COMPACT, SPACED))
        except (UnsatisfiableError, UnsupportedSchemaError):
            continue
        for _ in range(15):
            tokens = re.findall(r'"(?:[^"\\]|\\.)*"|[\[\]{}:,]|[^\s\[\]{}:,"]+', plain_text(maker.value(2)))
            is_valid = accepts_text(compact, "".join(tokens))
            assert accepts_text(spaced, " ".join(tokens)) == is_valid, (schema, tokens)
            if len(tokens) > 1:
                assert not accepts_text(spaced, "".join(tokens))
                told[is_valid] += 1
    assert min(told[True], told[False]) > 100


def texts_of(compiled: CompiledGrammar, max_bytes: int) -> Iterator[str]:
    """All outputs of at most so many bytes."""
    matcher = GrammarMatcher(compiled)
    taken = bytearray()

    def onward(least: int) -> bool:
        """Take the next byte from this one on that is allowed."""
        found = next((b for b in range(least, 256) if matcher.accept_token(b)), None)
        if found is not None:
            taken.append(found)
        return found is not None

    least = 0
    while True:
        if len(taken) < max_bytes and onward(least):
            if matcher.is_completed():
                yield taken.decode()
            least = 0
        elif taken:
            least = taken.pop() + 1
            matcher.rollback()
        else:
            return


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_text_is_json_with_that_white_space(pattern: str) -> None:
    compiled = COMPILER.compile_json_schema(SCHEMA, whitespace_pattern=pattern)
    found = set(texts_of(compiled, 11))
    assert found
    for text in found:
        value = json.loads(text)
        assert set(value) <= {"a", "b"}
        gaps = re.split(r'[\[\]{}:,]|"[ab]?"|null', text)
        outer, gaps = (gaps[0], gaps[-1]), gaps[1:-1]
        assert outer == ("", "")
        assert all(re.fullmatch(pattern, gap) for gap in gaps), text
    for tokens in VALUES[:3]:  # what should be among them
        for gaps in itertools.product([gap for gap in GAPS if re.fullmatch(pattern, gap)], repeat=len(tokens) - 1):
            text = "".join(itertools.chain(*zip(tokens, gaps, strict=False), tokens[-1:]))
            assert (text in found) == (len(text) <= 11)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_mask(pattern: str) -> None:
    pieces = [
        "{",
        "}",
        '{"',
        "a",
        '"a',
        '":',
        '": ',
        '":[',
        " [",
        "[ ",
        "[",
        "]",
        "]}",
        ",",
        ", ",
        " ,",
        '"',
        '""',
        '",',
    ]
    vocab = of(*pieces, *[gap for gap in GAPS if gap], "[]", "[ ]", "[\n", '{\n "a"', "null", ":", "b", '"b":null')
    grammar = schema_to_ir(SCHEMA, JsonSchemaOptions(whitespace_pattern=pattern))
    rng = seeded(pattern)
    for _ in range(scaled(3)):
        walk(compile_fresh(grammar, vocab), Language(grammar), vocab, rng, steps=12)


@pytest.mark.parametrize(
    ("pattern", "what"),
    [
        (r"\s?", "U+000B"),
        ("[ x]", "U+0078"),
        ("\u00a0", "U+00A0"),
        ("[ \u3000\u2003]", "U+2003"),
        (r"[^\S\r]", "U+000B"),
        (r"(?!x)[ xy]", "U+0079"),
        (".", "U+0000"),
        (" *" * 1000 + "x", "U+0078"),
        ("(", "not closed"),
        (r"( )\1", "back-reference"),
        (r"[^\s\S]", "matches no text"),
    ],
    ids=lambda text: text[:20],
)
def test_refused_patterns(pattern: str, what: str) -> None:
    with pytest.raises(OptionError, match=re.escape(what)) as caught:
        JsonSchemaOptions(whitespace_pattern=pattern)
    assert caught.value.option == "whitespace_pattern"
    assert caught.value.hint


def test_assertions() -> None:
    check_texts({"type": "array"}, ["[ ]", "[  ]"], ["[]", "[\n]"], whitespace_pattern=r"(?!.*\n)[ \n]+")
    check_texts({"type": "array"}, ["[\n\n]"], ["[ \n]", "[]"], whitespace_pattern=r"(?!.?( {0,9}\n){0,9} )[ \n]{2}")
    with pytest.raises(UnsatisfiableError):
        COMPILER.compile_json_schema({"type": "array"}, whitespace_pattern=r"(?=.*\n) +")


def test_long_runs_are_counted() -> None:
    for pattern in ("[ ]{0,1000000000}", "([ ]{0,1000}\n){0,1000}"):
        grammar = schema_to_ir({"type": "array"}, JsonSchemaOptions(whitespace_pattern=pattern))
        assert accepts_text(grammar, "[]")


def test_each_pattern_has_a_layout_of_its_own() -> None:
    a, b = (layout_of(JsonSchemaOptions(whitespace_pattern=p)) for p in (" ", "\n"))
    assert a is not b
    assert a is layout_of(JsonSchemaOptions(whitespace_pattern=" "))
    compiled = [COMPILER.compile_json_schema({"type": "array"}, whitespace_pattern=p) for p in (" ", "\n", " ")]
    assert compiled[0] is compiled[2]
    assert compiled[0] is not compiled[1]
