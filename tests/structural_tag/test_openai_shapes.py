"""Requests in the shapes of OpenAI, vLLM and SGLang."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import maskwright as mw
from maskwright.errors import RequestError, SchemaError, StructuralTagError, UnsupportedSchemaError
from maskwright.openai_shapes import chat_completion, responses, sglang, vllm
from structural_tag.families.transcripts import FAMILIES, TOOLS
from structural_tag.spelling import accepts, vocabulary

COMPILER = mw.GrammarCompiler(vocabulary())
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
CALL = FAMILIES["hermes"].calls()


def check(grammar: mw.Grammar | None, accepted: list[str], rejected: list[str]) -> None:
    assert grammar is not None
    compiled = COMPILER.compile_grammar(grammar)
    assert [t for t in accepted if not accepts(compiled, t)] == []
    assert [t for t in rejected if accepts(compiled, t)] == []


def test_free_text_is_no_grammar() -> None:
    assert chat_completion({"messages": []}) is None
    assert chat_completion({"response_format": {"type": "text"}, "tools": [], "tool_choice": "none"}) is None
    assert responses({"text": {"format": {"type": "text"}}}) is None
    assert vllm({}) is None
    assert sglang({"temperature": 1}) is None


def test_json_object() -> None:
    check(chat_completion({"response_format": {"type": "json_object"}}), ["{}", '{"a": [1]}'], ["[]", ""])


def test_json_schema() -> None:
    inner = {"name": "x", "schema": SCHEMA}
    check(
        chat_completion({"response_format": {"type": "json_schema", "json_schema": inner}}),
        ['{"a": 1}', '{"a": 1, "b": 2}'],
        ['{"a": "1"}', "{}"],
    )
    check(responses({"text": {"format": {"type": "json_schema", **inner}}}), ['{"a": 1}'], ["{}"])


def test_strict_closes_objects() -> None:
    inner = {"name": "x", "schema": SCHEMA, "strict": True}
    grammar = chat_completion({"response_format": {"type": "json_schema", "json_schema": inner}})
    check(grammar, ['{"a": 1}'], ['{"a": 1, "b": 2}'])


def test_tools() -> None:
    request = {"tools": TOOLS, "tool_choice": "required"}
    check(chat_completion(request, model="hermes"), [CALL], ["Sunny."])
    flat = {"tools": [{"type": "function", **tool["function"]} for tool in TOOLS], "tool_choice": "auto"}
    check(responses(flat, model="hermes"), [CALL, "Sunny.", CALL * 2], [])
    check(responses(flat | {"parallel_tool_calls": False}, model="hermes"), [CALL], [CALL * 2])


@pytest.mark.parametrize("read", [chat_completion, responses])
def test_no_call_can_begin_where_none_is_chosen(read: Callable[..., Any]) -> None:
    allowed = {"type": "allowed_tools", "mode": "auto", "tools": []}
    for choice in ("none", allowed):
        request = {"tools": TOOLS, "tool_choice": choice}
        check(read(request, model="hermes", reasoning="disabled"), ["Sunny."], [CALL, "Let me see. <tool_call>"])
        with pytest.raises(RequestError, match="each model family writes tool calls"):
            read(request)
    assert read({"tool_choice": "none"}, model="hermes") is None


def test_bodies_of_the_references_are_read() -> None:
    """With all that OpenAI's reference, and servers, have beside what is read."""
    chat = dict.fromkeys(("n", "top_p", "seed", "stop", "store", "user", "stream", "metadata", "logprobs"), 1)
    chat |= {"messages": [], "model": "m", "top_k": 1, "min_p": 0, "chat_template_kwargs": {}, "functions": None}
    chat |= {"reasoning_effort": "low", "max_completion_tokens": 1, "repetition_penalty": 1, "stream_options": {}}
    assert chat_completion(chat) is None
    check(chat_completion({**chat, "response_format": {"type": "json_object"}}), ["{}"], ["1"])
    response = {"input": "x", "reasoning": {"effort": "low"}, "text": {"verbosity": "low"}, "truncation": "auto"}
    assert responses({**response, "max_tool_calls": 2, "max_output_tokens": 1, "include": []}) is None
    assert vllm({"_backend": "auto", "disable_fallback": False, "json": None}) is None
    assert vllm({"json_object": False, "disable_any_whitespace": False}) is None
    assert sglang({"max_new_tokens": 1, "top_p": 1, "stop": []}) is None


