"""Which versions of vLLM are supported: by number, and by the shape of what is replaced.

A version that was not tried may look the same and mean something else, and one with the right number may be a fork. So
both are looked at, and nothing is replaced unless both fit. The reason is given to whoever asks for the backend.
Tested by tests/integrations/test_vllm_adapter.py.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

SUPPORTED = ((0, 32), (0, 33))

# Function -> the parameters that are counted on; "..." for any others after them.
_MANAGER = "vllm.v1.structured_output:StructuredOutputManager"
HOOKED = {
    "vllm.sampling_params:SamplingParams._validate_structured_outputs": (
        "self model_config structured_outputs_config tokenizer"
    ),
    "vllm.v1.engine.input_processor:InputProcessor.__init__": "self vllm_config ...",
    "vllm.v1.engine.input_processor:InputProcessor.process_inputs": "self request_id prompt params ...",
    f"{_MANAGER}.grammar_init": "self request",
    f"{_MANAGER}._create_grammar": "self request",
    f"{_MANAGER}._fill_bitmasks": "self batch",
    f"{_MANAGER}.grammar_bitmask": "self requests structured_output_request_ids scheduled_spec_decode_tokens",
    f"{_MANAGER}.validate_tokens": "self request spec_tokens",
    "vllm.v1.worker.worker_base:WorkerBase.__init__": "self vllm_config ...",
    "vllm.v1.structured_output.utils:apply_grammar_bitmask": "scheduler_output grammar_output input_batch logits",
}
# Looked at when a front-end starts with the backend: other processes need not import these modules.
HOOKED_IN_FRONT_END = {
    "vllm.v1.engine.async_llm:AsyncLLM.add_request": "self request_id prompt params ...",
    "vllm.entrypoints.generate.base.protocol:validate_structural_tag_payload": "payload parameter",
    "vllm.parser.abstract_parser:_xgrammar_supports": "structured_outputs",
    "vllm.entrypoints.generate.beam_search.offline:BeamSearchOfflineMixin._init_beam_search_structured_output": (
        "self structured_outputs tokenizer"
    ),
    "vllm.entrypoints.openai.chat_completion.protocol:ChatCompletionRequest.to_beam_search_params": (
        "self max_tokens default_sampling_params"
    ),
    "vllm.entrypoints.openai.completion.protocol:CompletionRequest.to_beam_search_params": (
        "self max_tokens default_sampling_params"
    ),
}


@cache
def why_unsupported() -> str | None:
    """Say why this vLLM cannot be served; None if it can."""
    version = str(import_module("vllm.version").__version__)
    supported = " and ".join(".".join(map(str, each)) for each in SUPPORTED)
    number = re.match(r"(\d+)\.(\d+)", version)
    if number is None or tuple(map(int, number.groups())) not in SUPPORTED:
        return f"the structured-output backend 'maskwright' supports vLLM {supported}, but this is vLLM {version}"
    return why_of_another_shape(HOOKED)


def why_of_another_shape(hooked: dict[str, str]) -> str | None:
    """Say which of these functions is not what it is expected to be; None if all are."""
    for name, expected in hooked.items():
        if (found := _parameters(name)) is None or not _fits(found, expected.split()):
            return (
                "the structured-output backend 'maskwright' does not fit this vLLM: "
                f"{name} has changed (expected: {expected}; found: {' '.join(found or ['nothing'])})"
            )
    return None


def _parameters(name: str) -> list[str] | None:
    try:
        owner, attribute = owner_of(name)
        return list(inspect.signature(getattr(owner, attribute)).parameters)
    except (ImportError, AttributeError, ValueError, TypeError):
        return None


def _fits(found: list[str], expected: list[str]) -> bool:
    if expected[-1] == "...":
        return found[: len(expected) - 1] == expected[:-1]
    return found == expected


def owner_of(name: str) -> tuple[Any, str]:
    """Return what holds a function, a module or a class, and the function's name there."""
    module, _, path = name.partition(":")
    parts: Iterator[str] = iter(path.split("."))
    owner, attribute = import_module(module), next(parts)
    for part in parts:
        owner, attribute = getattr(owner, attribute), part
    return owner, attribute
