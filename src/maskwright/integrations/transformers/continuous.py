"""Continuous batching: each request of a manager of transformers held to a grammar of its own.

    manager = model.init_continuous_batching(generation_config=config)
    add_grammars(manager)
    manager.start()
    manager.add_request(input_ids, max_new_tokens=100, grammar=compiled)

transformers calls a processor twice a step: with the requests of the batch, before the model runs, and with their
logits. Masks are made and applied in the second call, from the tokens that each request had at the first one. The
request's `max_new_tokens` is its matcher's budget, and its end tokens are its stop tokens.

What does not fit is refused when grammars are added: asynchronous batching prepares a step before the tokens of the
last one are known, and CUDA graphs and compiled steps do not come back to Python between the two calls. A request that
cannot be held to its grammar fails alone: its output ends at once, and its `error` says why.

Invariants: one matcher a request, dropped with it; one that was set aside, forked or begun again is replayed from its
tokens. Tested by tests/integrations/test_transformers_continuous.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, ClassVar

import torch

from maskwright import (
    CompiledGrammar,
    GrammarMatcher,
    allocate_token_bitmask,
)
from maskwright.errors import BitmaskError, MaskwrightError, MatcherError, OptionError, wrong_argument
from maskwright.integrations.budgets import budget_called, matcher_within
from maskwright.integrations.transformers.masks import allow_after_end, masked_scores

_Base: Any
try:
    _Base = import_module("transformers.generation.continuous_batching.cb_logits_processors")
    _Base = _Base.ContinuousBatchingLogitsProcessor
except ImportError:  # of a transformers in which processors do not see requests
    _Base = object


def add_grammars(manager: Any) -> None:
    """Let the requests of a manager have grammars: `manager.add_request(..., grammar=compiled)`.

    Requests without one are free. Nothing else changes; calling it again does nothing.

    Args:
        manager: What `model.init_continuous_batching(...)` returns, before it is started or warmed up.

    Raises:
        ArgumentError: It is no such manager, or transformers is too old to tell processors about requests.
        MatcherError: The manager has been started or warmed up.
        OptionError: It batches asynchronously, or uses CUDA graphs or compiled steps.
    """
    processors: Any = getattr(manager, "logit_processor", None)
    if _Base is object or not hasattr(processors, "tensors_required"):
        raise wrong_argument(
            "manager",
            manager,
            "a manager for continuous batching",
            "pass what model.init_continuous_batching(...) returns, of transformers 5.19 or later",
        )
    if any(isinstance(each, RequestGrammars) for each in processors.logits_processor):
        return
    if manager.batch_processor is not None or manager.is_running():
        raise MatcherError(
            "the manager has been started or warmed up already",
            hint="call add_grammars between model.init_continuous_batching() and manager.start()",
        )
    _check_configuration(manager.continuous_batching_config)
    processors.logits_processor.insert(0, RequestGrammars())  # before temperature, top-k and top-p
    processors.tensors_required += 1
    processors.do_processing = True
    processors._retrieve_processors_kwargs()


def _check_configuration(config: Any) -> None:
    reasons = {
        "use_async_batching": bool(config.use_async_batching),
        "use_cuda_graph": any(config.cuda_graph_booleans),
        "default_compile_level": config.varlen_compile_config is not None or config.decode_compile_config is not None,
    }
    for option, is_on in reasons.items():
        if is_on:
            raise OptionError(
                f"grammars cannot be combined with {option}: masks are made between two steps, by the processor",
                option=option,
                hint="pass ContinuousBatchingConfig(use_async_batching=False, use_cuda_graph=False, "
                "default_compile_level=0) to init_continuous_batching",
            )


class RequestGrammars(_Base):  # type: ignore[misc, unused-ignore]
    """Masks the logits of each request by the grammar that it came with. `add_grammars` makes one."""

    supported_kwargs: ClassVar[dict[str, type]] = {"grammar": CompiledGrammar}
    ignored_kwargs: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        self._states: list[Any] = []  # of the requests that get a token in the coming step, one a row
        self._held: dict[str, _Held] = {}  # by their ids, those that have a grammar

    def fill_defaults(self, int32_tensor: torch.Tensor) -> None:
        """Fill the argument of requests that are not there; it is not used."""
        int32_tensor.fill_(0)

    def prepare_tensor_args(self, requests_with_new_token: Sequence[Any]) -> torch.Tensor:
        """Note the requests of the coming step; return an argument for each, which is not used."""
        self._states = [request.state for request in requests_with_new_token]
        self._held = {s.request_id: self._of(s) for s in self._states if "grammar" in s.logit_processor_kwargs}
        return torch.zeros(len(self._states), dtype=torch.int32)

    def __call__(self, scores: torch.Tensor, tensor_arg: torch.Tensor) -> torch.Tensor:
        """Return masked logits, (rows, vocab_size); rows beyond the requests with a new token are not used."""
        if not self._held:
            return scores
        if scores.shape[0] < len(self._states):
            raise BitmaskError(f"the step has {scores.shape[0]} rows of logits for {len(self._states)} requests")
        bitmask = allocate_token_bitmask(scores.shape[0], scores.shape[1], library="torch").fill_(-1)
        for index, state in enumerate(self._states):
            if state.request_id in self._held:
                self._held[state.request_id].fill(bitmask, index, state)
        return masked_scores(scores, bitmask)

    def _of(self, state: Any) -> _Held:
        known = self._held.get(state.request_id)
        compiled = state.logit_processor_kwargs["grammar"]
        return known if known is not None and known.compiled is compiled else _Held(compiled)


class _Held:
    """A request's matcher, and how many of its tokens that has accepted."""

    def __init__(self, compiled: CompiledGrammar) -> None:
        self.compiled = compiled
        self._matcher: GrammarMatcher | None = None
        self._num_accepted = 0

    def fill(self, bitmask: torch.Tensor, index: int, state: Any) -> None:
        """Write the mask of the request's next token. One that cannot be held to its grammar may only end."""
        try:
            self._follow(state)
            assert self._matcher is not None
            self._matcher.fill_next_token_bitmask(bitmask, index)
        except MaskwrightError as error:
            state.error = f"{type(error).__name__}: {error}"
            allow_after_end(bitmask[index], state._eos_token_ids)

    def _follow(self, state: Any) -> None:
        begun_with = state.initial_tokens[state._true_initial_tokens :] if state._true_initial_tokens else []
        if self._matcher is None:
            self._matcher = _matcher_of(self.compiled, state, len(begun_with))
        if state.position_offset != len(state.initial_tokens) + len(state.generated_tokens):
            raise MatcherError(
                "the request's tokens are not known when its next mask is made",
                hint="pass ContinuousBatchingConfig(use_async_batching=False) to init_continuous_batching",
            )
        new = [*begun_with, *state.generated_tokens][self._num_accepted :]
        accepted = self._matcher.accept_tokens(new)
        self._num_accepted += accepted
        if accepted < len(new):
            raise MatcherError(
                f"token {new[accepted]} at output position {self._num_accepted} is not allowed by the grammar",
                hint="processors after RequestGrammars must not allow what it has excluded",
            )


def _matcher_of(compiled: CompiledGrammar, state: Any, num_begun_with: int) -> GrammarMatcher:
    stops = sorted(state._eos_token_ids)
    if not stops:
        raise OptionError(
            "a request with a grammar requires an end token",
            option="eos_token_id",
            hint="pass eos_token_id= to add_request, or set it in the generation config",
        )
    limit = None if state.max_new_tokens is None else state.max_new_tokens + num_begun_with
    with budget_called("max_new_tokens"):
        return matcher_within(compiled, limit, override_stop_tokens=stops)
