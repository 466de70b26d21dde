"""Other clients of OpenAI's API: instructor, pydantic-ai, litellm, LangChain, OpenAI Agents, those that are there.

make test-clients       installs them into .venv-clients and runs this
"""

from __future__ import annotations

import asyncio
import json
from typing import Any, Literal

import pydantic
import pytest

pytestmark = pytest.mark.filterwarnings("default")  # what their own imports warn of


class Trip(pydantic.BaseModel):
    """A trip."""

    city: str = pydantic.Field(max_length=12)
    kind: Literal["work", "holiday"]
    days: int = pydantic.Field(ge=1, le=9)


MESSAGES: Any = [{"role": "user", "content": "Write an order as JSON."}]


def needed(name: str) -> Any:
    return pytest.importorskip(name, reason=f"{name} is not installed: make test-clients")


@pytest.fixture
def url(running: Any) -> Any:
    yield f"{running.url}/v1"
    running.wait_until_idle()


@pytest.mark.parametrize("mode", ["JSON_SCHEMA", "TOOLS"])
def test_instructor(url: str, mode: str) -> None:
    instructor = needed("instructor")
    import openai

    client = instructor.from_openai(openai.OpenAI(base_url=url, api_key="unused"), mode=instructor.Mode[mode])
    made = client.chat.completions.create(model="embedded", messages=MESSAGES, response_model=Trip, max_tokens=90)
    assert isinstance(made, Trip)


def test_instructor_with_responses(url: str) -> None:
    instructor = needed("instructor")
    import openai

    client = openai.OpenAI(base_url=url, api_key="unused")
    made = instructor.from_openai(client, mode=instructor.Mode.RESPONSES_TOOLS).chat.completions.create(
        model="embedded", messages=MESSAGES, response_model=Trip, max_tokens=90
    )
    assert isinstance(made, Trip)


def test_instructor_streams_objects(serving: Any) -> None:
    """Its tool has no required argument, so that a model which invents some needs --strict."""
    instructor = needed("instructor")
    import openai

    with serving(strict=True) as it:
        client = instructor.from_openai(openai.OpenAI(base_url=f"{it.url}/v1", api_key="unused"))
        options = {"model": "embedded", "messages": MESSAGES, "response_model": Trip, "max_tokens": 300}
        made = list(client.chat.completions.create_iterable(**options))
    assert all(isinstance(each, Trip) for each in made)


def test_instructor_streams_partial_objects(url: str) -> None:
    instructor = needed("instructor")
    import openai

    client = instructor.from_openai(openai.OpenAI(base_url=url, api_key="unused"), mode=instructor.Mode.JSON_SCHEMA)
    parts = list(
        client.chat.completions.create_partial(model="embedded", messages=MESSAGES, response_model=Trip, max_tokens=90)
    )
    assert Trip.model_validate(parts[-1].model_dump())


def agent(url: str, api: str = "OpenAIChatModel", **options: Any) -> Any:
    needed("pydantic_ai")
    from pydantic_ai import Agent
    from pydantic_ai.models import openai
    from pydantic_ai.providers.openai import OpenAIProvider

    return Agent(getattr(openai, api)("embedded", provider=OpenAIProvider(base_url=url, api_key="unused")), **options)


@pytest.mark.parametrize("api", ["OpenAIChatModel", "OpenAIResponsesModel"])
def test_pydantic_ai_with_an_output_tool(url: str, api: str) -> None:
    made = agent(url, api, output_type=Trip, model_settings={"max_tokens": 200}).run_sync("Write an order as JSON.")
    assert isinstance(made.output, Trip)


def test_pydantic_ai_is_told_that_there_are_no_images(url: str) -> None:
    needed("pydantic_ai")
    from pydantic_ai import ImageUrl
    from pydantic_ai.exceptions import ModelHTTPError

    with pytest.raises(ModelHTTPError, match="/messages/0/content/1: this server reads text only"):
        agent(url).run_sync(["What is this?", ImageUrl(url="https://example.com/a.png")])


def test_pydantic_ai_with_native_output(url: str) -> None:
    needed("pydantic_ai")
    from pydantic_ai import NativeOutput

    made = agent(url, output_type=NativeOutput(Trip), model_settings={"max_tokens": 200}).run_sync("Write an order.")
    assert isinstance(made.output, Trip)


def test_pydantic_ai_streams(url: str) -> None:
    async def run() -> Any:
        async with agent(url, model_settings={"max_tokens": 12}).run_stream("Hi") as result:
            return await result.get_output()

    assert asyncio.run(run())


