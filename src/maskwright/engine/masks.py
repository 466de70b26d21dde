"""The masks of one step: filled beside the model by the kernel's threads, applied to its logits.

    masks.fill(sequences)               on the thread beside, while the model calculates
    masks.apply(logits)                 afterwards

A sequence has a row, or with a draft one more for each drafted token. Rows of outputs without a grammar are left alone.
Tested by tests/engine/test_loop.py.
"""

from __future__ import annotations

import time
from collections.abc import Sequence as Several
from typing import Any

from maskwright.bitmask import allocate_token_bitmask, apply_token_bitmask_inplace
from maskwright.engine.sequence import Sequence
from maskwright.errors import LimitError
from maskwright.matcher import BatchGrammarMatcher, GrammarMatcher


class StepMasks:
    """The bitmask of a loop."""

    def __init__(self, num_slots: int, vocab_size: int) -> None:
        self._vocab_size = vocab_size
        self._bitmask: Any = allocate_token_bitmask(num_slots, vocab_size)
        self._batch: BatchGrammarMatcher | None = None
        self._rows: list[int] = []
        self.failed: list[tuple[Sequence, LimitError]] = []
        self.fill_s = 0.0  # of the last call

    def fill(self, sequences: Several[Sequence]) -> None:
        """Fill the masks of these sequences, in this order. Those that cannot be filled are in `failed`."""
        began = time.perf_counter()
        self._rows, self.failed, self.fill_s = [], [], 0.0
        held: list[Sequence] = []
        firsts: list[int] = []
        num_rows = 0
        for sequence in sequences:
            if sequence.matcher is not None:
                held.append(sequence)
                firsts.append(num_rows)
                self._rows += range(num_rows, num_rows + 1 + len(sequence.draft))
            num_rows += 1 + len(sequence.draft)
        if not held:
            return
        if num_rows > len(self._bitmask):
            self._bitmask = allocate_token_bitmask(num_rows, self._vocab_size)
        self._fill(held, firsts)
        self.fill_s = time.perf_counter() - began
        for sequence in held:
            sequence.timing.mask_us.append(self.fill_s * 1e6 / len(held))

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

    def apply(self, logits: Any) -> None:
        """Mask the logits, (rows, vocab_size), in place."""
        if not self._rows:
            return
        every = len(self._rows) == len(logits)
        apply_token_bitmask_inplace(logits, self._bitmask[: len(logits)], indices=None if every else self._rows)
