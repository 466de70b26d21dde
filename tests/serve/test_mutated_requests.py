"""Requests changed at random: each is answered or refused, with a pointer into it, and none is an internal error."""

from __future__ import annotations

import json
import os
import random
from typing import Any

import httpx
import pytest

from mutations.mutate import mutated_data
from serve.requests_of_tests import CITY, SQL, SQL_OF_CHAT, WEATHER, schema_format

COUNT = 30 * int(os.environ.get("MASKWRIGHT_MUTATIONS", "1"))
CALL = {"id": "c", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Rome"}'}}
CUSTOM_CALL = {"id": "d", "type": "custom", "custom": {"name": "sql", "input": "(a)"}}
MESSAGES: list[Any] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "The weather?"}]},
    {"role": "assistant", "content": None, "tool_calls": [CALL, CUSTOM_CALL]},
    {"role": "tool", "tool_call_id": "c", "content": "sunny"},
]
ITEMS: list[Any] = [
    {"role": "user", "content": [{"type": "input_text", "text": "The weather?"}]},
    {"type": "reasoning", "summary": []},
    {"type": "function_call", "call_id": "c", "name": "get_weather", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c", "output": "sunny"},
    {"type": "custom_tool_call", "call_id": "d", "name": "sql", "input": "(a)"},
    {"type": "custom_tool_call_output", "call_id": "d", "output": "3"},
]
SAMPLING = {"temperature": 0.5, "top_p": 0.9, "stop": ["zz"], "logit_bias": {"5": 1}, "n": 2, "seed": 1}
NAMED = {"type": "function", "function": {"name": "get_weather"}}
ALLOWED = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [NAMED]}}
FORMAT = {"format": {"type": "json_schema", "name": "city", "schema": CITY, "strict": True}}
BODIES: list[tuple[str, dict[str, Any]]] = [
    ("chat/completions", {"messages": MESSAGES, **SAMPLING, "stream_options": {"include_usage": True}}),
    ("chat/completions", {"messages": MESSAGES, "tools": [WEATHER], "tool_choice": NAMED, "logprobs": True}),
    ("chat/completions", {"messages": MESSAGES, "tools": [WEATHER], "tool_choice": ALLOWED, "stream": True}),
    ("chat/completions", {"messages": MESSAGES, "tools": [SQL_OF_CHAT, WEATHER], "tool_choice": "required"}),
    ("chat/completions", {"messages": MESSAGES, "response_format": schema_format(CITY, strict=True)}),
    ("chat/completions", {"messages": MESSAGES, "structured_outputs": {"json": CITY}, "reasoning_effort": "low"}),
    ("responses", {"input": ITEMS, "tools": [{"type": "function", **WEATHER["function"]}], "tool_choice": "required"}),
    ("responses", {"input": ITEMS, "tools": [SQL], "tool_choice": {"type": "custom", "name": "sql"}, "stream": True}),
    (
        "responses",
        {"input": ITEMS, "text": FORMAT, "reasoning": {"effort": "low"}, "instructions": "Go", "stream": True},
    ),
    ("completions", {"prompt": ["a", [5]], "regex": "[a-z]{3}", "logprobs": 1, "echo": True, **SAMPLING}),
]


@pytest.mark.filterwarnings("ignore::maskwright.SchemaWarning")  # the reply has a header for it
@pytest.mark.parametrize("number", range(len(BODIES)))
def test_mutated_requests(http: httpx.Client, number: int) -> None:
    rng = random.Random(f"{os.environ.get('MASKWRIGHT_SEED', '')} {number}")
    name, body = BODIES[number]
    limit = "max_output_tokens" if name == "responses" else "max_tokens"
    for _ in range(COUNT):
        changed = body
        for _ in range(rng.choice((1, 1, 2))):
            changed = mutated_data(changed, rng)
        if isinstance(changed, dict):
            changed.setdefault(limit, 60)
        try:
            data = json.dumps(changed)
        except (TypeError, ValueError):  # some names are none in JSON
            continue
        reply = http.post(f"/v1/{name}", content=data, headers={"Content-Type": "application/json"})
        assert reply.status_code in (200, 400), (reply.text, data)
        if reply.status_code == 400:
            assert leads_somewhere(json.loads(data), reply.json()["error"]["param"]), (reply.text, data)


def leads_somewhere(data: Any, pointer: str | None) -> bool:
    """Whether there is what a pointer leads to, or the object or array in which it is missing."""
    *steps, _ = [step.replace("~1", "/").replace("~0", "~") for step in (pointer or "/").split("/")[1:]] or [""]
    for step in steps:
        if isinstance(data, dict) and step in data:
            data = data[step]
        elif isinstance(data, list) and step.isdecimal() and int(step) < len(data):
            data = data[int(step)]
        else:
            return False
    return True