WHOLE = '{"type": "json_schema", "json_schema": {"name": …, "schema": …}}'


@pytest.mark.parametrize(
    ("read", "request_", "pointer", "hint"),
    [
        (chat_completion, {"response_formt": {}}, "/response_formt", "'response_format'"),
        (chat_completion, {"responseFormat": {}}, "/responseFormat", "'response_format'"),
        (chat_completion, {"tool": []}, "/tool", "'tools'"),
        (chat_completion, {"toolchoice": "none"}, "/toolchoice", "'tool_choice'"),
        (chat_completion, {"parallel_tool_call": False}, "/parallel_tool_call", "'parallel_tool_calls'"),
        (chat_completion, {"guided_json": {}}, "/guided_json", "structured_outputs"),
        (chat_completion, {"structured_outputs": {}}, "/structured_outputs", "vllm"),
        (chat_completion, {"regex": "a"}, "/regex", "sglang"),
        (chat_completion, {"functions": []}, "/functions", "use tools"),
        (chat_completion, {"response_format": {}}, "/response_format", "add 'type'"),
        (chat_completion, {"type": "json_object"}, "/type", "wrap it"),
        (chat_completion, {"response_format": {"type": "object"}}, "/response_format/type", '"json_schema": {"name"'),
        (responses, {"text": {"format": {"type": "object"}}}, "/text/format/type", '"name": …, "schema": …'),
        (vllm, {"structured_outputs": {"regex": "a"}}, "/structured_outputs/structured_outputs", "its value"),
        (
            chat_completion,
            {"response_format": {"type": "json_object", "schema": {}}},
            "/response_format/type",
            WHOLE,
        ),
        (
            chat_completion,
            {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "shema": {}}}},
            "/response_format/json_schema/shema",
            "'schema'",
        ),
        (
            chat_completion,
            {"response_format": {"type": "json_schema", "schema": {}}},
            "/response_format/schema",
            WHOLE,
        ),
        (
            chat_completion,
            {"response_format": {"type": "json_schema", "json_schema": {"type": "object"}}},
            "/response_format/json_schema",
            WHOLE,
        ),
        (chat_completion, {"response_format": {"type": "json_schema"}}, "/response_format/json_schema", WHOLE),
        (chat_completion, {"response_format": {"type": "json"}}, "/response_format/type", "'json_object'"),
        (chat_completion, {"response_format": {"type": "json_shema"}}, "/response_format/type", "'json_schema'"),
        (chat_completion, {"response_format": "json"}, "/response_format", '{"type": …}'),
        (
            responses,
            {"text": {"format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}}}},
            "/text/format/json_schema",
            '{"type": "json_schema", "name": …, "schema": …}',
        ),
        (responses, {"text": {"formt": {}}}, "/text/formt", "'format'"),
        (responses, {"text": {"format": {"type": "json_schema", "scheme": {}}}}, "/text/format/scheme", "'schema'"),
        (responses, {"response_format": {}}, "/response_format", "use text.format"),
        (chat_completion, {"text": {}}, "/text", "use response_format"),
        (vllm, {"jsn": {}}, "/structured_outputs/jsn", "'json'"),
        (vllm, {"temperature": 1}, "/structured_outputs/temperature", "the fields are: json, "),
        (vllm, {"guided_regex": "a"}, "/structured_outputs/guided_regex", "use 'regex'"),
        (vllm, {"guided_foo": "a"}, "/structured_outputs/guided_foo", "the fields are"),
        (sglang, {"json": {}}, "/sampling_params/json", "'json_schema'"),
        (sglang, {"regexp": "a"}, "/sampling_params/regexp", "'regex'"),
        (sglang, {"top_kk": 1}, "/sampling_params/top_kk", "the fields are"),
    ],
)
def test_unknown_fields(read: Callable[..., Any], request_: dict[str, Any], pointer: str, hint: str) -> None:
    with pytest.raises(RequestError) as caught:
        read(request_, model="hermes") if read in (chat_completion, responses) else read(request_)
    assert caught.value.pointer == pointer
    assert hint in str(caught.value.hint)


