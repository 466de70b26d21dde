"""`GrammarLogitsProcessor`: every row of a batch held to its grammar, inside transformers' own `generate`.

    info = TokenizerInfo.from_huggingface(tokenizer, vocab_size=model.config.vocab_size)
    compiled = GrammarCompiler(info).compile_regex("[0-9]+")
    processor = GrammarLogitsProcessor(compiled, max_new_tokens=100)
    model.generate(**inputs, logits_processor=[processor], max_new_tokens=100)

A processor gets only the token ids so far and the scores. The first call fixes the length of the prompt; each later
one hands every row's new tokens to that row's matcher. A row whose past changed (beam search reorders rows, assisted
generation takes drafted tokens back) is rolled back to the common part and replayed. After its end a row may only
repeat stop or pad tokens.

The last two generations are known at a time: in assisted generation with two tokenizers, transformers calls the
processors for both models in turn, and none of the two must be taken for the beginning of something new.

Invariants: one instance serves any number of `generate` calls, one after the other; the scores that come in are not
changed, since transformers hands them to `output_logits` and to prompt lookup as well.
Cost: per step one comparison of the ids, one mask a row, a copy of the scores and one pass over it; the bitmask is
copied if the scores are on a GPU. Tested by tests/integrations/test_transformers.py and test_transformers_decoding.py.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import torch
from transformers import LogitsProcessor

from maskwright import (
    CompiledGrammar,
    GrammarMatcher,
    TokenizerInfo,
    allocate_token_bitmask,
)
from maskwright.compiling.compiled_grammar import checked_compiled
from maskwright.errors import BitmaskError, MatcherError, OptionError, wrong_argument
from maskwright.integrations.budgets import budget_called, matcher_within
from maskwright.integrations.following import check_spelling
from maskwright.integrations.transformers.masks import masked_scores
from maskwright.integrations.transformers.rows import Rows
from maskwright.support.argument_names import other_names
from maskwright.support.arguments import as_integer

_MOST_GENERATIONS = 2  # a model and its assistant
_PATIENCE = 8  # steps with all rows at their ends; checks for the end may lag a few behind


class GrammarLogitsProcessor(LogitsProcessor):  # type: ignore[misc, unused-ignore]
    """Hold every row of a batch to its grammar.

    Args:
        compiled: one grammar for all rows, or a list with one for each prompt, None for an unconstrained output. With
            several beams or returned sequences per prompt, each grammar is used for that many neighbouring rows. All
            must be compiled for the same tokenizer.
        max_new_tokens: the `max_new_tokens` of `generate`. Every output is then complete within that many tokens,
            including its stop token if it fits. Without it, `generate` may cut an output off in the middle.
        pad_token_id: the token that `generate` puts after the end of a row, if it is not a stop token.
        make_matcher: makes a row's matcher from its grammar, instead of `max_new_tokens`.

    Raises:
        ArgumentError: `compiled` has no grammar in it.
        MatcherError: it is empty, or its grammars are of different tokenizers.
        OptionError: an option is out of range, or both `max_new_tokens` and `make_matcher` are given.
        UnsatisfiableError: no output of a grammar fits; the message says how many tokens the shortest one has.
    """

    @other_names(max_tokens="max_new_tokens", max_length="max_new_tokens")
    def __init__(
        self,
        compiled: CompiledGrammar | Sequence[CompiledGrammar | None],
        *,
        max_new_tokens: int | None = None,
        pad_token_id: int | None = None,
        make_matcher: Callable[[CompiledGrammar], GrammarMatcher] | None = None,
    ) -> None:
        several = compiled if isinstance(compiled, list | tuple) else [compiled]
        self._compiled = [None if each is None else checked_compiled("compiled", each) for each in several]
        info = _shared_info(self._compiled)
        self._vocab_size: int = info.vocab_size
        self._make_matcher = _maker(max_new_tokens, make_matcher)
        if max_new_tokens is not None:
            for each in {id(c): c for c in self._compiled if c is not None}.values():
                self._make_matcher(each)  # refuses a budget that is too small for any output, now and not in `generate`
        padding = () if pad_token_id is None else (self._checked_token("pad_token_id", pad_token_id),)
        self._stops = list(info.stop_token_ids)
        self._after_end = sorted({*self._stops, *padding})
        self.reset()

    def _checked_token(self, name: str, value: int) -> int:
        token_id = as_integer(name, value, at_least=0)
        if token_id >= self._vocab_size:
            raise OptionError(f"{name} must be < {self._vocab_size}, not {token_id}", option=name)
        return token_id

    @property
    def grammars(self) -> tuple[CompiledGrammar | None, ...]:
        """The grammar of each prompt, or one for all; None for an unconstrained output."""
        return tuple(self._compiled)

    def reset(self) -> None:
        """Forget the rows: the next call is the first of a new generation.

        A new call of `generate` is noticed automatically, except when its prompt, without the last token, is the
        beginning of an earlier call's prompt and output.
        """
        self._generations: list[Rows] = []

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Return masked scores, (rows, vocab_size), given all token ids so far, (rows, length), and the scores.

        Raises:
            BitmaskError: `input_ids` or `scores` has the wrong shape, or the scores have fewer columns than the
                tokenizer has ids.
            MatcherError: a row was given a token that its grammar does not allow, the number of rows is not a multiple
                of the number of grammars, or a row's grammar allows no token with a finite score.
        """
        _check_tensor("input_ids", input_ids)
        _check_tensor("scores", scores)
        if scores.shape[1] < self._vocab_size:
            raise BitmaskError(
                f"the scores have {scores.shape[1]} columns, but the grammar's tokenizer has {self._vocab_size} ids",
                hint=f"if the model and the tokenizer belong together, pass vocab_size={scores.shape[1]} to "
                "TokenizerInfo.from_huggingface; otherwise load the model's own tokenizer",
            )
        rows = self._followed(input_ids)
        bitmask = allocate_token_bitmask(len(rows.rows), scores.shape[1], library="torch")  # free rows: all of it
        rows.fill(bitmask)
        masked = masked_scores(scores, bitmask)
        self._check_open_rows(masked, rows)
        return masked

    def _followed(self, input_ids: torch.Tensor) -> Rows:
        """Return the rows that these ids belong to, brought to their end."""
        for rows in self._generations:
            if rows.follow(input_ids):
                self._generations.remove(rows)
                break
        else:
            rows = self._started(input_ids)
        self._generations = [rows, *self._generations][:_MOST_GENERATIONS]
        if rows.num_steps_after_end == _PATIENCE:
            warnings.warn(
                f"all outputs are complete, but generate goes on: the stop tokens {self._stops} are not in its "
                f"eos_token_id; pass eos_token_id={self._stops} to generate",
                UserWarning,
                stacklevel=3,
            )
        return rows

    def _started(self, input_ids: torch.Tensor) -> Rows:
        num_rows = input_ids.shape[0]
        copies, left_over = divmod(num_rows, len(self._compiled))
        if left_over or not copies:
            raise MatcherError(
                f"{num_rows} rows cannot be divided among {len(self._compiled)} grammars",
                hint="give one grammar, or one for each prompt of the batch",
            )
        matchers = [
            None if compiled is None else self._make_matcher(compiled)
            for compiled in self._compiled
            for _ in range(copies)
        ]
        return Rows(input_ids, matchers, self._after_end)

    def _check_open_rows(self, masked: torch.Tensor, rows: Rows) -> None:
        """Refuse rows from which nothing can be sampled, and let those at their ends repeat it whatever the scores."""
        dead = torch.isfinite(masked.amax(dim=1)).logical_not().tolist()
        if not any(dead):
            return
        for index, row in enumerate(rows.rows):
            if not dead[index] or row.is_free:
                continue
            if row.at_end:
                masked[index, self._after_end] = 0
                continue
            if row.matcher is not None:
                check_spelling(row.matcher)
            raise MatcherError(
                f"row {index}: none of the tokens that the grammar allows has a finite score"
                if not masked[index].isnan().any()
                else f"row {index}: the scores contain NaN",
                hint="another processor excludes these tokens (min_new_tokens, bad_words_ids, suppress_tokens, "
                "forced_bos_token_id and prefix_allowed_tokens_fn do), or a temperature of zero comes before this one; "
                "use do_sample=False for that",
            )


