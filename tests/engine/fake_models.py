"""Models whose logits are known, to see what a loop asks them and what it makes of the answers."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from maskwright import TokenizerInfo
from maskwright.engine.models import Step

Logits = Callable[[list[int]], np.ndarray]


def with_all_bytes(*tokens: bytes) -> list[bytes]:
    """Tokens, and those of all single bytes that are not among them: a tokenizer that can spell everything."""
    return [*tokens, *(bytes([byte]) for byte in range(256) if bytes([byte]) not in tokens)]


class FakeModel:
    """Calculates the logits of a context with a function; notes what it is asked.

    Tokens are the given ones, encoded longest match first; the last id is the end.
    """

    model_name = "fake"
    has_chat_template = False
    device = None

    def __init__(self, tokens: Sequence[bytes], logits: Logits | None = None, num_slots: int = 4) -> None:
        self.tokens = [*tokens, b"<end>"]
        self.end_id = len(tokens)
        self.tokenizer_info = TokenizerInfo.from_vocab(
            self.tokens, stop_token_ids=[self.end_id], special_token_ids=[self.end_id]
        )
        self.max_model_len, self.num_slots = 512, num_slots
        self.logits = logits or (lambda ids: np.zeros(len(self.tokens)))
        self.slots: list[list[int]] = [[] for _ in range(num_slots)]
        self.asked: list[list[Step]] = []
        self.freed: list[int] = []
        self.truncated: list[tuple[int, int]] = []
        self.before_forward: Callable[[], None] = lambda: None
        self.is_closed = False

    def encode(self, text: str, *, add_special_tokens: bool = True) -> list[int]:
        data, out = text.encode(), list[int]()
        by_length = sorted(range(self.end_id), key=lambda i: -len(self.tokens[i]))
        while data:
            token = next((i for i in by_length if data.startswith(self.tokens[i])), None)
            out += [] if token is None else [token]  # a byte without a token is left out
            data = data[1 if token is None else len(self.tokens[token]) :]
        return out

    def apply_chat_template(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any] | None = None, **options: Any
    ) -> list[int]:
        return self.encode("".join(message["content"] for message in messages))

    def forward(self, steps: Sequence[Step]) -> np.ndarray:
        self.before_forward()
        self.asked.append(list(steps))
        rows = []
        for slot, token_ids, num_logits in steps:
            assert len(token_ids) >= max(1, num_logits)
            for index, token in enumerate(token_ids):
                self.slots[slot].append(token)
                if len(token_ids) - index <= num_logits:
                    rows.append(np.asarray(self.logits(self.slots[slot]), np.float32))
        return np.stack(rows) if rows else np.zeros((0, len(self.tokens)), np.float32)

    def truncate(self, slot: int, length: int) -> None:
        assert length <= len(self.slots[slot])
        self.truncated.append((slot, length))
        del self.slots[slot][length:]

    def free(self, slot: int) -> None:
        self.freed.append(slot)
        self.slots[slot].clear()

    def close(self) -> None:
        self.is_closed = True


def scattered(num_tokens: int) -> Logits:
    """Logits that look random, and depend on all of the context."""

    def logits(ids: list[int]) -> np.ndarray:
        digest = hashlib.sha256(repr(ids).encode()).digest()
        return np.random.default_rng(int.from_bytes(digest[:8], "little")).normal(size=num_tokens) * 3

    return logits


class Gate:
    """Holds a model back until it is opened."""

    def __init__(self) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()

    def __call__(self) -> None:
        self.reached.set()
        assert self.opened.wait(10)
