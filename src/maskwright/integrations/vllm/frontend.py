"""Requests are validated in the front-end: a bad one is refused there with HTTP 400, and the engine never sees it.

The structure is compiled, as in the engine; the message has the place in it and a hint. Then the budget is looked at:
if not even the shortest output fits within `max_tokens`, or within what the prompt leaves of the context, the message
says how many tokens that one needs.
Tested by tests/integrations/test_vllm_adapter.py and tests/engines/vllm/test_vllm_offline.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from maskwright.errors import LimitError, MaskwrightError, UnsatisfiableError
from maskwright.integrations.vllm.backend import options_of
from maskwright.integrations.vllm.budget import make_matcher, most_tokens
from maskwright.integrations.vllm.config import NAME
from maskwright.integrations.vllm.requests import compile_structure, compiler_for
from maskwright.support.entrances import IN_STRUCTURED_OUTPUTS, RELAX_IN_SCHEMA, in_words_of

_WAYS_OUT = (RELAX_IN_SCHEMA, *IN_STRUCTURED_OUTPUTS)
_FOUND = "_found_by_maskwright"  # what a thread has sought, so that the event loop need not seek it again


def validate(params: Any, model_config: Any, config: Any, tokenizer: Any) -> None:
    """Check `SamplingParams.structured_outputs`.

    Raises:
        VLLMValidationError: The structure is malformed or cannot be enforced, or the model cannot be held to one.
    """
    structure = params.structured_outputs
    if getattr(model_config, "is_diffusion", False):
        raise _invalid("structured outputs are not supported for diffusion language models")
    if tokenizer is None:
        raise _invalid("structured outputs require a tokenizer, so they cannot be used with skip_tokenizer_init")
    if structure._backend not in (None, NAME):
        raise _invalid(f"the request asks for the backend {structure._backend!r}, but this server uses {NAME!r}")
    _compiled(params, model_config, config, tokenizer)
    structure._backend = NAME
    structure._backend_was_auto = config.backend == "auto"


def prepare(params: Any, model_config: Any, config: Any, tokenizer: Any) -> None:
    """Compile a request's structure in another thread than the event loop, where it is then found.

    Raises:
        VLLMValidationError: The structure is malformed or cannot be enforced.
    """
    if tokenizer is not None and not params.structured_outputs.all_constraints_none():
        compiled = _compiled(params, model_config, config, tokenizer)
        most = _most_tokens(params, 0, model_config)
        setattr(params.structured_outputs, _FOUND, (most, _why_too_few(compiled, (), most)))


def check_budget(request: Any, model_config: Any, config: Any, tokenizer: Any) -> None:
    """Check that the shortest output fits within the tokens that the request may generate.

    Raises:
        VLLMValidationError: It does not, or that takes too long to find out.
    """
    params = request.sampling_params
    if params is None or params.structured_outputs is None or params.structured_outputs._backend != NAME:
        return
    num_prompt_tokens = len(request.prompt_token_ids if request.prompt_embeds is None else request.prompt_embeds)
    most = _most_tokens(params, num_prompt_tokens, model_config)
    sought, why = getattr(params.structured_outputs, _FOUND, (None, None))
    if why is None or sought != most:
        why = _why_too_few(_compiled(params, model_config, config, tokenizer), params.all_stop_token_ids, most)
    if why is not None:
        room = model_config.max_model_len - num_prompt_tokens
        context = f"the prompt leaves {room} of the {model_config.max_model_len} tokens of the context"
        way_out = context if most == room else "increase max_tokens"
        raise _invalid(f"{why} ({way_out})", "max_tokens")


def _most_tokens(params: Any, num_prompt_tokens: int, model_config: Any) -> int | None:
    with _refusing("vllm_xargs"):
        return most_tokens(params, num_prompt_tokens, model_config.max_model_len)


def _why_too_few(compiled: Any, stop_token_ids: Any, most: int | None) -> str | None:
    """Say why no output is known to fit into so many tokens; None if one is."""
    with _refusing("structured_outputs"):
        try:
            make_matcher(compiled, stop_token_ids, most)
        except (UnsatisfiableError, LimitError) as error:
            return error.message
    return None


def _compiled(params: Any, model_config: Any, config: Any, tokenizer: Any) -> Any:
    structure = params.structured_outputs
    if structure.json_object is False:
        raise _invalid("json_object must be true if it is set", "structured_outputs.json_object")
    kind, specification = import_module("vllm.v1.structured_output.request").get_structured_output_key(structure)
    field = "structured_outputs." + kind.name.lower()
    with _refusing(field):
        compiler = compiler_for(tokenizer, model_config.get_vocab_size())
        return compile_structure(compiler, kind.name, specification, options_of(config, structure))


def check_tag(payload: Any, parameter: str) -> None:
    """Check a structural tag of a request before its model is known.

    Raises:
        VLLMValidationError: It is malformed.
    """
    from maskwright import Grammar

    with _refusing(parameter):
        Grammar.from_structural_tag(payload)


def refuse_structure_of_beams(request: Any) -> None:
    """Refuse a request to the server for beam search with a structure, which vLLM would drop without a word.

    Raises:
        VLLMValidationError: The request names a structure.
    """
    if request.extract_structured_outputs() is not None:
        raise _invalid(
            "vLLM's server searches beams without the structure (leave out use_beam_search, or use LLM.beam_search)",
            "use_beam_search",
        )


@contextmanager
def _refusing(parameter: str) -> Iterator[None]:
    try:
        yield
    except MaskwrightError as error:
        raise _invalid(f"{parameter}: {in_words_of(_WAYS_OUT, str(error))}", parameter) from error


def _invalid(message: str, parameter: str = "structured_outputs") -> Exception:
    made: Exception = import_module("vllm.exceptions").VLLMValidationError(message, parameter=parameter)
    return made
