"""What vLLM's documentation shows about structured outputs, reasoning and tool calling, asked of its server.

The requests of docs/features/structured_outputs, reasoning_outputs and tool_calling, and of examples/features/
structured_outputs, examples/reasoning and examples/tool_calling, with another model; docs/engines/vllm.md lists them
all. The weights are random, so that tools are called only where they must be, and reasoning ends by its budget.
"""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema
import pytest

from engines.vllm.server import THINKING, ask, schema_format

pytest.importorskip("vllm", reason="vLLM is not installed: make engines")
pytest.importorskip("openai", reason="the client is not installed: make engines")

DOCUMENTED_SQL = """
root ::= select_statement
select_statement ::= "SELECT " column " from " table " where " condition
column ::= "col_1 " | "col_2 "
table ::= "table_1 " | "table_2 "
condition ::= column "= " number
number ::= "1 " | "2 "
"""
DOCUMENTED_CAR = {
    "$defs": {"CarType": {"enum": ["sedan", "SUV", "Truck", "Coupe"], "title": "CarType", "type": "string"}},
    "properties": {
        "brand": {"title": "Brand", "type": "string"},
        "model": {"title": "Model", "type": "string"},
        "car_type": {"$ref": "#/$defs/CarType"},
    },
    "required": ["brand", "model", "car_type"],
    "title": "CarDescription",
    "type": "object",
}
DOCUMENTED_STEPS = {
    "$defs": {
        "Step": {
            "properties": {"explanation": {"type": "string"}, "output": {"type": "string"}},
            "required": ["explanation", "output"],
            "type": "object",
        }
    },
    "properties": {"steps": {"items": {"$ref": "#/$defs/Step"}, "type": "array"}, "final_answer": {"type": "string"}},
    "required": ["steps", "final_answer"],
    "type": "object",
}


def test_the_documented_texts(client: Any) -> None:
    sql = r"SELECT col_[12]  from table_[12]  where col_[12] = [12] "
    for structure, pattern in (
        ({"choice": ["positive", "negative"]}, "positive|negative"),
        ({"grammar": DOCUMENTED_SQL}, sql),
    ):
        answer = ask(client, extra_body={"structured_outputs": structure})
        assert answer.finish_reason == "stop"
        assert re.fullmatch(pattern, answer.message.content), answer.message.content
    structure = {"regex": r"\w+@\w+\.com\n"}
    answer = ask(client, extra_body={"structured_outputs": structure, "stop": ["\n"]})
    assert re.fullmatch(r"\w+@\w+\.com", answer.message.content), answer.message.content


@pytest.mark.parametrize("schema", [DOCUMENTED_CAR, DOCUMENTED_STEPS], ids=["car", "steps"])
def test_the_documented_schemas(client: Any, schema: dict[str, Any]) -> None:
    for fields in (
        {"response_format": schema_format(schema)},
        {"extra_body": {"structured_outputs": {"json": schema}}},
    ):
        answer = ask(client, temperature=1.0, **fields)
        assert answer.finish_reason == "stop"
        jsonschema.validate(json.loads(answer.message.content), schema)


def test_the_documented_parsing_into_a_class(client: Any) -> None:
    pydantic = pytest.importorskip("pydantic", reason="comes with vLLM")
    info = pydantic.create_model("Info", name=(str, ...), age=(int, ...))
    step = pydantic.create_model("Step", explanation=(str, ...), output=(str, ...))
    solution = pydantic.create_model("MathResponse", steps=(list[step], ...), final_answer=(str, ...))
    for system, user, expected in (
        ("You are a helpful assistant.", "My name is Cameron, I'm 28. What's my name and age?", info),
        ("You are a helpful expert math tutor.", "Solve 8x + 31 = 2.", solution),
    ):
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        completion = client.beta.chat.completions.parse(
            model="model", messages=messages, response_format=expected, max_tokens=60
        )
        assert isinstance(completion.choices[0].message.parsed, expected)


def test_the_documented_completions(client: Any) -> None:
    structured = {"structured_outputs": {"json": DOCUMENTED_CAR}}
    prompt = "A car: <think></think>"  # with a reasoning parser the structure waits for this end, whatever the backend
    completion = client.completions.create(model="model", prompt=prompt, max_tokens=60, extra_body=structured)
    jsonschema.validate(json.loads(completion.choices[0].text), DOCUMENTED_CAR)


