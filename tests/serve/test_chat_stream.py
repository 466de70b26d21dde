"""Chat completions that are streamed: joined, the pieces are the whole reply."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from typing import Any

import httpx
import jsonschema
import pytest

from maskwright.engine import LocalEngine
from maskwright.engine.models import Step
from maskwright.engine.models.embedded import EmbeddedCausalModel
from serve.requests_of_tests import CITY, SQL_OF_CHAT, TIME, WEATHER, chat, joined, schema_format, sse


def stream(http: httpx.Client, **fields: Any) -> list[Any]:
    response = http.post("/v1/chat/completions", json=chat(stream=True, **fields))
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/event-stream")
    *chunks, last = sse(response.text)
    assert last == "[DONE]"
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    assert len({chunk["id"] for chunk in chunks}) == 1
    return chunks


def whole(http: httpx.Client, **fields: Any) -> list[dict[str, Any]]:
    response = http.post("/v1/chat/completions", json=chat(**fields))
    assert response.status_code == 200, response.text
    made: list[dict[str, Any]] = response.json()["choices"]
    return made


@pytest.mark.parametrize(
    "fields",
    [
        {"max_completion_tokens": 20},
        {"response_format": schema_format(CITY)},
        {"regex": "[a-z]{9}", "logprobs": True, "top_logprobs": 1},
        {"regex": "(é|ü|😀){9}"},
        {"tools": [WEATHER, TIME], "tool_choice": "required", "max_completion_tokens": 400},
        {"tools": [WEATHER], "tool_choice": "auto", "max_completion_tokens": 30},
        {"tools": [SQL_OF_CHAT, WEATHER], "tool_choice": "required", "max_completion_tokens": 400},
        {"tools": [SQL_OF_CHAT], "tool_choice": {"type": "custom", "custom": {"name": "sql"}}},
        {"n": 3, "response_format": schema_format(CITY)},
        {"stop": ["o"]},
    ],
)
def test_as_the_whole_reply(http: httpx.Client, fields: dict[str, Any]) -> None:
    chunks = stream(http, **fields)
    for expected in whole(http, **fields):
        found = joined(chunks, expected["index"])
        message = expected["message"]
        assert found["content"] == (message["content"] or "")
        calls = [(call["type"], *call[call["type"]].values()) for call in message.get("tool_calls", [])]
        assert [(call["type"], call["name"], call["arguments"]) for call in found["calls"]] == calls
        assert found["reason"] == expected["finish_reason"]
        assert found["logprobs"] == (expected["logprobs"] or {}).get("content", [])


class HeldModel(EmbeddedCausalModel):
    """Takes so many steps, and the next when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.num_steps = 0
        self.hold_at: int | None = None
        self.release = threading.Event()

    def forward(self, steps: Sequence[Step]) -> Any:
        if self.num_steps == self.hold_at:
            assert self.release.wait(20)
        self.num_steps += 1
        return super().forward(steps)


def test_calls_come_in_pieces(serving: Any) -> None:
    """The name and a part of the arguments are there when the model has taken half of its steps."""
    asked = chat(tools=[WEATHER], tool_choice="required", parallel_tool_calls=False, stream=True)
    model = HeldModel()
    with LocalEngine(model) as engine, serving(engine) as it, httpx.Client(base_url=it.url, timeout=30) as http:
        assert http.post("/v1/chat/completions", json=asked).status_code == 200
        model.hold_at = model.num_steps * 3 // 2  # half of the same output once more
        with http.stream("POST", "/v1/chat/completions", json=asked) as response:
            data = (line[6:] for line in response.iter_lines() if line.startswith("data: "))
            chunks = [json.loads(next(data))]
            while not any(call["function"]["arguments"] for call in calls_of(chunks)):
                chunks.append(json.loads(next(data)))
            model.release.set()
            chunks += [json.loads(line) for line in data if line != "[DONE]"]
    first, *more = calls_of(chunks)
    assert first["function"]["name"] == "get_weather"
    assert more
    assert all("id" not in call and "name" not in call["function"] for call in more)
    (call,) = joined(chunks)["calls"]
    jsonschema.validate(json.loads(call["arguments"]), CITY)


def calls_of(chunks: list[Any]) -> list[Any]:
    return [call for chunk in chunks for choice in chunk["choices"] for call in choice["delta"].get("tool_calls", [])]


def test_usage_comes_last(http: httpx.Client) -> None:
    chunks = stream(http, regex="a{3}", stream_options={"include_usage": True})
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"]["completion_tokens"] >= 1
    assert all(chunk["usage"] is None for chunk in chunks[:-1])
    assert all("usage" not in chunk for chunk in stream(http, regex="a{3}"))


def test_usage_in_each_chunk(http: httpx.Client) -> None:
    options = {"include_usage": True, "continuous_usage_stats": True}
    chunks = stream(http, max_completion_tokens=9, stream_options=options)
    counts = [chunk["usage"]["completion_tokens"] for chunk in chunks]
    assert counts[0] == 0
    assert counts == sorted(counts)
    assert counts[-1] == 9
    without = stream(http, regex="a{3}", stream_options={"continuous_usage_stats": True})
    assert all("usage" not in chunk for chunk in without)


def test_pieces_say_what_was_forced(http: httpx.Client) -> None:
    options = {"include_pieces": True}
    found = joined(stream(http, response_format=schema_format(CITY), stream_options=options))
    assert "".join(piece["text"] for piece in found["pieces"]) == found["content"]
    forced = "".join(piece["text"] for piece in found["pieces"] if piece["forced"])
    assert "city" in forced or "days" in forced
    assert "pieces" not in str(stream(http, response_format=schema_format(CITY)))


def test_an_error_before_the_stream_has_its_status(http: httpx.Client) -> None:
    response = http.post("/v1/chat/completions", json=chat(stream=True, regex="("))
    assert response.status_code == 400
    assert response.json()["error"]["param"] == "/regex"