def test_tools_and_response_format() -> None:
    request = {"tools": TOOLS, "response_format": {"type": "json_object"}}
    check(chat_completion(request, model="hermes"), [CALL, "{}"], ["Sunny."])
    check(chat_completion(request, model="hermes", reasoning="enabled"), ["Hm.</think>{}"], ["{}"])


TAGGED = {"type": "structural_tag", "format": {"type": "tag", "begin": "<a>", "content": {"type": "json_schema",
          "json_schema": SCHEMA}, "end": "</a>"}}  # fmt: skip


def test_tools_and_a_structural_tag() -> None:
    """The tag is the format of the answer, as a schema would be."""
    request = {"tools": TOOLS, "response_format": TAGGED}
    answer = '<a>{"a": 1}</a>'
    check(chat_completion(request, model="hermes"), [CALL, answer], ["Sunny.", "<a>{}</a>", answer + CALL])
    forced = {**request, "tool_choice": "required"}
    check(chat_completion(forced, model="hermes"), [CALL], [answer])
    none = {**request, "tool_choice": "none"}
    check(chat_completion(none, model="hermes"), [answer], [CALL, "Sunny."])
    thinks = {"response_format": TAGGED, "thinking_token_budget": 1}
    check(chat_completion(thinks, model="hermes", reasoning="enabled"), ["H</think>" + answer], ["Hm</think>" + answer])
    check(chat_completion({"response_format": TAGGED}), [answer], [CALL, "Sunny."])
    legacy = {"type": "structural_tag", "structures": [{"begin": "<a>", "schema": SCHEMA, "end": "</a>"}]}
    both = {"tools": TOOLS, "response_format": {**legacy, "triggers": ["<a>"]}}
    check(chat_completion(both, model="hermes", reasoning="disabled"), [CALL, f"x{answer}y"], ["<a>{}</a>"])


@pytest.mark.parametrize("tools", [None, TOOLS])
@pytest.mark.parametrize(
    ("format_", "pointer"),
    [
        ({"type": "json_schema", "json_schema": {"properties": {"a": {"type": 1}}}}, "/json_schema/properties/a/type"),
        ({"type": "sequence", "elements": [{"type": "regex", "pattern": "("}]}, "/elements/0/pattern"),
        ({"type": "dispatch", "rules": [["<a>", {"type": "json_schema", "json_schema": {"type": "x"}}]]}, "/rules/0/1"),
        ({"type": "const_string"}, ""),
    ],
)
def test_errors_in_a_structural_tag_lead_into_the_request(tools: Any, format_: dict[str, Any], pointer: str) -> None:
    request = {"tools": tools, "response_format": {"type": "structural_tag", "format": format_}}
    with pytest.raises((SchemaError, StructuralTagError, RequestError)) as caught:
        chat_completion(request, model="hermes" if tools else None)
    assert str(caught.value.pointer).startswith(f"/response_format/format{pointer}")


def test_what_a_structural_tag_relaxes_is_reported_by_its_place() -> None:
    relaxed = {"type": "array", "items": {"maxItems": 2}, "uniqueItems": True}
    format_ = {"type": "json_schema", "json_schema": relaxed}
    for extra, model in (({}, None), ({"tools": TOOLS}, "hermes")):
        request = {**extra, "response_format": {"type": "structural_tag", "format": format_}}
        grammar = chat_completion(request, model=model, on_unsupported="relax")
        assert grammar is not None
        assert [found.pointer for found in grammar.report] == ["/response_format/format/json_schema/uniqueItems"]


