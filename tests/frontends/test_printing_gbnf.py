"""Grammars written in GBNF, without intersections and complements, and read again: byte by byte the same is allowed."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

from maskwright import Grammar, GrammarError, LimitError, UnsatisfiableError, allocate_token_bitmask, grammars
from oracle.accepting import INFO, STOP, accepts, matcher

# What llama.cpp's parser knows of characters, names, counts and operators.
_CHARACTER = r"(?:[^\\]|\\(?:[\"\\nrt\[\]]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}))"
_TOKENS = re.compile(
    rf'"(?:(?!["]){_CHARACTER})*"|\[\^?(?:(?![\]]){_CHARACTER}(?:-(?![\]]){_CHARACTER})?)*\]'
    r"|[A-Za-z][A-Za-z0-9-]*(?: ::=)?|\{[0-9]+(?:,[0-9]*)?\}|[|()*+? \n]"
)
BOOLEANS = [
    "root ::= [a-z]+ & ~('if' | 'of')",
    "root ::= ('x' & ~[0-9]* | 'y')* 'z'",
    "root ::= .* & ~('a' | 'ä' | '€x' | '😀')",
    "root ::= [à-üẀ-ỿ😀-😂]{1,3} & ~(.* 'ẅ' .*)",
    "root ::= [^\\^\\-\\]\\[x]+ & ~'[^]'",
    "root ::= 'a' | 'b' nothing | nothing*\nnothing ::= [a-c] & [d-f]",
    "root ::= '(' (root | [a-z]* & ~('a' | 'b')) ')'",
]
SCHEMAS = [
    {"type": "object", "properties": {"name": {"type": "string"}, "näme": {"type": "integer"}}},
    {"type": "object", "properties": {"a": {"pattern": "^[a-f]+$", "maxLength": 4}}, "additionalProperties": False},
    {"type": "string", "format": "date"},
    {"type": "string", "not": {"enum": ["ab", "é\n"]}, "maxLength": 3},
    {"type": "array", "items": {"enum": [1, 2, "x"]}, "uniqueItems": True},
    {"type": "object", "patternProperties": {"^x": {"type": "null"}}, "minProperties": 1, "maxProperties": 2},
    {"$defs": {"t": {"properties": {"t": {"$ref": "#/$defs/t"}}, "additionalProperties": False}}, "$ref": "#/$defs/t"},
]


def same_bytes_all_along(one: Grammar, other: Grammar, seed: int, walks: int = 12, steps: int = 60) -> None:
    """Follow both at random: in each place they allow the same bytes, and may end or not."""
    rng = random.Random(seed)
    bitmask = allocate_token_bitmask(1, INFO.vocab_size)
    for _ in range(walks):
        first, second = matcher(one), matcher(other)
        written = b""
        for _ in range(steps):
            allowed = []
            for each in (first, second):
                each.fill_next_token_bitmask(bitmask)
                bits = np.unpackbits(np.asarray(bitmask).view(np.uint8), bitorder="little")
                allowed.append(np.flatnonzero(bits[: STOP + 1]).tolist())
            assert allowed[0] == allowed[1], written
            choice = rng.choice(allowed[0])
            if choice == STOP:
                break
            written += INFO.token_bytes[choice] or b""
            assert first.accept_token(choice)
            assert second.accept_token(choice)


def check(grammar: Grammar, seed: int = 0) -> str:
    written = grammar.to_gbnf()
    assert _TOKENS.sub("", written) == "", written
    same_bytes_all_along(grammar, Grammar.from_ebnf(written), seed)
    return written


@pytest.mark.parametrize("source", BOOLEANS)
def test_booleans(source: str) -> None:
    check(Grammar.from_ebnf(source))


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_schemas(schema: dict[str, object]) -> None:
    check(Grammar.from_json_schema(schema))
    check(Grammar.from_json_schema(schema, any_order=True))


@pytest.mark.parametrize("name", grammars.NAMES)
def test_ready_grammars(name: str) -> None:
    check(grammars.load(name))


def test_terminals() -> None:
    check(Grammar.from_lark('start: X ("," X)*\nX: Y & ~("b" | "d") & /[^e]*/\nY: "a" | "b" | "cd" | "e"'))


def test_only_texts_are_written_of_a_complement() -> None:
    written = Grammar.from_ebnf("root ::= ~('a' | 'é')").to_gbnf()
    same_bytes_all_along(Grammar.from_ebnf("root ::= .* & ~('a' | 'é')"), Grammar.from_ebnf(written), 0)


def test_each_state_is_a_rule() -> None:
    written = check(Grammar.from_ebnf("root ::= [a-z]+ & ~('a' | 'b')"))
    assert written.splitlines() == [
        "root ::= root-2",
        "root-2 ::= [a-b] root-4 | [c-z] root-3?",
        "root-3 ::= [a-z] root-3?",
        "root-4 ::= [a-z] root-3?",
    ]


def test_names_and_what_does_not_change_the_language() -> None:
    source = 'root ::= a_b _x Root\na_b[capture="n", temperature=0.5] ::= "a"\n_x ::= "x"\nRoot ::= "y"'
    grammar = Grammar.from_ebnf(source)
    written = grammar.to_gbnf()
    assert sorted(written.splitlines()) == ['Root ::= "y"', 'a-b ::= "a"', 'r-x ::= "x"', "root ::= a-b r-x Root"]
    assert accepts(Grammar.from_ebnf(written), "axy")


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("root ::= <think> 'a'", "tokens"),
        ("root ::= a\na[max_tokens=3] ::= [a-z]*", "a token budget (max_tokens)"),
        ("root ::= x=[a-z]+ '-' $x", "text that is repeated"),
        ('root ::= Distinct(x, ",")\nx ::= [a-z]+', "a list of distinct elements"),
    ],
)
def test_what_it_cannot_write(source: str, what: str) -> None:
    with pytest.raises(GrammarError) as info:
        Grammar.from_ebnf(source).to_gbnf()
    assert info.value.message == f"the grammar has {what}, which GBNF cannot write"
    assert info.value.hint == "use EBNF, which Maskwright reads: Grammar.to_ebnf, or --to ebnf"


def test_bytes_that_are_no_characters() -> None:
    with pytest.raises(GrammarError, match="not whole characters"):
        Grammar.from_ebnf('root ::= Byte("80") "a"').to_gbnf()


def test_a_grammar_of_nothing() -> None:
    with pytest.raises(UnsatisfiableError, match="the grammar admits nothing"):
        Grammar.from_ebnf("root ::= 'a' root").to_gbnf()


def test_too_many_states() -> None:
    counted = Grammar.from_regex("(?=.*a.{14}b)[a-d]*")
    with pytest.raises(LimitError, match="too large to print"):
        counted.to_gbnf()
