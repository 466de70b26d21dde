"""The contract, lines 1 to 6: masks, history, refusals, rollback and fork, recognition, bytes.

Each test names the line it pins. tests/exhaustive holds the same lines against the oracle for thousands of grammars;
here are the plain cases, the ones with a clock, and the ones with real vocabularies.
"""

from __future__ import annotations

import base64
import random
import time

import numpy as np
import pytest

import maskwright
from corpora import LLAMA3
from maskwright.ir import EMPTY, GrammarIR, alt, literal, ref, repeat, seq, star, text, tokens
from oracle.comparing import compile_fresh, mask_of
from oracle.grammars import A, B, grammar
from oracle.vocabularies import BYTES, SMALL, Vocab, of
from timing import processor_seconds

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 20},
        "tags": {"type": "array", "items": {"enum": ["new", "news", "old"]}, "maxItems": 3},
        "next": {"$ref": "#"},
    },
    "required": ["name"],
    "additionalProperties": False,
}
STRANGE_IDS = (-1, -(2**31), 2**31 - 1, 2**31, 2**32, -(2**63), 2**63, 2**64 + 1, 10**30)


def a_matcher(g: GrammarIR, vocab: Vocab = SMALL) -> maskwright.GrammarMatcher:
    return maskwright.GrammarMatcher(compile_fresh(g, vocab))


def schema_matcher() -> maskwright.GrammarMatcher:
    compiled = maskwright.GrammarCompiler(BYTES.info()).compile_json_schema(SCHEMA)
    return maskwright.GrammarMatcher(compiled)


def accepted_ids(matcher: maskwright.GrammarMatcher, vocab_size: int) -> set[int]:
    return {t for t in range(vocab_size) if matcher.fork().accept_token(t)}


def random_output(matcher: maskwright.GrammarMatcher, vocab: Vocab, rng: random.Random, length: int) -> list[int]:
    """Accept up to `length` random allowed tokens that do not end the output."""
    out = []
    for _ in range(length):
        allowed = sorted(mask_of(matcher, vocab.vocab_size) - set(vocab.stop))
        if not allowed:
            break
        out.append(rng.choice(allowed))
        assert matcher.accept_token(out[-1])
    return out


def test_1_mask_iff_accept_on_a_schema() -> None:
    rng = random.Random(1)
    for _ in range(20):
        matcher = schema_matcher()
        random_output(matcher, BYTES, rng, rng.randrange(30))
        assert mask_of(matcher, BYTES.vocab_size) == accepted_ids(matcher, BYTES.vocab_size)


def test_1_every_output_can_be_completed() -> None:
    """No dead ends: from anywhere, allowed tokens lead to an end (here by the least one that gets on)."""
    rng = random.Random(2)
    for _ in range(10):
        matcher = schema_matcher()
        random_output(matcher, BYTES, rng, 25)
        for _ in range(2_000):
            allowed = mask_of(matcher, BYTES.vocab_size)
            assert allowed
            if BYTES.stop[0] in allowed:
                break
            closing = [t for c in (b'"', b"}", b"]", b",", b":") for t in (ord(c),) if t in allowed]
            assert matcher.accept_token(
                (closing or sorted(allowed))[0] if rng.random() < 0.7 else rng.choice([*allowed])
            )
        else:
            pytest.fail("2,000 tokens and no end")


def test_1_states_without_an_end_are_trimmed() -> None:
    a, b = SMALL.token_bytes.index(b"a"), SMALL.token_bytes.index(b"b")
    assert mask_of(a_matcher(grammar(alt(seq(A, ref(1)), B), seq(A, ref(1)))), SMALL.vocab_size) == {b}
    only_a = mask_of(a_matcher(grammar(alt(seq(B, ref(1)), A), alt(seq(ref(1), A), seq(B, ref(1))))), SMALL.vocab_size)
    assert only_a == {a}


def test_1_a_grammar_without_an_output_is_refused() -> None:
    for g in (grammar(seq(A, ref(0))), grammar(ref(0)), grammar(seq(A, ref(1)), alt(ref(1), seq(ref(1), ref(1))))):
        with pytest.raises(maskwright.UnsatisfiableError):
            compile_fresh(g, SMALL)


