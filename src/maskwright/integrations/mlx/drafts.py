"""A draft model for mlx-lm that is no model: it knows the grammar of the output.

    draft_model = GrammarDraftModel(GrammarDrafts(), compiled)
    mlx_lm.generate(model, tokenizer, prompt, draft_model=draft_model, logits_processors=[processor], ...)

mlx-lm asks its draft model for logits, token by token; here the token that likely comes next has all the probability.
What was read is in a cache that mlx-lm handles like those of other models:

    read a part of the prompt, evaluate the caches' states             until one token of the prompt is left
    read that, or the last confirmed tokens; read the draft of that …  a round: a token is drafted for each reading
    trim the caches to what the model confirmed                        the next round begins

Invariants: only confirmed tokens are learnt. Cost: a draft a round, some microseconds a token.
Tested by tests/engines/test_mlx_drafts.py.
Source: Leviathan et al., "Fast inference from transformers via speculative decoding" (2023).
"""

from __future__ import annotations

from collections.abc import Callable

import mlx.core as mx

from maskwright import CompiledGrammar
from maskwright.compiling.compiled_grammar import checked_compiled
from maskwright.errors import wrong_argument
from maskwright.integrations.drafting import OutputDrafter
from maskwright.outputs.grammar_drafts import GrammarDrafts

_SURE = 100.0  # a logit beside zeros, at any usual temperature


class GrammarDraftModel:
    """Proposes what an output of a grammar likely goes on with, for the model to check in one step.

    Pass it as `draft_model`, with a `GrammarLogitsProcessor` of the same grammar. Outputs are what they would be
    without. mlx-lm drafts `num_draft_tokens` tokens in every step, also where there is nothing to go by.

    Args:
        drafts: What outputs went on with; it learns from every output. For any number of grammars with the same
            tokenizer, but for one thread.
        compiled: The grammar of the output.

    Raises:
        ArgumentError: An argument has the wrong type.
    """

    def __init__(self, drafts: GrammarDrafts, compiled: CompiledGrammar) -> None:
        if not isinstance(drafts, GrammarDrafts):
            raise wrong_argument("drafts", drafts, "a GrammarDrafts", "pass maskwright.engine.GrammarDrafts()")
        self._drafts, self._compiled = drafts, checked_compiled("compiled", compiled)

    @property
    def layers(self) -> list[None]:
        """As many as there are caches."""
        return [None]

    def make_cache(self) -> list[ReadTokens]:
        """Return the cache of one sequence; mlx-lm asks for it."""
        return [ReadTokens()]

    def __call__(self, inputs: mx.array, cache: list[ReadTokens]) -> mx.array:
        """Read token ids, (1, length), and return the logits of the next one, (1, 1, vocab_size)."""
        token = cache[0].read(inputs[0].tolist(), self._new_drafter)
        logits = mx.zeros((1, 1, self._compiled.tokenizer_info.vocab_size))
        if token is not None:
            logits[0, 0, token] = _SURE
        return logits

    def _new_drafter(self) -> OutputDrafter:
        return OutputDrafter(self._drafts, self._compiled)


class ReadTokens:
    """What the draft model has read of one sequence, as one of mlx-lm's caches."""

    def __init__(self) -> None:
        self._ids: list[int] = []
        self._prompt_length = 0
        self._drafter: OutputDrafter | None = None  # None while the prompt is read
        self._planned: list[int] | None = None  # what is left of a round's draft; None before the round

    @property
    def state(self) -> mx.array:
        """mlx-lm evaluates this when it has read a part of a prompt, and at no other time."""
        self._drafter = self._planned = None
        return mx.array(0)

    def is_trimmable(self) -> bool:
        return True

    def trim(self, num_tokens: int) -> int:
        """Take back the tokens that the model did not confirm. mlx-lm does so once a round, if only for none."""
        num_tokens = min(num_tokens, len(self._ids))
        del self._ids[len(self._ids) - num_tokens :]
        if self._drafter is not None:
            self._drafter.read(self._ids[self._prompt_length :])
        self._planned = None
        return num_tokens

    def read(self, token_ids: list[int], new_drafter: Callable[[], OutputDrafter]) -> int | None:
        """Go on by these tokens, and return the one to draft next, if there is any."""
        self._ids += token_ids
        if self._drafter is None:  # this may be all of the prompt
            self._drafter, self._prompt_length = new_drafter(), len(self._ids)
        if self._planned is None:
            self._drafter.read(self._ids[self._prompt_length :])
            self._planned = self._drafter.draft()
        else:
            self._planned = self._planned[1:] if token_ids == self._planned[:1] else []
        return self._planned[0] if self._planned else None
