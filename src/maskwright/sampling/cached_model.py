"""A `CausalModel` as a function from all token ids so far to the logits of the next token.

    next_logits = CachedModel(TransformersModel.load(folder))
    next_logits([*prompt_ids, 17])

The model reads only what differs from the call before: its keys and values of the common beginning stay.
Tested by tests/sampling/test_cached_model.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from maskwright.engine.models import CausalModel, Step


class CachedModel:
    """Calls a model in one of its slots. For one thread at a time.

    Args:
        model: The model, such as `maskwright.engine.models.transformers.TransformersModel`.
        slot: The slot to use, which nobody else may.
    """

    def __init__(self, model: CausalModel, slot: int = 0) -> None:
        self._model, self._slot = model, slot
        self._read: list[int] = []
        model.free(slot)

    def empty_prompt(self) -> list[int]:
        """Return the tokens with which texts begin."""
        return self._model.encode("")

    def __call__(self, token_ids: Sequence[int]) -> Any:
        """Return the logits of the next token: (vocab_size,) float32, an array of numpy or a tensor.

        Args:
            token_ids: All tokens so far, at least one.
        """
        kept = 0
        for known, wanted in zip(self._read, token_ids[:-1], strict=False):
            if known != wanted:
                break
            kept += 1
        self._model.truncate(self._slot, kept)
        del self._read[kept:]
        logits = self._model.forward([Step(self._slot, list(token_ids[kept:]))])
        self._read += token_ids[kept:]
        return logits[0]
