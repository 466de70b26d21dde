"""What docs/engines/pytorch.md says of mistakes in a loop of one's own."""

from __future__ import annotations

from typing import Any

import pytest

import maskwright as mw
from maskwright.integrations.following import check_width

torch = pytest.importorskip("torch")
LETTERS = mw.TokenizerInfo.from_vocab(
    [b"a", b"b", b"ab", b"</s>", b"<eot>"], special_token_ids=[3, 4], stop_token_ids=[3]
)


def masked(pattern: str, width: int = 5) -> tuple[mw.GrammarMatcher, Any]:
    """A matcher, and logits that it has masked; the likeliest token is 1, b"b"."""
    matcher = mw.GrammarMatcher(mw.GrammarCompiler(LETTERS).compile_regex(pattern))
    bitmask = mw.allocate_token_bitmask(1, LETTERS.vocab_size, library="torch")
    matcher.fill_next_token_bitmask(bitmask)
    logits = torch.arange(width, 0, -1, dtype=torch.float32)[None]
    logits[0, 1] = 9
    mw.apply_token_bitmask_inplace(logits, bitmask)
    return matcher, logits


def test_a_temperature_of_zero_after_the_mask_is_refused_by_pytorch() -> None:
    _, logits = masked("a|ab")
    assert int(logits.argmax()) == 0
    with pytest.raises(RuntimeError, match=r"contains either .inf., .nan. or element"):
        torch.multinomial(torch.softmax(logits / 0, -1), 1)


def test_what_raises_masked_logits_is_noticed() -> None:
    matcher, logits = masked("a|ab")
    logits[0, 1] = 100
    assert not matcher.accept_token(int(logits.argmax()))
    assert matcher.num_accepted_tokens == 0


def test_padding_is_not_allowed() -> None:
    _, logits = masked("a|ab", width=70)
    assert logits.isfinite().nonzero()[:, 1].tolist() == [0, 2]


def test_the_tokenizer_of_another_model() -> None:
    with pytest.raises(mw.BitmaskError, match="3 logits, but the grammar's tokenizer has 5 ids"):
        check_width(3, LETTERS)


def test_a_stop_token_that_was_not_declared() -> None:
    matcher, _ = masked("a")
    assert matcher.accept_token(0)
    assert not matcher.accept_token(4)
    assert matcher.accept_token(3)
    declared = mw.GrammarMatcher(matcher.compiled_grammar, override_stop_tokens=[3, 4])
    assert declared.accept_tokens([0, 4]) == 2
    assert declared.is_terminated()
