"""`maskwright serve` with a real model: a call and a JSON Schema that it understands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from maskwright.engine import load_engine

pytest.importorskip("prometheus_client", reason="needs the extra `serve`")
testclient = pytest.importorskip("starlette.testclient", reason="needs the extra `serve`")

TOOL = {
    "type": "function",
    "function": {
        "name": "get_forecast",
        "description": "Weather forecast of a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
            "required": ["city", "days"],
            "additionalProperties": False,
        },
    },
}


def test_a_call(smollm2: Path) -> None:
    from maskwright.serve import create_app

    messages = [{"role": "user", "content": "What is the weather in Paris over the next 3 days?"}]
    asked = {"messages": messages, "tools": [TOOL], "tool_choice": "required", "parallel_tool_calls": False}
    with (
        load_engine(smollm2, num_slots=2) as engine,
        testclient.TestClient(create_app(engine), "http://localhost") as http,
    ):
        body = {**asked, "temperature": 0, "max_completion_tokens": 80}
        reply = http.post("/v1/chat/completions", json=body).json()
    (call,) = reply["choices"][0]["message"]["tool_calls"]
    assert call["function"]["name"] == "get_forecast"
    assert json.loads(call["function"]["arguments"]) == {"city": "Paris", "days": 3}
    assert reply["usage"]["completion_tokens_details"]["forced_tokens"] > 10
