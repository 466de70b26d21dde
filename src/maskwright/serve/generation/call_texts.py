"""How a model family writes a tool call, as text: for prompts of chat templates that know no tools.

    call_text("hermes", "f", {"a": 1})      '<tool_call>\\n{"name": "f", "arguments": {"a": 1}}\\n</tool_call>'
    call_text("gemma_3", "f", {"a": 1})     '[f(a=1)]'

The text is read off the family's own grammar, in which a tool with constant arguments leaves hardly a choice; so what a
prompt shows is what the output is held to. Where there is a choice (white space, ids), the plainest byte comes first.
A call that cannot be written so, or is very long, is written as a JSON object.
Tested by tests/serve/test_call_texts.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from maskwright import Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo, allocate_token_bitmask
from maskwright.errors import MaskwrightError
from maskwright.structural_tag import get_model_structural_tag

_MAX_ARGUMENTS = 16 << 10  # characters
_MAX_CHOICES = 70  # letters, digits and a few signs, as ids have; where more bytes are allowed, the text is free
_MAX_STEPS = 256
_SEPARATORS = (b":", b",")
_SPACE, _ESCAPE = ord(" "), ord("\\")


def call_text(family: str, name: str, arguments: Any) -> str:
    """Return a call as models of a family write it.

    Args:
        family: The family, or the name of a model that determines it.
        name: The name of the tool.
        arguments: The arguments, as data. What is not a JSON object no family can write.
    """
    data = json.dumps(arguments, ensure_ascii=False)
    text = None
    if isinstance(arguments, Mapping) and len(data) <= _MAX_ARGUMENTS:
        text = _written(family, name, data)
    return text or json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)


@lru_cache(maxsize=1024)
def _written(family: str, name: str, data: str) -> str | None:
    """The call in the family's grammar; None if that leaves too much open."""
    arguments: dict[str, Any] = json.loads(data)
    schema = {
        "type": "object",
        "properties": {key: {"const": value} for key, value in arguments.items()},
        "required": list(arguments),
        "additionalProperties": False,
    }
    tool = {"type": "function", "function": {"name": name, "parameters": schema}}
    try:
        tag = get_model_structural_tag(family, [tool], "required", "disabled", parallel_tool_calls=False)
        info = _bytes_alone()
        grammar = Grammar.from_structural_tag(tag, tokenizer_info=info)
        return _plainest_text(GrammarMatcher(GrammarCompiler(info, cache_enabled=False).compile_grammar(grammar)))
    except MaskwrightError:
        return None


def _plainest_text(matcher: GrammarMatcher) -> str | None:
    """The plainest text of a grammar that never comes to where anything may be written, depth first."""
    ways = [(matcher, b"", b"")]  # a place, the text up to there, and the byte to go on with
    for _ in range(_MAX_STEPS):
        if not ways:
            break
        before, text, chosen = ways.pop()
        place = before.fork()
        text += chosen
        place.accept_bytes(chosen)
        forced = place.forced_bytes()
        text += forced
        place.accept_bytes(forced)
        if place.is_completed():
            return text.decode().strip()
        ways += [(place, text, bytes((byte,))) for byte in reversed(_choices(place, text))]
    return None


def _choices(matcher: GrammarMatcher, text: bytes) -> list[int]:
    """The bytes to go on with, the plainest first: a space after a separator, else visible characters."""
    mask = allocate_token_bitmask(1, _bytes_alone().vocab_size)
    matcher.fill_next_token_bitmask(mask)
    allowed = [byte for byte in range(256) if mask[0, byte // 32] >> (byte % 32) & 1]
    if len(allowed) > _MAX_CHOICES:
        return []
    is_separated = text.endswith(_SEPARATORS)
    return sorted(allowed, key=lambda byte: (byte != _SPACE if is_separated else chr(byte).isspace(), byte == _ESCAPE))


@cache
def _bytes_alone() -> TokenizerInfo:
    """A vocabulary in which texts are bytes: there are no special tokens that would stand for some of them."""
    return TokenizerInfo.from_vocab(
        [*(bytes((byte,)) for byte in range(256)), b"<stop>"], special_token_ids=[256], stop_token_ids=[256]
    )
