"""Prompts as callers write them, as rows of token ids: texts, and chats in the shape of OpenAI's messages.

    read_prompts("Once")                                    ["Once"], a single one
    read_prompts([{"role": "user", "content": "Hi"}])       [[{...}]], a single chat
    read_prompts(["Once", "Twice"])                         two of them

Rows are padded here, on the side where the model wants it, so the tokenizer's own padding does not matter, nor that it
may have no pad token. Tested by tests/integrations/test_transformers_generate.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch

from maskwright.errors import ArgumentError, TokenizerError, wrong_argument

_HINT = "pass a str, a list of messages such as [{'role': 'user', 'content': '...'}], or a list of these"


class Prompts(NamedTuple):
    """What was passed, as a list."""

    prompts: list[Any]  # a str or a list of messages each
    is_single: bool


def read_prompts(given: Any) -> Prompts:
    """Tell one prompt from several.

    Raises:
        ArgumentError: A prompt is neither a text nor a list of messages.
    """
    if isinstance(given, str) or _is_chat(given):
        return Prompts([given], True)
    if not isinstance(given, list | tuple):
        raise wrong_argument("prompts", given, "a prompt or a list of prompts", _HINT)
    for each in given:
        if not isinstance(each, str) and not _is_chat(each):
            raise wrong_argument("each of prompts", each, "a str or a list of messages", _HINT)
    return Prompts(list(given), False)


def _is_chat(given: Any) -> bool:
    return (
        isinstance(given, list | tuple)
        and len(given) > 0
        and all(isinstance(each, Mapping) and "role" in each for each in given)
    )


def encode(
    tokenizer: Any, prompt: Any, tools: Sequence[Any] | None = None, template_options: Mapping[str, Any] | None = None
) -> list[int]:
    """Return the token ids of a prompt; a chat goes through the tokenizer's chat template.

    Raises:
        ArgumentError: The tokenizer has no chat template.
        TokenizerError: The prompt has no tokens.
    """
    if isinstance(prompt, str):
        ids = tokenizer(prompt)["input_ids"]
    elif getattr(tokenizer, "chat_template", None) is None:
        raise ArgumentError(
            "the tokenizer has no chat template, so messages cannot become a prompt",
            argument="prompts",
            hint="pass the prompt as a str, or set tokenizer.chat_template",
        )
    else:
        named = template_options or {}
        options: dict[str, Any] = {"add_generation_prompt": not named.get("continue_final_message")}
        if tools:
            options["tools"] = list(tools)
        text = tokenizer.apply_chat_template(list(prompt), **{**options, **named, "tokenize": False})
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    if not ids:
        raise TokenizerError("a prompt has no tokens", hint="begin with a text that is not empty")
    return list(ids)


def padded(rows: Sequence[Sequence[int]], pad_token_id: int, *, left: bool, device: Any) -> dict[str, torch.Tensor]:
    """Return `input_ids` and `attention_mask`, (rows, longest), int64."""
    width = max(map(len, rows))
    ids = torch.full((len(rows), width), pad_token_id, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for index, row in enumerate(rows):
        place = slice(width - len(row), width) if left else slice(0, len(row))
        ids[index, place] = torch.tensor(row, dtype=torch.long)
        mask[index, place] = 1
    return {"input_ids": ids.to(device), "attention_mask": mask.to(device)}
