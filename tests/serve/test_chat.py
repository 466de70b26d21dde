"""Chat completions that are sent whole: structures, tools, choices, logprobs, limits, errors."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx
import jsonschema
import pytest

from serve.requests_of_tests import CITY, TIME, WEATHER, chat, schema_format


def post(http: httpx.Client, **fields: Any) -> dict[str, Any]:
    response = http.post("/v1/chat/completions", json=chat(**fields))
    assert response.status_code == 200, response.text
    made: dict[str, Any] = response.json()
    return made


def content(http: httpx.Client, **fields: Any) -> str:
    (choice,) = post(http, **fields)["choices"]
    assert choice["finish_reason"] == "stop"
    text: str = choice["message"]["content"]
    return text


def error(http: httpx.Client, status: int = 400, **fields: Any) -> dict[str, Any]:
    response = http.post("/v1/chat/completions", json=chat(**fields))
    assert response.status_code == status, response.text
    assert set(response.json()) == {"error"}
    made: dict[str, Any] = response.json()["error"]
    assert set(made) == {"message", "type", "param", "code"}
    return made


def test_free_text(http: httpx.Client) -> None:
    reply = post(http, max_completion_tokens=8)
    (choice,) = reply["choices"]
    assert choice["message"]["role"] == "assistant"
    assert choice["message"]["content"]
    assert choice["finish_reason"] == "length"
    assert reply["object"] == "chat.completion"
    assert reply["usage"]["completion_tokens"] == 8
    assert reply["usage"]["total_tokens"] == 8 + reply["usage"]["prompt_tokens"]


@pytest.mark.parametrize(
    ("fields", "param", "part"),
    [
        ({"logit_bias": {"999999": 5}}, "/logit_bias", "names token 999999, which is outside the vocabulary"),
        ({"stop_token_ids": [999999]}, "/stop_token_ids", "names token 999999"),
        ({"max_tokens": 5, "max_completion_tokens": 7}, "/max_tokens", "leave out max_tokens"),
        ({"thinking_token_budget": 5}, "/thinking_token_budget", "--tool-format"),
        (
            {"thinking_token_budget": 5, "chat_template_kwargs": {"enable_thinking": False}},
            "/thinking_token_budget",
            "enable thinking",
        ),
        ({"max_output_tokens": 5}, "/max_output_tokens", "use max_completion_tokens"),
        ({"ebnf": "root ::= a\na ::= 'x' a"}, "/ebnf", "(line 2, column "),
        ({"ebnf": 'root ::= a\na ::= "x" a'}, "/ebnf", "again, so it never ends (line 2, column 1)"),
    ],
)
def test_fields_that_would_have_no_effect(http: httpx.Client, fields: dict[str, Any], param: str, part: str) -> None:
    found = error(http, **fields)
    assert found["param"] == param
    assert part in found["message"]


def test_two_equal_limits_are_one(http: httpx.Client) -> None:
    assert post(http, max_tokens=3, max_completion_tokens=3)["usage"]["completion_tokens"] == 3


def test_a_json_schema(http: httpx.Client) -> None:
    jsonschema.validate(json.loads(content(http, response_format=schema_format(CITY, strict=True))), CITY)


def test_json_object(http: httpx.Client) -> None:
    assert isinstance(json.loads(content(http, response_format={"type": "json_object"})), dict)


@pytest.mark.parametrize(
    ("fields", "pattern"),
    [
        ({"structured_outputs": {"json": CITY}}, r"\{.*\}"),
        ({"structured_outputs": {"regex": "[0-9]{3}"}}, "[0-9]{3}"),
        ({"structured_outputs": {"choice": ["yes", "no"]}}, "yes|no"),
        ({"structured_outputs": {"grammar": 'root ::= "a" | "b"'}}, "a|b"),
        ({"structured_outputs": {"json_object": True}}, r"\{.*\}"),
        ({"regex": "[0-9]{3}"}, "[0-9]{3}"),
        ({"ebnf": 'root ::= "a" | "b"'}, "a|b"),
        ({"json_schema": CITY}, r"\{.*\}"),
        ({"json_schema": json.dumps(CITY)}, r"\{.*\}"),
        ({"structural_tag": {"type": "structural_tag", "format": {"type": "const_string", "value": "hi"}}}, "hi"),
        (
            {"response_format": {"type": "structural_tag", "format": {"type": "regex", "pattern": "x{4}"}}},
            "xxxx",
        ),
        ({"response_format": {"type": "text"}, "regex": "z"}, "z"),
    ],
)
def test_fields_of_engines(http: httpx.Client, fields: dict[str, Any], pattern: str) -> None:
    assert re.fullmatch(pattern, content(http, **fields), re.DOTALL)


def test_a_message_says_where_in_a_schema_the_mistake_is(http: httpx.Client) -> None:
    named: dict[str, Any] = {"name": "a", "schema": {"properties": {"a": {"type": "objekt"}}}}
    message = error(http, response_format={"type": "json_schema", "json_schema": named})["message"]
    assert message.startswith("at /response_format/json_schema/schema/properties/a/type: type must be")
    named["schema"] = json.dumps(named["schema"])
    message = error(http, response_format={"type": "json_schema", "json_schema": named})["message"]
    assert message.endswith("found a string. Hint: pass the object itself, not its JSON text")


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "get_weather"}}])
def test_a_call(http: httpx.Client, choice: Any) -> None:
    (made,) = post(http, tools=[WEATHER], tool_choice=choice, parallel_tool_calls=False)["choices"]
    assert made["finish_reason"] == "tool_calls"
    assert made["message"]["content"] is None
    (call,) = made["message"]["tool_calls"]
    assert call["type"] == "function"
    assert call["id"].startswith("call_")
    assert call["function"]["name"] == "get_weather"
    jsonschema.validate(json.loads(call["function"]["arguments"]), CITY)


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses"])
def test_calls_follow_their_schemas_without_strict(http: httpx.Client, path: str) -> None:
    """Some clients send `"strict": false` with every tool."""
    options = {"tool_choice": "required", "parallel_tool_calls": False}
    if path == "/v1/responses":
        asked = {"input": "Hi", "tools": [{"type": "function", **WEATHER["function"], "strict": False}]}
        (*_, call) = http.post(path, json={**asked, **options}).json()["output"]
        jsonschema.validate(json.loads(call["arguments"]), CITY)
        return
    tool = {**WEATHER, "function": {**WEATHER["function"], "strict": False}}
    (made,) = post(http, tools=[tool], **options)["choices"]
    jsonschema.validate(json.loads(made["message"]["tool_calls"][0]["function"]["arguments"]), CITY)


def test_a_call_without_arguments(http: httpx.Client) -> None:
    strict = {"type": "function", "function": {"name": "get_time"}}
    (made,) = post(http, tools=[strict], tool_choice="required", parallel_tool_calls=False)["choices"]
    assert [call["function"] for call in made["message"]["tool_calls"]] == [{"name": "get_time", "arguments": "{}"}]


def test_no_call_may_be_made(http: httpx.Client) -> None:
    (made,) = post(http, tools=[WEATHER], tool_choice="none", max_completion_tokens=20)["choices"]
    assert "tool_calls" not in made["message"]


def test_several_outputs_differ_and_repeat(http: httpx.Client) -> None:
    fields = {"n": 3, "regex": "[a-z]{12}", "temperature": 1.5}
    first, second = ([c["message"]["content"] for c in post(http, **fields)["choices"]] for _ in range(2))
    assert first == second
    assert len(set(first)) == 3


def test_logprobs(http: httpx.Client) -> None:
    (made,) = post(http, regex="[0-9]{6}", logprobs=True, top_logprobs=2)["choices"]
    entries = made["logprobs"]["content"]
    assert b"".join(bytes(each["bytes"]) for each in entries).decode() == made["message"]["content"]
    for each in entries:
        assert each["logprob"] <= 0
        assert len(each["top_logprobs"]) == 2
    (made,) = post(http, regex="[0-9]", logprobs=False)["choices"]
    assert made["logprobs"] is None


def test_stop_strings(http: httpx.Client) -> None:
    text = content(http, response_format={"type": "text"}, stop=["e"], max_completion_tokens=200)
    assert "e" not in text


def test_messages_in_parts_and_of_all_roles(http: httpx.Client) -> None:
    messages = [
        {"role": "developer", "content": "Be short."},
        {"role": "user", "content": [{"type": "text", "text": "The weather?"}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c", "content": "sunny"},
    ]
    assert content(http, messages=messages, tools=[WEATHER], tool_choice="none", regex=None, stop=["\n"]) is not None


@pytest.mark.parametrize(
    ("fields", "param", "code"),
    [
        (
            {"response_format": schema_format({"type": "objct"})},
            "/response_format/json_schema/schema/type",
            "invalid_schema",
        ),
        (
            {"response_format": schema_format({"properties": {"a/b": {"minLength": -1}}})},
            "/response_format/json_schema/schema/properties/a~1b/minLength",
            "invalid_schema",
        ),
        ({"response_format": schema_format(False)}, "/response_format/json_schema/schema", "invalid_structure"),
        ({"response_format": {"type": "yaml"}}, "/response_format/type", "invalid_field"),
        ({"response_format": "json"}, "/response_format", "invalid_field"),
        ({"structured_outputs": {"regex": "("}}, "/structured_outputs/regex", "invalid_field"),
        ({"structured_outputs": {"rgx": "a"}}, "/structured_outputs/rgx", "invalid_field"),
        ({"structured_outputs": {"json": {"type": 3}}}, "/structured_outputs/json/type", "invalid_schema"),
        ({"regex": "("}, "/regex", "invalid_field"),
        ({"ebnf": "root ::= ("}, "/ebnf", "invalid_field"),
        ({"json_schema": {"type": 3}}, "/json_schema/type", "invalid_schema"),
        ({"structural_tag": {"format": {"type": "nothing"}}}, "/structural_tag/format/type", "invalid_structure"),
        ({"regex": "a", "ebnf": "b"}, "/ebnf", "conflicting_fields"),
        ({"regex": "a", "response_format": schema_format(CITY)}, "/response_format", "conflicting_fields"),
        ({"tools": [{"type": "function", "function": {"name": ""}}]}, "/tools/0/function/name", "invalid_field"),
        ({"tools": [WEATHER, WEATHER]}, "/tools/1", "invalid_field"),
        ({"tool_choice": "required"}, "/tool_choice", "invalid_field"),
        ({"tools": [WEATHER], "tool_choice": "get_weather"}, "/tool_choice", "invalid_field"),
        (
            {"tools": [WEATHER], "tool_choice": {"type": "function", "function": {"name": "get_whether"}}},
            "/tool_choice/function/name",
            "invalid_field",
        ),
        ({"tools": 3}, "/tools", "invalid_field"),
        ({"parallel_tool_calls": "no"}, "/parallel_tool_calls", "invalid_field"),
        (
            {"response_format": schema_format(CITY), "max_completion_tokens": 2},
            "/max_completion_tokens",
            "unsatisfiable_structure",
        ),
        ({"max_completion_tokens": 10**8}, "/max_completion_tokens", "context_length_exceeded"),
        ({"max_completion_tokens": 10**6}, "/max_completion_tokens", "too_many_tokens"),
        ({"n": 17}, "/n", "too_many_outputs"),
        ({"top_logprobs": 2}, "/top_logprobs", "invalid_field"),
        ({"guided_json": CITY}, "/guided_json", "unsupported_field"),
    ],
)
def test_refused(http: httpx.Client, fields: dict[str, Any], param: str, code: str) -> None:
    made = error(http, **fields)
    assert (made["param"], made["code"], made["type"]) == (param, code, "invalid_request_error")
    assert made["message"]


def test_an_unknown_model(http: httpx.Client) -> None:
    made = error(http, 404, model="gpt-9")
    assert made["code"] == "model_not_found"
    assert "'embedded'" in made["message"]


def test_hints_name_what_this_server_has(http: httpx.Client) -> None:
    schema = {"type": "array", "uniqueItems": True, "items": {"type": "object", "maxProperties": 3}}
    made = error(http, response_format=schema_format(schema))
    assert made["code"] == "unsupported_schema"
    assert "start the server with --relax" in made["message"]
    assert "on_unsupported" not in made["message"]
    made = error(http, ebnf='start: "a"')
    assert 'this looks like Lark: use structured_outputs: {"grammar": …}' in made["message"]
    assert content(http, structured_outputs={"grammar": 'start: "a"'}) == "a"


def test_request_ids(http: httpx.Client) -> None:
    response = http.post("/v1/chat/completions", json=chat(regex="a"), headers={"X-Request-Id": "mine-1"})
    assert response.headers["x-request-id"] == "mine-1"
    response = http.post("/v1/chat/completions", json={}, headers={"X-Request-Id": "not mine"})
    assert response.headers["x-request-id"].startswith("req_")


def test_tools_that_are_there_twice_in_kind(http: httpx.Client) -> None:
    (made,) = post(http, tools=[WEATHER, TIME], tool_choice="required", max_completion_tokens=400)["choices"]
    for call in made["message"]["tool_calls"]:
        assert call["function"]["name"] in ("get_weather", "get_time")
        assert isinstance(json.loads(call["function"]["arguments"]), dict)
