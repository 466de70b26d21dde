"""ONNX Runtime GenAI: the loop of a `Generator`, with the logits masked before each token.

    generator.append_tokens(prompt_ids)
    for (token,) in generate(generator, compiled, max_tokens=64):
        print(stream.decode(token), end="")

ONNX Runtime samples, as its search options say; `get_logits` and `set_logits` let the mask in. A generator that drafts
(with n-grams or a draft model) samples several tokens at once, and has no logits to mask in between, so it is refused.
Tested by tests/engines/test_onnxruntime_genai.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from maskwright import BatchGrammarMatcher, CompiledGrammar, allocate_token_bitmask, apply_token_bitmask_inplace
from maskwright.compiling.compiled_grammar import checked_compiled
from maskwright.errors import BitmaskError, MatcherError, OptionError, wrong_argument
from maskwright.integrations.budgets import matcher_within
from maskwright.integrations.following import check_choices, check_width
from maskwright.support.argument_names import other_names
from maskwright.support.packages import needed_by

with needed_by("maskwright.integrations.onnxruntime_genai", onnxruntime_genai="onnxruntime-genai"):
    from onnxruntime_genai import Generator

_NOT_ALLOWED = "use num_beams=1: beams move outputs between rows"


@other_names(max_new_tokens="max_tokens")
def generate(
    generator: Generator, compiled: CompiledGrammar | Sequence[CompiledGrammar], *, max_tokens: int | None = None
) -> Iterator[list[int | None]]:
    """Generate from a generator that was given its prompts, until all outputs are complete.

    Args:
        generator: With `append_tokens` done. Its `max_length` must have room for the prompt and `max_tokens`.
        compiled: One grammar for all rows of the batch, or one for each.
        max_tokens: The most new tokens of each output, its stop token included if it fits: outputs are complete
            within it.

    Yields:
        The new token of each row; None where a row is at its end. Stop tokens are left out.

    Raises:
        ArgumentError: An argument has the wrong type.
        BitmaskError: The grammars are for another number of rows, or for another tokenizer.
        MatcherError: The generator has ended an earlier output, stopped before an output was complete, or sampled what
            the grammar does not allow.
        OptionError: `max_tokens` is less than 1, or the generator drafts tokens.
        UnsatisfiableError: No output has so few tokens.
    """
    if not isinstance(generator, Generator):
        hint = "pass onnxruntime_genai.Generator(model, params), after append_tokens"
        raise wrong_argument("generator", generator, "an onnxruntime_genai.Generator", hint)
    if generator.get_speculative_stats().get("effective_k"):
        raise OptionError(
            "the generator drafts tokens (speculative decoding), and only one token at a time can be masked",
            option="generator",
            hint="call params.set_speculative_options(ngram_size=0), and load the model without a draft model",
        )
    if generator.is_done():
        raise MatcherError(
            "the generator has ended its output",
            hint="make another Generator for the next output, or append the tokens of its prompt first",
        )
    several = compiled if isinstance(compiled, list | tuple) else [compiled]
    grammars = [checked_compiled("compiled", each) for each in several]
    logits = generator.get_logits()
    if len(logits) % max(1, len(grammars)):
        raise BitmaskError(f"there are {len(grammars)} grammars, but the batch has {len(logits)} rows")
    return _steps(
        generator, _Rows([each for each in grammars for _ in range(len(logits) // len(grammars))], max_tokens)
    )


def _steps(generator: Any, rows: _Rows) -> Iterator[list[int | None]]:
    while not rows.ended():
        if generator.is_done():
            raise MatcherError(
                f"the generator stopped after {rows.num_steps} new tokens, before the output was complete",
                hint="set max_length to the length of the prompt plus max_tokens, and give generate() that max_tokens",
            )
        generator.set_logits(rows.masked(generator.get_logits()))
        generator.generate_next_token()
        tokens = rows.accepted(generator.get_next_tokens())
        if any(token is not None for token in tokens):
            yield tokens


class _Rows:
    """A matcher a row."""

    def __init__(self, grammars: list[CompiledGrammar], max_tokens: int | None) -> None:
        self.num_steps = 0
        self._max_tokens = max_tokens
        self._infos = [each.tokenizer_info for each in grammars]
        self._matchers = [matcher_within(each, max_tokens) for each in grammars]
        self._batch = BatchGrammarMatcher(self._matchers)
        self._bitmask = allocate_token_bitmask(len(grammars), max(info.vocab_size for info in self._infos))

    def ended(self) -> bool:
        """Whether nothing is left to generate: each row is at its stop token, or its tokens are used up."""
        return self.num_steps == self._max_tokens or all(matcher.is_terminated() for matcher in self._matchers)

    def masked(self, logits: Any) -> Any:
        """Return the logits, (rows, 1, vocab_size), with minus infinity for what is not allowed."""
        for info in self._infos:
            check_width(logits.shape[-1], info)
        flat = np.array(logits).reshape(len(self._matchers), -1)
        self._batch.fill_next_token_bitmask(self._bitmask)
        apply_token_bitmask_inplace(flat, self._bitmask)
        for row, matcher in zip(flat, self._matchers, strict=True):
            if matcher.is_terminated():  # ONNX Runtime goes on with the row until all are at their ends
                row[list(matcher.stop_token_ids)] = 0
            else:
                check_choices(float(row.max()))
        return flat.reshape(logits.shape)

    def accepted(self, tokens: Any) -> list[int | None]:
        """Accept the token of each row; return those that belong to the outputs."""
        self.num_steps += 1
        return [self._accept(int(token), row) for row, token in enumerate(tokens)]

    def _accept(self, token: int, row: int) -> int | None:
        matcher = self._matchers[row]
        if matcher.is_terminated():
            return None
        if not matcher.accept_token(token):
            position = matcher.num_accepted_tokens
            raise MatcherError(
                f"row {row}: token {token} at output position {position} is not allowed by the grammar",
                hint=_NOT_ALLOWED,
            )
        return None if matcher.is_terminated() else token
