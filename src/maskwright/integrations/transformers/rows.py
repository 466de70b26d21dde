"""The rows of one generation: what each was given since its prompt, and the matcher that follows it.

    rows = Rows(prompts, matchers, after_end=[eos, pad])
    rows.follow(input_ids)          # every matcher to the end of its row; False for ids of another generation
    rows.fill(bitmask)              # what each row may take next

A row is open, at its end, or lost. It is at its end once it has its stop token, or once `generate` pads it because
something else has stopped it. It is lost from a drafted token on that its grammar does not allow, until the draft is
taken back: assisted generation asks for the scores behind all drafted tokens, and discards those behind the first one
that the model itself would not have chosen.

That a token was drafted, and not sampled from the scores of the step before, has a proof: it stood in memory behind the
ids of that step already, as the ids of both steps are slices of one tensor that nobody has written to since.

Invariants: `matcher` has accepted the first `num_accepted` of `tokens`: all of them, unless the row is at its end or
lost.
Cost: a comparison of the ids a step, and a mask a row. Tested by tests/integrations/test_transformers.py and
test_transformers_decoding.py.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from maskwright import BatchGrammarMatcher, GrammarMatcher
from maskwright.errors import MatcherError
from maskwright.integrations.transformers.masks import allow_after_end


class Rows:
    """All rows of one generation, that began with these prompts, (rows, length); None for a row without a grammar."""

    def __init__(
        self, prompts: torch.Tensor, matchers: Sequence[GrammarMatcher | None], after_end: Sequence[int]
    ) -> None:
        self.rows = [Row(matcher, frozenset(after_end)) for matcher in matchers]
        self.num_steps_after_end = 0  # in a row, with every row at its end
        self._after_end = list(after_end)
        self._prompt_length = prompts.shape[1]
        self._seen = prompts
        self._memory = _memory_of(prompts)
        self._is_torn = False  # whether an error may have left some rows further than others
        held = [matcher for matcher in matchers if matcher is not None]
        self._batch = BatchGrammarMatcher(held) if len(held) == len(matchers) > 1 else None

    def follow(self, input_ids: torch.Tensor) -> bool:
        """Bring every matcher to the end of its row, if this is a later step of the same generation.

        It is one if each row, but for its last token, is the beginning of some row that was seen.

        Raises:
            MatcherError: A row was given a token that its grammar does not allow, and that was not drafted.
        """
        seen, length = self._seen, input_ids.shape[1]
        if input_ids.shape[0] != seen.shape[0] or not self._prompt_length < length <= seen.shape[1] + 1:
            return False
        is_next = not self._is_torn and length == seen.shape[1] + 1 and torch.equal(input_ids[:, :-1], seen)
        if not is_next and not _beginnings(input_ids, length - 1) <= _beginnings(seen, length - 1):
            return False
        memory, self._is_torn = _memory_of(input_ids), True
        if is_next:
            drafted = memory is not None and memory == self._memory
            for index, token in enumerate(input_ids[:, -1].tolist()):
                self.rows[index].take(token, index, drafted=drafted)
        else:
            for index, tokens in enumerate(input_ids[:, self._prompt_length :].tolist()):
                self.rows[index].replay(tokens, index)
        self._seen, self._memory, self._is_torn = input_ids, memory, False
        self.num_steps_after_end = self.num_steps_after_end + 1 if all(row.at_end for row in self.rows) else 0
        return True

    def fill(self, bitmask: torch.Tensor) -> None:
        """Write the masks of all rows, (rows, ceil(vocab_size / 32))."""
        if self._batch is not None:
            self._batch.fill_next_token_bitmask(bitmask)
        for index, row in enumerate(self.rows):
            if row.is_free:
                bitmask[index].fill_(-1)
            elif row.at_end:
                allow_after_end(bitmask[index], self._after_end)
            elif self._batch is None and row.matcher is not None:
                row.matcher.fill_next_token_bitmask(bitmask, index)


class Row:
    """A matcher and the tokens that it was given."""

    def __init__(self, matcher: GrammarMatcher | None, after_end: frozenset[int]) -> None:
        self.matcher = matcher
        self.tokens: list[int] = []
        self.num_accepted = 0
        self._after_end = after_end
        self._is_padded = False
        self._is_lost = False

    @property
    def at_end(self) -> bool:
        """Whether only stop and pad tokens may follow."""
        return self.matcher is not None and (self._is_padded or self.matcher.is_terminated())

    @property
    def is_free(self) -> bool:
        """Whether everything may follow: there is no grammar, or what follows will be taken back."""
        return self.matcher is None or self._is_lost

    def take(self, token: int, index: int, *, drafted: bool = False) -> None:
        """Accept the next token of the row with this index."""
        self.tokens.append(token)
        if self.matcher is None or self._is_lost or self.at_end:
            return
        if self.matcher.accept_token(token):
            self.num_accepted += 1
        elif drafted:
            self._is_lost = True
        elif token in self._after_end:
            self._is_padded = True
        else:
            del self.tokens[-1]
            raise MatcherError(
                f"row {index}: token {token} at output position {len(self.tokens)} is not allowed by the grammar",
                hint="put this processor last, sample only from finite scores (num_beams with do_sample does not), and "
                "pass pad_token_id if another stopping criterion can end a row; call reset() to start over",
            )

    def replay(self, tokens: list[int], index: int) -> None:
        """Go to the end of other tokens, from where they part with those that were taken."""
        common = 0
        for old, new in zip(self.tokens, tokens, strict=False):
            if old != new:
                break
            common += 1
        if common < len(self.tokens):
            if self.matcher is not None and common < self.num_accepted:
                self.matcher.rollback(self.num_accepted - common)
                self.num_accepted = common
            if common <= self.num_accepted:
                self._is_padded = self._is_lost = False
            del self.tokens[common:]
        for token in tokens[common:]:
            self.take(token, index)


def _beginnings(ids: torch.Tensor, length: int) -> set[tuple[int, ...]]:
    return set(map(tuple, ids[:, :length].tolist()))


def _memory_of(ids: torch.Tensor) -> tuple[int, int] | None:
    """Where ids lie, and how often that memory was written to; None where torch does not count that."""
    if ids.is_inference():
        return None
    return ids.data_ptr(), ids._version
