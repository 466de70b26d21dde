"""The embedded n-gram model (`maskwright.lm`) as a `CausalModel`: starts anywhere, in half a second.

Tested by tests/engine/test_models.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from maskwright.engine.models import Step
from maskwright.lm import EmbeddedModel, load_embedded_model
from maskwright.tokenizer import TokenizerInfo

_MAX_MODEL_LEN = 1 << 24


class EmbeddedCausalModel:
    """Remembers token ids only: the n-grams look at the last few."""

    model_name = "embedded"
    has_chat_template = False
    device = None

    def __init__(
        self, model: EmbeddedModel | None = None, *, num_slots: int = 16, max_model_len: int | None = None
    ) -> None:
        self._model = model or load_embedded_model()
        self.num_slots = num_slots
        self.max_model_len = max_model_len or _MAX_MODEL_LEN
        self.tokenizer_info: TokenizerInfo = self._model.tokenizer_info
        self._ids: list[list[int]] = [[] for _ in range(num_slots)]

    def encode(self, text: str, *, add_special_tokens: bool = True) -> list[int]:
        """Return the tokens of a text; that of the empty one is the end of the text before."""
        ids = self._model.encode(text)
        return ids or ([self._model.end_id] if add_special_tokens else [])

    def apply_chat_template(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any] | None = None, **options: Any
    ) -> list[int]:
        """Return the tokens of what was said, a line each: the model knows no roles."""
        return self.encode("".join(f"{_text(message.get('content'))}\n" for message in messages))

    def forward(self, steps: Sequence[Step]) -> npt.NDArray[np.float32]:
        out = []
        for slot, token_ids, num_logits in steps:
            ids = self._ids[slot]
            for left, token in zip(range(len(token_ids) - 1, -1, -1), token_ids, strict=True):
                ids.append(token)
                if left < num_logits:
                    out.append(self._model.logits(ids[1:] if ids[0] == self._model.end_id else ids))
        return np.stack(out) if out else np.zeros((0, self._model.vocab_size), np.float32)

    def truncate(self, slot: int, length: int) -> None:
        del self._ids[slot][length:]

    def free(self, slot: int) -> None:
        self._ids[slot].clear()

    def close(self) -> None:
        self._ids.clear()


def _text(content: Any) -> str:
    """The text of a message, which may come in parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(str(part.get("text") or "") for part in parts if isinstance(part, Mapping))
