"""Engines by name."""

from __future__ import annotations

import pytest

from maskwright import GrammarCompiler
from maskwright.engine import Request, SamplingParams, complete, load_engine
from maskwright.errors import ArgumentError


def test_the_embedded_model_is_loaded_by_default() -> None:
    with load_engine() as engine:
        assert engine.model_name == "embedded"
        grammar = GrammarCompiler(engine.tokenizer_info).compile_choices(["yes", "no"])
        asked = Request(engine.encode("Is it? "), SamplingParams(seed=1), grammar=grammar)
        assert complete(engine, asked).text in ("yes", "no")


def test_a_name_is_a_text() -> None:
    with pytest.raises(ArgumentError, match="name"):
        load_engine(3)  # type: ignore[arg-type]