@pytest.mark.parametrize(
    ("read", "request_", "pointer", "message"),
    [
        (chat_completion, {"thinking_token_budget": 5}, "/thinking_token_budget", "requires the argument model"),
        (
            chat_completion,
            {"thinking_token_budget": 5, "response_format": {"type": "json_object"}},
            "/thinking_token_budget",
            "requires the argument model",
        ),
        (vllm, {"regex": "a", "whitespace_pattern": " "}, "/structured_outputs/whitespace_pattern", "json_object"),
        (
            vllm,
            {"choice": ["a"], "disable_any_whitespace": True},
            "/structured_outputs/disable_any_whitespace",
            "has no effect without json",
        ),
        (
            vllm,
            {"json_object": True, "disable_additional_properties": True},
            "/structured_outputs/disable_additional_properties",
            "has no effect without json",
        ),
    ],
)
def test_a_field_without_effect_is_an_error(
    read: Callable[..., Any], request_: dict[str, Any], pointer: str, message: str
) -> None:
    with pytest.raises(RequestError, match=message) as caught:
        read(request_)
    assert caught.value.pointer == pointer


def test_an_unknown_field_beside_the_format_of_a_tag() -> None:
    with pytest.raises(StructuralTagError, match="unknown field 'formats'") as caught:
        chat_completion({"response_format": {**TAGGED, "formats": []}})
    assert caught.value.pointer == "/response_format/formats"
    assert "did you mean 'format'" in str(caught.value.hint)


@pytest.mark.parametrize(("kind", "said"), [("regex", "x"), ("grammar", 'root ::= "x"'), ("choice", "x")])
def test_types_of_other_servers_have_a_way_out(kind: str, said: str) -> None:
    with pytest.raises(RequestError) as caught:
        chat_completion({"response_format": {"type": kind, "value": said}})
    hint = (caught.value.hint or "").removeprefix("write ").replace(", …", "")
    check(chat_completion({"response_format": json.loads(hint.replace("…", json.dumps(said)))}), ["x"], ["y"])


def test_strictness_of_tools() -> None:
    def tool(strict: bool | None) -> dict[str, Any]:
        return {"type": "function", "function": {"name": "f", "parameters": SCHEMA, "strict": strict}}

    def call(arguments: str) -> str:
        return f'<tool_call>\n{{"name": "f", "arguments": {arguments}}}\n</tool_call>'

    for strict, accepted, rejected in (
        (True, ['{"a": 1}'], ['{"a": 1, "b": 2}', "{}"]),
        (None, ['{"a": 1}', '{"a": 1, "b": 2}'], ["{}"]),
        (False, ['{"a": 1}', '{"a": 1, "b": 2}'], ["{}"]),  # what some clients send with every tool
    ):
        for read, given in (
            (chat_completion, tool(strict)),
            (responses, {"type": "function", **tool(strict)["function"]}),
        ):
            grammar = read({"tools": [given]}, model="hermes")
            check(grammar, list(map(call, accepted)), list(map(call, rejected)))


def test_vllm() -> None:
    check(vllm({"json": SCHEMA}), ['{"a": 1}'], ["{}"])
    check(vllm({"json": '{"type": "null"}'}), ["null"], ["{}"])
    check(vllm({"regex": "[0-9]+"}), ["12"], ["a"])
    check(vllm({"choice": ["yes", "no"]}), ["yes", "no"], ["y"])
    check(vllm({"grammar": 'root ::= "x"'}), ["x"], ["y"])
    check(vllm({"grammar": 'start: "x"'}), ["x"], ["y"])
    check(vllm({"json_object": True, "regex": None}), ["{}"], ["1"])
    spaced = ['{ "a" : 1 }'], ['{"a": 1}', '{"a":1}']
    check(vllm({"json": SCHEMA, "whitespace_pattern": " ", "disable_any_whitespace": None}), *spaced)
    check(vllm({"json": SCHEMA, "disable_any_whitespace": True}), ['{"a":1}'], ['{"a": 1}'])
    check(vllm({"json_object": True, "whitespace_pattern": ""}), ['{"a":[1,2]}'], ['{"a":[1, 2]}', "{ }"])
    open_object = {"properties": {"a": True}}
    check(vllm({"json": open_object, "disable_additional_properties": False}), ['{"b":1}'], ["{"])
    check(vllm({"json": open_object, "disable_additional_properties": True}), ['{"a":1}'], ['{"b":1}'])
    check(vllm({"structural_tag": '{"format": {"type": "const_string", "value": "q"}}'}), ["q"], ["p"])


