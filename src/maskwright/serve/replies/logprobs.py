"""Logprobs of tokens as chat completions and completions have them.

A token's text may be a part of a character; `bytes` are always exact.
Source: OpenAI's API reference, chat/create and completions/create.
Tested by tests/serve/test_chat.py and test_completions.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from maskwright import TokenizerInfo
from maskwright.engine import TokenLogprobs


def chat_logprobs(info: TokenizerInfo, given: Sequence[TokenLogprobs]) -> list[dict[str, Any]]:
    """Return `logprobs.content` of a chat completion."""
    return [
        {
            **_token(info, each.token_id, each.logprob),
            "top_logprobs": [_token(info, token_id, logprob) for token_id, logprob in each.top],
        }
        for each in given
    ]


def _token(info: TokenizerInfo, token_id: int, logprob: float) -> dict[str, Any]:
    data = info.token_bytes[token_id]
    return {"token": data.decode("utf-8", "replace"), "logprob": max(logprob, -9999.0), "bytes": list(data)}


class CompletionLogprobs:
    """Makes `logprobs` of a completion; offsets count characters from the beginning of the text, echo included."""

    def __init__(self, info: TokenizerInfo, offset: int = 0) -> None:
        self._info = info
        self._offset = offset

    def of(self, given: Sequence[TokenLogprobs]) -> dict[str, Any]:
        """Return the logprobs of what is new."""
        tokens = [self._text(each.token_id) for each in given]
        offsets = []
        for text in tokens:
            offsets.append(self._offset)
            self._offset += len(text)
        return {
            "tokens": tokens,
            "token_logprobs": [max(each.logprob, -9999.0) for each in given],
            "top_logprobs": [{self._text(i): max(p, -9999.0) for i, p in each.top} for each in given],
            "text_offset": offsets,
        }

    def _text(self, token_id: int) -> str:
        return self._info.token_bytes[token_id].decode("utf-8", "replace")
