"""The masks of one step: filled beside the model by the kernel's threads, applied to its logits row by row.

    masks.fill(sequences)                       on the thread beside, while the model calculates; or at once if
    masks.are_known(sequences)                  all of them were computed before, as copying them takes a microsecond
    allowed = masks.apply(row, index)           afterwards; `allowed` lists the tokens where they are few

A sequence has a row, or with a draft one more for each drafted token. Rows are masked right before they are sampled:
a row of 128,000 logits fits the processor's cache, those of a batch do not. Where few tokens are allowed, the row is
not touched at all. Logits on a GPU are held to the masks there (`device_rows`): `bitmask = masks.send()`.
Tested by tests/engine/test_loop.py.
"""

from __future__ import annotations

import time
from collections.abc import Sequence as Several
from typing import Any

import numpy as np

from maskwright.bitmask import allocate_token_bitmask, apply_token_bitmask_inplace
from maskwright.bitmask.staging import StagedBitmasks
from maskwright.engine.sampling import Ints, Logits
from maskwright.engine.sequence import Sequence
from maskwright.errors import LimitError
from maskwright.matcher import BatchGrammarMatcher, GrammarMatcher

_FEW = 1 / 16  # of the words of a mask: below, the tokens are listed


class StepMasks:
    """The bitmask of a loop.

    Args:
        num_slots: The most outputs.
        vocab_size: Tokens a row.
        device: Where the model's logits are, if not in memory: masks are filled in two page-locked buffers in turn.
    """

    def __init__(self, num_slots: int, vocab_size: int, device: Any = None) -> None:
        self._vocab_size, self._device = vocab_size, device
        self._staged: StagedBitmasks | None = None
        self._bitmask: Any = None
        self._num_rows = 0
        self._make_room(num_slots)
        self._batch: BatchGrammarMatcher | None = None
        self.failed: list[tuple[Sequence, LimitError]] = []
        self.fill_s = 0.0  # of the last call

    @staticmethod
    def are_known(sequences: Several[Sequence]) -> bool:
        """Whether filling the masks of these sequences takes no calculation."""
        return all(each.matcher is None or (not each.draft and each.matcher.mask_is_known()) for each in sequences)

    def fill(self, sequences: Several[Sequence]) -> None:
        """Fill the masks of these sequences, in this order. Those that cannot be filled are in `failed`."""
        began = time.perf_counter()
        self.failed, self.fill_s = [], 0.0
        held: list[Sequence] = []
        firsts: list[int] = []
        num_rows = 0
        free: list[int] = []
        for sequence in sequences:
            if sequence.matcher is not None:
                held.append(sequence)
                firsts.append(num_rows)
            else:
                free.append(num_rows)
            num_rows += 1 + len(sequence.draft)
        self._num_rows = num_rows
        if num_rows > len(self._bitmask):
            self._make_room(num_rows)
        if self._staged is not None:
            self._bitmask = self._staged.host().numpy()
            self._bitmask[free] = -1  # on a device, each row has a mask
        if not held:
            return
        self._fill(held, firsts)
        self.fill_s = time.perf_counter() - began
        for sequence in held:
            sequence.timing.mask_us.append(self.fill_s * 1e6 / len(held))

    def send(self) -> Any:
        """Start to copy the masks to the device, and return them there: (rows, words)."""
        assert self._staged is not None
        return self._staged.send(self._num_rows)

    def _make_room(self, num_rows: int) -> None:
        if self._device is None:
            self._bitmask = allocate_token_bitmask(num_rows, self._vocab_size)
            return
        self._staged = StagedBitmasks(num_rows, self._vocab_size, self._device)
        self._bitmask = self._staged.host().numpy()

    def _fill(self, held: list[Sequence], firsts: list[int]) -> None:
        matchers = tuple(sequence.matcher for sequence in held if sequence.matcher is not None)
        try:
            if any(sequence.draft for sequence in held):
                drafts = [sequence.draft for sequence in held]
                self._batch_of(matchers).fill_draft_bitmask(drafts, self._bitmask, firsts)
            elif len(held) == 1:
                matchers[0].fill_next_token_bitmask(self._bitmask, firsts[0])
            else:
                self._batch_of(matchers).fill_next_token_bitmask(self._bitmask, firsts)
        except LimitError:
            self._fill_one_by_one(held, firsts)

    def _fill_one_by_one(self, held: list[Sequence], firsts: list[int]) -> None:
        """Find out whose mask it is that takes too much work."""
        for sequence, first in zip(held, firsts, strict=True):
            assert sequence.matcher is not None
            try:
                sequence.matcher.fill_draft_bitmask(sequence.draft, self._bitmask, first)
            except LimitError as error:
                self.failed.append((sequence, error))

    def _batch_of(self, matchers: tuple[GrammarMatcher, ...]) -> BatchGrammarMatcher:
        if self._batch is None or self._batch.matchers != matchers:
            self._batch = BatchGrammarMatcher(matchers)
        return self._batch

    def apply(self, row: Logits, index: int) -> Ints | None:
        """Hold a row of logits, (vocab_size,), to the mask of that index.

        Returns:
            The ids of the allowed tokens, in order, if they are few; the logits are unchanged then. Else None, and the
            logits of the others are minus infinity.
        """
        mask = self._bitmask[index]
        if not 0 < np.count_nonzero(mask) < _FEW * mask.size:
            apply_token_bitmask_inplace(row, mask)
            return None
        (words,) = mask.nonzero()
        bits = np.unpackbits(mask[words].view(np.uint8), bitorder="little").reshape(-1, 32)
        word, bit = bits.nonzero()
        ids: Ints = words[word] * 32 + bit
        return ids
