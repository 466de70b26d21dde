"""Where the backend is put into vLLM: the functions that are replaced, each by one that passes on what is not for it.

    SamplingParams._validate_structured_outputs   requests are validated by frontend.py
    InputProcessor.process_inputs                 and so is their budget, when the prompt's length is known
    InputProcessor.__init__                       a front-end begins: the tokenizer is read, and its modules are hooked
    StructuredOutputManager.grammar_init          the engine's backend is made
    StructuredOutputManager._create_grammar       a request is compiled, with its max_tokens
    StructuredOutputManager._fill_bitmasks,
    StructuredOutputManager.grammar_bitmask       vLLM lays out the rows, then all masks are filled in one call
    StructuredOutputManager.validate_tokens       drafts looked up in the prompt are replaced by those from the grammar

    WorkerBase.__init__                           a worker begins: masks are applied to logits on a CPU by worker.py

In front-ends that use the backend also: a server compiles in a thread, before its event loop validates the request;
structural tags are validated by ours rather than by XGrammar when a request is read, as is the structure beside which a
model may call tools; and beam search finds the backend, or is refused where vLLM's server would drop the structure.
`install` may be called any number of times. versions.py says what the functions must look like.
Tested by tests/integrations/test_vllm_adapter.py and tests/engines/vllm/test_vllm_offline.py.
"""

from __future__ import annotations

import logging
import sys
from asyncio import to_thread
from collections.abc import Callable
from concurrent.futures import Future, wait
from functools import wraps
from importlib import import_module
from typing import Any

from maskwright import __version__
from maskwright.integrations.vllm import frontend
from maskwright.integrations.vllm.backend import MaskwrightBackend, RequestGrammar, fill_rows
from maskwright.integrations.vllm.budget import has_budgets
from maskwright.integrations.vllm.config import NAME, is_chosen
from maskwright.integrations.vllm.requests import compiler_for
from maskwright.integrations.vllm.versions import HOOKED_IN_FRONT_END, owner_of, why_of_another_shape
from maskwright.integrations.vllm.worker import apply_on_cpu

_MARK = "_replaced_by_maskwright"
_logger = logging.getLogger("vllm.maskwright")

# Most grammars are ready within it. A request whose grammar is not ready when the next step is scheduled waits for the
# whole step. The wait is in the thread that takes new requests, so while a grammar that it was in vain for is compiled,
# there is no other.
READY_WITHIN_S = 0.003


def install() -> None:
    """Put the backend into this process's vLLM."""
    types = import_module("vllm.v1.structured_output.backend_types")
    types.StructuredOutputBackend.register(MaskwrightBackend)
    types.StructuredOutputGrammar.register(RequestGrammar)
    params = import_module("vllm.sampling_params").SamplingParams
    processor = import_module("vllm.v1.engine.input_processor").InputProcessor
    manager = import_module("vllm.v1.structured_output").StructuredOutputManager
    worker = import_module("vllm.v1.worker.worker_base").WorkerBase
    _replace(params, "_validate_structured_outputs", _validate_structured_outputs)
    _replace(processor, "__init__", _init_front_end)
    _replace(processor, "process_inputs", _process_inputs)
    _replace(manager, "grammar_init", _grammar_init)
    _replace(manager, "_create_grammar", _create_grammar)
    _replace(manager, "_fill_bitmasks", _fill_bitmasks)
    _replace(manager, "grammar_bitmask", _grammar_bitmask)
    _replace(manager, "validate_tokens", _validate_tokens)
    _replace(worker, "__init__", _init_worker)


