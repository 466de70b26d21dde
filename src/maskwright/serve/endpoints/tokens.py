"""POST /tokenize and /detokenize, as vLLM has them.

Tested by tests/serve/test_serve_tokens.py.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from anyio.to_thread import run_sync

from maskwright.errors import MaskwrightError
from maskwright.serve.errors import api_error, invalid
from maskwright.serve.generation.prompts import chat_prompt, messages_of
from maskwright.serve.http.exchange import Exchange
from maskwright.serve.protocol.fields import read_body
from maskwright.serve.protocol.tokens import DetokenizeRequest, TokenizeRequest
from maskwright.serve.protocol.tools import as_of_chat, check_tools
from maskwright.serve.server import Server
from maskwright.structural_tag.tools import read_tools


async def tokenize(server: Server, exchange: Exchange, body: Any) -> None:
    """Reply with the token ids of a text or a chat."""
    asked = read_body(TokenizeRequest, body)
    check_tools(asked.tools, None)
    server.check_model(asked.model)
    if (asked.prompt is None) == (asked.messages is None):
        raise invalid("exactly one of prompt and messages is required", "/prompt")
    if asked.messages is not None:
        family, messages = server.settings.tool_format, messages_of(asked.messages)
        try:
            read_tools(asked.tools, ())
        except MaskwrightError as error:
            raise api_error(error) from error
        tools = [as_of_chat(tool) for tool in asked.tools or []]
        ids = await run_sync(partial(chat_prompt, server.engine, family, messages, tools, asked.chat_template_kwargs))
    else:
        encode = partial(server.engine.encode, add_special_tokens=asked.add_special_tokens)
        ids = await run_sync(encode, asked.prompt or "")
    info = server.engine.tokenizer_info
    texts = [info.token_bytes[i].decode("utf-8", "replace") for i in ids] if asked.return_token_strs else None
    reply = {"tokens": ids, "count": len(ids), "max_model_len": server.engine.max_model_len, "token_strs": texts}
    await exchange.reply(reply)


async def detokenize(server: Server, exchange: Exchange, body: Any) -> None:
    """Reply with the text of token ids."""
    asked = read_body(DetokenizeRequest, body)
    server.check_model(asked.model)
    info = server.engine.tokenizer_info
    for i, token in enumerate(asked.tokens):
        if token >= info.vocab_size:
            message = f"token {token} is outside the vocabulary of {info.vocab_size:,}"
            raise invalid(message, f"/tokens/{i}", code="unknown_token")
    data = info.decode(asked.tokens, skip_special_tokens=False)
    await exchange.reply({"prompt": data.decode("utf-8", "replace")})