@pytest.mark.skipif(not LLAMA3.exists(), reason="the shared tokenizer files are not here")
def test_1_mask_iff_accept_on_llama3() -> None:
    """All 128,256 ids, at a few random states of a schema."""
    lines = LLAMA3.read_bytes().splitlines()
    ranks = {int(rank): base64.b64decode(token) for token, rank in map(bytes.split, lines)}
    tokens_by_id = [ranks[i] for i in range(len(ranks))] + [b"<|end_of_text|>"]
    stop = [len(ranks)]
    info = maskwright.TokenizerInfo.from_vocab(
        tokens_by_id, special_token_ids=stop, stop_token_ids=stop, vocab_size=128_256
    )
    compiled = maskwright.GrammarCompiler(info).compile_json_schema(SCHEMA)
    matcher = maskwright.GrammarMatcher(compiled)
    vocab_size = info.vocab_size
    rng = random.Random(3)
    for _ in range(4):
        assert mask_of(matcher, vocab_size) == accepted_ids(matcher, vocab_size)
        allowed = sorted(mask_of(matcher, vocab_size) - set(info.stop_token_ids))
        for _ in range(3):
            if allowed:
                assert matcher.accept_token(rng.choice(allowed))
            allowed = sorted(mask_of(matcher, vocab_size) - set(info.stop_token_ids))


def test_2_mask_after_fill_rollback_and_another_branch() -> None:
    """Fill, roll back, take the other branch, fill: a mask kept by position would be stale."""
    matcher = a_matcher(grammar(alt(seq(text("aa"), text("ab")), seq(text("ba"), text("bb")))))
    fresh = {}
    for branch in (b"aa", b"ba"):
        other = a_matcher(grammar(alt(seq(text("aa"), text("ab")), seq(text("ba"), text("bb")))))
        assert other.accept_token(SMALL.token_bytes.index(branch))
        fresh[branch] = mask_of(other, SMALL.vocab_size)
    for branch in (b"aa", b"ba", b"aa"):
        assert matcher.accept_token(SMALL.token_bytes.index(branch))
        assert mask_of(matcher, SMALL.vocab_size) == fresh[branch]
        matcher.rollback(1)
    assert fresh[b"aa"] != fresh[b"ba"]


def test_2_fill_changes_nothing() -> None:
    matcher, silent = schema_matcher(), schema_matcher()
    rng = random.Random(4)
    for token in random_output(matcher.fork(), BYTES, rng, 30):
        for _ in range(3):
            mask_of(matcher, BYTES.vocab_size)
        assert matcher.accept_token(token)
        assert silent.accept_token(token)
    assert mask_of(matcher, BYTES.vocab_size) == mask_of(silent, BYTES.vocab_size)


def test_2_thread_count_and_cache_setting_do_not_matter() -> None:
    outputs = []
    for options in ({"max_threads": 1}, {"max_threads": 2}, {"cache_enabled": False}):
        compiler = maskwright.GrammarCompiler(BYTES.info(), **options)
        masks = []
        for _ in range(2):
            matcher = maskwright.GrammarMatcher(compiler.compile_json_schema(SCHEMA))
            for token in (ord("{"), ord('"')):
                masks.append(mask_of(matcher, BYTES.vocab_size))
                assert matcher.accept_token(token)
        outputs.append(masks)
    assert outputs[0] == outputs[1] == outputs[2]


@pytest.mark.parametrize("token", STRANGE_IDS)
def test_3_any_int_is_answered(token: int) -> None:
    matcher = a_matcher(grammar(star(A)))
    before = mask_of(matcher, SMALL.vocab_size)
    assert matcher.accept_token(token) is False
    assert matcher.accept_tokens([token, 0]) == 0
    assert matcher.accept_tokens([0, token, 0]) == 1
    assert matcher.validate_tokens([0, token]) == 1
    matcher.rollback(1)
    assert matcher.num_accepted_tokens == 0
    assert mask_of(matcher, SMALL.vocab_size) == before