PEOPLE = {
    "properties": {"name": {"title": "Name", "type": "string"}, "age": {"title": "Age", "type": "integer"}},
    "required": ["name", "age"],
    "title": "People",
    "type": "object",
}
FUNCTION_TAG = {
    "begin": "<function=get_weather>",
    "schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    "end": "</function>",
}


def streamed(client: Any, **fields: Any) -> Any:
    """Put a stream together: reasoning, content, and the arguments of each tool call."""
    from types import SimpleNamespace

    whole = SimpleNamespace(reasoning="", content="", calls=[], finish_reason=None)
    asked = {"model": "model", "max_tokens": 90, "messages": [{"role": "user", "content": "?"}], **fields}
    for chunk in client.chat.completions.create(**asked, stream=True):
        (choice,) = chunk.choices
        whole.reasoning += getattr(choice.delta, "reasoning", None) or ""
        whole.content += choice.delta.content or ""
        whole.finish_reason = choice.finish_reason or whole.finish_reason
        for call in choice.delta.tool_calls or ():
            if call.index == len(whole.calls):
                whole.calls.append(SimpleNamespace(name="", arguments=""))
            whole.calls[call.index].name += call.function.name or ""
            whole.calls[call.index].arguments += call.function.arguments or ""
    return whole


@pytest.mark.parametrize("stream", [False, True])
def test_the_example_structured_outputs_client(client: Any, stream: bool) -> None:
    def content(**fields: Any) -> str:
        fields = {"max_tokens": 256, "temperature": 1.0, **fields}
        text = streamed(client, **fields).content if stream else ask(client, **fields).message.content
        assert isinstance(text, str)
        return text

    email = r"[a-z0-9.]{1,20}@\w{6,10}\.com\n"
    assert re.fullmatch(email.rstrip("\\n") + r"\s*", content(extra_body={"structured_outputs": {"regex": email}}))
    jsonschema.validate(json.loads(content(response_format=schema_format(DOCUMENTED_CAR))), DOCUMENTED_CAR)
    tags = {"type": "structural_tag", "structures": [FUNCTION_TAG], "triggers": ["<function="]}
    for found in re.findall("<function=get_weather>(.*?)</function>", content(response_format=tags), re.DOTALL):
        jsonschema.validate(json.loads(found), FUNCTION_TAG["schema"])


def test_the_documented_reasoning_before_a_structure(client: Any) -> None:
    answer = ask(client, response_format=schema_format(PEOPLE), extra_body=THINKING)
    assert answer.finish_reason == "stop"
    assert answer.message.reasoning
    jsonschema.validate(json.loads(answer.message.content), PEOPLE)
    whole = streamed(client, response_format=schema_format(PEOPLE), extra_body=THINKING)
    assert whole.finish_reason == "stop"
    assert whole.reasoning
    jsonschema.validate(json.loads(whole.content), PEOPLE)


@pytest.mark.parametrize(
    ("structure", "pattern"), [({"regex": "[a-c]{5}"}, "[a-c]{5}"), ({"choice": ["x", "y"]}, "[xy]")]
)
def test_reasoning_before_other_structures(client: Any, structure: dict[str, Any], pattern: str) -> None:
    answer = ask(client, extra_body={**THINKING, "structured_outputs": structure})
    assert answer.message.reasoning
    assert re.fullmatch(pattern, answer.message.content.strip())


def test_the_documented_switches_of_reasoning(client: Any) -> None:
    """The server's default is off, and requests take precedence; the budget ends it."""
    plain = ask(client, extra_body=THINKING).message
    assert plain.reasoning
    assert plain.content
    off = ask(client, response_format=schema_format(PEOPLE))
    assert not getattr(off.message, "reasoning", None)
    for budget in (0, 3, 30):
        answer = ask(
            client, response_format=schema_format(PEOPLE), extra_body={**THINKING, "thinking_token_budget": budget}
        )
        jsonschema.validate(json.loads(answer.message.content), PEOPLE)


