"""`GrammarMatcher` and `BatchGrammarMatcher` with XGrammar's methods, and its functions for bitmasks.

    matcher = GrammarMatcher(compiled)
    bitmask = allocate_token_bitmask(1, tokenizer_info.vocab_size)
    matcher.fill_next_token_bitmask(bitmask)
    matcher.accept_token(token_id)

Rollback is not limited. As in XGrammar, a token outside the vocabulary is not accepted, and asking for the mask of an
output that has ended with a stop token is an error. A mask that would take more work than the limit does not end the
engine's loop: only stop tokens are left in it, which `accept_token` refuses unless the output is complete, so that the
engine ends that output alone; the log says why.
Tested by tests/compat/test_xgrammar_objects.py.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable
from typing import Any, Final, Literal

import torch

from maskwright.bitmask.only import allow_only
from maskwright.compat.xgrammar.base import XGRObject
from maskwright.compat.xgrammar.bitmask import allocate_token_bitmask as allocate_token_bitmask
from maskwright.compat.xgrammar.bitmask import apply_token_bitmask_inplace as apply_token_bitmask_inplace
from maskwright.compat.xgrammar.bitmask import bitmask_dtype as bitmask_dtype
from maskwright.compat.xgrammar.bitmask import get_bitmask_shape as get_bitmask_shape
from maskwright.compat.xgrammar.bitmask import reset_token_bitmask as reset_token_bitmask
from maskwright.compat.xgrammar.compiler import CompiledGrammar
from maskwright.compat.xgrammar.exception import as_xgrammar_errors, convert
from maskwright.errors import BitmaskError, LimitError, MaskwrightError, MatcherError, OptionError, wrong_argument
from maskwright.matcher import BatchGrammarMatcher as _Batch
from maskwright.matcher import GrammarMatcher as _Matcher
from maskwright.support.arguments import as_integer, as_tuple

_logger: Final = logging.getLogger("maskwright")


class GrammarMatcher(XGRObject):
    """Holds one output to a grammar, token by token.

    Args:
        compiled_grammar: The grammar.
        override_stop_tokens: Stop tokens instead of the tokenizer's.
        terminate_without_stop_token: Whether the output is over as soon as it is complete.
        max_rollback_tokens: Kept for XGrammar's callers; rollback is not limited.
        default_temperature: What `temperature` is where the grammar asks for none.

    Raises:
        ArgumentError: The grammar is not compiled, or an argument has the wrong type.
        OptionError: There are no stop tokens to use instead, or the temperature is negative or not finite.
        TokenizerError: A stop token is outside the vocabulary.
    """

    @as_xgrammar_errors()
    def __init__(
        self,
        compiled_grammar: CompiledGrammar,
        *,
        override_stop_tokens: list[int] | int | None = None,
        terminate_without_stop_token: bool = False,
        max_rollback_tokens: int = -1,
        default_temperature: float | None = None,
    ) -> None:
        if not isinstance(compiled_grammar, CompiledGrammar) or not hasattr(compiled_grammar, "_compiled"):
            hint = "compile it first: GrammarCompiler(tokenizer_info).compile_grammar(grammar)"
            raise wrong_argument("compiled_grammar", compiled_grammar, "a CompiledGrammar", hint)
        as_integer("max_rollback_tokens", max_rollback_tokens)
        if isinstance(override_stop_tokens, list | tuple) and not override_stop_tokens:
            raise OptionError("override_stop_tokens must not be empty", option="override_stop_tokens")
        self._ends_when_complete = bool(terminate_without_stop_token)
        self._matcher = _Matcher(
            compiled_grammar._compiled,
            override_stop_tokens=override_stop_tokens,
            terminate_without_stop_token=self._ends_when_complete,
            default_temperature=default_temperature,
        )

    def accept_token(self, token_id: int, *, debug_print: bool = False) -> bool:
        """Accept one token. False, and nothing changes, if it is not allowed."""
        try:
            accepted = self._matcher.accept_token(token_id)
        except MaskwrightError as error:
            convert(error)
            raise
        if debug_print:
            _print(f"token {token_id} is {'accepted' if accepted else 'rejected'}")
        return accepted

    @as_xgrammar_errors()
    def accept_string(self, input_str: str | bytes, *, debug_print: bool = False) -> bool:
        """Accept some text, however it would be tokenized; it counts as one token. False if it is not allowed."""
        if self._has_stopped():
            return False
        accepted = self._matcher.accept_string(input_str)
        if debug_print:
            _print(f"text {input_str!r:.200} is {'accepted' if accepted else 'rejected'}")
        return accepted

    def fill_next_token_bitmask(self, bitmask: Any, index: int = 0, *, debug_print: bool = False) -> bool:
        """Write the mask of the tokens that are allowed next to a row of a bitmask.

        Returns:
            Whether the mask must be applied; False means that all tokens are allowed.

        Raises:
            BitmaskError: The bitmask has the wrong form, or no such row.
            MatcherError: The output has ended with a stop token.
        """
        try:
            if self._has_stopped():
                raise _ended("find the next tokens")
            needed = self._matcher.fill_next_token_bitmask(bitmask, index)
        except LimitError as error:
            self._allow_only_stop_tokens(bitmask, index, error)
            needed = True
        except MaskwrightError as error:
            convert(error)
            raise
        if debug_print:
            _print(f"row {index} of the bitmask is filled; it {'must' if needed else 'need not'} be applied")
        return needed

    @as_xgrammar_errors()
    def find_jump_forward_string(self) -> str:
        """Return the longest text that every completion begins with.

        Raises:
            MatcherError: The output has ended with a stop token.
        """
        if self._has_stopped():
            raise _ended("find forced text")
        return self._matcher.find_jump_forward_string()

    @as_xgrammar_errors()
    def rollback(self, num_tokens: int = 1) -> None:
        """Take back the last tokens, a terminating stop token included; none if the number is negative.

        Raises:
            MatcherError: Fewer were accepted; nothing changes.
        """
        self._matcher.rollback(_not_negative(num_tokens))

    def is_terminated(self) -> bool:
        """Return whether the output is over."""
        return self._matcher.is_terminated()

    def is_completed(self) -> bool:
        """Return whether the output so far is a whole one."""
        return self._matcher.is_completed()

    def reset(self) -> None:
        """Go back to the beginning of the output."""
        self._matcher.reset()

    def fork(self) -> GrammarMatcher:
        """Return an independent matcher in the same state."""
        twin = GrammarMatcher.__new__(GrammarMatcher)
        twin._matcher, twin._ends_when_complete = self._matcher.fork(), self._ends_when_complete
        return twin

    def __copy__(self) -> GrammarMatcher:
        return self.fork()

    def __deepcopy__(self, memo: dict[int, Any]) -> GrammarMatcher:
        return self.fork()

    @as_xgrammar_errors()
    def traverse_draft_tree(
        self,
        retrieve_next_token: torch.Tensor,
        retrieve_next_sibling: torch.Tensor,
        draft_tokens: torch.Tensor,
        token_bitmask: torch.Tensor,
        time_threshold: float = -1.0,
        temperatures: torch.Tensor | None = None,
    ) -> bool:
        """Write the masks of a tree of drafted tokens, row i for node i. The matcher does not move.

        Args:
            retrieve_next_token: The first child of each node, -1 for none.
            retrieve_next_sibling: The next sibling of each node, -1 for none.
            draft_tokens: The token id of each node.
            token_bitmask: With a row for each node.
            time_threshold: The most seconds to take; not positive for any time.
            temperatures: Where to write what `temperature` is at each node, -1 for None.

        Returns:
            Whether all rows were written; False if the time was over.
        """
        alive = self._matcher.traverse_draft_tree(
            retrieve_next_token, retrieve_next_sibling, draft_tokens, token_bitmask, time_threshold, temperatures
        )
        return alive > 0

    @as_xgrammar_errors()
    def get_captures(self, *, deduplicate: bool = True) -> list[tuple[str, bytes]]:
        """Return what the grammar's captures have matched, in the order in which they end.

        Args:
            deduplicate: Without effect: each occurrence of a capture is returned once, with all that it matched.
        """
        return [(each.name, each.data) for each in self._matcher.get_capture_spans(order="end")]

    @property
    def temperature(self) -> float | None:
        """The sampling temperature that the grammar asks for at the next token."""
        return self._matcher.temperature()

    @property
    def max_rollback_tokens(self) -> int:
        """-1: rollback is not limited."""
        return -1

    @property
    def stop_token_ids(self) -> list[int]:
        """The token ids that end the output."""
        return self._matcher.stop_token_ids

    def _debug_print_internal_state(self) -> str:
        return repr(self._matcher)

    def _allow_only_stop_tokens(self, bitmask: Any, index: int, error: LimitError) -> None:
        """Leave an output without a mask nothing but its end: see the module's header."""
        _logger.error("a mask could not be computed, so that only stop tokens are left: %s", error.message)
        allow_only(bitmask if bitmask.ndim == 1 else bitmask[index], self.stop_token_ids)

    def _has_stopped(self) -> bool:
        return self._matcher.is_terminated() and not self._ends_when_complete


