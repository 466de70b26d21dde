"""vLLM's `StructuredOutputBackend` and `StructuredOutputGrammar`, in the engine.

A `RequestGrammar` is one request's matcher. If the model reasons first, the structure begins later (`LateGrammar`): the
matcher is made when it does, with what is left of the budget. Until then drafts may look ahead, with a matcher whose
budget is small enough for wherever in the draft the reasoning ends; what it allows, the later one allows as well.

Invariant: nothing raised here reaches the engine's loop. A grammar that turns out to be too ambiguous leaves only stop
tokens and refuses the next token, by which vLLM ends this request alone with an error.
Tested by tests/integrations/test_vllm_adapter.py and tests/engines/vllm/test_vllm_offline.py.
"""

from __future__ import annotations

import logging
import weakref
from collections.abc import Collection, Sequence
from typing import Any

from maskwright import BatchGrammarMatcher, CompiledGrammar, GrammarMatcher, allocate_token_bitmask
from maskwright.bitmask.only import allow_only
from maskwright.errors import LimitError, MaskwrightError, UnsatisfiableError
from maskwright.integrations.drafting import OutputDrafter
from maskwright.integrations.vllm.budget import make_matcher, most_tokens
from maskwright.integrations.vllm.requests import compile_structure, compiler_for
from maskwright.outputs.grammar_drafts import GrammarDrafts

_logger = logging.getLogger("vllm.maskwright")


class MaskwrightBackend:
    """What vLLM asks for grammars and bitmasks; one for each engine."""

    def __init__(self, vllm_config: Any, tokenizer: Any, vocab_size: int) -> None:
        self.vllm_config = vllm_config
        self.tokenizer = tokenizer
        self.vocab_size = vocab_size
        self._compiler = compiler_for(tokenizer, vocab_size)
        self._drafts = drafts_of(vllm_config)

    def drafted(self, request: Any, draft: list[int]) -> list[int]:
        """Return a draft for a request, which may have this one already: ours, if there is anything to go by.

        Where vLLM looks drafts up in the prompt and schedules a step when the last one is over.
        """
        grammar = request.structured_output_request.grammar if request.use_structured_output else None
        if self._drafts is None or not isinstance(grammar, RequestGrammar):
            return draft
        return grammar.draft(self._drafts) or draft

    def grammar_for(self, request: Any, *, may_reason: bool) -> RequestGrammar:
        """Compile a request's structure; called in a thread of vLLM's pool.

        Raises:
            MaskwrightError: It cannot be compiled, or not completed within `max_tokens`.
        """
        sampling_params = request.sampling_params
        kind, specification = request.structured_output_request.structured_output_key
        compiled = self._compile(kind.name, specification, sampling_params.structured_outputs)
        stops = sampling_params.all_stop_token_ids
        most = most_tokens(sampling_params, request.num_prompt_tokens, self.vllm_config.model_config.max_model_len)
        matcher = make_matcher(compiled, stops, most)
        if may_reason:
            return LateGrammar(compiled, stops, most, request, self.vllm_config.num_speculative_tokens)
        return RequestGrammar(matcher)

    def compile_grammar(
        self, request_type: Any, grammar_spec: str, stop_token_ids: Collection[int] | None = None
    ) -> RequestGrammar:
        """Compile a structure of which nothing else is known: beam search asks like this."""
        compiled = self._compile(request_type.name, grammar_spec, None)
        return RequestGrammar(make_matcher(compiled, stop_token_ids or (), None))

    def allocate_token_bitmask(self, max_num_seqs: int) -> Any:
        """Return a bitmask that allows everything: (max_num_seqs, ceil(vocab_size / 32)) int32, a CPU tensor."""
        return allocate_token_bitmask(max_num_seqs, self.vocab_size, library="torch")

    def destroy(self) -> None:
        """Nothing is held that others do not use."""

    def _compile(self, kind: str, specification: str, params: Any) -> CompiledGrammar:
        options = options_of(self.vllm_config.structured_outputs_config, params)
        return compile_structure(self._compiler, kind, specification, options)


def drafts_of(vllm_config: Any) -> GrammarDrafts | None:
    """Return what drafts are learnt in: where vLLM looks drafts up and schedules a step when the last one is over."""
    speculative = vllm_config.speculative_config
    if speculative is None or speculative.method != "ngram" or vllm_config.scheduler_config.async_scheduling:
        return None
    return GrammarDrafts(speculative.num_speculative_tokens)


def options_of(config: Any, params: Any) -> dict[str, Any]:
    """Return the options of a JSON Schema: what the configuration or the request switches on."""
    flags = ("disable_any_whitespace", "disable_additional_properties")
    options: dict[str, Any] = {flag: getattr(config, flag) or getattr(params, flag, False) for flag in flags}
    return {**options, "whitespace_pattern": getattr(params, "whitespace_pattern", None)}


