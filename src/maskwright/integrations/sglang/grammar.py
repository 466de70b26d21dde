"""One request's grammar, as SGLang's scheduler and sampler use it.

SGLang keeps one of these for each text that was compiled and copies it for each request. Its batches are filled in one
call into the kernel, whatever requests they hold.

Invariants: what SGLang catches is a ValueError, so an error while an output is generated is one; it ends that request
alone. A grammar whose mask cannot be computed allows its stop tokens only, and says why when the next token comes.
Tested by tests/engines/test_sglang.py.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import torch
from sglang.srt.constrained.base_grammar_backend import BaseGrammarObject, GrammarStats
from sglang.srt.utils.common import is_pin_memory_available

from maskwright import (
    BatchGrammarMatcher,
    CompiledGrammar,
    GrammarMatcher,
    allocate_token_bitmask,
    apply_token_bitmask_inplace,
)
from maskwright.bitmask.only import allow_only
from maskwright.errors import LimitError, MaskwrightError, MatcherError
from maskwright.integrations.budgets import budget_called, matcher_within
from maskwright.integrations.drafting import OutputDrafter
from maskwright.outputs.grammar_drafts import GrammarDrafts


class GenerationError(MatcherError, ValueError):
    """A request cannot go on. SGLang ends it and reports the message."""


class MaskwrightGrammar(BaseGrammarObject):  # type: ignore[misc, unused-ignore]
    """A compiled grammar and the state of one output.

    Args:
        compiled: The grammar.
        key_string: What it was compiled from, for SGLang's logs.
        stats: SGLang's figures.
        matcher: The state; by default the beginning of an output.
    """

    def __init__(
        self,
        compiled: CompiledGrammar,
        key_string: str,
        stats: GrammarStats,
        matcher: GrammarMatcher | None = None,
    ) -> None:
        super().__init__()
        self.compiled = compiled
        self.key_string = key_string
        self.grammar_stats = stats
        self.matcher = GrammarMatcher(compiled) if matcher is None else matcher
        self.failure: LimitError | None = None
        self._num_ignored = 0  # tokens after the stop token
        self._output_ids: list[int] = []
        self._drafter: OutputDrafter | None = None

    def limit(self, max_new_tokens: int) -> None:
        """Start over, and complete the output within so many tokens.

        Raises:
            LimitError: Whether an output fits takes too long to find out.
            UnsatisfiableError: No output has so few tokens.
        """
        with budget_called("max_new_tokens"):
            self.matcher = matcher_within(self.compiled, max(1, max_new_tokens))
        self._output_ids.clear()

    def copy(self) -> MaskwrightGrammar:
        stats = dataclasses.replace(self.grammar_stats, is_cache_hit=True, tree_traversal_time=[])
        twin = MaskwrightGrammar(self.compiled, self.key_string, stats, self.matcher.fork())
        twin._output_ids = list(self._output_ids)
        return twin

    def accept_token(self, token: int) -> None:
        """Go on by one token.

        Raises:
            GenerationError: The grammar does not allow it, or its mask could not be computed.
        """
        if self.matcher.is_terminated():
            self._num_ignored += 1
            return
        self.current_token = token
        try:
            accepted = self.failure is None and self.matcher.accept_token(token)
        except LimitError as error:
            raise GenerationError(error.message, hint=error.hint) from error
        if self.failure is not None:
            raise GenerationError(self.failure.message, hint=self.failure.hint)
        if not accepted:
            raise GenerationError(
                f"token {token} at output position {self.matcher.num_accepted_tokens} is not allowed by the grammar",
                hint="logits processors and logit_bias must leave masked tokens at minus infinity",
            )
        self._output_ids.append(token)
        if self._drafter is not None and self.matcher.is_terminated():
            self._drafter.read(self._output_ids)  # no draft is asked for any more

    def rollback(self, k: int) -> None:
        ignored = min(k, self._num_ignored)
        self._num_ignored -= ignored
        self.matcher.rollback(k - ignored)
        del self._output_ids[len(self._output_ids) - (k - ignored) :]

    def draft(self, drafts: GrammarDrafts) -> list[int]:
        """Return what likely comes next, all allowed: what other outputs went on with, and what the grammar forces."""
        if self.failure is not None or self.matcher.is_terminated():
            return []
        try:
            if self._drafter is None:
                self._drafter = OutputDrafter(drafts, self.compiled)
            self._drafter.read(self._output_ids)
            draft = self._drafter.draft()
            return draft[: self.matcher.validate_tokens(draft)]
        except MaskwrightError:  # too ambiguous: the mask says so
            return []

    def is_terminated(self) -> bool:
        return self.matcher.is_terminated()

    def fill_vocab_mask(self, vocab_mask: torch.Tensor, idx: int) -> None:
        """Write the mask to a row: (rows, ceil(vocab_size / 32)) int32, on the CPU."""
        try:
            self.matcher.fill_next_token_bitmask(vocab_mask, idx)
        except LimitError as error:
            self.failure = error
            allow_only(vocab_mask[idx], self.matcher.stop_token_ids)

    def constrained_by(self) -> MaskwrightGrammar:
        """The grammar whose mask is the whole mask at this token."""
        return self

    @staticmethod
    def fill_vocab_mask_batched(entries: Sequence[Any], vocab_mask: torch.Tensor) -> None:
        fill_rows(entries, vocab_mask)

    def allocate_vocab_mask(self, vocab_size: int, batch_size: int, device: Any) -> torch.Tensor:
        return allocate(vocab_size, batch_size)

    @staticmethod
    def reset_vocab_mask(vocab_mask: torch.Tensor) -> None:
        vocab_mask.fill_(-1)

    @staticmethod
    def move_vocab_mask(vocab_mask: torch.Tensor, device: Any) -> torch.Tensor:
        return vocab_mask.to(device, non_blocking=True)

    @staticmethod
    def apply_vocab_mask(logits: torch.Tensor, vocab_mask: torch.Tensor) -> None:
        apply(logits, vocab_mask)

    def try_jump_forward(self, tokenizer: Any) -> tuple[list[int], str] | None:
        """Return the tokens that must come next, as the model's tokenizer writes them, if there are any."""
        tokens = self.matcher.find_jump_forward_tokens()
        return (tokens, "") if tokens else None

    def jump_forward_str_state(self, helper: tuple[list[int], str]) -> tuple[str, int]:
        return helper[1], -1

    def jump_and_retokenize(
        self, old_output_ids: Sequence[int], new_output_ids: Sequence[int], next_state: int
    ) -> None:
        """Move to an output that was tokenized again.

        Raises:
            GenerationError: The grammar does not allow it.
        """
        common = 0
        for old, new in zip(old_output_ids, new_output_ids, strict=False):
            if old != new:
                break
            common += 1
        self.rollback(len(old_output_ids) - common)
        for token in new_output_ids[common:]:
            self.accept_token(token)

    def __repr__(self) -> str:
        return f"MaskwrightGrammar({self.matcher!r}, {self.key_string!r:.120})"


