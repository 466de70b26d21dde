"""`stream`: what `maskwright.generate` returns, as it grows.

    for city in stream(model, tokenizer, "The largest city of Japan, as JSON: ", City):
        print(city)                     # {'name': 'Tok'}, {'name': 'Tokyo'}, ..., City(name='Tokyo', population=...)

`model.generate` runs in a thread of its own and hands over its tokens by a streamer; a consumer that stops early stops
it at its next token. Tested by tests/integrations/test_transformers_streaming.py.
"""

from __future__ import annotations

import codecs
import queue
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from transformers import StoppingCriteria, StoppingCriteriaList

from maskwright.errors import OptionError
from maskwright.integrations.transformers.pipeline import Job, ToolOptions, prepare, read_output

_ALONE = ("num_beams", "num_return_sequences")


def stream(
    model: Any,
    tokenizer: Any,
    prompt: Any,
    output_type: Any,
    *,
    max_new_tokens: int | None = None,
    schema_options: Mapping[str, Any] | None = None,
    template_options: Mapping[str, Any] | None = None,
    **generate_options: Any,
) -> Iterator[Any]:
    """Generate one output and yield it as it grows; what comes last is what `maskwright.generate` returns.

    Before that come values of what is written so far, whenever they change: plain data for what becomes JSON (strings
    may be cut, and numbers may lack digits), text for the rest.

    Args:
        model: As for `maskwright.generate`, like all that follow.
        tokenizer: Its tokenizer.
        prompt: One prompt: a str, or a list of messages.
        output_type: A type or structure; not tools, whose events `maskwright.events` reads.
        max_new_tokens: The budget of the output, with the same default.
        schema_options: The fields of `JsonSchemaOptions`.
        template_options: Arguments of the chat template.
        **generate_options: Those of `model.generate`, but `num_beams`, `num_return_sequences` and `streamer`.

    Raises:
        OptionError: An option or the output type cannot be streamed; the others are those of `maskwright.generate`.
            Arguments are checked in this call; errors of the model come when the values are asked for.
    """
    if isinstance(output_type, list | tuple):
        hint = "use maskwright.generate, or a matcher with maskwright.events.EventReader"
        raise OptionError("tools cannot be streamed as values", option="output_type", hint=hint)
    for name in ToolOptions._fields:
        if name in generate_options:
            raise OptionError(f"{name} requires tools, which cannot be streamed", option=name, hint="leave it out")
    for name in (*_ALONE, "streamer"):
        if generate_options.get(name) not in (None, 1):
            raise OptionError(f"{name} cannot be combined with stream", option=name, hint="use maskwright.generate")
    job = prepare(
        model,
        tokenizer,
        prompt,
        output_type,
        max_new_tokens=max_new_tokens,
        tool_options=ToolOptions(),
        schema_options=schema_options,
        template_options=template_options,
        **{**generate_options, **dict.fromkeys(_ALONE, 1)},  # whatever the model's generation config says
    )
    if not job.prompts.is_single:
        raise OptionError("stream takes one prompt", option="prompt", hint="call it once for each prompt")
    return _values(model, job)


def _values(model: Any, job: Job) -> Iterator[Any]:
    info = job.compiled.tokenizer_info
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    row: list[int] = []
    text, last = "", None
    for tokens in _tokens(model, job.arguments):
        row += tokens
        text += decode(info.decode([i for i in tokens if i not in info.stop_token_ids]))
        value = job.read_partial(text)
        if value is not None and value != last:
            last = value
            yield value
    yield read_output(job, row, 0)


def _tokens(model: Any, arguments: Mapping[str, Any]) -> Iterator[list[int]]:
    """The tokens of `model.generate` as they come, the prompt apart."""
    received: queue.SimpleQueue[list[int] | BaseException | None] = queue.SimpleQueue()
    is_unwanted = threading.Event()
    criteria = StoppingCriteriaList([_Unwanted(is_unwanted), *(arguments.get("stopping_criteria") or ())])
    settings = {**arguments, "stopping_criteria": criteria, "streamer": _Streamer(received.put)}

    def run() -> None:
        try:
            with torch.no_grad():
                model.generate(**settings)
            received.put(None)
        except BaseException as error:  # handed to the thread that waits for tokens
            received.put(error)

    thread = threading.Thread(target=run, name="maskwright.stream", daemon=True)
    thread.start()
    try:
        while (item := received.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        is_unwanted.set()
        thread.join()


class _Streamer:
    """Hands on what `generate` puts into it, but for the prompt, which comes first."""

    def __init__(self, receive: Callable[[list[int]], None]) -> None:
        self._receive = receive
        self._is_prompt = True

    def put(self, value: torch.Tensor) -> None:
        if not self._is_prompt:
            self._receive(value.flatten().tolist())
        self._is_prompt = False

    def end(self) -> None:
        """Nothing is held back."""


class _Unwanted(StoppingCriteria):  # type: ignore[misc, unused-ignore]
    """Stops a generation that nobody listens to any more."""

    def __init__(self, event: threading.Event) -> None:
        self._event = event

    def __call__(self, input_ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
        return torch.full((input_ids.shape[0],), self._event.is_set(), device=input_ids.device)