def test_litellm(url: str) -> None:
    litellm = needed("litellm")
    options = {"model": "openai/embedded", "api_base": url, "api_key": "unused", "messages": MESSAGES, "max_tokens": 90}
    made = litellm.completion(**options, response_format=Trip)
    Trip.model_validate_json(made.choices[0].message.content)
    chunks = list(litellm.completion(**options, stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    tool = {"type": "function", "function": {"name": "trip", "parameters": Trip.model_json_schema()}}
    made = litellm.completion(**options, tools=[tool], tool_choice="required", parallel_tool_calls=False)
    Trip.model_validate_json(made.choices[0].message.tool_calls[0].function.arguments)


def test_litellm_streams_calls(url: str) -> None:
    litellm = needed("litellm")
    tool = {"type": "function", "function": {"name": "trip", "parameters": Trip.model_json_schema(), "strict": True}}
    options = {"model": "openai/embedded", "api_base": url, "api_key": "unused", "messages": MESSAGES, "max_tokens": 90}
    chunks = list(
        litellm.completion(**options, tools=[tool], tool_choice="required", parallel_tool_calls=False, stream=True)
    )
    whole = litellm.stream_chunk_builder(chunks)
    Trip.model_validate_json(whole.choices[0].message.tool_calls[0].function.arguments)


def test_litellm_raises_its_bad_request(url: str) -> None:
    litellm = needed("litellm")
    wrong = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "strng"}}}
    with pytest.raises(litellm.BadRequestError, match="'strng'"):
        litellm.completion(
            model="openai/embedded", api_base=url, api_key="unused", messages=MESSAGES, response_format=wrong
        )


@pytest.fixture
def langchain(url: str) -> Any:
    needed("langchain_openai")
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(model="embedded", base_url=url, api_key=pydantic.SecretStr("unused"), max_completion_tokens=90)


@pytest.mark.parametrize("method", ["json_schema", "function_calling", "json_mode"])
def test_langchain_structured_output(langchain: Any, method: str) -> None:
    made = langchain.with_structured_output(Trip, method=method, include_raw=True).invoke("Write an order as JSON.")
    if method == "json_mode":  # which promises an object, of any form
        assert isinstance(json.loads(made["raw"].content), dict)
    else:
        assert isinstance(made["parsed"], Trip)


def test_langchain_with_responses(url: str) -> None:
    needed("langchain_openai")
    from langchain_openai import ChatOpenAI

    options: Any = {"model": "embedded", "base_url": url, "api_key": "unused", "max_tokens": 90}
    made = ChatOpenAI(**options, use_responses_api=True).with_structured_output(Trip).invoke("Write an order as JSON.")
    assert isinstance(made, Trip)


def test_langchain_tools_and_streams(langchain: Any) -> None:
    from langchain_core.tools import tool

    @tool
    def get_weather(city: Literal["Paris", "Rome"]) -> str:
        """The weather in a city."""
        return city

    made = langchain.bind_tools([get_weather], tool_choice="required", parallel_tool_calls=False).invoke("The weather?")
    (call,) = made.tool_calls
    assert call["name"] == "get_weather"
    assert call["args"]["city"] in ("Paris", "Rome")
    assert "".join(chunk.content for chunk in langchain.stream("Hi"))


def run_agent(url: str, api: str, is_stream: bool = False, **options: Any) -> Any:
    """What an agent of OpenAI's makes of a question."""
    agents = needed("agents")
    import openai

    agents.set_tracing_disabled(True)
    settings = agents.ModelSettings(max_tokens=200, tool_choice="required" if "tools" in options else None)

    async def run() -> Any:
        async with openai.AsyncOpenAI(base_url=url, api_key="unused") as client:
            model = getattr(agents, api)("embedded", client)
            planner = agents.Agent(name="planner", model=model, model_settings=settings, **options)
            if not is_stream:
                return (await agents.Runner.run(planner, "The weather?")).final_output
            result = agents.Runner.run_streamed(planner, "The weather?")
            async for _ in result.stream_events():
                pass
            return result.final_output

    return asyncio.run(run())


@pytest.mark.parametrize("api", ["OpenAIChatCompletionsModel", "OpenAIResponsesModel"])
def test_openai_agents_with_an_output_type(url: str, api: str) -> None:
    assert isinstance(run_agent(url, api, output_type=Trip), Trip)


@pytest.mark.parametrize("api", ["OpenAIChatCompletionsModel", "OpenAIResponsesModel"])
@pytest.mark.parametrize("is_stream", [False, True])
def test_openai_agents_call_tools(url: str, api: str, is_stream: bool) -> None:
    agents = needed("agents")
    cities: list[str] = []

    @agents.function_tool
    def get_weather(city: Literal["Paris", "Rome"], days: int = 1) -> str:
        """The weather in a city."""
        cities.append(city)
        return "sunny"

    assert isinstance(run_agent(url, api, is_stream, tools=[get_weather]), str)
    assert cities
    assert set(cities) <= {"Paris", "Rome"}
