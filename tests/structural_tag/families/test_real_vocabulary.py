"""Transcripts of all families token by token on a real vocabulary, with the families' special tokens added to it.

The vocabulary is a `*.tiktoken` file beside the checkout; without one the tests are skipped.
"""

from __future__ import annotations

import base64
import re
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

import maskwright as mw
from corpora import TOKENIZERS
from maskwright.structural_tag import get_model_structural_tag
from oracle.comparing import seeded
from structural_tag.families.transcripts import FAMILIES, OTHERS, TOOLS
from structural_tag.spelling import tokenize

FILES = sorted(TOKENIZERS.glob("*.tiktoken"))
pytestmark = pytest.mark.skipif(not FILES, reason="no *.tiktoken file beside the checkout")

CASES: list[tuple[str, dict[str, Any], str]] = [
    *((name, {"reasoning": "disabled"}, f"It is < 5 °C. See:\n{it.calls(2)}") for name, it in FAMILIES.items()),
    *(
        (name, {"reasoning": "enabled"}, f"Let me see …\n{it.think[1]}\n\n{it.calls()}")
        for name, it in FAMILIES.items()
        if it.think is not None
    ),
    *((name, request, text) for name, request, accepted, _ in OTHERS for text in accepted),
]


def special_names() -> list[str]:
    texts = "".join(text for _, _, text in CASES)
    return sorted(set(re.findall(r"<[|｜][^<>]*[|｜]>|\[/?[A-Z_]+\]", texts)))


@lru_cache
def tokenizer() -> mw.TokenizerInfo:
    lines = [line.split() for line in FILES[0].read_bytes().splitlines()]
    plain = [base64.b64decode(text) for text, _ in sorted(lines, key=lambda line: int(line[1]))]
    special = [*special_names(), "<|stop|>"]
    ids = range(len(plain), len(plain) + len(special))
    tokens = [*plain, *(name.encode() for name in special)]
    return mw.TokenizerInfo.from_vocab(tokens, special_token_ids=ids, stop_token_ids=[ids[-1]])


@lru_cache
def compiler() -> mw.GrammarCompiler:
    return mw.GrammarCompiler(tokenizer())


@pytest.mark.parametrize(("family", "request_", "text"), CASES)
def test_token_by_token(family: str, request_: dict[str, Any], text: str) -> None:
    info = tokenizer()
    compiled = compiler().compile_structural_tag(get_model_structural_tag(family, TOOLS, **request_))
    matcher = mw.GrammarMatcher(compiled)
    bitmask = mw.allocate_token_bitmask(1, info.vocab_size)
    rng = seeded(text)
    for token in tokenize(info, text):
        matcher.fill_next_token_bitmask(bitmask)
        allowed = np.unpackbits(bitmask[0].view(np.uint8), bitorder="little")[: info.vocab_size]
        for other in (token, *rng.sample(range(info.vocab_size), 20), *info.special_token_ids):
            assert bool(allowed[other]) == (matcher.validate_tokens([other]) == 1), (text, other)
        assert matcher.accept_token(token), (text, info.token_bytes[token])
    assert matcher.is_completed()


@pytest.mark.parametrize("family", FAMILIES)
def test_byte_by_byte(family: str) -> None:
    """On a tokenizer without special tokens everything is text."""
    info = tokenizer()
    plain = mw.TokenizerInfo.from_vocab(
        info.token_bytes[: len(info.token_bytes) - len(info.special_token_ids)], stop_token_ids=[0]
    )
    grammar = mw.Grammar.from_structural_tag(
        get_model_structural_tag(family, TOOLS, reasoning="disabled"), tokenizer_info=plain
    )
    matcher = mw.GrammarMatcher(_plain_compiler(plain).compile_grammar(grammar))
    for byte in ("Done. " + FAMILIES[family].calls()).encode():
        assert matcher.accept_string(bytes((byte,)))
    assert matcher.is_completed()


@lru_cache
def _plain_compiler(info: mw.TokenizerInfo) -> mw.GrammarCompiler:
    return mw.GrammarCompiler(info)
