"""Responses: items, streams, conversations."""

from __future__ import annotations

import json
from typing import Any

import httpx
import jsonschema
import pytest

from serve.requests_of_tests import CITY, SQL, WEATHER, follows_the_grammar, sse

FORMAT = {"format": {"type": "json_schema", "name": "city", "schema": CITY, "strict": True}}
TOOL = {"type": "function", **WEATHER["function"]}


def body(**fields: Any) -> dict[str, Any]:
    return {"input": "Write an order as JSON.", "max_output_tokens": 120, **fields}


def respond(http: httpx.Client, **fields: Any) -> dict[str, Any]:
    response = http.post("/v1/responses", json=body(**fields))
    assert response.status_code == 200, response.text
    made: dict[str, Any] = response.json()
    return made


def stream(http: httpx.Client, **fields: Any) -> list[dict[str, Any]]:
    response = http.post("/v1/responses", json=body(stream=True, **fields))
    assert response.status_code == 200, response.text
    events = list(sse(response.text))
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    names = [line[7:] for line in response.text.split("\n") if line.startswith("event: ")]
    assert names == [event["type"] for event in events]
    return events


def test_text(http: httpx.Client) -> None:
    made = respond(http, max_output_tokens=8, instructions="Be short.")
    assert (made["object"], made["status"]) == ("response", "incomplete")
    assert made["incomplete_details"] == {"reason": "max_output_tokens"}
    (item,) = made["output"]
    assert (item["type"], item["role"], item["status"]) == ("message", "assistant", "incomplete")
    assert made["usage"]["output_tokens"] == 8


def test_a_json_schema(http: httpx.Client) -> None:
    made = respond(http, text=FORMAT)
    assert made["status"] == "completed"
    (item,) = made["output"]
    (part,) = item["content"]
    assert part["type"] == "output_text"
    jsonschema.validate(json.loads(part["text"]), CITY)


def test_a_call(http: httpx.Client) -> None:
    made = respond(http, tools=[TOOL], tool_choice="required", parallel_tool_calls=False)
    (item,) = made["output"]
    assert (item["type"], item["name"], item["status"]) == ("function_call", "get_weather", "completed")
    jsonschema.validate(json.loads(item["arguments"]), CITY)


@pytest.mark.parametrize(
    "fields",
    [
        {"text": FORMAT},
        {"max_output_tokens": 9},
        {"tools": [TOOL], "tool_choice": "required"},
        {"tools": [TOOL, SQL], "tool_choice": {"type": "custom", "name": "sql"}},
        {"tools": [SQL], "tool_choice": "required", "max_output_tokens": 40},
    ],
)
def test_a_stream_puts_the_response_together(http: httpx.Client, fields: dict[str, Any]) -> None:
    events = stream(http, **fields)
    assert [e["type"] for e in events[:2]] == ["response.created", "response.in_progress"]
    final = events[-1]["response"]
    assert events[-1]["type"] == f"response.{final['status']}"
    texts: dict[int, str] = {}
    done = []
    for event in events:
        if event["type"].endswith(".delta"):
            texts[event["output_index"]] = texts.get(event["output_index"], "") + event["delta"]
        if event["type"] == "response.output_item.done":
            done.append(event["item"])
    assert done == final["output"]
    for index, item in enumerate(final["output"]):
        key = {"function_call": "arguments", "custom_tool_call": "input"}.get(item["type"])
        assert texts.get(index, "") == (item["content"][0]["text"] if key is None else item[key])
    prefixes = {"message": "msg_", "function_call": "fc_", "custom_tool_call": "ctc_"}
    assert all(item["id"].startswith(prefixes[item["type"]]) for item in final["output"])
    opened = [e["item"]["id"] for e in events if e["type"] == "response.output_item.added"]
    assert opened == [item["id"] for item in final["output"]]


def test_a_conversation(http: httpx.Client) -> None:
    call = respond(http, tools=[TOOL], tool_choice="required", parallel_tool_calls=False)["output"][0]
    answer = {"type": "function_call_output", "call_id": call["call_id"], "output": "sunny"}
    items = [{"role": "user", "content": [{"type": "input_text", "text": "The weather?"}]}, call, answer]
    assert respond(http, input=items, tools=[TOOL], tool_choice="none", max_output_tokens=4)["output"]


def test_a_call_of_a_custom_tool(http: httpx.Client) -> None:
    made = respond(http, tools=[SQL, TOOL], tool_choice={"type": "custom", "name": "sql"})
    (item,) = made["output"]
    assert item.keys() == {"type", "id", "status", "call_id", "name", "input"}
    assert (item["type"], item["name"], item["status"]) == ("custom_tool_call", "sql", "completed")
    assert follows_the_grammar(item["input"])
    output = [{"type": "input_text", "text": "3"}]
    answer = {"type": "custom_tool_call_output", "call_id": item["call_id"], "output": output}
    items = [{"role": "user", "content": "Count."}, item, answer]
    assert respond(http, input=items, tools=[SQL], tool_choice="none", max_output_tokens=4)["output"]


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"text": {"format": {"type": "json_schema", "name": "x", "schema": {"type": 3}}}}, "/text/format/schema/type"),
        ({"text": {"frmt": {}}}, "/text/frmt"),
        ({"text": 3}, "/text"),
        ({"previous_response_id": "resp_1"}, "/previous_response_id"),
        ({"input": []}, "/input"),
        ({"input": 3}, "/input"),
        ({"input": [{"type": "computer_call"}]}, "/input/0/type"),
        ({"input": [{"role": "user", "content": [{"type": "input_image"}]}]}, "/input/0/content/0"),
        ({"max_output_tokens": 0}, "/max_output_tokens"),
        ({"text": FORMAT, "max_output_tokens": 2}, "/max_output_tokens"),
        ({"messages": []}, "/messages"),
        ({"tools": [{"type": "function"}]}, "/tools/0/name"),
        ({"tools": [{"type": "custom"}]}, "/tools/0/name"),
        ({"tools": [SQL], "tool_choice": {"type": "custom", "name": "f"}}, "/tool_choice/name"),
        ({"tools": [{**SQL, "format": {"type": "grammar"}}]}, "/tools/0/format"),
        ({"tools": [{**SQL, "format": {**SQL["format"], "definition": "start: x"}}]}, "/tools/0/format/definition"),
        ({"input": [{"type": "custom_tool_call", "call_id": "c", "name": "f"}]}, "/input/0/input"),
        ({"input": [{"type": "custom_tool_call", "call_id": 3, "name": "f", "input": ""}]}, "/input/0/call_id"),
        ({"input": [{"type": "custom_tool_call", "call_id": "c", "name": 3, "input": ""}]}, "/input/0/name"),
        ({"input": [{"type": "custom_tool_call_output", "call_id": "c", "output": 3}]}, "/input/0/output"),
    ],
)
def test_refused(http: httpx.Client, fields: dict[str, Any], param: str) -> None:
    response = http.post("/v1/responses", json=body(**fields))
    assert response.status_code == 400, response.text
    assert response.json()["error"]["param"] == param