def test_3_padding_and_empty_tokens_are_never_allowed() -> None:
    matcher = a_matcher(grammar(star(alt(A, B, literal(b"c")))))
    allowed = mask_of(matcher, SMALL.vocab_size)
    for token in (*range(len(SMALL.token_bytes), SMALL.vocab_size), SMALL.token_bytes.index(b"")):
        assert token not in allowed
        assert matcher.accept_token(token) is False
    assert matcher.num_accepted_tokens == 0


def test_3_after_the_end_nothing_is_accepted() -> None:
    matcher = a_matcher(grammar(star(A)))
    assert matcher.accept_token(SMALL.stop[0])
    assert matcher.is_terminated()
    for token in (*range(SMALL.vocab_size), *STRANGE_IDS):
        assert matcher.accept_token(token) is False
    assert matcher.accept_string("a") is False
    assert matcher.accept_tokens([0]) == 0
    assert matcher.validate_tokens([0]) == 0
    assert matcher.find_jump_forward_string() == ""
    assert mask_of(matcher, SMALL.vocab_size) == set()
    matcher.rollback(1)
    assert not matcher.is_terminated()
    assert matcher.accept_token(0)


def test_3_a_refused_string_changes_nothing() -> None:
    matcher = a_matcher(grammar(text("aab")))
    before = mask_of(matcher, SMALL.vocab_size)
    assert matcher.accept_string("aac") is False
    assert matcher.accept_string(b"aa\xff") is False
    assert mask_of(matcher, SMALL.vocab_size) == before
    assert matcher.accept_string(b"aa")
    assert matcher.accept_string("b")
    assert matcher.is_completed()


def test_4_rollback_and_fork_do_not_depend_on_the_history() -> None:
    matcher = a_matcher(grammar(star(alt(seq(A, ref(1)), B)), alt(seq(A, ref(1), B), B)))
    a = SMALL.token_bytes.index(b"a")

    def rollback_and_fork() -> None:
        for _ in range(50):
            assert matcher.accept_token(a)
            matcher.rollback(1)
            matcher.fork()

    short = processor_seconds(rollback_and_fork, runs=20)
    assert matcher.accept_tokens([a] * 200_000) == 200_000
    long = processor_seconds(rollback_and_fork, runs=20)
    assert long < 20 * short, (short, long)


def test_4_rolling_back_everything_is_a_fresh_matcher() -> None:
    matcher = schema_matcher()
    before = mask_of(matcher, BYTES.vocab_size)
    count = len(random_output(matcher, BYTES, random.Random(5), 40))
    matcher.rollback(count)
    assert matcher.num_accepted_tokens == 0
    assert mask_of(matcher, BYTES.vocab_size) == before


def test_4_forks_are_independent() -> None:
    matcher = a_matcher(grammar(star(alt(A, B))))
    fork = matcher.fork()
    assert fork.accept_tokens([0, 1, 0]) == 3
    assert (matcher.num_accepted_tokens, fork.num_accepted_tokens) == (0, 3)
    assert matcher.accept_token(1)
    fork.rollback(3)
    assert (matcher.num_accepted_tokens, fork.num_accepted_tokens) == (1, 0)


@pytest.mark.parametrize(
    ("g", "output"),
    [
        (grammar(alt(seq(ref(0), ref(0)), A)), b"a" * 300),
        (grammar(alt(seq(ref(0), ref(0), ref(0)), seq(ref(0), ref(0)), A, EMPTY)), b"a" * 200),
        (grammar(alt(seq(A, ref(0), A), A)), b"a" * 301),
        (grammar(alt(seq(A, ref(0)), seq(ref(0), A), A)), b"a" * 300),
        (grammar(star(star(star(alt(A, literal(b"aa"), seq(A, star(A))))))), b"a" * 2_000),
        (grammar(repeat(repeat(alt(A, literal(b"aa")), 1, 40), 1, 40)), b"a" * 1_000),
    ],
    ids=["doubling", "tripling", "palindromes", "both sides", "towers of stars", "counts of counts"],
)
def test_5_ambiguity_is_polynomial(g: GrammarIR, output: bytes) -> None:
    matcher = a_matcher(g)
    a = SMALL.token_bytes.index(b"a")
    start = time.thread_time()
    for _ in output:
        assert matcher.accept_token(a)
    mask_of(matcher, SMALL.vocab_size)
    assert time.thread_time() - start < 20
    assert matcher.is_completed()


