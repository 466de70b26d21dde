"""vLLM's OpenAI server with the backend `maskwright`, asked through the OpenAI client."""

from __future__ import annotations

import concurrent.futures
import json
import re
from typing import Any

import jsonschema
import pytest

from engines.vllm.server import ASKED, ask, schema_format

pytest.importorskip("vllm", reason="vLLM is not installed: make engines")
openai = pytest.importorskip("openai", reason="the client is not installed: make engines")

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "unit": {"enum": ["C", "F"]}},
            "required": ["city", "unit"],
            "additionalProperties": False,
        },
    },
}
TIME = {"type": "function", "function": {"name": "get_time", "parameters": {"type": "object", "properties": {}}}}


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_response_format(client: Any, temperature: float) -> None:
    answer = ask(client, response_format=schema_format(PERSON), temperature=temperature)
    assert answer.finish_reason == "stop"
    jsonschema.validate(json.loads(answer.message.content), PERSON)
    answer = ask(client, response_format={"type": "json_object"}, temperature=temperature)
    assert isinstance(json.loads(answer.message.content), dict)


@pytest.mark.parametrize(
    ("structure", "pattern"),
    [
        ({"regex": r"\w+@\w+\.com"}, r"\w+@\w+\.com"),
        ({"choice": ["positive", "negative"]}, "positive|negative"),
        ({"grammar": 'root ::= "SELECT " [a-z]+ " FROM " [a-z]+'}, "SELECT [a-z]+ FROM [a-z]+"),
        ({"grammar": 'start: "SELECT " /[a-z]+/ " FROM " /[a-z]+/'}, "SELECT [a-z]+ FROM [a-z]+"),
        ({"json": PERSON, "disable_any_whitespace": True}, r'\{"name":".*","age":\d+\}'),
        ({"json": PERSON, "whitespace_pattern": " "}, r'\{ "name" : ".*" , "age" : \d+ \}'),
    ],
)
def test_structured_outputs(client: Any, structure: dict[str, Any], pattern: str) -> None:
    answer = ask(client, extra_body={"structured_outputs": structure})
    assert answer.finish_reason == "stop"
    assert re.fullmatch(pattern, answer.message.content, re.DOTALL), answer.message.content


def test_structural_tags_in_both_forms(client: Any) -> None:
    tag = {"begin": "<f>", "content": {"type": "json_schema", "json_schema": PERSON}, "end": "</f>"}
    triggered = {"type": "triggered_tags", "triggers": ["<f>"], "tags": [tag], "at_least_one": True}
    older = {"structures": [{"begin": "<f>", "schema": PERSON, "end": "</f>"}], "triggers": ["<f>"]}
    for form in ({"format": triggered}, older):
        answer = ask(client, response_format={"type": "structural_tag", **form})
        for found in re.findall("<f>(.*?)</f>", answer.message.content, re.DOTALL):
            jsonschema.validate(json.loads(found), PERSON)
        assert "<f>" in answer.message.content or form is older


def test_streaming(client: Any) -> None:
    stream = client.chat.completions.create(**ASKED, max_tokens=60, response_format=schema_format(PERSON), stream=True)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
    jsonschema.validate(json.loads(text), PERSON)


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "get_weather"}}])
def test_tools_are_called_by_name(client: Any, choice: Any) -> None:
    answer = ask(client, tools=[WEATHER, TIME], tool_choice=choice, max_tokens=90)
    assert answer.message.tool_calls
    for call in answer.message.tool_calls:
        json.loads(call.function.arguments)  # any value: vLLM leaves the arguments free where strict is not set
        assert call.function.name in (["get_weather", "get_time"] if choice == "required" else ["get_weather"])


def test_strict_tools_are_called_with_valid_arguments(client: Any) -> None:
    tool = {**WEATHER, "function": {**WEATHER["function"], "strict": True}}
    answer = ask(client, tools=[tool], tool_choice="required", max_tokens=90)
    for call in answer.message.tool_calls:
        jsonschema.validate(json.loads(call.function.arguments), WEATHER["function"]["parameters"])
    ask(client, tools=[tool], tool_choice="auto")


def test_tool_calls_are_streamed(client: Any) -> None:
    tool = {**WEATHER, "function": {**WEATHER["function"], "strict": True}}
    stream = client.chat.completions.create(**ASKED, max_tokens=90, tools=[tool], tool_choice="required", stream=True)
    arguments: dict[int, str] = {}
    for chunk in stream:
        for call in chunk.choices[0].delta.tool_calls or ():
            arguments[call.index] = arguments.get(call.index, "") + (call.function.arguments or "")
    assert arguments
    for text in arguments.values():
        jsonschema.validate(json.loads(text), WEATHER["function"]["parameters"])


