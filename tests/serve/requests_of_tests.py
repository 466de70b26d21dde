"""What tests of the server ask for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import maskwright
from oracle.vocabularies import BYTES

CITY = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 12},
        "days": {"type": "integer", "minimum": 1, "maximum": 9},
    },
    "required": ["city", "days"],
    "additionalProperties": False,
}
WEATHER = {"type": "function", "function": {"name": "get_weather", "description": "The weather", "parameters": CITY}}
LARK = 'start: "(" start ")" | /[a-c]{1,3}/ "\\n"? | "\\""'
SQL = {"type": "custom", "name": "sql", "format": {"type": "grammar", "syntax": "lark", "definition": LARK}}
SQL_OF_CHAT = {
    "type": "custom",
    "custom": {
        "name": "sql",
        "description": "Ask.",
        "format": {"type": "grammar", "grammar": {"syntax": "lark", "definition": LARK}},
    },
}
TIME = {"type": "function", "function": {"name": "get_time", "parameters": {"type": "object", "properties": {}}}}


def chat(**fields: Any) -> dict[str, Any]:
    """A chat, with a seed and a budget that is enough for all structures here."""
    messages = [{"role": "user", "content": "Write an order as JSON."}]
    return {"messages": messages, "max_completion_tokens": 120, "seed": 3, **fields}


def schema_format(schema: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "output", "schema": schema, **fields}}


def follows_the_grammar(text: str) -> bool:
    """Whether a text is one of `LARK`."""
    matcher = maskwright.GrammarMatcher(maskwright.GrammarCompiler(BYTES.info()).compile_lark(LARK))
    return matcher.accept_string(text) and matcher.is_completed()


def sse(text: str) -> Iterator[Any]:
    """The events of a stream as data."""
    for block in text.strip().split("\n\n"):
        data = next(line for line in block.split("\n") if line.startswith("data: "))[6:]
        yield data if data == "[DONE]" else json.loads(data)


def joined(chunks: list[Any], index: int = 0) -> dict[str, Any]:
    """What the chunks of a stream say about one choice, put together as clients do."""
    whole: dict[str, Any] = {"content": "", "reasoning": "", "calls": [], "pieces": [], "reason": None, "logprobs": []}
    for chunk in chunks:
        for choice in chunk["choices"]:
            if choice["index"] != index:
                continue
            delta = choice["delta"]
            whole["content"] += delta.get("content") or ""
            whole["reasoning"] += delta.get("reasoning_content") or ""
            whole["pieces"] += choice.get("pieces", [])
            whole["logprobs"] += (choice["logprobs"] or {}).get("content") or []
            whole["reason"] = choice["finish_reason"] or whole["reason"]
            for call in delta.get("tool_calls", []):
                called = call["custom"] if "custom" in call else call["function"]
                if call["index"] == len(whole["calls"]):
                    kind = {"id": call["id"], "type": call["type"]}
                    whole["calls"].append({**kind, "name": called["name"], "arguments": ""})
                whole["calls"][call["index"]]["arguments"] += called["input" if "custom" in call else "arguments"]
    return whole
