"""Reasoning before a structure: SGLang's own wrapper, which begins the grammar when the reasoning is over.

SGLang wraps its own backends only, so a backend of another package wraps itself. Added to the wrapper are the budget of
tokens and masks in one call:

    max_new_tokens 200, shortest output 11 tokens, "</think>" 1 token, a stop token
        the reasoning is ended after 187 tokens, if it goes on for so long; the grammar has what is left of 200

Tested by tests/engines/test_sglang.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from sglang.srt.constrained.base_grammar_backend import BaseGrammarBackend, BaseGrammarObject
from sglang.srt.constrained.reasoner_grammar_backend import ReasonerGrammarBackend, ReasonerGrammarObject
from sglang.srt.parser.reasoning_parser import ReasoningParser

from maskwright.errors import UnsatisfiableError
from maskwright.integrations.budgets import least_tokens
from maskwright.integrations.sglang.cache import BoundedCache
from maskwright.integrations.sglang.grammar import MaskwrightGrammar, fill_rows


def with_reasoning(backend: BaseGrammarBackend, server_args: Any, tokenizer: Any) -> BaseGrammarBackend:
    """Wrap a backend for models that reason, unless the end of reasoning cannot be found in their tokens."""
    parser = ReasoningParser(model_type=server_args.reasoning_parser, stream_reasoning=False, tokenizer=tokenizer)
    if not parser.detector.get_think_end_token_ids(tokenizer):
        return backend
    strict = bool(getattr(server_args, "enable_strict_thinking", False))
    return MaskwrightReasonerBackend(backend, parser, tokenizer, enable_strict_thinking=strict)


class MaskwrightReasonerBackend(ReasonerGrammarBackend):  # type: ignore[misc, unused-ignore]
    """SGLang's backend for reasoning, which makes grammars of ours."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.cache = BoundedCache()
        self.executor = self.grammar_backend.executor

    def reset(self) -> None:
        super().reset()
        self.grammar_backend.reset()

    def _make_grammar_object(self, grammar: BaseGrammarObject | None, reasoning: bool) -> ReasonerGrammarObject:
        made = super()._make_grammar_object(grammar, reasoning)
        return MaskwrightReasonerGrammar.of(made, self.grammar_backend.set_token_filter)


class MaskwrightReasonerGrammar(ReasonerGrammarObject):  # type: ignore[misc, unused-ignore]
    """SGLang's grammar for reasoning, with a budget."""

    max_think_tokens: int
    _set_token_filter: Any
    _max_new_tokens: int | None
    _num_reasoning_tokens: int

    @classmethod
    def of(cls, plain: ReasonerGrammarObject, set_token_filter: Any) -> MaskwrightReasonerGrammar:
        """Make one of what SGLang made."""
        made = cls.__new__(cls)
        made.__dict__.update(plain.__dict__)
        made._set_token_filter = set_token_filter
        made._max_new_tokens = None
        made._num_reasoning_tokens = 0
        return made

    def copy(self) -> MaskwrightReasonerGrammar:
        twin = self.of(super().copy(), self._set_token_filter)
        twin._max_new_tokens = self._max_new_tokens
        twin._num_reasoning_tokens = self._num_reasoning_tokens
        return twin

    def limit(self, max_new_tokens: int) -> None:
        """Complete reasoning and structure within so many tokens.

        Raises:
            UnsatisfiableError: The shortest structure, and the end of reasoning before it, need more.
        """
        if not isinstance(self.grammar, MaskwrightGrammar):
            return
        if self.reasoning_in_grammar or not self._is_thinking():
            self.grammar.limit(max_new_tokens)
            return
        end, needed = len(self.think_end_ids), least_tokens(self.grammar.compiled)
        most = max_new_tokens - needed - end
        if most < 0:
            raise UnsatisfiableError(
                f"the shortest output needs {needed} tokens, and {end} for the end of reasoning before it, "
                f"but max_new_tokens is {max_new_tokens}"
            )
        most = max(0, most - 1)  # the stop token, if it fits
        self._max_new_tokens = max_new_tokens
        self.max_think_tokens = most if self.max_think_tokens < 0 else min(most, self.max_think_tokens)
        self.enable_token_filter = True
        self.token_filter_fn = self._set_token_filter

    def accept_token(self, token: int) -> None:
        reasoning = self._is_thinking()
        super().accept_token(token)
        if not reasoning:
            return
        self._num_reasoning_tokens += 1
        if self._max_new_tokens is not None and not self._is_thinking():
            self.grammar.limit(self._max_new_tokens - self._num_reasoning_tokens)

    def rollback(self, k: int) -> None:
        beyond = k - max(0, self.tokens_after_end)
        super().rollback(k)
        self._num_reasoning_tokens -= max(0, min(beyond, self._num_reasoning_tokens))

    def constrained_by(self) -> BaseGrammarObject | None:
        """The grammar whose mask is the whole mask at this token: that of the structure, when the reasoning is over."""
        return self.grammar if self._is_generation() and not self.reasoning_in_grammar else None

    @staticmethod
    def fill_vocab_mask_batched(entries: Sequence[Any], vocab_mask: torch.Tensor) -> None:
        fill_rows(entries, vocab_mask)
