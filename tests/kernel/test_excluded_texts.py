"""What a lookahead excludes has failed once it has come, whatever follows: no way to the end need be searched for."""

from __future__ import annotations

import json
import random
import re

import pytest

import maskwright
from maskwright.ir import GrammarIR, Rule, optional, seq, star, text
from maskwright.ir.expressions import ANY_BYTE
from oracle.comparing import mask_of, scaled, seeded
from timing import SLOWER, processor_seconds

PATTERNS = {
    "a host name": r"^(?!.*://)(?=.{1,255}$)((.{1,63}\.){1,127}(?![0-9]*$)[a-z0-9-]+\.?)$",
    "counts in counts": r"^(?!.*://)([^.]{1,63}\.){1,127}[a-z0-9-]+$",
    "overlapping labels": r"^(?!.*\.\.)([a-z0-9.-]{1,63}\.){1,20}[a-z0-9-]+$",
    "two excluded texts": r"^(?!.*(:/|--))[^x]{2,9}$",
    "some character": r"^(?!a)(?!.*9$).{0,12}[a-z/]$",
    "a line": r"^(?!.*a)[a:\n]*$",
}
SCHEMAS = {
    **{name: {"type": "string", "pattern": pattern} for name, pattern in PATTERNS.items()},
    "not": {"type": "string", "not": {"pattern": "a:|//"}, "maxLength": 9},
    "one of": {"type": "string", "oneOf": [{"pattern": "a:"}, {"pattern": "//"}, {"pattern": "-9"}]},
    "neither": {"type": "string", "pattern": "9", "not": {"anyOf": [{"pattern": "^a"}, {"pattern": r"\."}]}},
}
CHARACTERS = "a9-.:/x\n\té"
TEXTS = [*(bytes([b]) for b in range(256)), b"://", b"a.", b"..", b"a9", b"--", b'a"', "é/".encode(), b"\\n", b":/"]
STOP = len(TEXTS)
INFO = maskwright.TokenizerInfo.from_vocab([*TEXTS, b"</s>"], stop_token_ids=[STOP], special_token_ids=[STOP])


def check_masks(matcher: maskwright.GrammarMatcher, output: bytes) -> None:
    """The mask before each byte has just the tokens that are accepted, and never none."""
    for byte in output:
        allowed = mask_of(matcher, INFO.vocab_size)
        assert allowed
        assert allowed == {token for token in range(STOP + 1) if matcher.fork().accept_token(token)}
        if not matcher.accept_bytes(bytes((byte,))):
            return


def drawn(rng: random.Random) -> str:
    return "".join(rng.choices(CHARACTERS, k=rng.randrange(12)))


@pytest.mark.parametrize("name", PATTERNS)
def test_texts(name: str) -> None:
    grammar = maskwright.GrammarCompiler(INFO).compile_regex(PATTERNS[name])
    rng = seeded(name)
    for _ in range(scaled(200)):
        text = drawn(rng)
        # At the end of a text, Python's $ holds before a line feed, too.
        expected = re.fullmatch(PATTERNS[name].replace("$", r"\Z"), text) is not None
        matcher = maskwright.GrammarMatcher(grammar)
        assert (matcher.accept_string(text) and matcher.is_completed()) == expected, text
    for _ in range(scaled(10)):
        check_masks(maskwright.GrammarMatcher(grammar), drawn(rng).encode())


@pytest.mark.parametrize("name", SCHEMAS)
def test_strings(name: str) -> None:
    grammar = maskwright.GrammarCompiler(INFO).compile_json_schema(SCHEMAS[name])
    validator = pytest.importorskip("jsonschema").Draft202012Validator(SCHEMAS[name])
    rng = seeded(name)
    for _ in range(scaled(200)):
        text = drawn(rng)
        matcher = maskwright.GrammarMatcher(grammar)
        if "\n" not in text:  # Python's . and $ differ there from ECMAScript's
            given = json.dumps(text, ensure_ascii=rng.random() < 0.5)
            assert (matcher.accept_string(given) and matcher.is_completed()) == validator.is_valid(text), text
    for _ in range(scaled(10)):
        check_masks(maskwright.GrammarMatcher(grammar), json.dumps(drawn(rng), ensure_ascii=False).encode())


@pytest.mark.parametrize("name", ["a host name", "counts in counts", "overlapping labels"])
def test_first_masks_take_no_search(name: str) -> None:
    """They took up to 1.2 s, and ended in a LimitError."""

    def first_masks() -> None:
        matcher = maskwright.GrammarMatcher(maskwright.GrammarCompiler(INFO).compile_json_schema(SCHEMAS[name]))
        for byte in b'"www.a9':
            mask_of(matcher, INFO.vocab_size)
            assert matcher.accept_bytes(bytes((byte,)))

    assert processor_seconds(first_masks) < SLOWER


def test_many_open_ends_in_a_row() -> None:
    """To look from each of them for the end was quadratic: 12 s."""
    parts = [seq(star(ANY_BYTE), optional(text("ab"))) for _ in range(16_000)]
    grammar = maskwright.Grammar(GrammarIR((Rule("root", seq(*parts)),), 0))

    def first_mask() -> None:
        matcher = maskwright.GrammarMatcher(maskwright.GrammarCompiler(INFO).compile_grammar(grammar))
        assert len(mask_of(matcher, INFO.vocab_size)) == STOP + 1

    assert processor_seconds(first_mask) < SLOWER
