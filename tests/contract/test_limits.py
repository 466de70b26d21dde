"""Limits reached while matching: the same typed error every time, at once after the first time, and nothing changes."""

from __future__ import annotations

import time

import pytest

import maskwright
from maskwright.ir import Expr, GrammarIR, alt, and_, bytes_in, seq, star
from oracle.comparing import compile_ir
from oracle.grammars import A, B, grammar
from oracle.vocabularies import BYTES
from structural_tag.spelling import vocabulary
from timing import processor_seconds

AB = bytes_in(b"ab")


def letter_before_the_end(letter: Expr) -> Expr:
    """Strings with this letter 18 before the end: 2^18 states, as the last 18 letters must be remembered."""
    return alt(bytes_in(b"wxyz"), seq(star(AB), letter, *[AB] * 18))


def contradiction() -> GrammarIR:
    """After `a` or `b` nothing can follow, which takes longer to find out than the limit allows."""
    return grammar(and_(letter_before_the_end(A), letter_before_the_end(B)))


def refusal_seconds(call: object, *arguments: object) -> float:
    begin = time.process_time()
    with pytest.raises(maskwright.LimitError, match="intersection") as caught:
        call(*arguments)  # type: ignore[operator]
    assert caught.value.limit == "regular_expression_work"
    return time.process_time() - begin


def test_a_search_given_up_is_not_begun_again() -> None:
    compiler = maskwright.GrammarCompiler(BYTES.info())
    matcher = maskwright.GrammarMatcher(compile_ir(contradiction(), compiler))
    bitmask = maskwright.allocate_token_bitmask(3, BYTES.vocab_size)
    first = refusal_seconds(matcher.accept_token, ord("a"))
    again = min(refusal_seconds(matcher.accept_token, ord("a")) for _ in range(3))
    assert again < first / 10
    refusal_seconds(matcher.fill_next_token_bitmask, bitmask)
    assert min(refusal_seconds(matcher.fill_next_token_bitmask, bitmask) for _ in range(3)) < first / 10
    assert matcher.num_accepted_tokens == 0
    assert matcher.accept_token(ord("x"))
    assert matcher.is_completed()


@pytest.mark.parametrize("max_tokens", [1, 14, 24])
def test_a_search_that_had_little_left_is_begun_again(max_tokens: int) -> None:
    """A budget that is looked at quickly leaves few steps: what runs out of them is not too large for others."""
    info = vocabulary(pieces=["\n<", "ab", "</parameter>"])
    strings = {"type": "object", "properties": {"s": {"type": "string", "maxLength": 14}}, "required": ["s"]}
    style = {"type": "json_schema", "style": "qwen_xml", "excludes": ["</function>"], "json_schema": strings}
    compiled = maskwright.GrammarCompiler(info).compile_structural_tag({"format": style})
    with pytest.raises((maskwright.UnsatisfiableError, maskwright.LimitError)):
        maskwright.GrammarMatcher(compiled, max_tokens=max_tokens, budget="quick")
    matcher = maskwright.GrammarMatcher(compiled, max_tokens=100, budget="quick")
    assert matcher.accept_string("<parameter=s>")
    assert matcher.fill_next_token_bitmask(maskwright.allocate_token_bitmask(1, info.vocab_size))


def test_in_a_batch_the_sequence_is_named_and_none_changes() -> None:
    compiler = maskwright.GrammarCompiler(BYTES.info())
    harmless = [maskwright.GrammarMatcher(compiler.compile_regex("[ab]*")) for _ in range(2)]
    matcher = maskwright.GrammarMatcher(compile_ir(contradiction(), compiler))
    batch = maskwright.BatchGrammarMatcher([harmless[0], matcher, harmless[1]])
    bitmask = maskwright.allocate_token_bitmask(3, BYTES.vocab_size)
    bitmask[:] = 0
    calls = (
        lambda: batch.accept_token([ord("a")] * 3),
        lambda: batch.accept_tokens([[ord("a"), ord("b")]] * 3),
        lambda: batch.accept_string(["ab"] * 3),
        lambda: batch.validate_tokens([[ord("a")]] * 3),
        lambda: batch.fill_draft_bitmask([[], [ord("a")], []], maskwright.allocate_token_bitmask(4, BYTES.vocab_size)),
        lambda: batch.fill_next_token_bitmask(bitmask),
    )
    for call in calls:
        with pytest.raises(maskwright.LimitError, match="sequence 1: "):
            call()
        assert [m.num_accepted_tokens for m in batch.matchers] == [0, 0, 0]
    assert bitmask[0].any()
    assert (bitmask[2] == bitmask[0]).all(), "the other rows are written"
    assert batch.accept_token([ord("a"), ord("x"), ord("b")]) == [True, True, True]


def test_a_mask_given_up_is_not_begun_again() -> None:
    doubling = [f"r{i} ::= r{i + 1}? r{i + 1}?" for i in range(60)]
    source = "\n".join(["root ::= r0", *doubling, 'r60 ::= "a"'])
    tokens = [*(bytes((byte,)) for byte in range(256)), b"a" * 40, b"</s>"]
    info = maskwright.TokenizerInfo.from_vocab(tokens, special_token_ids=[257], stop_token_ids=[257])
    matcher = maskwright.GrammarMatcher(maskwright.GrammarCompiler(info).compile_grammar(source))
    bitmask = maskwright.allocate_token_bitmask(1, info.vocab_size)
    for _ in range(2):
        with pytest.raises(maskwright.LimitError, match="ambiguous") as caught:
            matcher.fill_next_token_bitmask(bitmask)
        assert caught.value.limit == "work"

    def ask_again() -> None:
        with pytest.raises(maskwright.LimitError):
            matcher.fill_next_token_bitmask(bitmask)

    assert processor_seconds(ask_again, runs=3) < 0.1
    assert matcher.accept_token(ord("a"))
    assert matcher.num_accepted_tokens == 1