class BatchGrammarMatcher(XGRObject):
    """Fills the masks of several matchers in one call, on several threads.

    Args:
        max_threads: The most threads to use; "auto" for as many as the process has.
    """

    @as_xgrammar_errors()
    def __init__(self, max_threads: int | Literal["auto"] = "auto") -> None:
        self._max_threads = None if max_threads == "auto" else as_integer("max_threads", max_threads, at_least=1)

    @as_xgrammar_errors()
    def batch_fill_next_token_bitmask(
        self,
        matchers: list[GrammarMatcher],
        bitmask: Any,
        indices: list[int] | None = None,
        debug_print: bool = False,
    ) -> None:
        """Write the mask of each matcher to its row of a bitmask: row i for matcher i, or row `indices[i]`.

        Raises:
            BitmaskError: The bitmask has the wrong form, or no such row.
            MatcherError: There is not one row per matcher, or an output has ended with a stop token.
        """
        given = _matchers(matchers)
        if any(each._has_stopped() for each in given):
            raise _ended("find the next tokens")
        batch = _Batch([each._matcher for each in given], max_threads=self._max_threads)
        try:
            batch.fill_next_token_bitmask(bitmask, indices)
        except LimitError:
            for row, each in zip(range(len(given)) if indices is None else indices, given, strict=True):
                each.fill_next_token_bitmask(bitmask, row)
        if debug_print:
            _print(f"{len(given)} rows of the bitmask are filled")

    @staticmethod
    @as_xgrammar_errors()
    def batch_accept_token(matchers: list[GrammarMatcher], tokens: list[int], debug_print: bool = False) -> list[bool]:
        """Accept one token in each sequence; return which were accepted."""
        accepted = _batch(matchers).accept_token(tokens)
        if debug_print:
            _print(f"accepted: {accepted}")
        return accepted

    @staticmethod
    @as_xgrammar_errors()
    def batch_accept_string(
        matchers: list[GrammarMatcher], strings: list[bytes | str], debug_print: bool = False
    ) -> list[bool]:
        """Accept some text in each sequence; return which were accepted: none that has ended with a stop token."""
        given = _matchers(matchers)
        has_stopped = [each._has_stopped() for each in given]
        texts = _batch(given).accept_string(strings)
        accepted = [taken and not stopped for taken, stopped in zip(texts, has_stopped, strict=True)]
        if debug_print:
            _print(f"accepted: {accepted}")
        return accepted

    @staticmethod
    @as_xgrammar_errors()
    def batch_rollback(matchers: list[GrammarMatcher], num_tokens: list[int] | int = 1) -> None:
        """Take back the last tokens of each sequence; none where the number is negative."""
        if isinstance(num_tokens, Iterable):
            several = as_tuple("num_tokens", num_tokens, "an int or a list of ints")
            _batch(matchers).rollback([_not_negative(each) for each in several])
        else:
            _batch(matchers).rollback(_not_negative(num_tokens))

    @staticmethod
    @as_xgrammar_errors()
    def batch_fill_temperature(
        matchers: list[GrammarMatcher], temperatures: torch.Tensor, indices: list[int] | None = None
    ) -> None:
        """Write the temperature of each sequence to its place in a tensor, -1 for none."""
        given = _matchers(matchers)
        rows = range(len(given)) if indices is None else as_tuple("indices", indices, "a list of integers")
        if len(rows) != len(given):
            raise MatcherError(f"{len(given)} matchers have {len(rows)} indices")
        if not isinstance(temperatures, torch.Tensor) or temperatures.dim() != 1:
            raise BitmaskError("temperatures must be a one-dimensional torch.Tensor")
        for row, matcher in zip(rows, given, strict=True):
            place = as_integer("each of indices", row)
            if not 0 <= place < len(temperatures):
                raise BitmaskError(f"row {place} is out of range for {len(temperatures)} temperatures")
            found = matcher.temperature
            temperatures[place] = -1.0 if found is None else found


def _matchers(given: Any) -> tuple[GrammarMatcher, ...]:
    several: tuple[Any, ...] = as_tuple("matchers", given, "a list of GrammarMatchers")
    for each in several:
        if not isinstance(each, GrammarMatcher):
            raise wrong_argument("each of matchers", each, "a GrammarMatcher")
    return several


def _batch(given: Any) -> _Batch:
    return _Batch([each._matcher for each in _matchers(given)])


def _not_negative(num_tokens: Any) -> int:
    return max(0, as_integer("num_tokens", num_tokens))


def _ended(purpose: str) -> MatcherError:
    hint = "ask is_terminated() first, or go back with rollback() or reset()"
    return MatcherError(f"cannot {purpose}: the output has ended with a stop token", hint=hint)


def _print(message: str) -> None:
    print(f"maskwright: {message}", file=sys.stderr)
