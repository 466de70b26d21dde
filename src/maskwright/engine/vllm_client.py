"""A running vLLM behind the interface of engines, through its own server.

    with VllmEngine("http://localhost:8000", tokenizer) as engine:
        print(complete(engine, Request(engine.encode("A name: "), grammar=compiled)).text)

The server holds outputs to grammars by itself: start it with `--structured-outputs-config.backend maskwright`. A
grammar goes there as EBNF text; a matcher here follows the tokens that come back, so that events, stop strings and
figures are those of every engine, and a token that the grammar does not allow is an error. A cancelled request closes
its connection, and vLLM frees what it held.
Tested by tests/engine/test_vllm_client.py, against a server that speaks as vLLM does, and with a real one by
tests/engines/vllm/test_vllm_engine.py.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from maskwright.engine.interface import EngineStats, Handle, OnOutput
from maskwright.engine.requests import Request
from maskwright.engine.sequence import Sequence as OutputSequence
from maskwright.engine.vllm_errors import refusal, refusal_in_stream
from maskwright.errors import EngineError, LimitError, MaskwrightError, MatcherError, OptionError, RequestError
from maskwright.support.arguments import as_integer, instance
from maskwright.tokenizer import TokenizerInfo

if TYPE_CHECKING:
    from typing_extensions import Self

_UNKNOWN_LENGTH = 1 << 30
_PASSED_ON = (
    *("temperature", "top_p", "top_k", "min_p", "seed", "repetition_penalty", "presence_penalty"),
    *("frequency_penalty", "ignore_eos"),
)


class VllmEngine:
    """Generates with a vLLM server.

    Args:
        url: Of the server, without `/v1`.
        tokenizer: The model's tokenizer, of transformers.
        vocab_size: The width of the model's logits, if it has more than the tokenizer has ids.
        api_key: That of the server, if it wants one.
        max_running: The most requests at a time; others wait here.
        timeout_s: How long to wait for the next token.

    Raises:
        EngineError: The server does not answer, refuses the key, or httpx is not installed.
        TokenizerError: The tokenizer cannot be read.
    """

    def __init__(
        self,
        url: str,
        tokenizer: Any,
        *,
        vocab_size: int | None = None,
        api_key: str | None = None,
        max_running: int = 64,
        timeout_s: float = 600.0,
    ) -> None:
        try:
            import httpx
        except ImportError as error:
            raise EngineError(
                "a vLLM server is asked through httpx, which is missing", hint="pip install httpx"
            ) from error
        self.num_slots = as_integer("max_running", max_running, at_least=1)
        self.tokenizer_info = TokenizerInfo.from_huggingface(tokenizer, vocab_size=vocab_size)
        self._tokenizer = tokenizer
        headers = {} if api_key is None else {"Authorization": f"Bearer {api_key}"}
        limits = httpx.Limits(max_connections=self.num_slots + 1)
        self._client = httpx.Client(base_url=url, headers=headers, timeout=timeout_s, limits=limits)
        self._failure = httpx.HTTPError
        self._threads = ThreadPoolExecutor(self.num_slots, thread_name_prefix="maskwright.vllm")
        self._changed = threading.Condition()
        self._open: set[OutputSequence] = set()
        self._is_draining = False
        self._totals = {"num_finished": 0, "prompt_tokens": 0, "completion_tokens": 0}
        served = self._served(url)
        self.model_name: str = served["id"]
        self.max_model_len: int = served.get("max_model_len") or _UNKNOWN_LENGTH

    @property
    def has_chat_template(self) -> bool:
        return bool(getattr(self._tokenizer, "chat_template", None))

    def encode(self, text: str, *, add_special_tokens: bool = True) -> list[int]:
        """Return the token ids of a text; see `Engine.encode`."""
        ids: list[int] = self._tokenizer(instance("text", text, str), add_special_tokens=add_special_tokens)[
            "input_ids"
        ]
        return ids

    def apply_chat_template(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any] | None = None, **options: Any
    ) -> list[int]:
        """Return the token ids of a chat; see `Engine.apply_chat_template`."""
        from maskwright.integrations.transformers.prompts import encode

        try:
            return encode(self._tokenizer, list(messages), tools, options)
        except Exception as error:  # templates are programs, and raise what they like
            raise RequestError(f"the chat template refuses the messages: {error!s:.200}") from error

    def submit(self, request: Request, on_output: OnOutput) -> Handle:
        """Have an output generated; see `Engine.submit`. Log-probabilities are not taken over from the server."""
        instance("request", request, Request)
        if request.params.logprobs is not None:
            raise OptionError("logprobs are not read from vLLM's server", option="logprobs", hint="leave them out")
        room = self.max_model_len - len(request.prompt_ids)
        if room < 1:
            message = f"the prompt has {len(request.prompt_ids)} tokens, which fill the model's {self.max_model_len}"
            raise LimitError(message, limit="max_model_len", hint="shorten the prompt")
        wanted = request.params.max_tokens
        sequence = OutputSequence(
            request, on_output, self.tokenizer_info, room if wanted is None else min(wanted, room)
        )
        if request.grammar is not None and not isinstance(request.grammar, Future):
            sequence.bind(sequence.matcher_of(request.grammar))
        with self._changed:
            if self._is_draining:
                raise EngineError("the engine takes no more requests", hint="make another one")
            self._open.add(sequence)
        self._threads.submit(self._run, sequence)
        return sequence

    def cancel(self, handle: Handle) -> None:
        """End an output soon; see `Engine.cancel`."""
        instance("handle", handle, OutputSequence, "pass what submit returned").is_cancelled = True

    def stats(self) -> EngineStats:
        """Return figures; steps and masks are the server's own."""
        running = len(self._open)
        waiting = max(0, running - self.num_slots)
        return EngineStats(waiting, running - waiting, self.num_slots, **self._totals)

    def drain(self, timeout_s: float | None = None) -> bool:
        """Take no more requests, and wait for those there are; see `Engine.drain`."""
        with self._changed:
            self._is_draining = True
            return self._changed.wait_for(lambda: not self._open, timeout_s)

    def close(self) -> None:
        """Cancel all requests, and close the connections."""
        with self._changed:
            self._is_draining = True
            for sequence in self._open:
                sequence.is_cancelled = True
        self._threads.shutdown()
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _served(self, url: str) -> dict[str, Any]:
        """What the server says of its model."""
        hint = "pass the address that vllm serve prints, without /v1, such as http://localhost:8000"
        try:
            reply = self._client.get("/v1/models")
        except self._failure as error:
            raise EngineError(f"there is no vLLM server at {url}: {error!s:.200}", hint=hint) from error
        if reply.status_code not in (200, 404):
            raise refusal(reply.status_code, reply.text, reply.headers.get("retry-after"))
        try:
            served: dict[str, Any] = reply.json()["data"][0]
            named = str(served["id"])
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise EngineError(f"there is no vLLM server at {url}: {reply.text!s:.80}", hint=hint) from error
        return {**served, "id": named}

    def _run(self, sequence: OutputSequence) -> None:
        """Generate one output, on a thread of its own."""
        try:
            if sequence.is_cancelled:
                sequence.finish("cancelled")
            else:
                self._generate(sequence)
        except self._failure as error:
            sequence.fail(EngineError(f"the connection to vLLM broke: {error!s:.200}"))
        except Exception as error:
            sequence.fail(error)
        self._report(sequence)
        with self._changed:
            self._open.discard(sequence)
            usage = sequence.usage()
            self._totals["num_finished"] += 1
            self._totals["prompt_tokens"] += usage.prompt_tokens
            self._totals["completion_tokens"] += usage.completion_tokens
            self._changed.notify_all()

    def _generate(self, sequence: OutputSequence) -> None:
        grammar = sequence.request.grammar
        if isinstance(grammar, Future):
            sequence.bind(sequence.matcher_of(grammar.result()))
            sequence.timing.grammar_s = sequence.now()
        sequence.timing.admitted_s = sequence.now()
        with self._client.stream("POST", "/v1/completions", json=self._body(sequence)) as reply:
            if reply.status_code != 200:
                reply.read()
                raise refusal(reply.status_code, reply.text, reply.headers.get("retry-after"))
            for choice in _choices(reply.iter_lines()):
                for token in choice.get("token_ids") or []:
                    if sequence.finish_reason is None:
                        _take(sequence, token)
                if sequence.finish_reason is None and sequence.is_cancelled:
                    sequence.finish("cancelled")
                if sequence.finish_reason is None and choice.get("finish_reason"):
                    sequence.finish("stop" if choice["finish_reason"] == "stop" else "length")
                if sequence.finish_reason is not None:
                    return  # which closes the connection
                self._report(sequence)
        raise EngineError("vLLM ended an output without a reason")

    def _body(self, sequence: OutputSequence) -> dict[str, Any]:
        """The request as vLLM's server takes it."""
        params = sequence.params
        body: dict[str, Any] = {name: getattr(params, name) for name in _PASSED_ON}
        body |= {"model": self.model_name, "prompt": list(sequence.request.prompt_ids), "stream": True}
        body |= {"max_tokens": sequence.max_tokens, "return_token_ids": True, "add_special_tokens": False}
        body |= {"stop_token_ids": list(params.stop_token_ids), "stop": list(params.stop)}
        if params.logit_bias:
            body["logit_bias"] = {str(token): bias for token, bias in params.logit_bias.items()}
        if sequence.matcher is not None:
            body["structured_outputs"] = {"grammar": sequence.matcher.compiled_grammar.grammar.to_ebnf()}
        return body

    def _report(self, sequence: OutputSequence) -> None:
        try:
            output = sequence.next_output()
        except MaskwrightError as error:  # of reading events
            sequence.fail(error)
            output = sequence.next_output()
        if output is not None:
            sequence.on_output(output)


def _take(sequence: OutputSequence, token: int) -> None:
    """Go on with a token of the server.

    Raises:
        MatcherError: The grammar does not allow it.
    """
    try:
        sequence.take(token)
    except MatcherError as error:
        raise MatcherError(
            f"vLLM chose token {token}, which the grammar does not allow there",
            hint="start the server with --structured-outputs-config.backend maskwright, and if it has a reasoning "
            "parser, end the prompt behind the reasoning",
        ) from error


def _choices(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    """What each event of a stream says of the output.

    Raises:
        EngineError: The server failed.
        RequestError: It refuses the request after all.
    """
    for line in lines:
        data = line.removeprefix("data:").strip()
        if not line.startswith("data:") or data == "[DONE]":
            continue
        try:
            event = json.loads(data)
        except ValueError as error:
            raise EngineError(f"vLLM sent an event that is not valid JSON: {data:.80}") from error
        if "error" in event:
            raise refusal_in_stream(event)
        yield from event.get("choices") or []