CURRENT_WEATHER = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "The city to find the weather for, e.g. 'San Francisco'"},
        "state": {"type": "string", "description": "the two-letter abbreviation for the state, e.g. 'CA'"},
        "unit": {"type": "string", "description": "The unit", "enum": ["celsius", "fahrenheit"]},
    },
    "required": ["city", "state", "unit"],
}
FORECAST = {
    "type": "object",
    "properties": {**CURRENT_WEATHER["properties"], "days": {"type": "integer"}},  # type: ignore[dict-item]
    "required": ["city", "state", "days", "unit"],
}
SCHEMAS: dict[str, Any] = {"get_current_weather": CURRENT_WEATHER, "get_forecast": FORECAST}
MESSAGES = [
    {"role": "user", "content": "Hi! How are you doing today?"},
    {"role": "assistant", "content": "I'm doing well! How can I help you?"},
    {"role": "user", "content": "Can you tell me what the temperate will be in Dallas, in fahrenheit?"},
]
NAMED = {"type": "function", "function": {"name": "get_current_weather"}}


def tools(strict: bool) -> list[dict[str, Any]]:
    return [
        {"type": "function", "function": {"name": name, "parameters": schema, "strict": strict}}
        for name, schema in SCHEMAS.items()
    ]


def are_valid(calls: list[Any], strict: bool) -> bool:
    for call in calls:
        arguments = json.loads(call.arguments)
        if strict:  # otherwise vLLM leaves the arguments free
            jsonschema.validate(arguments, SCHEMAS[call.name])
    return bool(calls) and all(call.name in SCHEMAS for call in calls)


@pytest.mark.parametrize("thinking", [False, True])
@pytest.mark.parametrize("choice", ["required", NAMED], ids=["required", "named"])
@pytest.mark.parametrize("strict", [False, True])
def test_the_documented_tool_calls(client: Any, choice: Any, strict: bool, thinking: bool) -> None:
    fields = {"messages": MESSAGES, "tools": tools(strict), "tool_choice": choice, "max_tokens": 120}
    if thinking:
        fields["extra_body"] = THINKING
    message = ask(client, **fields).message
    assert are_valid([call.function for call in message.tool_calls], strict)
    assert bool(getattr(message, "reasoning", None)) == thinking
    whole = streamed(client, **fields)
    assert are_valid(whole.calls, strict)
    assert bool(whole.reasoning) == thinking


@pytest.mark.parametrize("choice", ["auto", "none"])
def test_the_documented_free_tool_choices(client: Any, choice: str) -> None:
    """A model with random weights writes no call by itself: what is shown is that a free answer stays free."""
    answer = ask(client, messages=MESSAGES, tools=tools(True), tool_choice=choice)
    assert answer.message.content
    assert not answer.message.tool_calls


def test_the_documented_second_turn(client: Any) -> None:
    fields = {"tools": tools(True), "tool_choice": "required", "max_tokens": 120}
    (call, *_) = ask(client, messages=MESSAGES, **fields).message.tool_calls
    turns = [
        {"role": "assistant", "tool_calls": [call.model_dump()]},
        {"role": "tool", "content": "85 degrees", "tool_call_id": call.id, "name": call.function.name},
    ]
    answer = ask(client, messages=[*MESSAGES, *turns], **{**fields, "tool_choice": "auto"})
    assert answer.message.content


def test_the_documented_responses(client: Any) -> None:
    """The Responses API: tools as in openai_responses_client_with_tools.py, a text format, a free answer."""
    parameters = {
        "type": "object",
        "properties": {"latitude": {"type": "number"}, "longitude": {"type": "number"}},
        "required": ["latitude", "longitude"],
        "additionalProperties": False,
    }
    tool = {"type": "function", "name": "get_weather", "parameters": parameters, "strict": True}
    turns: list[Any] = [{"role": "user", "content": "What's the weather like in Paris today?"}]
    fields = {"model": "model", "input": turns, "max_output_tokens": 80}
    response = client.responses.create(**fields, tools=[tool], tool_choice="required")
    calls = [out for out in response.output if out.type == "function_call"]
    assert {call.name for call in calls} == {"get_weather"}
    for call in calls:
        jsonschema.validate(json.loads(call.arguments), parameters)
    turns += [calls[0], {"type": "function_call_output", "call_id": calls[0].call_id, "output": "20 degrees"}]
    assert client.responses.create(**fields, tools=[tool]).status in ("completed", "incomplete")
    thinking = {"chat_template_kwargs": THINKING["chat_template_kwargs"]}
    response = client.responses.create(**fields, extra_body=thinking)
    assert "reasoning" in [out.type for out in response.output]
    text = {"format": {"type": "json_schema", "name": "people", "schema": PEOPLE, "strict": True}}
    jsonschema.validate(json.loads(client.responses.create(**fields, text=text).output_text), PEOPLE)
