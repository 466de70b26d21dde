"""`StructureSampler`: walks from the root of the trie to the end of an output.

A walk draws each token by its weight, the model's probability times the bound of what lies behind. Where it comes to a
beginning for the first time, the bound of which was 1 and is now found to be less, it goes on with just that
probability, and otherwise starts over. So a walk ends in an output x with the probability p(x) / (bound of the root):
in proportion to p, whatever the bounds are. The bounds become tighter with every walk, and no mistake is made twice.

As masks are exact, a token is allowed only if an output goes on with it, and, with `max_tokens`, fits.

Sources: Park et al., "Grammar-Aligned Decoding" (2024), for the problem and for bounds learnt from masks; Parys et al.,
"Constrained Adaptive Rejection Sampling" (2025), for exact sampling with them.
Tested by tests/sampling/test_sampler.py, against the enumeration of all outputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from maskwright.bitmask import allocate_token_bitmask
from maskwright.compiling.compiled_grammar import CompiledGrammar, checked_compiled
from maskwright.engine.models import CausalModel
from maskwright.errors import LimitError, OptionError, UnsatisfiableError, wrong_argument
from maskwright.matcher import GrammarMatcher
from maskwright.sampling.cached_model import CachedModel
from maskwright.sampling.choices import Choices, Ints, choices_of, draw
from maskwright.sampling.trie import Beginning, Trie, learn
from maskwright.support.arguments import as_integer, as_number, as_tuple

NextLogits: TypeAlias = Callable[[Sequence[int]], Any]
_DEFAULT_BYTES = 256 << 20
_MAX_BEGINNINGS = 1_000_000
_NO_TOKEN = -1


class Sample(NamedTuple):
    """An output.

    Attributes:
        token_ids: its tokens, without the stop token.
        text: these as text; bytes that are not UTF-8 become U+FFFD.
        log_probability: what the model gives it, the stop token included: a natural logarithm, at the temperature.
        log_weight: what `masked` draws it too rarely by, a logarithm without a scale. 0 for faithful samples.
    """

    token_ids: tuple[int, ...]
    text: str
    log_probability: float
    log_weight: float = 0.0


class SamplingStats(NamedTuple):
    """What was done since the sampler was made.

    Attributes:
        num_samples: outputs, of whatever kind.
        num_walks: attempts; those of `sample` without an output were rejected.
        num_model_calls: calls of the model.
        valid_probability: an upper bound of the probability that the model's output is valid; it falls towards it.
    """

    num_samples: int
    num_walks: int
    num_model_calls: int
    valid_probability: float


class StructureSampler:
    """Samples outputs that a grammar allows, for one prompt. For one thread at a time.

    Args:
        compiled_grammar: The structure.
        model: A function from all token ids so far, those of the prompt first, to the logits of the next token,
            (vocab_size,) or wider, an array or a tensor; or a `CausalModel` of `maskwright.engine.models`, whose cache
            is kept between calls.
        prompt_ids: The tokens of the prompt. Without any, a `CausalModel` gets the token with which texts begin.
        max_tokens: The most tokens of an output, the stop token apart: longer ones count as invalid. None means that
            the structure alone bounds them.
        temperature: What the logits are divided by. The distribution is that of the model at this temperature.
        seed: The same seed gives the same outputs; None means a random one.
        free_end: Whether the stop token costs nothing where nothing else may follow. By default a model that would
            rather write on after a complete output makes that output less likely.
        max_attempts: The most walks for one faithful sample.
        memory_bytes: What the choices of visited beginnings may take; those that go are asked for again.

    Raises:
        ArgumentError: An argument has the wrong type.
        OptionError: A number is out of range.
        UnsatisfiableError, LimitError, MatcherError: As `GrammarMatcher` with `max_tokens`.
    """

    def __init__(
        self,
        compiled_grammar: CompiledGrammar,
        model: NextLogits | CausalModel,
        prompt_ids: Sequence[int] = (),
        *,
        max_tokens: int | None = None,
        temperature: float = 1.0,
        seed: int | None = None,
        free_end: bool = False,
        max_attempts: int = 10_000,
        memory_bytes: int = _DEFAULT_BYTES,
    ) -> None:
        compiled = checked_compiled("compiled_grammar", compiled_grammar)
        ids = as_tuple("prompt_ids", prompt_ids, "a sequence of token ids", "encode the prompt first")
        self._prompt = [as_integer("prompt_ids", each, at_least=0) for each in ids]
        self._next_logits = _as_function(model)
        if isinstance(self._next_logits, CachedModel) and not self._prompt:
            self._prompt = self._next_logits.empty_prompt()
        self._temperature = as_number("temperature", temperature)
        if not 0 < self._temperature < math.inf:
            hint = "for the likeliest output, use best_of, or a temperature such as 0.01"
            raise OptionError(f"temperature must be > 0, not {self._temperature}", option="temperature", hint=hint)
        self._max_attempts = as_integer("max_attempts", max_attempts, at_least=1)
        self._free_end = bool(free_end)
        self._start = GrammarMatcher(compiled, max_tokens=max_tokens, budget="exact")
        self._info = compiled.tokenizer_info
        self._stops = np.array(self._info.stop_token_ids, np.int64)
        self._row = allocate_token_bitmask(1, self._info.vocab_size)
        self._random = np.random.default_rng(None if seed is None else as_integer("seed", seed, at_least=0))
        self._trie = Trie(as_integer("memory_bytes", memory_bytes, at_least=0), _MAX_BEGINNINGS)
        self._num_samples = self._num_walks = self._num_calls = 0

    def sample(self, count: int = 1) -> list[Sample]:
        """Return independent samples from the model's distribution over all valid outputs.

        Raises:
            LimitError: `max_attempts` walks in a row were rejected.
            UnsatisfiableError: The model gives no valid output any probability.
            BitmaskError: The model's logits have the wrong form.
        """
        return [self._faithful() for _ in range(as_integer("count", count, at_least=0))]

    def masked(self, count: int = 1) -> list[Sample]:
        """Return what masks alone give: samples of another distribution, with `log_weight` to correct it.

        Averages over them, each weighted by `exp(log_weight)`, are those of faithful samples in the limit.

        Raises:
            UnsatisfiableError: The model gives none of the allowed tokens any probability.
            BitmaskError: The model's logits have the wrong form.
        """
        return [self._counted(self._masked()) for _ in range(as_integer("count", count, at_least=0))]

    def resampled(self, count: int, num_candidates: int) -> list[Sample]:
        """Return samples drawn by weight, with replacement, of so many masked ones.

        The more candidates, the nearer to `sample`; the cost is known beforehand. Errors are those of `masked`.
        """
        as_integer("count", count, at_least=0)
        found = self.masked(as_integer("num_candidates", num_candidates, at_least=1))
        weights = np.array([each.log_weight for each in found])
        return [found[draw(weights, self._random.random())] for _ in range(count)]

    def best_of(self, num_candidates: int) -> Sample:
        """Return the likeliest of so many masked samples. Errors are those of `masked`."""
        found = self.masked(as_integer("num_candidates", num_candidates, at_least=1))
        return max(found, key=lambda each: each.log_probability)

    def stats(self) -> SamplingStats:
        """Return what was done so far."""
        bound = min(1.0, math.exp(self._trie.root.log_bound))
        return SamplingStats(self._num_samples, self._num_walks, self._num_calls, bound)

    def _faithful(self) -> Sample:
        for _ in range(self._max_attempts):
            found = self._walk(is_masked=False)
            if found is not None:
                return self._counted(found)
            if self._trie.root.log_bound == -math.inf:
                raise _nothing_likely()
        raise LimitError(
            f"{self._max_attempts:,} walks in a row were rejected: the model finds valid outputs unlikely",
            limit="max_attempts",
            hint="say in the prompt what the output looks like, raise max_attempts, or use resampled()",
        )

    def _masked(self) -> Sample:
        found = self._walk(is_masked=True)
        if found is None:
            raise _nothing_likely()
        return found

    def _counted(self, sample: Sample) -> Sample:
        self._num_samples += 1
        return sample

    def _walk(self, *, is_masked: bool) -> Sample | None:
        """Go from the root to the end of an output, or None: rejected, or nothing allowed has any probability."""
        self._num_walks += 1
        matcher, at = self._start.fork(), self._trie.begin()
        ids: list[int] = []
        walk: list[tuple[Beginning, Choices, int]] = []
        log_probability = log_weight = 0.0
        try:
            while not matcher.is_terminated():
                allowed = self._allowed(matcher)
                if self._free_end and np.isin(allowed, self._stops).all():
                    break
                choices = self._choices(at, allowed, ids)
                log_weights = choices.log_p if is_masked else choices.log_weights
                if not at.is_visited:
                    at.is_visited, at.log_bound = True, choices.log_mass()
                    walk.append((at, choices, _NO_TOKEN))
                    if not is_masked and len(ids) > 0 and self._random.random() >= math.exp(at.log_bound):
                        return None
                if log_weights.max() == -np.inf:
                    return None
                i = draw(log_weights, self._random.random())
                token = int(choices.token_ids[i])
                log_probability += float(choices.log_p[i])
                log_weight += choices.log_allowed
                matcher.accept_token(token)
                walk.append((at, choices, token))
                ids.append(token)
                if not matcher.is_terminated():
                    at = self._trie.follow(at, token)
        finally:
            learn(walk)
        token_ids = tuple(ids[:-1] if matcher.is_terminated() else ids)
        text = self._info.decode(token_ids).decode("utf-8", "replace")
        return Sample(token_ids, text, log_probability, log_weight if is_masked else 0.0)

    def _allowed(self, matcher: GrammarMatcher) -> Ints:
        matcher.fill_next_token_bitmask(self._row)
        bits = np.unpackbits(self._row[0].view(np.uint8), bitorder="little")
        return bits[: self._info.vocab_size].nonzero()[0]

    def _choices(self, at: Beginning, allowed: Ints, ids: list[int]) -> Choices:
        def ask() -> Choices:
            self._num_calls += 1
            logits = self._next_logits([*self._prompt, *ids])
            return choices_of(logits, allowed, self._info.vocab_size, self._temperature)

        return self._trie.choices(at, ask)


def _as_function(model: Any) -> NextLogits:
    if hasattr(model, "truncate") and hasattr(model, "forward"):
        return CachedModel(model)
    if callable(model) and not hasattr(model, "forward"):
        return model  # type: ignore[no-any-return]
    hint = "TransformersModel(model, tokenizer) of maskwright.engine.models.transformers is one for transformers"
    if callable(getattr(model, "logits", None)):
        hint = "pass its method: model.logits"
    raise wrong_argument("model", model, "a function from token ids to logits, or a CausalModel", hint)


def _nothing_likely() -> UnsatisfiableError:
    return UnsatisfiableError("the model gives no valid output any probability")
