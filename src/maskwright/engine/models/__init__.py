"""`CausalModel`: what the loop needs of a model. One module per library implements it.

    logits = model.forward([Step(slot=0, token_ids=[1, 2, 3]), Step(slot=1, token_ids=[7])])

A slot is a sequence that the model remembers. `forward` appends tokens to slots, of any number each, and returns logits
behind the last ones; `truncate` forgets the last tokens of a slot; `free` all of them.
Tested by tests/engine/test_models.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from maskwright.tokenizer import TokenizerInfo


class Step(NamedTuple):
    """Tokens to append to a slot, and behind how many of the last ones logits are wanted, 0 for none."""

    slot: int
    token_ids: Sequence[int]
    num_logits: int = 1


class CausalModel(Protocol):
    """A language model that remembers what it has read. For one thread at a time, `encode` and templates apart."""

    @property
    def model_name(self) -> str: ...

    @property
    def tokenizer_info(self) -> TokenizerInfo: ...

    @property
    def max_model_len(self) -> int: ...

    @property
    def num_slots(self) -> int: ...

    @property
    def has_chat_template(self) -> bool: ...

    @property
    def device(self) -> Any:
        """Where the logits are: None in memory, else a device of torch."""
        ...

    def encode(self, text: str, *, add_special_tokens: bool = True) -> list[int]: ...

    def apply_chat_template(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any] | None = None, **options: Any
    ) -> list[int]: ...

    def forward(self, steps: Sequence[Step]) -> Any:
        """Read tokens, and return the logits that were asked for, one step's after the other.

        Returns:
            (sum of num_logits, vocab_size): a float32 array of numpy, which the caller may change; where `device` is
            not None, a float32 tensor there.
        """
        ...

    def truncate(self, slot: int, length: int) -> None:
        """Keep only the first tokens of a slot."""
        ...

    def free(self, slot: int) -> None:
        """Forget a slot."""
        ...

    def close(self) -> None:
        """Free what the model holds."""
        ...
