"""Bodies against their models: values, misspelled fields, fields and tools that are ignored or refused."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from maskwright.serve.errors import ApiError
from maskwright.serve.protocol.chat import ChatRequest
from maskwright.serve.protocol.completions import CompletionRequest
from maskwright.serve.protocol.fields import read_body
from maskwright.serve.protocol.requests import read_request
from maskwright.serve.protocol.responses import ResponsesRequest
from maskwright.serve.protocol.tools import as_of_chat
from serve.requests_of_tests import SQL, SQL_OF_CHAT, WEATHER

MESSAGES = [{"role": "user", "content": "Hi"}]
FLAT = {"type": "function", **WEATHER["function"]}
OTHERS: list[dict[str, Any]] = [
    {"type": "web_search"},
    {"type": "web_search_2025_08_26", "filters": {"allowed_domains": ["example.com"]}},
    {"type": "web_search_preview", "search_context_size": "low"},
    {"type": "web_search_preview_2025_03_11"},
    {"type": "file_search", "vector_store_ids": ["vs_1"]},
    {"type": "code_interpreter", "container": {"type": "auto"}},
    {"type": "image_generation"},
    {"type": "computer_use_preview", "display_width": 1, "display_height": 1, "environment": "browser"},
    {"type": "computer"},
    {"type": "mcp", "server_label": "a", "server_url": "https://example.com"},
    {"type": "local_shell"},
    {"type": "shell"},
    {"type": "apply_patch"},
    {"type": "tool_search"},
    {"type": "namespace", "name": "crm", "tools": []},
]
BODIES: list[dict[str, Any]] = [{"messages": MESSAGES}, {"input": "Hi"}]
TYPES = sorted({tool["type"] for tool in OTHERS})


IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
AT_PARTS = "/messages/0/content"


def content(*parts: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": list(parts)}]}


def chat(**fields: Any) -> ChatRequest:
    return read_body(ChatRequest, {"messages": MESSAGES, **fields})


def refusal(model: Any = ChatRequest, **fields: Any) -> ApiError:
    base = {"messages": MESSAGES} if model is ChatRequest else {"prompt": "x"}
    with pytest.raises(ApiError) as caught:
        read_body(model, {**base, **fields})
    assert caught.value.status == 400
    return caught.value


def test_defaults_and_nulls() -> None:
    asked = chat(temperature=None, stop=None, tools=None, stream_options=None)
    assert (asked.temperature, asked.n, asked.stop, asked.stream) == (1.0, 1, [], False)


def test_values() -> None:
    asked = chat(
        stop="\n", temperature=0, seed=-3, logprobs=True, top_logprobs=20, stream_options={"include_usage": True}
    )
    assert (asked.stop, asked.temperature, asked.seed, asked.top_logprobs) == (["\n"], 0.0, -3, 20)
    assert asked.stream_options is not None
    assert asked.stream_options.include_usage


def test_content_in_parts() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    asked = read_body(ChatRequest, {"messages": [{"role": "user", "content": parts}]})
    assert asked.messages[0].content == "ab"


def test_a_conversation_with_calls() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    messages = [
        {"role": "assistant", "content": None, "refusal": None, "audio": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "2"},
    ]
    read = read_body(ChatRequest, {"messages": messages}).messages
    assert read[0].tool_calls is not None
    assert read[0].tool_calls[0].function.arguments == {"a": 1}
    assert read[1].tool_call_id == "c1"


@pytest.mark.parametrize("arguments", [{}, {"arguments": None}, {"arguments": ""}, {"arguments": " "}])
def test_calls_without_arguments(http: httpx.Client, arguments: dict[str, Any]) -> None:
    message = {"role": "assistant", "tool_calls": [{"function": {"name": "get_weather", **arguments}}]}
    item = {"type": "function_call", "call_id": "c", "name": "get_weather", **arguments}
    for path, body in (("/v1/chat/completions", {"messages": [message]}), ("/v1/responses", {"input": [item]})):
        assert http.post(path, json={**body, "tools": [WEATHER], "tool_choice": "required"}).status_code == 200


def test_fields_without_effect_are_ignored() -> None:
    chat(user="u", metadata={"a": "b"}, store=True, service_tier="auto", prompt_cache_key="x", verbosity="low")


@pytest.mark.parametrize("body", [{"messages": MESSAGES}, {"input": "Hi"}, {"prompt": "Hi"}])
def test_fields_that_are_off_are_ignored(body: dict[str, Any]) -> None:
    read_request({**body, "best_of": 1, "min_tokens": 0, "ignore_eos": False, "length_penalty": 1.0})
    if "prompt" not in body:
        read_request({**body, "background": False} if "input" in body else {**body, "echo": False})


@pytest.mark.parametrize(
    ("fields", "param", "part"),
    [
        ({"temperature": 101}, "/temperature", "temperature: must be <= 100"),
        ({"temperature": "hot"}, "/temperature", "expected a number, found a string"),
        ({"top_p": 0}, "/top_p", "must be > 0"),
        ({"n": 0}, "/n", "must be >= 1"),
        ({"n": True}, "/n", "expected an integer, found true"),
        ({"n": 1.5}, "/n", "expected an integer, found a number"),
        ({"max_tokens": 0}, "/max_tokens", "must be >= 1"),
        ({"top_logprobs": 21}, "/top_logprobs", "must be <= 20"),
        ({"stop": ["a"] * 17}, "/stop", "at most 16 items"),
        ({"stop": [1]}, "/stop", "expected a string or an array of strings, found an array with other items"),
        ({"stop": 3}, "/stop", "stop: expected a string or an array of strings, found a number"),
        ({"stop": {}}, "/stop", "stop: expected a string or an array of strings, found an object"),
        ({"min_tokens": 3}, "/min_tokens", "min_tokens is not supported. Hint: leave it out; a structure can"),
        ({"min_new_tokens": 3}, "/min_new_tokens", "min_new_tokens is not supported"),
        ({"min_completion_tokens": 3}, "/min_completion_tokens", "the fields are: "),
        ({"add_special_tokens": True}, "/add_special_tokens", "add_special_tokens is not supported"),
        ({"chat_template": "x"}, "/chat_template", "it is the model's own"),
        ({"top_a": 1}, "/top_a", "use top_p or min_p"),
        ({"reasoning_effort": "lots"}, "/reasoning_effort", "'none', 'minimal'"),
        ({"messages": []}, "/messages", "at least 1 item"),
        ({"messages": [{"role": "user"}]}, "/messages/0", "a message of role 'user' needs content"),
        ({"messages": [*MESSAGES, {"role": "tool", "content": None}]}, "/messages/1", "role 'tool' needs content"),
        ({"messages": [{"role": "assistant"}]}, "/messages/0", "needs content, or tool_calls"),
        ({"messages": "Hi"}, "/messages", "expected an array, found a string"),
        ({"messages": [{"role": "user", "content": 3}]}, "/messages/0/content", "found a number"),
        ({"messages": [{"role": "bot", "content": "x"}]}, "/messages/0/role", "'assistant' or 'tool', found 'bot'"),
        ({"messages": [{"role": 5, "content": "x"}]}, "/messages/0/role", "'assistant' or 'tool', found a number"),
        ({"messages": [{"content": "x"}]}, "/messages/0/role", "required"),
        (content({"type": "text", "text": "a"}, IMAGE), AT_PARTS + "/1", "text only, found a part of type 'image_url'"),
        (content({"type": "text"}), AT_PARTS + "/0/text", "the field is required"),
        (content({"text": "a"}), AT_PARTS + "/0", "this server reads text only, found a part without a type"),
        (content("a"), AT_PARTS + "/0", 'expected a part, {"type": "text", "text": …}, found a string'),
        (content({"type": "text", "text": 5}), AT_PARTS + "/0/text", "expected a string, found a number"),
        ({"stream_options": {"include_usage": "yes"}}, "/stream_options/include_usage", "true or false"),
        ({"stream_options": {"include_usag": True}}, "/stream_options/include_usag", "did you mean 'include_usage'?"),
        ({"stream_options": {"xyzzy": True}}, "/stream_options/xyzzy", "unknown field 'xyzzy'. Hint: the fields are: "),
        ({"ignore_eos": True}, "/ignore_eos", "leave it out"),
        ({"use_beam_search": True}, "/use_beam_search", "this server samples"),
        ({"extra_body": {"regex": "a"}}, "/extra_body", "move what is in it to the top of the request"),
        ({"thinking": {"type": "enabled"}}, "/thinking", "use reasoning_effort"),
        ({"best_of": True}, "/best_of", "use n"),
        ({"temprature": 0}, "/temprature", "did you mean 'temperature'?"),
        ({"response_formt": {}}, "/response_formt", "did you mean 'response_format'?"),
        ({"xyzzy": 1}, "/xyzzy", "the fields are: "),
        ({"a/b~c": 1}, "/a~1b~0c", "unknown field"),
        ({"guided_json": {}}, "/guided_json", 'structured_outputs: {"json": …}'),
        ({"guided_regex": "a"}, "/guided_regex", 'structured_outputs: {"regex": …}'),
        ({"guided_choice": ["a"]}, "/guided_choice", 'structured_outputs: {"choice": …}'),
        ({"guided_grammar": "a"}, "/guided_grammar", 'structured_outputs: {"grammar": …}'),
        ({"functions": []}, "/functions", "use tools"),
        ({"logit_bias": {"a": 1}}, "/logit_bias", "token ids to numbers, found an object with other names"),
        ({"logit_bias": [1]}, "/logit_bias", "token ids to numbers, found an array"),
        ({"modalities": ["audio"]}, "/modalities/0", "'text'"),
    ],
)
def test_refused_chats(fields: dict[str, Any], param: str, part: str) -> None:
    error = refusal(**fields)
    assert error.param == param
    assert part in error.message
    assert "a number with" not in error.message
    assert not re.search(r"\d\.0", error.message)


@pytest.mark.parametrize(
    ("fields", "param", "part"),
    [
        (
            {"top_logprobs": 2},
            "/top_logprobs",
            "top_logprobs is not supported here. Hint: leave it out, or use",
        ),
        ({"include": ["x", "message.output_text.logprobs"]}, "/include/1", "logprobs is not supported here. Hint: "),
        ({"logprobs": True}, "/logprobs", "logprobs is not supported. Hint: leave it out, or use /v1/chat/completions"),
        ({"min_tool_calls": 1}, "/min_tool_calls", "the fields are: "),
        ({"seed": 1}, "/seed", "seed is not supported. Hint: leave it out, or use /v1/chat/completions"),
        ({"reasoning_effort": "low"}, "/reasoning_effort", 'use reasoning: {"effort": …}'),
        ({"structured_outputs": {}}, "/structured_outputs", "use text.format"),
        ({"guided_json": {}}, "/guided_json", "use text.format"),
        ({"best_of": 2}, "/best_of", "leave it out, or use /v1/chat/completions"),
        ({"background": True}, "/background", "send the request and wait"),
        ({"reasoning": {"effrt": "low"}}, "/reasoning/effrt", "unknown field 'effrt'. Hint: did you mean 'effort'?"),
        ({"reasoning": {"effort": "lo"}}, "/reasoning/effort", "or 'max', found 'lo'"),
    ],
)
def test_refused_responses(fields: dict[str, Any], param: str, part: str) -> None:
    with pytest.raises(ApiError) as caught:
        read_request({"input": "Hi", **fields})
    assert (caught.value.status, caught.value.param) == (400, param)
    assert part in caught.value.message


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses", "/tokenize"])
@pytest.mark.parametrize("name", ["chat_template", "messages", "self", "tools", "tokenize"])
def test_variables_of_the_template_are_no_other_arguments(http: httpx.Client, path: str, name: str) -> None:
    body = BODIES[1] if path == "/v1/responses" else BODIES[0]
    error = http.post(path, json={**body, "chat_template_kwargs": {"x": 1, name: "{{ 1 }}"}}).json()["error"]
    assert error["param"] == f"/chat_template_kwargs/{name}"
    assert f"{name} cannot be set here" in error["message"]


CALL = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "c", "output": "5"}


@pytest.mark.parametrize(
    ("item", "place", "part"),
    [
        ("a", "", "expected an item, an object, found a string"),
        ({"type": "web_search_call"}, "/type", "or 'reasoning', found 'web_search_call'"),
        ({"type": "message", "role": "user"}, "", "a message of role 'user' needs content"),
    ],
)
def test_items_are_wrong_where_they_stand(item: Any, place: str, part: str) -> None:
    check_items([item], "/input/0" + place, part)
    reasoning = {"type": "reasoning", "summary": []}  # is left out of the messages
    check_items([{"role": "user", "content": "Hi"}, reasoning, item], "/input/2" + place, part)


@pytest.mark.parametrize(
    ("item", "place", "part"),
    [
        ({"type": "item_reference", "id": "x"}, "/type", "this server keeps no responses"),
        ({"type": ["message"]}, "/type", "found an array"),
        ({"type": "message", "role": "bot", "content": "x"}, "/role", "found 'bot'"),
        ({"role": "user", "content": [{"type": "input_image"}]}, "/content/0", "found a part of type 'input_image'"),
        ({**CALL, "name": None}, "/name", "expected a string, found null"),
        ({"type": "function_call", "call_id": "c", "arguments": "{}"}, "/name", "the field is required"),
        ({"content": "x"}, "/role", "the field is required"),
        ({**CALL, "call_id": 5}, "/call_id", "expected a string, found a number"),
        ({**CALL, "call_id": None}, "/call_id", "the field is required"),
        ({"type": "function_call_output", "output": "5"}, "/call_id", "the field is required"),
        ({"type": "custom_tool_call", "name": "f", "input": ""}, "/call_id", "the field is required"),
        ({"type": "custom_tool_call_output", "output": "5"}, "/call_id", "the field is required"),
        ({**RESULT, "call_id": 5}, "/call_id", "expected a string, found a number"),
        ({**RESULT, "output": [{"type": "input_file"}]}, "/output/0", "found a part of type 'input_file'"),
        ({**RESULT, "output": 5}, "/output", "expected a string or an array of parts, found a number"),
    ],
)
def test_mistakes_in_items_have_the_names_of_items(item: Any, place: str, part: str) -> None:
    check_items([item], "/input/0" + place, part)


def check_items(items: list[Any], param: str, part: str) -> None:
    with pytest.raises(ApiError) as caught:
        read_request({"input": items})
    assert (caught.value.status, caught.value.param) == (400, param)
    assert part in caught.value.message


def test_items_become_messages() -> None:
    asked = read_request({"input": [{"role": "user", "content": "Hi"}, CALL, RESULT]})
    assert isinstance(asked, ResponsesRequest)
    assert [message.role for message in asked.input] == ["user", "assistant", "tool"]
    assert asked.input[1].tool_calls is not None
    assert asked.input[1].tool_calls[0].function.arguments == {}
    assert (asked.input[2].tool_call_id, asked.input[2].content) == ("c", "5")


@pytest.mark.parametrize("reasoning", [{"effort": "low", "summary": "auto"}, {"effort": None}])
def test_reasoning_of_responses(reasoning: dict[str, Any]) -> None:
    read_request({"input": "Hi", "reasoning": reasoning})


def test_responses_without_logprobs() -> None:
    asked = read_request({"input": "Hi", "top_logprobs": 0, "include": ["reasoning.encrypted_content"]})
    assert isinstance(asked, ResponsesRequest)


@pytest.mark.parametrize("body", [[], "x", 3, None, True])
def test_bodies_that_are_not_objects(body: Any) -> None:
    with pytest.raises(ApiError, match="expected an object"):
        read_body(ChatRequest, body)


@pytest.mark.parametrize(
    ("prompt", "prompts"),
    [("a", ["a"]), (["a", "b"], ["a", "b"]), ([1, 2], [[1, 2]]), ([[1], [2, 3]], [[1], [2, 3]])],
)
def test_prompts(prompt: Any, prompts: Any) -> None:
    assert read_body(CompletionRequest, {"prompt": prompt}).prompt == prompts


@pytest.mark.parametrize(
    ("prompt", "found"),
    [
        ([], "an empty array"),
        ([[]], "an array with other items"),
        ([1, "a"], "an array with other items"),
        ({"a": 1}, "an object"),
        (3, "a number"),
        ([True], "an array with other items"),
    ],
)
def test_prompts_that_are_none(prompt: Any, found: str) -> None:
    error = refusal(CompletionRequest, prompt=prompt)
    assert error.param == "/prompt"
    assert error.message.endswith(f"or an array of these, found {found}")


def test_completions_point_to_chats() -> None:
    assert "/v1/chat/completions" in refusal(CompletionRequest, tools=[]).message
    assert refusal(CompletionRequest, suffix="x").param == "/suffix"


def unsupported(body: dict[str, Any]) -> ApiError:
    with pytest.raises(ApiError) as caught:
        read_request(body)
    assert (caught.value.status, caught.value.code) == (400, "unsupported_tool")
    return caught.value


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("tool", OTHERS)
def test_only_functions_are_tools(body: dict[str, Any], tool: dict[str, Any]) -> None:
    error = unsupported({**body, "tools": [FLAT, tool]})
    assert error.param == "/tools/1/type"
    assert f"tools of type {tool['type']!r} are not supported. Hint: " in error.message
    assert "function" in error.message.partition("Hint: ")[2]


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("kind", TYPES)
def test_nothing_else_can_be_chosen(body: dict[str, Any], kind: str) -> None:
    choice = {"type": kind}
    assert unsupported({**body, "tools": [FLAT], "tool_choice": choice}).param == "/tool_choice/type"
    flat = {"type": "allowed_tools", "mode": "auto", "tools": [choice]}
    assert unsupported({**body, "tools": [FLAT], "tool_choice": flat}).param == "/tool_choice/tools/0/type"
    nested = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [choice]}}
    found = unsupported({**body, "tools": [FLAT], "tool_choice": nested})
    assert found.param == "/tool_choice/allowed_tools/tools/0/type"


@pytest.mark.parametrize("body", BODIES)
def test_a_misspelled_type(body: dict[str, Any]) -> None:
    assert "did you mean 'function'?" in unsupported({**body, "tools": [{**FLAT, "type": "functions"}]}).message


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize(
    "tool", [FLAT, WEATHER, SQL, SQL_OF_CHAT, {"function": WEATHER["function"]}, {"type": 3}, "text"]
)
def test_the_rest_is_for_others_to_check(body: dict[str, Any], tool: Any) -> None:
    read_request({**body, "tools": [tool], "tool_choice": "auto"})
    read_request({**body, "tools": {"type": "web_search"}, "tool_choice": "web_search"})


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses", "/tokenize"])
def test_over_http(http: httpx.Client, path: str) -> None:
    body = BODIES[1] if path == "/v1/responses" else BODIES[0]
    response = http.post(path, json={**body, "tools": [FLAT, {"type": "web_search"}]})
    error = response.json()["error"]
    assert (response.status_code, error["param"]) == (400, "/tools/1/type")
    assert error["message"].startswith(
        "at /tools/1/type: tools of type 'web_search' are not supported. Hint: leave it out"
    )


def test_functions_in_either_shape_are_the_same_to_templates() -> None:
    assert as_of_chat(FLAT) == as_of_chat(WEATHER) == WEATHER
