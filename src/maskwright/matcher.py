"""`GrammarMatcher`: one sequence held to a grammar. `BatchGrammarMatcher`: many in one call.

    matcher = GrammarMatcher(compiled_grammar)
    bitmask = allocate_token_bitmask(1, tokenizer_info.vocab_size)
    while not matcher.is_terminated():
        matcher.fill_next_token_bitmask(bitmask)
        apply_token_bitmask_inplace(logits, bitmask)
        matcher.accept_token(sample(logits))

The mask and `accept_token` agree on every token, always, whatever was filled, rolled back or forked before.
`accept_token` and `fill_next_token_bitmask` are the kernel's own methods: nothing of Python lies on that path.
A matcher belongs to one thread at a time. Its memory is a token id and a configuration id per token.
Tested by tests/exhaustive and tests/contract.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any

from maskwright import _kernel
from maskwright.compiler import CompiledGrammar
from maskwright.errors import MatcherError, TokenizerError


class GrammarMatcher(_kernel.Matcher):
    """Holds one output to a grammar, token by token.

    Args:
        compiled_grammar: The grammar.
        override_stop_tokens: Stop tokens to use instead of the tokenizer's.
        terminate_without_stop_token: Whether the output counts as terminated as soon as it is complete; stop tokens
            are then never allowed.

    Inherited from the kernel:
        accept_token(token_id: int) -> bool: go on by one token. False, and nothing changes, if it is not allowed,
            for any int. A stop token is accepted where the output is complete, and terminates it.
        accept_tokens(token_ids) -> int: go on by several; return how many were accepted, stopping at the first refusal.
        validate_tokens(token_ids) -> int: how many would be accepted; nothing changes.
        fill_next_token_bitmask(bitmask, index=0) -> bool: write the mask of the tokens allowed next to row `index` of
            `bitmask`, (batch, >= ceil(vocab_size / 32)) int32, CPU, C-contiguous, bit 1 = allowed, numpy or torch.
            Return whether it must be applied, False meaning that all tokens are allowed. All zero once terminated.
            Raises BitmaskError.
        is_completed() -> bool: whether the output so far is a whole one.
        is_terminated() -> bool: whether it is over.
        num_accepted_tokens: int. stop_token_ids: list[int].
    """

    def __init__(
        self,
        compiled_grammar: CompiledGrammar,
        *,
        override_stop_tokens: int | Iterable[int] | None = None,
        terminate_without_stop_token: bool = False,
    ) -> None:
        self.compiled_grammar = compiled_grammar
        info = compiled_grammar.tokenizer_info
        stops = list(info.stop_token_ids)
        if override_stop_tokens is not None:
            stops = _stop_tokens(override_stop_tokens, info.vocab_size)
        super().__init__(compiled_grammar._native, stops, terminate_without_stop_token)

    def accept_string(self, text: str | bytes) -> bool:
        """Go on by some text, however it would be tokenized. False, and nothing changes, if it is not allowed.

        It counts as one token for `rollback`.
        """
        return self.accept_bytes(text.encode() if isinstance(text, str) else bytes(text))

    def find_jump_forward_string(self) -> str:
        """Return the longest text that every completion begins with.

        Whole characters only: half a character at the end is left out, and where the output so far ends in half a
        character, nothing is returned.
        """
        forced = self.forced_bytes()
        try:
            return forced.decode()
        except UnicodeDecodeError as error:
            return forced[: error.start].decode()

    def get_captures(self) -> list[tuple[str, bytes]]:
        """Return what the grammar's captures have matched so far, as (name, bytes), in the order in which they begin.

        Only those that are over, nested ones included. One that matched nothing is left out, and special tokens add no
        bytes. Where the output can be read in several ways, captures that begin earlier win, then those that end later;
        before the output is terminated, more of it may still decide otherwise. A call looks at what was accepted since
        the last one.

        Raises:
            LimitError: The output is too ambiguous, or a capture begins with itself.
        """
        return [(name, data) for name, data, closed in self.captures(self.compiled_grammar.capture_program) if closed]

    def get_open_captures(self) -> list[tuple[str, bytes]]:
        """Return the captures that have begun but are not over, the outermost first, with their bytes so far."""
        found = self.captures(self.compiled_grammar.capture_program)
        return [(name, data) for name, data, closed in found if not closed]

    def rollback(self, num_tokens: int = 1) -> None:
        """Take back the last tokens, a terminating stop token included.

        Raises:
            MatcherError: `num_tokens` is negative or more than were accepted; nothing changes.
        """
        count = operator.index(num_tokens)
        if count < 0 or count > self.num_accepted_tokens or not self.rollback_tokens(count):
            raise MatcherError(
                f"cannot roll back {count} tokens: {self.num_accepted_tokens} were accepted",
                hint="rollback counts tokens since the matcher was made or reset",
            )

    def fork(self) -> GrammarMatcher:
        """Return an independent matcher in the same state. Takes the same time however long the history."""
        twin = type(self).__new__(type(self))
        _kernel.Matcher.__init__(twin, self)
        twin.compiled_grammar = self.compiled_grammar
        return twin

    def __copy__(self) -> GrammarMatcher:
        return self.fork()

    def __deepcopy__(self, memo: dict[int, Any]) -> GrammarMatcher:
        return self.fork()

    def __repr__(self) -> str:
        state = "terminated" if self.is_terminated() else "complete" if self.is_completed() else "open"
        return f"<GrammarMatcher: {self.num_accepted_tokens} tokens, {state}>"


class BatchGrammarMatcher:
    """Matchers of several sequences, with one crossing into the kernel for all of them.

    Args:
        matchers: One a sequence; they may belong to different grammars of one tokenizer.
    """

    def __init__(self, matchers: Sequence[GrammarMatcher]) -> None:
        self.matchers = list(matchers)

    def fill_next_token_bitmask(self, bitmask: Any, indices: Sequence[int] | None = None) -> None:
        """Write the mask of matcher i to row `indices[i]` (row i by default).

        Raises:
            BitmaskError: The bitmask has the wrong form, or a row that is not there is named; nothing is written.
        """
        rows = list(range(len(self.matchers))) if indices is None else list(indices)
        _kernel.fill_batch(self.matchers, bitmask, rows)

    def accept_tokens(self, token_ids: Sequence[int]) -> list[bool]:
        """Go on by one token in each sequence; return which were accepted.

        Raises:
            MatcherError: There is not one token a matcher; nothing changes.
        """
        if len(token_ids) != len(self.matchers):
            raise MatcherError(f"{len(token_ids)} tokens were given for {len(self.matchers)} matchers")
        return [m.accept_token(t) for m, t in zip(self.matchers, token_ids, strict=True)]

    def rollback(self, counts: Sequence[int]) -> None:
        """Take back `counts[i]` tokens in sequence i.

        Raises:
            MatcherError: A count is more than its matcher accepted; nothing changes.
        """
        if len(counts) != len(self.matchers):
            raise MatcherError(f"{len(counts)} counts were given for {len(self.matchers)} matchers")
        for matcher, count in zip(self.matchers, counts, strict=True):
            if not 0 <= count <= matcher.num_accepted_tokens:
                raise MatcherError(f"cannot roll back {count} tokens: {matcher.num_accepted_tokens} were accepted")
        for matcher, count in zip(self.matchers, counts, strict=True):
            matcher.rollback(count)


def _stop_tokens(given: int | Iterable[int], vocab_size: int) -> list[int]:
    ids = [operator.index(given)] if not isinstance(given, Iterable) else [operator.index(i) for i in given]
    for token_id in ids:
        if not 0 <= token_id < vocab_size:
            raise TokenizerError(f"stop token {token_id} is outside the vocabulary of {vocab_size}")
    return ids