def test_several_outputs_of_one_prompt(client: Any) -> None:
    answer = client.chat.completions.create(
        **ASKED, n=3, temperature=1.0, max_tokens=60, response_format=schema_format(PERSON)
    )
    for choice in answer.choices:
        jsonschema.validate(json.loads(choice.message.content), PERSON)


def test_the_message_of_a_refusal_has_the_pointer_and_a_hint(client: Any) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        ask(client, response_format=schema_format({"properties": {"a": {"type": "strin"}}}))
    assert "#/properties/a/type" in refused.value.message
    assert "hint: " in refused.value.message
    with pytest.raises(openai.BadRequestError, match="the shortest output needs"):
        ask(client, response_format=schema_format(PERSON), max_tokens=3)
    answer = ask(
        client,
        response_format=schema_format(PERSON),
        max_tokens=3,
        extra_body={"vllm_xargs": {"maskwright_token_budget": False}},
    )
    assert answer.finish_reason == "length"


def test_clients_that_go_away_do_not_disturb_the_others(client: Any) -> None:
    fields = {"max_tokens": 400, "response_format": schema_format({"type": "array", "minItems": 60})}
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(ask, client, response_format=schema_format(PERSON)) for _ in range(4)]
        for _ in range(4):
            with client.chat.completions.create(**ASKED, **fields, stream=True) as stream:
                for _ in range(3):
                    next(stream)
        for answer in answers:
            jsonschema.validate(json.loads(answer.result().message.content), PERSON)


def test_beams_with_a_structure_are_refused(client: Any) -> None:
    beams = {"use_beam_search": True}
    with pytest.raises(openai.BadRequestError, match="use_beam_search"):
        ask(client, response_format=schema_format(PERSON), extra_body=beams)
    with pytest.raises(openai.BadRequestError, match="use_beam_search"):
        client.completions.create(
            model="model", prompt="x", max_tokens=8, extra_body={**beams, "structured_outputs": {"regex": "a"}}
        )
    assert ask(client, max_tokens=4, n=2, extra_body=beams).message.content


HOSTILE_SCHEMAS: list[Any] = [
    {"type": "strin"},
    {"type": 3},
    {"$ref": "#/$defs/missing"},
    {"$ref": "https://example.com/schema.json"},
    {"$ref": "#"},
    {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
    {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]},
    {"pattern": "(", "type": "string"},
    {"minimum": 5, "maximum": 3, "type": "integer"},
    {"enum": []},
    {"allOf": [{"type": "string"}, {"type": "integer"}]},
    {"type": "string", "minLength": 10**9},
    {"type": "array", "minItems": 10**9},
    {"required": [1]},
    {"properties": []},
    {"enum": ["x" * 50 for _ in range(20_000)], "minProperties": -1},
]
HOSTILE_STRUCTURES: list[dict[str, Any]] = [
    {"regex": "(a"},
    {"regex": "a{1000000000}"},
    {"regex": "(?<a>b)?\\k<a>"},
    {"regex": "(a)|\\1"},
    {"regex": "((((a{99}){99}){99}){99}){99}"},
    {"grammar": ""},
    {"grammar": " \n"},
    {"grammar": "root ::= missing"},
    {"grammar": "root ::= root"},
    {"grammar": "root ::= " + "(" * 5000},
    {"grammar": "start: /(/"},
    {"choice": []},
    {"json": "{"},
    {"json_object": False},
    {"json": PERSON, "regex": "a"},
    {"structural_tag": "{}"},
    {"structural_tag": json.dumps({"type": "structural_tag", "format": {"type": "nothing"}})},
    {"grammar": 'root ::= "a'},
    {},
]


def refused(client: Any, **fields: Any) -> str:
    """Return the message of the HTTP 400 that a request gets."""
    try:
        answer = ask(client, **fields)
    except openai.BadRequestError as error:
        return str(error.message)
    return f"TAKEN: {answer.message.content!r:.200} for {json.dumps(fields)[:200]}"


def test_hostile_requests_are_refused_one_by_one_and_others_are_not_disturbed(client: Any) -> None:
    hostile = [{"response_format": schema_format(schema)} for schema in HOSTILE_SCHEMAS]
    hostile += [{"extra_body": {"structured_outputs": structure}} for structure in HOSTILE_STRUCTURES]
    assert len(hostile) >= 30
    good = {"response_format": schema_format(PERSON), "temperature": 1.0}
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(ask, client, **good) for _ in range(12)]
        messages = list(pool.map(lambda fields: refused(client, **fields), hostile))
        answers += [pool.submit(ask, client, **good) for _ in range(4)]
    for answer in answers:
        choice = answer.result()
        assert choice.finish_reason == "stop"
        jsonschema.validate(json.loads(choice.message.content), PERSON)
    assert [message for message in messages if message.startswith("TAKEN")] == []
    assert [message for message in messages if len(message) > 3000 or "Traceback" in message] == []
