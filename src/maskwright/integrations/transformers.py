"""Hugging Face transformers: a batched `LogitsProcessor`.

    info = TokenizerInfo.from_huggingface(tokenizer, vocab_size=model.config.vocab_size)
    compiled = GrammarCompiler(info).compile_regex("[0-9]+")
    model.generate(**inputs, logits_processor=LogitsProcessorList([GrammarLogitsProcessor(compiled)]))

The processor gets only the token ids so far and the scores. The first call fixes the length of the prompt; each
later one hands every row's new tokens to that row's matcher. A row whose past changed (beam search reorders rows,
assisted decoding takes tokens back) is rolled back to the common part and replayed. After its stop token a row may
only repeat stop or pad tokens.

Invariants: one instance serves any number of `generate` calls, one after the other; the scores are changed in place.
Cost: per step one comparison of the ids, one mask a row, and one copy of the bitmask if the scores are on a GPU.
Tested by tests/integrations/test_transformers.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from transformers import LogitsProcessor

from maskwright import (
    CompiledGrammar,
    GrammarMatcher,
    allocate_token_bitmask,
    apply_token_bitmask_inplace,
)
from maskwright.arguments import as_integer
from maskwright.compiler import checked_compiled
from maskwright.errors import BitmaskError, MatcherError, OptionError, wrong_argument


class GrammarLogitsProcessor(LogitsProcessor):  # type: ignore[misc, unused-ignore]
    """Hold every row of a batch to its grammar.

    Args:
        compiled: one grammar for all rows, or one for each prompt; with several beams or returned sequences a prompt,
            each grammar serves that many neighbouring rows. All must be compiled for the same tokenizer.
        pad_token_id: what `generate` puts after a row's end, if it is not a stop token.
        make_matcher: makes a row's matcher; `lambda compiled: GrammarMatcher(compiled, max_tokens=n)` makes sure that
            outputs are complete in `max_new_tokens=n + 1`, the last being a stop token.
    """

    def __init__(
        self,
        compiled: CompiledGrammar | Sequence[CompiledGrammar],
        *,
        pad_token_id: int | None = None,
        make_matcher: Callable[[CompiledGrammar], GrammarMatcher] = GrammarMatcher,
    ) -> None:
        several = compiled if isinstance(compiled, list | tuple) else [compiled]
        self._compiled = [checked_compiled("compiled", each) for each in several]
        if not self._compiled:
            raise MatcherError("no grammar was given", hint="pass a CompiledGrammar, or one for each row")
        info = self._compiled[0].tokenizer_info
        if any(_vocabulary_form(other) != _vocabulary_form(self._compiled[0]) for other in self._compiled):
            raise MatcherError("the grammars were compiled for different tokenizers")
        self._vocab_size: int = info.vocab_size
        if not callable(make_matcher):
            hint = "pass lambda compiled: GrammarMatcher(compiled, ...)"
            raise wrong_argument("make_matcher", make_matcher, "a function", hint)
        self._make_matcher = make_matcher
        padding = () if pad_token_id is None else (self._checked_token("pad_token_id", pad_token_id),)
        self._after_end = sorted({*info.stop_token_ids, *padding})
        self.reset()

    def _checked_token(self, name: str, value: int) -> int:
        token_id = as_integer(name, value, at_least=0)
        if token_id >= self._vocab_size:
            raise OptionError(f"{name} must be < {self._vocab_size}, not {token_id}", option=name)
        return token_id

    def reset(self) -> None:
        """Forget the rows: the next call is the first of a new generation.

        A new `generate` call is noticed by itself, except when its prompt, but for the last token, is the beginning of
        what the last call saw and produced.
        """
        self._rows: list[_Row] = []
        self._seen: torch.Tensor | None = None
        self._prompt_length = 0
        self._bitmask: torch.Tensor | None = None

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Mask `scores`, (rows, vocab_size), in place, given all token ids so far, (rows, length).

        Raises:
            MatcherError: a row was given a token that its grammar does not allow, or the number of rows is not a
                multiple of the number of grammars.
        """
        _check_tensor("input_ids", input_ids)
        _check_tensor("scores", scores)
        self._follow(input_ids)
        bitmask = self._bitmask
        assert bitmask is not None
        for index, row in enumerate(self._rows):
            if row.matcher.is_terminated():
                _allow_only(bitmask[index], self._after_end)
            else:
                row.matcher.fill_next_token_bitmask(bitmask, index)
        if scores.device.type == "cpu":
            apply_token_bitmask_inplace(scores, bitmask)
        else:
            _apply_on_device(scores, bitmask.to(scores.device))
        return scores

    def _follow(self, input_ids: torch.Tensor) -> None:
        """Bring every row's matcher to the end of its ids."""
        seen = self._seen
        if seen is not None and torch.equal(input_ids[:, :-1], seen):
            for index, token in enumerate(input_ids[:, -1].tolist()):
                self._rows[index].accept(token, index)
        elif seen is not None and self._continues(input_ids, seen):
            for index, token_ids in enumerate(input_ids[:, self._prompt_length :].tolist()):
                self._rows[index].replay(token_ids, index)
        else:
            self._start(input_ids)
        self._seen = input_ids

    def _continues(self, input_ids: torch.Tensor, seen: torch.Tensor) -> bool:
        """Whether each row, but for its last token, is the beginning of some row that was seen."""
        num_rows, length = input_ids.shape
        if num_rows != seen.shape[0] or not self._prompt_length < length <= seen.shape[1] + 1:
            return False
        known = set(map(tuple, seen[:, : length - 1].tolist()))
        return known.issuperset(map(tuple, input_ids[:, :-1].tolist()))

    def _start(self, input_ids: torch.Tensor) -> None:
        num_rows, self._prompt_length = input_ids.shape
        copies, left_over = divmod(num_rows, len(self._compiled))
        if left_over or not copies:
            raise MatcherError(
                f"{num_rows} rows cannot be divided among {len(self._compiled)} grammars",
                hint="give one grammar, or one for each prompt of the batch",
            )
        self._rows = [_Row(self._make_matcher(compiled)) for compiled in self._compiled for _ in range(copies)]
        self._bitmask = allocate_token_bitmask(num_rows, self._vocab_size, library="torch")


