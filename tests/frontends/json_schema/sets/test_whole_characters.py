"""Whether all texts of a grammar are UTF-8: where parts of characters lie in several rules, and by all short texts."""

from __future__ import annotations

import itertools

import pytest

from maskwright.frontends.ebnf import ebnf_to_ir
from maskwright.frontends.json_schema.sets.whole_characters import are_whole
from maskwright.ir import GrammarIR
from maskwright.ir.subgrammars import spelled_out
from oracle.comparing import scaled, seeded
from oracle.grammars import random_grammar
from oracle.recognizer import matches


@pytest.mark.parametrize(
    ("source", "whole"),
    [
        ('root ::= "é" | [^a]', True),
        ('root ::= Byte("c3") Byte("a9")', True),
        ('root ::= Byte("c3") tail\ntail ::= Byte("a9") | Byte("80") root', True),
        ('root ::= (Byte("c3") Byte("80-bf"))* "a"', True),
        ('root ::= Byte("e0") Byte("a0-bf") Byte("80-bf") | Byte("f4") Byte("80-8f") Byte("80-bf"){2}', True),
        ('root ::= "<" t=[^<>]+ ">" $t', True),
        ('root ::= ~"é" "a" | ~("a" | Byte("80"))', True),
        ('root ::= Distinct(item, ", ")\nitem ::= [^,]+', True),
        ('root ::= Byte("80-bf")', False),
        ('root ::= "a" | Byte("80-bf") root', False),
        ('root ::= "a" Byte("c3")', False),
        ('root ::= Byte("c3") tail\ntail ::= Byte("a9") | "a"', False),
        ('root ::= Byte("e0") Byte("80-bf"){2}', False),
        ('root ::= Byte("ed") Byte("a0") Byte("80")', False),
        ('root ::= Byte("c3") Byte("80-bf"){1,2}', False),
        ('root ::= "a" ("b" Byte("c3"))*', False),
        ('root ::= Byte("ff")?', False),
    ],
)
def test_whole_characters(source: str, whole: bool) -> None:
    assert are_whole(spelled_out(ebnf_to_ir(source))) == whole


def is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def short_texts(grammar: GrammarIR) -> list[bytes]:
    every = (bytes(text) for n in range(4) for text in itertools.product(b"ab\xc3\xa9\xaa", repeat=n))
    return [text for text in every if matches(grammar, text)]


def test_random_grammars() -> None:
    """What is said to be whole has no other text."""
    rng = seeded("whole characters")
    seen = {True: 0, False: 0}
    for _ in range(scaled(200)):
        grammar = spelled_out(random_grammar(rng))
        whole = are_whole(grammar)
        seen[whole] += 1
        if whole and "~" not in grammar.dump():  # a complement stands for whole characters, but only once escaped
            assert all(map(is_text, short_texts(grammar))), grammar.dump()
    assert min(seen.values()) > scaled(20)