def fill_rows(entries: Sequence[Any], vocab_mask: torch.Tensor) -> None:
    """Fill the listed rows of a mask, in one call but for those that are still reasoning; others stay as they are."""
    together: list[tuple[MaskwrightGrammar, int]] = []
    for entry in entries:
        grammar = entry.grammar.constrained_by()
        if grammar is None:
            entry.grammar.fill_vocab_mask(vocab_mask, entry.row)
        else:
            together.append((grammar, entry.row))
    if not together:
        return
    try:
        batch = BatchGrammarMatcher([grammar.matcher for grammar, _ in together])
        batch.fill_next_token_bitmask(vocab_mask, [row for _, row in together])
    except LimitError:  # of one of them; the others must not notice
        for grammar, row in together:
            grammar.fill_vocab_mask(vocab_mask, row)


def allocate(vocab_size: int, batch_size: int) -> torch.Tensor:
    """Return a mask that allows everything, page-locked where that makes copies to the device asynchronous."""
    mask: torch.Tensor = allocate_token_bitmask(
        batch_size, vocab_size, library="torch", pin_memory=is_pin_memory_available()
    )
    return mask


def apply(logits: torch.Tensor, vocab_mask: torch.Tensor) -> None:
    """Set the logits of tokens that are not allowed to minus infinity, in place."""
    if logits.device.type == "npu":  # a kernel of SGLang's package for that device, which must be imported already
        torch.ops.npu.apply_token_bitmask(logits, vocab_mask)
    else:
        apply_token_bitmask_inplace(logits, vocab_mask)