class _Row:
    """A matcher and the tokens it has accepted."""

    def __init__(self, matcher: GrammarMatcher) -> None:
        self.matcher = matcher
        self._accepted: list[int] = []

    def accept(self, token: int, index: int) -> None:
        if self.matcher.is_terminated():
            return
        if not self.matcher.accept_token(token):
            raise MatcherError(
                f"row {index}: token {token} at output position {len(self._accepted)} is not allowed by the grammar",
                hint="put this processor last, and sample only from finite scores; call reset() to start over",
            )
        self._accepted.append(token)

    def replay(self, token_ids: list[int], index: int) -> None:
        common = 0
        for old, new in zip(self._accepted, token_ids, strict=False):
            if old != new:
                break
            common += 1
        if common < len(self._accepted):
            self.matcher.rollback(len(self._accepted) - common)
            del self._accepted[common:]
        for token in token_ids[common:]:
            self.accept(token, index)


def _check_tensor(name: str, value: torch.Tensor) -> None:
    if not isinstance(value, torch.Tensor):
        raise wrong_argument(name, value, "a torch.Tensor", "pass the processor to generate(logits_processor=...)")
    if value.dim() != 2:
        raise BitmaskError(f"{name} must be two-dimensional, not of shape {tuple(value.shape)}")


def _apply_on_device(scores: torch.Tensor, bitmask: torch.Tensor) -> None:
    """Do what `apply_token_bitmask_inplace` does, where only torch can reach the scores."""
    bits = bitmask.unsqueeze(-1) >> torch.arange(32, dtype=torch.int32, device=bitmask.device) & 1
    covered = bits.flatten(1)[:, : scores.shape[1]] == 0
    scores[:, : covered.shape[1]].masked_fill_(covered, -torch.inf)
    scores[:, covered.shape[1] :] = -torch.inf


def _vocabulary_form(compiled: CompiledGrammar) -> tuple[int, tuple[int, ...]]:
    return compiled.tokenizer_info.vocab_size, tuple(compiled.tokenizer_info.stop_token_ids)


def _allow_only(row: torch.Tensor, token_ids: list[int]) -> None:
    """Set these bits of a bitmask row and clear the others; with no token at all, allow everything."""
    row.fill_(0 if token_ids else -1)
    for token in token_ids:
        bit = 1 << token % 32
        row[token // 32] |= bit if bit < 1 << 31 else bit - (1 << 32)