def test_6_a_token_may_cross_everything() -> None:
    vocab = of('{"a":[1,{"b', '":2}', "]", "}", b'"\xc3', b'\xa9"', '"')
    matcher = maskwright.GrammarMatcher(
        maskwright.GrammarCompiler(vocab.info()).compile_json_schema({"type": "object"})
    )
    for token in (0, 1, 2, 3):
        assert token in mask_of(matcher, vocab.vocab_size)
        assert matcher.accept_token(token)
    assert matcher.is_completed()


def test_6_half_characters() -> None:
    vocab = of(b'"\xc3', b'\xa9"', b'\xff"', b"\xa9", '"')
    matcher = maskwright.GrammarMatcher(
        maskwright.GrammarCompiler(vocab.info()).compile_json_schema({"type": "string"})
    )
    assert matcher.accept_token(0)
    assert matcher.find_jump_forward_string() == ""
    assert mask_of(matcher, vocab.vocab_size) == {1, 3}
    assert matcher.accept_token(1)
    assert matcher.is_completed()


def test_6_special_tokens_match_only_token_edges() -> None:
    special = SMALL.special[0]  # its text is <x>
    by_text = a_matcher(grammar(text("<x>")), of("<", "x", ">", special=(b"<x>",)))
    assert mask_of(by_text, 8) == {0}
    by_edge = a_matcher(grammar(seq(tokens([special]), A)))
    assert mask_of(by_edge, SMALL.vocab_size) == {special}
    assert by_edge.find_jump_forward_string() == ""
    assert not by_edge.accept_string("<x>")
    assert by_edge.accept_token(special)
    assert by_edge.find_jump_forward_string() == "a"


def test_stop_tokens_can_be_overridden() -> None:
    compiled = compile_fresh(grammar(A), SMALL)
    matcher = maskwright.GrammarMatcher(compiled, override_stop_tokens=[SMALL.special[0]])
    assert matcher.accept_token(0)
    assert mask_of(matcher, SMALL.vocab_size) == {SMALL.special[0]}
    assert not matcher.accept_token(SMALL.stop[0])
    assert matcher.accept_token(SMALL.special[0])
    assert matcher.is_terminated()


def test_terminate_without_stop_token() -> None:
    matcher = maskwright.GrammarMatcher(compile_fresh(grammar(text("ab")), SMALL), terminate_without_stop_token=True)
    assert matcher.accept_token(0)
    assert not matcher.is_terminated()
    assert matcher.accept_token(1)
    assert matcher.is_terminated()


def test_without_a_stop_token_a_loop_is_warned_that_it_does_not_end() -> None:
    compiled = compile_fresh(grammar(text("ab")), Vocab((b"a", b"b"), special=(), stop=(), vocab_size=2))
    with pytest.warns(UserWarning, match="no stop token") as caught:
        matcher = maskwright.GrammarMatcher(compiled)
    assert caught[0].filename == __file__
    assert matcher.accept_tokens([0, 1]) == 2
    assert matcher.is_completed()
    assert not matcher.is_terminated()
    ends = maskwright.GrammarMatcher(compiled, terminate_without_stop_token=True)
    assert ends.accept_tokens([0, 1]) == 2
    assert ends.is_terminated()
    for stops in ([], [1]):
        maskwright.GrammarMatcher(compiled, override_stop_tokens=stops)


def test_fill_says_when_all_is_allowed() -> None:
    """False means that the mask need not be applied; the row is right all the same."""
    vocab = Vocab((b"a", b"b", b"ab"), special=(), stop=(), vocab_size=3)
    matcher = maskwright.GrammarMatcher(compile_fresh(grammar(star(alt(A, B))), vocab), override_stop_tokens=[])
    bitmask = maskwright.allocate_token_bitmask(1, 3)
    assert bitmask.dtype == np.int32
    assert matcher.fill_next_token_bitmask(bitmask) is False
    assert bitmask[0, 0] & 0b111 == 0b111
