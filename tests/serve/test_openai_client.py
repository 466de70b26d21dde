"""What users of the `openai` package see: objects, streams, `.parse`, tools, responses, typed exceptions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any, Literal

import pydantic
import pytest

from serve.requests_of_tests import CITY, SQL, SQL_OF_CHAT, WEATHER, follows_the_grammar, schema_format

openai = pytest.importorskip("openai", reason="needs the package openai, of the extra `test`")

MESSAGES: Any = [{"role": "user", "content": "Write an order as JSON."}]


class Trip(pydantic.BaseModel):
    """A trip."""

    city: str = pydantic.Field(max_length=12)
    kind: Literal["work", "holiday"]
    days: int = pydantic.Field(ge=1, le=9)


class GetWeather(pydantic.BaseModel):
    """The weather in a city."""

    city: str = pydantic.Field(max_length=12)


@pytest.fixture
def client(running: Any) -> Iterator[Any]:
    with openai.OpenAI(base_url=f"{running.url}/v1", api_key="unused", max_retries=0, timeout=30) as made:
        yield made
    running.wait_until_idle()


def test_models(client: Any) -> None:
    (model,) = client.models.list().data
    assert model.id == "embedded"
    assert client.models.retrieve("embedded").id == "embedded"


def test_chat(client: Any) -> None:
    made = client.chat.completions.create(
        model="embedded", messages=MESSAGES, response_format=schema_format(CITY, strict=True), max_completion_tokens=80
    )
    assert set(json.loads(made.choices[0].message.content)) == {"city", "days"}
    assert made.usage.total_tokens == made.usage.prompt_tokens + made.usage.completion_tokens
    assert made._request_id.startswith("req_")


def test_parse_with_pydantic(client: Any) -> None:
    made = client.chat.completions.parse(
        model="embedded", messages=MESSAGES, response_format=Trip, max_completion_tokens=80
    )
    assert isinstance(made.choices[0].message.parsed, Trip)


def test_parse_calls(client: Any) -> None:
    made = client.chat.completions.parse(
        model="embedded",
        messages=MESSAGES,
        tools=[openai.pydantic_function_tool(GetWeather)],
        tool_choice="required",
        parallel_tool_calls=False,
        max_completion_tokens=80,
    )
    (call,) = made.choices[0].message.tool_calls
    assert isinstance(call.function.parsed_arguments, GetWeather)
    assert made.choices[0].finish_reason == "tool_calls"


def test_stream(client: Any) -> None:
    options = {"include_usage": True}
    with client.chat.completions.create(
        model="embedded", messages=MESSAGES, stream=True, stream_options=options, max_completion_tokens=12, seed=1
    ) as stream:
        chunks = list(stream)
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert chunks[-1].usage.completion_tokens == 12


def test_the_streaming_helper_parses(client: Any) -> None:
    with client.chat.completions.stream(
        model="embedded", messages=MESSAGES, response_format=Trip, max_completion_tokens=80
    ) as stream:
        kinds = {event.type for event in stream}
        assert isinstance(stream.get_final_completion().choices[0].message.parsed, Trip)
    assert {"chunk", "content.delta", "content.done"} <= kinds


def test_the_streaming_helper_reads_calls(client: Any) -> None:
    with client.chat.completions.stream(
        model="embedded",
        messages=MESSAGES,
        tools=[openai.pydantic_function_tool(GetWeather)],
        tool_choice="required",
        parallel_tool_calls=False,
        max_completion_tokens=80,
    ) as stream:
        kinds = {event.type for event in stream}
        (call,) = stream.get_final_completion().choices[0].message.tool_calls
    assert "tool_calls.function.arguments.delta" in kinds
    assert isinstance(call.function.parsed_arguments, GetWeather)


def test_extra_body(client: Any) -> None:
    made = client.chat.completions.create(
        model="embedded", messages=MESSAGES, extra_body={"structured_outputs": {"choice": ["yes", "no"]}}
    )
    assert made.choices[0].message.content in ("yes", "no")


def test_completions(client: Any) -> None:
    made = client.completions.create(
        model="embedded", prompt=["a", "b"], max_tokens=9, logprobs=2, extra_body={"regex": "[0-9]{3}"}
    )
    assert [len(choice.text) for choice in made.choices] == [3, 3]
    assert "".join(made.choices[0].logprobs.tokens) == made.choices[0].text
    chunks = list(client.completions.create(model="embedded", prompt="a", max_tokens=5, seed=1, stream=True))
    assert chunks[-1].choices[0].finish_reason == "length"


def test_responses(client: Any) -> None:
    made = client.responses.create(model="embedded", input="Hi", max_output_tokens=9)
    assert made.output_text
    parsed = client.responses.parse(model="embedded", input="Hi", text_format=Trip, max_output_tokens=80)
    assert isinstance(parsed.output_parsed, Trip)


def test_streamed_responses(client: Any) -> None:
    with client.responses.stream(model="embedded", input="Hi", text_format=Trip, max_output_tokens=80) as stream:
        kinds = [event.type for event in stream]
        assert isinstance(stream.get_final_response().output_parsed, Trip)
    assert "response.output_text.delta" in kinds
    tools = [{"type": "function", **WEATHER["function"], "strict": True}]
    with client.responses.stream(model="embedded", input="Hi", tools=tools, tool_choice="required") as stream:
        kinds = [event.type for event in stream]
        calls = [item for item in stream.get_final_response().output if item.type == "function_call"]
    assert "response.function_call_arguments.delta" in kinds
    assert all(call.name == "get_weather" for call in calls)


def test_custom_tools(client: Any) -> None:
    asked: Any = {"model": "embedded", "max_completion_tokens": 120}
    choice = {"type": "custom", "custom": {"name": "sql"}}
    made = client.chat.completions.create(messages=MESSAGES, tools=[SQL_OF_CHAT], tool_choice=choice, **asked)
    assert made.choices[0].finish_reason == "tool_calls"
    (call,) = made.choices[0].message.tool_calls
    assert type(call).__name__ == "ChatCompletionMessageCustomToolCall"
    assert (call.custom.name, follows_the_grammar(call.custom.input)) == ("sql", True)
    history = [*MESSAGES, made.choices[0].message, {"role": "tool", "tool_call_id": call.id, "content": "3"}]
    again = client.chat.completions.create(messages=history, tools=[SQL_OF_CHAT, WEATHER], tool_choice="none", **asked)
    assert again.choices[0].message.content
    chunks = client.chat.completions.create(
        messages=MESSAGES, tools=[SQL_OF_CHAT], tool_choice=choice, stream=True, **asked
    )
    deltas = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or []]
    assert (deltas[0].type, deltas[0].custom["name"]) == ("custom", "sql")
    assert follows_the_grammar("".join(delta.custom["input"] for delta in deltas))


def test_custom_tools_in_responses(client: Any) -> None:
    asked: Any = {"model": "embedded", "max_output_tokens": 120, "tools": [SQL]}
    made = client.responses.create(input="Hi", tool_choice={"type": "custom", "name": "sql"}, **asked)
    (call,) = made.output
    assert type(call).__name__ == "ResponseCustomToolCall"
    assert (call.name, follows_the_grammar(call.input)) == ("sql", True)
    answer = {"type": "custom_tool_call_output", "call_id": call.call_id, "output": "3"}
    items = [{"role": "user", "content": "Hi"}, call, answer]
    assert client.responses.create(input=items, tool_choice="none", **asked).output_text
    allowed = {"type": "allowed_tools", "mode": "required", "tools": [{"type": "custom", "name": "sql"}]}
    with client.responses.stream(input="Hi", tool_choice=allowed, **asked) as stream:
        events = list(stream)
        calls = [item for item in stream.get_final_response().output if item.type == "custom_tool_call"]
    deltas = [event.delta for event in events if event.type == "response.custom_tool_call_input.delta"]
    done = [event.input for event in events if event.type == "response.custom_tool_call_input.done"]
    assert done == [call.input for call in calls]
    assert done
    assert "".join(deltas) == "".join(done)


def test_a_bad_schema_is_a_bad_request(client: Any) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(
            model="embedded", messages=MESSAGES, response_format=schema_format({"properties": {"a": {"type": "strng"}}})
        )
    assert caught.value.param == "/response_format/json_schema/schema/properties/a/type"
    assert caught.value.code == "invalid_schema"
    assert caught.value.type == "invalid_request_error"


def test_errors_have_their_classes(client: Any, serving: Any) -> None:
    with pytest.raises(openai.NotFoundError):
        client.chat.completions.create(model="other", messages=MESSAGES)
    with pytest.raises(openai.BadRequestError):
        client.responses.create(model="embedded", input="Hi", previous_response_id="resp_1")
    with serving(api_keys=("secret",)) as guarded:
        url = f"{guarded.url}/v1"
        with (
            openai.OpenAI(base_url=url, api_key="wrong", max_retries=0) as other,
            pytest.raises(openai.AuthenticationError),
        ):
            other.models.list()
        with openai.OpenAI(base_url=url, api_key="secret", max_retries=0) as other:
            assert other.models.list().data[0].id == "embedded"


def test_what_took_too_long_is_not_sent_again(serving: Any) -> None:
    with (
        serving(max_request_seconds=0.2) as it,
        openai.OpenAI(base_url=f"{it.url}/v1", api_key="unused", max_retries=2) as client,
        pytest.raises(openai.InternalServerError, match="ask for fewer tokens"),
    ):
        client.chat.completions.create(
            model="embedded", messages=MESSAGES, max_tokens=16_000, extra_body={"regex": "[a-z]{16000}"}
        )
    # Counted when the reply is out: by now, as the server has stopped.
    assert it.server.metrics.requests.labels("chat", "504")._value.get() == 1


def test_async_and_many_at_once(running: Any) -> None:
    async def run() -> list[Any]:
        async with openai.AsyncOpenAI(base_url=f"{running.url}/v1", api_key="unused") as client:
            return await asyncio.gather(
                *(
                    client.chat.completions.parse(
                        model="embedded", messages=MESSAGES, response_format=Trip, max_completion_tokens=80, seed=i
                    )
                    for i in range(24)
                )
            )

    made = asyncio.run(run())
    assert all(isinstance(each.choices[0].message.parsed, Trip) for each in made)
    running.wait_until_idle()
