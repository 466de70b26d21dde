"""Once what is sought has come, nothing of the search is left: texts that differ before it end in one configuration."""

from __future__ import annotations

import itertools
import re

import pytest

import maskwright
from maskwright.ir import GrammarIR, Rule, alt, optional, plus, seq, star, text
from maskwright.ir.expressions import ANY_BYTE, byte_range
from oracle.comparing import mask_of, scaled, seeded
from timing import SLOWER, processor_seconds

CHARACTERS = 'ab"x'
TEXTS = [*(bytes([b]) for b in range(256)), b"ab", b"ba", b"bab", b'a"', b'""', b"xab", b"aaa", b"abx"]
STOP = len(TEXTS)
INFO = maskwright.TokenizerInfo.from_vocab([*TEXTS, b"</s>"], stop_token_ids=[STOP])


def places(grammar: maskwright.CompiledGrammar, outputs: list[str]) -> set[int]:
    """The configurations that they end in."""
    matchers = [maskwright.GrammarMatcher(grammar) for _ in outputs]
    for matcher, output in zip(matchers, outputs, strict=True):
        assert matcher.accept_string(output), output
    return {matcher.configuration_id for matcher in matchers}


@pytest.mark.parametrize(
    ("pattern", "found"),
    [("json", "json"), ("a[xy]*b", "axb"), ("[0-9a-f]+", "7"), ("js.*on", "jsxon"), ("aba|b", "ab"), ("éa", "éa")],
)
def test_what_was_found_is_not_sought_again(pattern: str, found: str) -> None:
    """The beginning of the pattern made a state each, and every such state its own mask."""
    grammar = maskwright.GrammarCompiler(INFO).compile_json_schema({"type": "string", "pattern": pattern})
    more = ["", "j", "json", "jso", "a", "ax", "7", "ab", "aba", "xyz", "é", "js", "jsq"]
    assert (
        len(places(grammar, ['"' + before + found + after for before in ("", "x", "j", "ax") for after in more])) == 1
    )


def test_what_is_not_covered_stays() -> None:
    """The last loop takes less than what is sought beside it."""
    grammar = maskwright.GrammarCompiler(INFO).compile_regex(r"[\s\S]*a[^x]*|[\s\S]*ax[\s\S]*b")
    matcher = maskwright.GrammarMatcher(grammar)
    assert matcher.accept_string("bax")
    assert not matcher.is_completed()
    assert matcher.accept_string("ab")
    assert matcher.is_completed()
    assert len(places(grammar, ["a", "ax", "axb"])) == 3


def test_a_loop_that_leads_to_one_over_all_bytes_but_ends_by_itself() -> None:
    everything = star(ANY_BYTE)
    ends_in_x = seq(star(byte_range(ord("b"), 255)), optional(seq(everything, text("x"))))
    body = alt(ends_in_x, seq(everything, text("b")))
    grammar = maskwright.GrammarCompiler(INFO).compile_grammar(maskwright.Grammar(GrammarIR((Rule("root", body),), 0)))
    for output, matches in (("a", False), ("ab", True), ("ax", True), ("x", True), ("xa", False), ("xab", True)):
        matcher = maskwright.GrammarMatcher(grammar)
        assert matcher.accept_string(output), output
        assert matcher.is_completed() == matches, output


# Bytes as Python's re writes them, and the same as expressions.
EVERYTHING = (rb"[\s\S]*", star(ANY_BYTE))
LOOPS = [
    EVERYTHING,
    (rb'[^"]*', star(alt(byte_range(0, 33), byte_range(35, 255)))),
    (rb"[b-\xff]*", star(byte_range(98, 255))),
    (rb"[#-w]+", plus(byte_range(35, 119))),
    (rb"(?:[\s\S]x)*", star(seq(ANY_BYTE, text("x")))),
    (rb'(?:[#-\xff]|"a)*', star(alt(byte_range(35, 255), text('"a')))),
    (rb"(?:[\s\S]*x)?", optional(seq(star(ANY_BYTE), text("x")))),
    (rb"(?:[b-\xff]*a)?", optional(seq(star(byte_range(98, 255)), text("a")))),
]
PIECES = [
    *LOOPS,
    *[(word.encode(), text(word)) for word in ("a", "b", "ab", '"')],
    (rb"[ab]", byte_range(97, 98)),
    (rb"(?:ab)?", optional(text("ab"))),
    (rb"(?:a|bab)", alt(text("a"), text("bab"))),
]


def test_random_patterns() -> None:
    """Against Python's re: texts, and each mask against what is accepted."""
    rng = seeded("covered states")
    outputs = ["".join(letters) for n in range(5) for letters in itertools.product(CHARACTERS, repeat=n)]
    for _ in range(scaled(300)):
        branches = [rng.choices(PIECES, k=rng.randint(1, 4)) for _ in range(rng.randint(1, 3))]
        expected = re.compile(b"|".join(b"".join(piece[0] for piece in branch) for branch in branches))
        body = alt(*[seq(*[piece[1] for piece in branch]) for branch in branches])
        grammar = maskwright.GrammarCompiler(INFO).compile_grammar(
            maskwright.Grammar(GrammarIR((Rule("root", body),), 0))
        )
        for output in rng.sample(outputs, 60):
            matcher = maskwright.GrammarMatcher(grammar)
            matches = matcher.accept_string(output) and matcher.is_completed()
            assert matches == (expected.fullmatch(output.encode()) is not None), (expected.pattern, output)
        matcher = maskwright.GrammarMatcher(grammar)
        for character in rng.choices(CHARACTERS, k=6):
            allowed = mask_of(matcher, INFO.vocab_size)
            assert allowed == {token for token in range(STOP + 1) if matcher.fork().accept_token(token)}
            if not matcher.accept_string(character):
                break


def test_many_loops_cost_no_more_than_some() -> None:
    """To ask each of them for all that it covers took 4 s."""
    schema = {"type": "string", "pattern": r"^(?:\S+\s+){0,129}\S+$", "maxLength": 900}

    def masks() -> None:
        matcher = maskwright.GrammarMatcher(maskwright.GrammarCompiler(INFO).compile_json_schema(schema))
        for character in '"' + "ab " * 120:
            mask_of(matcher, INFO.vocab_size)
            assert matcher.accept_string(character)

    assert processor_seconds(masks) < SLOWER