def test_sglang() -> None:
    check(sglang({"json_schema": '{"type": "null"}', "temperature": 0}), ["null"], ["{}"])
    check(sglang({"ebnf": 'root ::= "x"'}), ["x"], ["y"])
    check(sglang({"regex": "a|b"}), ["a"], ["c"])
    check(sglang({"structural_tag": {"format": {"type": "const_string", "value": "q"}}}), ["q"], ["p"])


Read = Callable[..., Any]


@pytest.mark.parametrize(
    ("read", "request_", "error", "pointer"),
    [
        (chat_completion, {"response_format": "json"}, RequestError, "/response_format"),
        (chat_completion, {"response_format": {"type": "yaml"}}, RequestError, "/response_format/type"),
        (chat_completion, {"response_format": {"type": "json_schema"}}, RequestError, "/response_format/json_schema"),
        (
            chat_completion,
            {"response_format": {"type": "json_schema", "json_schema": {"schema": 1}}},
            RequestError,
            "/response_format/json_schema/schema",
        ),
        (
            chat_completion,
            {"response_format": {"type": "json_schema", "json_schema": {"schema": {"type": "objekt"}}}},
            SchemaError,
            "/response_format/json_schema/schema",
        ),
        (
            chat_completion,
            {"response_format": {"type": "structural_tag", "format": {"type": "tga"}}},
            StructuralTagError,
            "/response_format/format/type",
        ),
        (chat_completion, {"tools": TOOLS}, RequestError, "/tools"),
        (chat_completion, {"tools": TOOLS, "parallel_tool_calls": 1.5}, RequestError, "/parallel_tool_calls"),
        (responses, {"text": []}, RequestError, "/text"),
        (responses, {"text": {"format": {"type": "structural_tag"}}}, RequestError, "/text/format/type"),
        (vllm, {"regex": "a", "json": {}}, RequestError, "/structured_outputs"),
        (vllm, {"guided_json": {}}, RequestError, "/structured_outputs/guided_json"),
        (vllm, {"guided_whitespace_pattern": " "}, RequestError, "/structured_outputs/guided_whitespace_pattern"),
        (vllm, {"json": {}, "whitespace_pattern": "x"}, RequestError, "/structured_outputs/whitespace_pattern"),
        (vllm, {"json": {}, "whitespace_pattern": 1}, RequestError, "/structured_outputs/whitespace_pattern"),
        (
            vllm,
            {"json": {}, "whitespace_pattern": " ", "disable_any_whitespace": True},
            RequestError,
            "/structured_outputs/whitespace_pattern",
        ),
        (vllm, {"json": {}, "disable_any_whitespace": "x"}, RequestError, "/structured_outputs/disable_any_whitespace"),
        (vllm, {"regex": "("}, RequestError, "/structured_outputs/regex"),
        (vllm, {"regex": 1}, RequestError, "/structured_outputs/regex"),
        (vllm, {"choice": "yes"}, RequestError, "/structured_outputs/choice"),
        (vllm, {"choice": []}, RequestError, "/structured_outputs/choice"),
        (vllm, {"json": {"pattern": "(?:(?=.*b)a)*"}}, UnsupportedSchemaError, "/structured_outputs/json"),
        (sglang, {"ebnf": "root ::="[:6]}, RequestError, "/sampling_params/ebnf"),
        (sglang, {"structural_tag": "{"}, StructuralTagError, "/sampling_params/structural_tag"),
    ],
)
def test_errors(read: Read, request_: dict[str, Any], error: type[Exception], pointer: str) -> None:
    with pytest.raises(error) as caught:
        read(request_)
    assert caught.value.pointer.startswith(pointer)
    assert type(caught.value) is error or error is SchemaError


def test_an_argument_schema_is_pointed_at() -> None:
    tools = [
        TOOLS[0],
        {"type": "function", "function": {"name": "g", "parameters": {"properties": {"x": {"type": 1}}}}},
    ]
    with pytest.raises(SchemaError) as caught:
        chat_completion({"tools": tools}, model="llama")
    assert caught.value.pointer == "/tools/1/function/parameters/properties/x/type"


