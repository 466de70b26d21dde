"""Random grammars: in Lark's syntax as Lark's Earley parser reads them, in EBNF as they are after printing."""

from __future__ import annotations

import itertools
import random

import pytest
from random_grammars import ebnf_grammar, lark_grammar

import maskwright
from maskwright import Grammar, GrammarError
from oracle.accepting import COMPILER
from oracle.comparing import scaled, seeded

LARK_TEXTS = ["".join(t) for n in range(4) for t in itertools.product("ab ", repeat=n)]
EBNF_TEXTS = ["".join(t) for n in range(4) for t in itertools.product('ab"\né', repeat=n)] + ["\\", "]", "-", "^", "["]


def language(grammar: Grammar, texts: list[str]) -> list[str]:
    """Those of the texts that are in it."""
    try:
        compiled = COMPILER.compile_grammar(grammar)
    except maskwright.UnsatisfiableError:
        return []
    found = []
    for text in texts:
        matcher, data = maskwright.GrammarMatcher(compiled), list(text.encode())
        if matcher.accept_tokens(data) == len(data) and matcher.is_completed():
            found.append(text)
    return found


def lark_language(source: str, texts: list[str]) -> list[str] | None:
    """The same as Lark sees it; None if it refuses the grammar, as it does where two branches are the same."""
    lark = pytest.importorskip("lark")
    try:
        parser = lark.Lark(source, parser="earley", lexer="dynamic_complete")
    except lark.exceptions.LarkError:
        return None

    def is_parsed(text: str) -> bool:
        try:
            parser.parse(text)
        except lark.exceptions.UnexpectedInput:
            return False
        return True

    return [text for text in texts if is_parsed(text)]


def test_lark_against_lark() -> None:
    compared = 0
    for seed in range(scaled(40)):
        rng = seeded(f"lark {seed}")
        source, texts = lark_grammar(rng), rng.sample(LARK_TEXTS, 20)
        expected = lark_language(source, texts)
        if expected is None:
            continue
        assert language(Grammar.from_lark(source), texts) == expected, source
        compared += 1
    assert compared > scaled(40) / 3


READERS = {
    "ebnf": (Grammar.to_ebnf, Grammar.from_ebnf),
    "lark": (Grammar.to_lark, Grammar.from_lark),
    "regex": (Grammar.to_regex, Grammar.from_regex),
}


@pytest.mark.filterwarnings("ignore::maskwright.GrammarWarning")  # rightly, of some
@pytest.mark.parametrize("notation", READERS)
def test_printed_and_read_again(notation: str) -> None:
    write, read = READERS[notation]
    compared = 0
    for seed in range(scaled(100)):
        rng = seeded(f"printed {seed}")
        source, texts = ebnf_grammar(rng), random.Random(seed).sample(EBNF_TEXTS, 40)
        grammar = Grammar.from_ebnf(source)
        try:
            printed = write(grammar)
        except GrammarError:
            assert notation != "ebnf", source
            continue
        assert language(read(printed), texts) == language(grammar, texts), (source, printed)
        compared += 1
    assert compared > scaled(100) / 8