class RequestGrammar:
    """One request's output so far."""

    def __init__(self, matcher: GrammarMatcher | None) -> None:
        self._matcher = matcher
        self._failed = False
        self._output_ids: list[int] = []  # that were accepted
        self._drafter: OutputDrafter | None = None

    def matcher(self, num_new_tokens: int = 0) -> GrammarMatcher:
        """Return the matcher; `num_new_tokens` of the request's tokens are about to be accepted."""
        assert self._matcher is not None
        return self._matcher

    def accept_tokens(self, request_id: str, tokens: list[int]) -> bool:
        """Go on by these tokens; what comes after the end is ignored. False if one is not allowed."""
        matcher = self.matcher(len(tokens))
        if matcher.is_terminated():
            return True
        try:
            accepted = 0 if self._failed else matcher.accept_tokens(tokens)
        except MaskwrightError as error:
            _logger.error("Request %s ends with an error: %s", request_id, error)
            return False
        self._output_ids += tokens[:accepted]
        if self._drafter is not None and matcher.is_terminated():
            self._drafter.read(self._output_ids)  # no draft is asked for any more
        if accepted == len(tokens) or matcher.is_terminated():
            return True
        _logger.error(
            "Request %s: token %d is not allowed by its structure. Something else excludes all that is allowed: "
            "allowed_token_ids, bad_words, logit_bias, min_tokens, or a logits processor.",
            request_id,
            tokens[accepted],
        )
        return False

    def validate_tokens(self, tokens: list[int]) -> list[int]:
        """Return the tokens, from the first on, that would be accepted. Nothing changes."""
        try:
            return tokens[: self.matcher().validate_tokens(tokens)]
        except MaskwrightError:  # none is, and the mask says so
            return []

    def rollback(self, num_tokens: int) -> None:
        """Take back the last tokens."""
        self.matcher().rollback(num_tokens)
        del self._output_ids[len(self._output_ids) - num_tokens :]

    def draft(self, drafts: GrammarDrafts) -> list[int]:
        """Return what likely comes next, from what other outputs went on with and what the grammar forces."""
        if self._matcher is None or self._failed:
            return []  # it still reasons
        try:
            if self._drafter is None:
                self._drafter = OutputDrafter(drafts, self._matcher.compiled_grammar)
            self._drafter.read(self._output_ids)
            draft = self._drafter.draft()
            return draft[: self._matcher.validate_tokens(draft)]
        except MaskwrightError:  # too ambiguous: the mask says so
            return []

    def fill_bitmask(self, bitmask: Any, batch_index: int) -> None:
        """Write the mask of the next token to a row."""
        matcher = self.matcher()
        try:
            matcher.fill_next_token_bitmask(bitmask, batch_index)
        except MaskwrightError as error:
            _logger.error("A request ends with an error: %s", error)
            self._failed = True
            allow_only(bitmask[batch_index], matcher.stop_token_ids)

    def is_terminated(self) -> bool:
        """Whether the structure is over: a stop token was accepted."""
        return self.matcher().is_terminated()

    def reset(self) -> None:
        """Go back to the beginning of the structure."""
        self.matcher().reset()
        self._output_ids.clear()


class LateGrammar(RequestGrammar):
    """One request's output so far, where the model may reason before the structure begins."""

    def __init__(
        self, compiled: CompiledGrammar, stops: Collection[int], most: int | None, request: Any, num_drafts: int
    ) -> None:
        super().__init__(None)
        self._parts = compiled, stops
        self._most = most
        self._request = weakref.ref(request)  # which holds this grammar
        self._num_drafts = num_drafts
        self._looking_ahead: tuple[int, GrammarMatcher] | None = None

    def matcher(self, num_new_tokens: int = 0) -> GrammarMatcher:
        if self._matcher is not None:
            return self._matcher
        request = self._request()
        num_tokens = 0 if request is None else request.num_output_tokens
        if request is None or request.structured_output_request.reasoning_ended:
            self._matcher = self._begun(num_tokens - num_new_tokens)
            return self._matcher
        if self._looking_ahead is None or self._looking_ahead[0] != num_tokens:
            self._looking_ahead = num_tokens, self._begun(num_tokens + self._num_drafts)
        return self._looking_ahead[1]

    def _begun(self, num_tokens: int) -> GrammarMatcher:
        """Make the matcher of a structure that begins after so many tokens.

        If the reasoning left too few for it, or whether it did takes too long to find out, it has no budget: it is
        followed as far as it goes.
        """
        compiled, stops = self._parts
        most = None if self._most is None else self._most - num_tokens
        try:
            return make_matcher(compiled, stops, None if most is None or most < 1 else most)
        except (LimitError, UnsatisfiableError):
            return make_matcher(compiled, stops, None)


def fill_rows(bitmask: Any, rows: Sequence[tuple[RequestGrammar, int]]) -> None:
    """Write the masks of several requests, each to its row, in one call into the kernel."""
    if len(rows) > 1:
        batch = BatchGrammarMatcher([grammar.matcher() for grammar, _ in rows])
        try:
            batch.fill_next_token_bitmask(bitmask, [index for _, index in rows])
            return
        except MaskwrightError:
            pass  # one by one, so that the request at fault is known
    for grammar, index in rows:
        grammar.fill_bitmask(bitmask, index)