def test_a_tool_that_no_arguments_can_call_is_pointed_at() -> None:
    endless = {"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}
    tools = [TOOLS[0], {"type": "function", "function": {"name": "g", "parameters": endless}}]
    with pytest.raises(StructuralTagError, match="contradict each other") as caught:
        chat_completion({"tools": tools}, model="llama")
    assert caught.value.pointer == "/tools/1/function/parameters"


def test_a_budget_for_reasoning() -> None:
    request = {"thinking_token_budget": 3}
    grammar = chat_completion(request, model="hermes", reasoning="enabled")
    check(grammar, ["abc</think>Sunny.", "</think>"], ["abcd</think>Sunny.", "Sunny."])
    with_tools = {**request, "tools": TOOLS, "tool_choice": "required"}
    check(responses(with_tools, model="hermes", reasoning="auto"), [CALL, f"<think>abc</think>{CALL}"], [])
    assert chat_completion(request, reasoning="disabled") is None
    assert chat_completion({}, model="hermes", reasoning="enabled") is None


@pytest.mark.parametrize("read", [chat_completion, responses])
def test_reasoning_is_checked(read: Callable[..., mw.Grammar | None]) -> None:
    for request, options, pointer in (
        ({"thinking_token_budget": -1}, {}, "/thinking_token_budget"),
        ({"thinking_token_budget": 1}, {"reasoning": "enabled"}, "/reasoning"),
        ({"tools": TOOLS}, {"model": "hermes", "reasoning": "high"}, "/reasoning"),
    ):
        with pytest.raises(RequestError) as caught:
            read(request, **options)
        assert caught.value.pointer == pointer


@pytest.mark.parametrize("read", [chat_completion, responses])
def test_bodies_are_checked(read: Callable[..., mw.Grammar | None]) -> None:
    for request, pointer in (("x", ""), ({"functions": []}, "/functions"), ({"function_call": "f"}, "/function_call")):
        with pytest.raises(RequestError) as caught:
            read(request, model="hermes")
        assert caught.value.pointer == pointer


def test_kimi_k3_calls_instead_of_answering_in_a_format() -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
    request = {"tools": [tool], "response_format": {"type": "json_object"}}
    end = "<|close|>message<|sep|>"
    answer = f"<|open|>response<|sep|>{{}}<|close|>response<|sep|>{end}"
    text = "<|open|>response<|sep|>Let me see.<|close|>response<|sep|>"
    call = '<|open|>call tool="f" index="0"<|sep|><|close|>call<|sep|>'
    calls = f"{text}<|open|>tools<|sep|>{call}<|close|>tools<|sep|>{end}"
    check(chat_completion(request, model="kimi_k3"), [answer, calls], [text + end])
    check(chat_completion({**request, "tool_choice": "required"}, model="kimi_k3"), [calls], [answer, text + end])


def test_half_of_a_surrogate_pair_is_an_error() -> None:
    with pytest.raises(RequestError, match="surrogate") as caught:
        vllm({"choice": ["\ud800"]})
    assert caught.value.pointer == "/structured_outputs/choice"
    schema = {"type": "object", "properties": {"a": {"const": "\ud800"}}, "required": ["a"]}
    with pytest.raises(StructuralTagError, match="surrogate") as wrong:
        chat_completion({"tools": [{"type": "function", "function": {"name": "f", "parameters": schema}}]}, model="glm")
    assert wrong.value.pointer == "/tools/0/function/parameters"


def test_a_style_of_declared_members_holds_free_arguments_to_their_schema() -> None:
    tool = {**TOOLS[0]["function"], "strict": False}
    request = {"tools": [{"type": "function", "function": tool}], "tool_choice": "required"}
    it = FAMILIES["minimax_m3"]
    check(chat_completion(request, model="minimax_m3"), [it.calls()], ["Sunny."])
    free = chat_completion({"tools": [{"type": "function", "function": {"name": "f"}}]}, model="minimax_m3")
    check(free, ["Sunny."], [it.calls()])
