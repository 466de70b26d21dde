"""How a server would answer a request, without generating anything: `maskwright serve --dry-run`.

    answer = await dry_run(server, {"response_format": …, "max_tokens": 2})
    ApiError 400: the shortest output needs 7 tokens, but max_tokens is 2

A request goes the way of every request, up to where the engine would take it. Its `model` is not looked at. A request
without messages, prompt and input is part of a chat, or of a completion if the model has no chat template.
Tested by tests/serve/test_dry_run.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from starlette.requests import Request as HttpRequest
from starlette.types import Message

from maskwright import CompiledGrammar
from maskwright.engine.requests import Request, check_token_ids
from maskwright.errors import MaskwrightError
from maskwright.matcher import matcher_for_engine
from maskwright.serve.endpoints.chat import prepare_chat
from maskwright.serve.endpoints.completions import num_outputs, prepare_completion
from maskwright.serve.endpoints.responses import prepare_response
from maskwright.serve.errors import ApiError
from maskwright.serve.generation.runs import Prepared
from maskwright.serve.http.exchange import Exchange
from maskwright.serve.limits.budgets import check_outputs
from maskwright.serve.protocol.chat import ChatRequest
from maskwright.serve.protocol.completions import CompletionRequest
from maskwright.serve.protocol.requests import read_request
from maskwright.serve.server import Server
from maskwright.serve.structure.structures import Structure


class Answer(NamedTuple):
    """To a request that would be accepted.

    Attributes:
        structure: What it asks of the output's form.
        caveat: Why the output may be cut off at its limit of tokens, if it may.
    """

    structure: Structure
    caveat: str | None


async def dry_run(server: Server, body: Mapping[str, Any]) -> Answer:
    """Return how the server would answer.

    Raises:
        ApiError: It would refuse the request.
    """
    try:
        prepared = await _prepared(server, body)
    except ApiError as error:
        if error.param != "/messages" or "messages" in body:
            raise
        prepared = await _prepared(server, {"prompt": "-", **body})
    caveats = []
    try:
        for request in prepared.requests:
            check_token_ids(request, server.engine.tokenizer_info.vocab_size)
            caveats.append(_caveat(request))
    except MaskwrightError as error:
        raise prepared.refusal(error) from error
    return Answer(prepared.structure, caveats[0])


async def _prepared(server: Server, body: Mapping[str, Any]) -> Prepared:
    asked = read_request(body)
    exchange = Exchange(HttpRequest({"type": "http", "headers": []}), _discard)
    if isinstance(asked, ChatRequest):
        check_outputs(server.settings, asked.n)
        return await prepare_chat(server, exchange, asked, body)
    if isinstance(asked, CompletionRequest):
        check_outputs(server.settings, num_outputs(asked))
        return await prepare_completion(server, exchange, asked, body)
    return await prepare_response(server, exchange, asked, body)


def _caveat(request: Request) -> str | None:
    if request.grammar is None or request.params.max_tokens is None:
        return None
    assert isinstance(request.grammar, CompiledGrammar)
    return matcher_for_engine(request.grammar, request.params.max_tokens).caveat


async def _discard(_: Message) -> None:
    """Nobody is there to read a reply."""