def _shared_info(compiled: Sequence[CompiledGrammar | None]) -> TokenizerInfo:
    """The tokenizer of all grammars."""
    forms = {_vocabulary_form(each.tokenizer_info): each.tokenizer_info for each in compiled if each is not None}
    if not forms:
        if not compiled:
            raise MatcherError("no grammar was given", hint="pass a CompiledGrammar, or one for each row")
        raise wrong_argument("compiled", None, "a CompiledGrammar, or a list with at least one")
    if len(forms) > 1:
        raise MatcherError("the grammars were compiled for different tokenizers")
    return next(iter(forms.values()))


def _vocabulary_form(info: TokenizerInfo) -> tuple[int, tuple[int, ...]]:
    return info.vocab_size, info.stop_token_ids


def _maker(
    max_new_tokens: int | None, make_matcher: Callable[[CompiledGrammar], GrammarMatcher] | None
) -> Callable[[CompiledGrammar], GrammarMatcher]:
    if make_matcher is None:
        budget = None if max_new_tokens is None else as_integer("max_new_tokens", max_new_tokens, at_least=1)
        return budget_called("max_new_tokens")(lambda compiled: matcher_within(compiled, budget))
    hint = "pass lambda compiled: GrammarMatcher(compiled, ...)"
    if not callable(make_matcher):
        raise wrong_argument("make_matcher", make_matcher, "a function", hint)
    if max_new_tokens is not None:
        raise OptionError("max_new_tokens and make_matcher cannot be combined", option="max_new_tokens", hint=hint)
    return make_matcher


def _check_tensor(name: str, value: torch.Tensor) -> None:
    hint = "pass the processor to generate(logits_processor=...); for continuous batching use add_grammars"
    if not isinstance(value, torch.Tensor):
        raise wrong_argument(name, value, "a torch.Tensor", hint)
    if value.dim() != 2:
        raise BitmaskError(f"{name} must be two-dimensional, not of shape {tuple(value.shape)}", hint=hint)
