"""A cached model gives the logits of one that reads everything anew, and reads only what differs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import maskwright as mw
from maskwright.engine.models import Step
from maskwright.engine.models.embedded import EmbeddedCausalModel
from maskwright.sampling import CachedModel, StructureSampler


class Counting(EmbeddedCausalModel):
    """The embedded model, which counts the tokens that it reads."""

    def __init__(self) -> None:
        super().__init__(num_slots=2)
        self.num_read = 0

    def forward(self, steps: Sequence[Step]) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        self.num_read += sum(len(step.token_ids) for step in steps)
        return super().forward(steps)


@pytest.mark.parametrize(
    ("texts", "num_read"),
    [
        ([[5, 6], [5, 6, 7], [5, 6, 7, 8]], 4),
        ([[5, 6, 7, 8], [5, 9]], 5),
        ([[5, 6], [5, 6]], 3),  # the last token is read again, for its logits
        ([[5, 6, 7], [5]], 4),
        ([[5], [6, 5]], 3),
    ],
)
def test_only_what_differs_is_read(texts: list[list[int]], num_read: int) -> None:
    model = Counting()
    cached = CachedModel(model, slot=1)
    for ids in texts:
        afresh = EmbeddedCausalModel(num_slots=1).forward([Step(0, ids)])[0]
        assert (cached(ids) == afresh).all()
    assert model.num_read == num_read


def test_a_sampler_takes_a_model() -> None:
    model = EmbeddedCausalModel()
    compiled = mw.GrammarCompiler(model.tokenizer_info).compile_regex("(yes|no|perhaps)[.!]")
    prompt = model.encode("Is it?\n")
    cached = StructureSampler(compiled, model, prompt, max_tokens=20, seed=1).sample(20)
    calls = StructureSampler(compiled, lambda ids: _logits(ids), prompt, max_tokens=20, seed=1).sample(20)
    assert cached == calls
    assert StructureSampler(compiled, model, seed=1).sample()[0].text.rstrip(".!") in ("yes", "no", "perhaps")


def _logits(ids: Sequence[int]) -> object:
    return EmbeddedCausalModel().forward([Step(0, ids)])[0]