def _replace(owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    original = getattr(owner, name)
    if not hasattr(original, _MARK):
        replacement = wraps(original)(make(original))
        setattr(replacement, _MARK, True)
        setattr(owner, name, replacement)


def _validate_structured_outputs(original: Any) -> Any:
    def validate(self: Any, model_config: Any, structured_outputs_config: Any, tokenizer: Any) -> None:
        config = structured_outputs_config
        if config is None or self.structured_outputs is None or not is_chosen(config.backend):
            original(self, model_config, structured_outputs_config, tokenizer)
        else:
            frontend.validate(self, model_config, config, tokenizer)

    return validate


def _init_front_end(original: Any) -> Any:
    def init(self: Any, vllm_config: Any, *args: Any, **kwargs: Any) -> None:
        original(self, vllm_config, *args, **kwargs)
        if is_chosen(vllm_config.structured_outputs_config.backend):
            _install_front_end()
            budgets = "are completed within max_tokens" if has_budgets() else "may be cut off at max_tokens"
            _logger.info("Structured outputs are those of maskwright %s, and %s.", __version__, budgets)
            if self.tokenizer is not None:  # read now, so that the first request does not wait for it
                compiler_for(self.tokenizer, self.model_config.get_vocab_size())

    return init


def _process_inputs(original: Any) -> Any:
    def process_inputs(self: Any, *args: Any, **kwargs: Any) -> Any:
        request = original(self, *args, **kwargs)
        frontend.check_budget(request, self.model_config, self.structured_outputs_config, self.tokenizer)
        return request

    return process_inputs


def _grammar_init(original: Any) -> Any:
    def grammar_init(self: Any, request: Any) -> None:
        if request.structured_output_request is not None and self.backend is None:
            backend = request.sampling_params.structured_outputs._backend
            if backend == NAME:
                vocab_size = self.vllm_config.model_config.get_vocab_size()
                self.backend = MaskwrightBackend(self.vllm_config, self.tokenizer, vocab_size)
                self.backend_name = backend  # which vLLM 0.33 compares
        original(self, request)
        if request.structured_output_request is not None and isinstance(self.backend, MaskwrightBackend):
            grammar = request.structured_output_request._grammar
            late = getattr(self, "_maskwright_late", None)
            if isinstance(grammar, Future) and (late is None or late.done()):
                self._maskwright_late = None if wait((grammar,), READY_WITHIN_S).done else grammar

    return grammar_init


def _create_grammar(original: Any) -> Any:
    def create_grammar(self: Any, request: Any) -> Any:
        if not isinstance(self.backend, MaskwrightBackend):
            return original(self, request)
        may_reason = self.reasoner_cls is not None and not self.enable_in_reasoning
        return self.backend.grammar_for(request, may_reason=may_reason)

    return create_grammar


def _fill_bitmasks(original: Any) -> Any:
    def fill_bitmasks(self: Any, batch: Any) -> None:
        if not isinstance(self.backend, MaskwrightBackend):
            original(self, batch)
            return
        unconstrained = []
        rows = []
        for entry in batch:  # the grammar, the row, whether it is constrained, and in vLLM 0.33 more
            if entry[2] and not entry[0].is_terminated():
                rows.append(entry[:2])
            else:
                unconstrained.append(entry)
        original(self, unconstrained)
        later = getattr(self, "_maskwright_rows", None)
        if later is None:
            fill_rows(self._grammar_bitmask, rows)
        else:
            later.extend(rows)

    return fill_bitmasks


def _grammar_bitmask(original: Any) -> Any:
    def grammar_bitmask(
        self: Any, requests: Any, structured_output_request_ids: Any, scheduled_spec_decode_tokens: Any
    ) -> Any:
        given = requests, structured_output_request_ids, scheduled_spec_decode_tokens
        drafts = map(scheduled_spec_decode_tokens.get, structured_output_request_ids)
        if not isinstance(self.backend, MaskwrightBackend) or any(drafts):
            return original(self, *given)  # along a draft, each row is filled before the next token is accepted
        rows: list[tuple[RequestGrammar, int]] = []
        self._maskwright_rows = rows
        try:
            bitmask = original(self, *given)  # shares the memory of the tensor that is filled
        finally:
            self._maskwright_rows = None
        fill_rows(self._grammar_bitmask, rows)
        return bitmask

    return grammar_bitmask


def _validate_tokens(original: Any) -> Any:
    def validate_tokens(self: Any, request: Any, spec_tokens: list[int]) -> list[int]:
        draft: list[int] = original(self, request, spec_tokens)
        return self.backend.drafted(request, draft) if isinstance(self.backend, MaskwrightBackend) else draft

    return validate_tokens


def _init_worker(original: Any) -> Any:
    def init(self: Any, vllm_config: Any, *args: Any, **kwargs: Any) -> None:
        original(self, vllm_config, *args, **kwargs)
        if is_chosen(vllm_config.structured_outputs_config.backend):
            for name in ("vllm.v1.structured_output.utils", "vllm.v1.worker.gpu_model_runner"):
                if name in sys.modules:
                    _replace(sys.modules[name], "apply_grammar_bitmask", _apply_grammar_bitmask)

    return init


def _apply_grammar_bitmask(original: Any) -> Any:
    def apply_grammar_bitmask(scheduler_output: Any, grammar_output: Any, input_batch: Any, logits: Any) -> None:
        if logits.is_cpu:
            apply_on_cpu(scheduler_output, grammar_output, input_batch.req_ids, logits)
        else:
            original(scheduler_output, grammar_output, input_batch, logits)

    return apply_grammar_bitmask


def _install_front_end() -> None:
    reason = why_of_another_shape(HOOKED_IN_FRONT_END)
    if reason is not None:
        raise RuntimeError(reason)
    for name, make in zip(HOOKED_IN_FRONT_END, _IN_FRONT_END, strict=True):
        _replace(*owner_of(name), make)


def _add_request(original: Any) -> Any:
    async def add_request(self: Any, request_id: Any, prompt: Any, params: Any, *args: Any, **kwargs: Any) -> Any:
        config = self.vllm_config.structured_outputs_config
        if getattr(params, "structured_outputs", None) is not None and is_chosen(config.backend):
            processor = self.input_processor
            await to_thread(frontend.prepare, params, processor.model_config, config, processor.tokenizer)
        return await original(self, request_id, prompt, params, *args, **kwargs)

    return add_request


def _validate_tag(original: Any) -> Any:
    def validate_structural_tag_payload(payload: Any, *, parameter: str) -> None:
        frontend.check_tag(payload, parameter)

    return validate_structural_tag_payload


def _supports(original: Any) -> Any:
    def supports(structured_outputs: Any) -> bool:
        return True  # what is malformed is refused when the whole tag is validated

    return supports


def _init_beam_search(original: Any) -> Any:
    def init_beam_search(self: Any, structured_outputs: Any, tokenizer: Any) -> Any:
        vllm_config = self.llm_engine.vllm_config
        if not is_chosen(vllm_config.structured_outputs_config.backend):
            return original(self, structured_outputs, tokenizer)
        backend = MaskwrightBackend(vllm_config, tokenizer, self.model_config.get_vocab_size())
        key = import_module("vllm.v1.structured_output.request").get_structured_output_key(structured_outputs)
        return backend, key, backend.allocate_token_bitmask(1)

    return init_beam_search


def _to_beam_search_params(original: Any) -> Any:
    def to_beam_search_params(self: Any, *args: Any, **kwargs: Any) -> Any:
        params = original(self, *args, **kwargs)
        if params.structured_outputs is None:
            frontend.refuse_structure_of_beams(self)
        return params

    return to_beam_search_params


_IN_FRONT_END = (
    *(_add_request, _validate_tag, _supports, _init_beam_search),
    *(_to_beam_search_params, _to_beam_search_params),
)
