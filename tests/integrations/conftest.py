"""A tiny model and tokenizer, built on the spot: nothing is downloaded."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright import TokenizerInfo
from small_models import PADDED_VOCAB_SIZE, make_model, make_tokenizer


@pytest.fixture(scope="session")
def tokenizer() -> Any:
    pytest.importorskip("transformers")
    return make_tokenizer()


@pytest.fixture(scope="session")
def info(tokenizer: Any) -> TokenizerInfo:
    return TokenizerInfo.from_huggingface(tokenizer, vocab_size=PADDED_VOCAB_SIZE)


@pytest.fixture(scope="session", params=["gpt2", "llama"])
def model(request: pytest.FixtureRequest, tokenizer: Any) -> Any:
    """Random weights, and an output layer wider than the tokenizer."""
    pytest.importorskip("torch")
    return make_model(request.param, tokenizer)
