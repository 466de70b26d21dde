"""The sampling loop: a language model on one side, a compiled grammar on the other, tokens and figures out.

    model = load_embedded_model()
    compiled = GrammarCompiler(model.tokenizer_info).compile_regex("[a-z]+")
    text = b"".join(chunk.data for chunk in generate(model, "A word: ", compiled))

One step is: fill the mask; if it leaves one token, take it without asking the model; otherwise mask the logits and
sample. Without a grammar the same loop samples freely, from the same random numbers.

Invariants: every token that comes out was accepted by the matcher; time spent by the consumer between two tokens is
not counted. `max_tokens` is the matcher's budget, so an output that is held to a grammar is complete within it.
`finish_reason` is "stop" iff the output is complete.
Tested by tests/cli/test_generation.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from maskwright import (
    CompiledGrammar,
    GrammarMatcher,
    TokenizerInfo,
    allocate_token_bitmask,
    apply_token_bitmask_inplace,
)
from maskwright.errors import MatcherError

Logits = npt.NDArray[np.float32]


class LanguageModel(Protocol):
    """What the loop needs of a model."""

    @property
    def tokenizer_info(self) -> TokenizerInfo: ...

    def encode(self, text: str) -> list[int]: ...

    def logits(self, context_ids: Sequence[int]) -> Logits:
        """Return the logits of the next token, (vocab_size,) float32, in an array that the caller may change."""
        ...


@dataclass(frozen=True)
class SamplingOptions:
    """How to sample. `temperature=0` takes the most likely token; `seed=None` draws a fresh one."""

    max_tokens: int = 256
    temperature: float = 0.8
    top_p: float = 0.95
    seed: int | None = None


@dataclass
class GenerationStats:
    """Figures of one generation; times in the unit of the name. A stop token has a mask but is not an output token."""

    num_tokens: int = 0
    num_forced: int = 0
    seconds: float = 0.0
    compile_us: float = 0.0
    mask_us: list[float] = field(default_factory=list)
    finish_reason: str | None = None

    @property
    def tokens_per_second(self) -> float:
        return self.num_tokens / self.seconds if self.seconds else 0.0

    @property
    def forced_share(self) -> float:
        """Share of the masks that left exactly one token."""
        return self.num_forced / len(self.mask_us) if self.mask_us else 0.0

    @property
    def first_mask_us(self) -> float:
        """From the grammar's text to the first mask."""
        return self.compile_us + (self.mask_us[0] if self.mask_us else 0.0)


class Chunk(NamedTuple):
    """The bytes of one token, which may end inside a character, and whether the mask left no other token."""

    data: bytes
    forced: bool


class MeasuredMatcher(GrammarMatcher):
    """A matcher that notes the time of every mask and the token that a mask leaves if it leaves only one."""

    def __init__(self, compiled: CompiledGrammar, stats: GenerationStats, max_tokens: int | None = None) -> None:
        super().__init__(compiled, max_tokens=max_tokens)
        self.stats = stats
        self.only_token: int | None = None

    def fill_next_token_bitmask(self, bitmask: Any, index: int = 0) -> bool:
        started = time.perf_counter_ns()
        needed: bool = super().fill_next_token_bitmask(bitmask, index)
        self.stats.mask_us.append((time.perf_counter_ns() - started) / 1e3)
        self.only_token = self.forced_token() if needed else None
        self.stats.num_forced += self.only_token is not None
        return needed


class Sampler:
    """Draws a token from logits: temperature, then the smallest set of tokens with probability `top_p`."""

    def __init__(self, options: SamplingOptions) -> None:
        self._options = options
        self._random = np.random.default_rng(options.seed)

    def __call__(self, logits: Logits, temperature: float | None = None) -> int:
        """Draw a token, at this temperature or else that of the options."""
        if temperature is None:
            temperature = self._options.temperature
        (allowed,) = np.isfinite(logits).nonzero()
        if not allowed.size:
            raise MatcherError(
                "no token of the vocabulary can continue the output",
                hint="the vocabulary lacks bytes that the grammar needs; use a tokenizer with byte tokens",
            )
        if temperature == 0:
            return int(allowed[logits[allowed].argmax()])
        scaled = logits[allowed].astype(np.float64) / temperature
        p = np.exp(scaled - scaled.max())
        order = p.argsort(kind="stable")[::-1]
        cumulated = p[order].cumsum()
        nucleus = int(cumulated.searchsorted(self._options.top_p * cumulated[-1]))
        drawn = cumulated.searchsorted(self._random.random() * cumulated[min(nucleus, order.size - 1)], side="right")
        return int(allowed[order[min(int(drawn), order.size - 1)]])


def generate(
    model: LanguageModel,
    prompt: str,
    compiled: CompiledGrammar | None = None,
    *,
    options: SamplingOptions | None = None,
    stats: GenerationStats | None = None,
) -> Iterator[Chunk]:
    """Sample tokens one by one until the output is complete, in at most `options.max_tokens`.

    Args:
        model: gives the logits.
        prompt: the text that the output follows.
        compiled: the structure to hold the output to; None samples freely.
        options: how to sample.
        stats: filled while the tokens come.

    Raises:
        MatcherError: the vocabulary has no token that continues the output.
        UnsatisfiableError: no output of the grammar has as few tokens as `options.max_tokens`.
    """
    options = options or SamplingOptions()
    stats = stats if stats is not None else GenerationStats()
    sampler = Sampler(options)
    matcher = None if compiled is None else MeasuredMatcher(compiled, stats, options.max_tokens)
    choose = _free_choice(model, sampler) if matcher is None else _constrained_choice(model, sampler, matcher)
    info = model.tokenizer_info
    context = model.encode(prompt)
    while stats.num_tokens < options.max_tokens:
        started = time.perf_counter()
        token = choose(context)
        stats.seconds += time.perf_counter() - started
        if matcher.is_terminated() if matcher is not None else token in info.stop_token_ids:
            stats.finish_reason = "stop"
            return
        context.append(token)
        stats.num_tokens += 1
        yield Chunk(info.token_bytes[token], matcher is not None and matcher.only_token is not None)
    stats.finish_reason = "stop" if matcher is not None and matcher.is_completed() else "length"


def _free_choice(model: LanguageModel, sampler: Sampler) -> Callable[[list[int]], int]:
    return lambda context: sampler(model.logits(context))


def _constrained_choice(model: LanguageModel, sampler: Sampler, matcher: MeasuredMatcher) -> Callable[[list[int]], int]:
    bitmask = allocate_token_bitmask(1, model.tokenizer_info.vocab_size)

    def choose(context: list[int]) -> int:
        needed = matcher.fill_next_token_bitmask(bitmask)
        token = matcher.only_token
        if token is None:
            logits = model.logits(context)
            if needed:
                apply_token_bitmask_inplace(logits, bitmask)
            token = sampler(logits, matcher.temperature())
        accepted = matcher.accept_token(token)
        if not accepted:
            raise MatcherError(f"token {token} is allowed by the mask but was not accepted")
        return token

    return choose
