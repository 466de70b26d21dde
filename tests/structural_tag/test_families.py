"""Model families: transcripts in their published formats, accepted and rejected."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import maskwright as mw
from maskwright.errors import RequestError
from maskwright.structural_tag import (
    AnyTextFormat,
    ConstStringFormat,
    Format,
    JSONSchemaFormat,
    SequenceFormat,
    ToolRequest,
    get_model_structural_tag,
    model_families,
    register_model_structural_tag,
)
from structural_tag.families.transcripts import CALLS_LAST, FAMILIES, JSON, OTHERS, TOOLS, UNMARKED
from structural_tag.spelling import accepts, vocabulary

INFO = vocabulary(pieces=["<", "Paris", '"}', "</", "tool_call>", "<tool", '": "', "get_", "\n\n"])
COMPILER = mw.GrammarCompiler(INFO)


def compiled(family: str, **request: Any) -> mw.CompiledGrammar:
    request = {"tools": TOOLS, **request}
    return COMPILER.compile_structural_tag(get_model_structural_tag(family, **request))


def check(family: str, accepted: list[str], rejected: list[str], **request: Any) -> None:
    grammar = compiled(family, **request)
    wrong = [("rejected", text) for text in accepted if not accepts(grammar, text)]
    wrong += [("accepted", text) for text in rejected if accepts(grammar, text)]
    assert not wrong, (family, request, wrong)


@pytest.mark.parametrize("family", FAMILIES)
def test_auto(family: str) -> None:
    it = FAMILIES[family]
    text = "It is < 5 degrees. Done."
    one = it.calls()
    accepted = ["", text, one, f"{text}\n{one}", it.calls(2)]
    rejected = [
        one.replace("get_weather", "get_wether"),
        one.replace("Paris", "Paris\x00") if JSON in one else one[:-1],
    ]
    rejected += [one[:-1] if it.section != "{calls}" or it.call[-1] in ">}" else one[: one.index("ARGS")]]
    check(family, accepted, rejected, reasoning="disabled")


@pytest.mark.parametrize("family", FAMILIES)
def test_required(family: str) -> None:
    it = FAMILIES[family]
    accepted, rejected = [it.calls(), it.calls(2)], ["", "No.", "No. " + it.calls()]
    (rejected if family in UNMARKED else accepted).append("\n" + it.calls(2))
    check(family, accepted, rejected, reasoning="disabled", tool_choice="required")


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("parallel", [True, False])
def test_what_may_follow_a_call(family: str, parallel: bool) -> None:
    """White space everywhere, and text where calls stand in text and more of them may come."""
    it = FAMILIES[family]
    call = it.calls()
    for choice in ("auto", "required"):
        request = {"reasoning": "disabled", "tool_choice": choice, "parallel_tool_calls": parallel}
        check(family, [call, f"{call}\n", f"{call}\n\n", f"{call} "], [], **request)
        if family not in UNMARKED:
            check(family, [f"\n{call} "], [], **request)
        if it.section == "{calls}" and parallel:
            followed = [f"{call}\nDone.", f"{call}\nAnd:\n{call}\n"]
            check(family, *(([], followed) if family in CALLS_LAST else (followed, [])), **request)
    named = {"type": "function", "function": {"name": "get_weather"}}
    check(family, [f"{call}\n"], [f"{call}\nDone."], reasoning="disabled", tool_choice=named)


@pytest.mark.parametrize("family", ["deepseek_r1", "deepseek_v3", "deepseek_v3_1"])
def test_json_in_a_line(family: str) -> None:
    """What vLLM's parsers of these formats read of a call ends with the line."""
    call = FAMILIES[family.replace("v3", "r1") if family == "deepseek_v3" else family].calls()
    in_lines = call.replace('{"city"', '{\n"city"')
    check(family, [call, call.replace('{"', '{ \t"')], [in_lines], reasoning="disabled")
    for layout in ({"any_whitespace": True}, {"max_whitespace_cnt": 2}, {"whitespace_pattern": "[ \n]*"}):
        check(family, [call, in_lines], [], reasoning="disabled", **layout)


@pytest.mark.parametrize("family", ["qwen_3_coder", "qwen_3_5", "mimo", "seed_oss"])
def test_no_string_holds_what_parsers_cut_by(family: str) -> None:
    """They read two parameters, or half of the string."""
    call = FAMILIES[family].calls()
    rejected = [call.replace("Paris", f"Paris {mark}x") for mark in ("<parameter=", "</function>", "</parameter>")]
    check(family, [call, call.replace("Paris", "<parameter> = <x>")], rejected, reasoning="disabled")


_FUNCTION = "<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>"
_SPACED = [
    '{"name":"get_weather", "parameters": {"city": 1}}',
    '{"name" : "get_weather", "parameters": {"city": 1}}',
    '{"type":"function", "name": "get_weather", "parameters": {"city": 1}}',
]


@pytest.mark.parametrize(
    ("family", "text", "taken"),
    [
        *[(family, "a <function>", [_FUNCTION]) for family in ("qwen_3_coder", "qwen_3_5", "mimo", "seed_oss")],
        ("llama", '{"named": 1} {"kind": "function"}', _SPACED),
        ("granite", "a tool_call [", ['<|tool_call|> [{"name": "get_weather", "arguments": {}}]']),
        ("minimax", "an <invoke> of", ['<invoke name="get_weather"></invoke>']),
    ],
)
def test_no_text_holds_what_parsers_take_for_a_call(family: str, text: str, taken: list[str]) -> None:
    check(family, [text], [*taken, *[f"Let me see. {each}" for each in taken]], reasoning="disabled")


def test_the_name_before_glm_4_7_is_a_line() -> None:
    """SGLang's parser of GLM 4.5 finds no call without the newline."""
    one_line, two_lines = "<tool_call>get_time</tool_call>", "<tool_call>get_time\n</tool_call>"
    check("glm_4_5", [two_lines], [one_line], reasoning="disabled")
    check("glm_4_7", [two_lines, one_line], [], reasoning="disabled")


@pytest.mark.parametrize("family", FAMILIES)
def test_none(family: str) -> None:
    calls = FAMILIES[family].calls()
    if family in UNMARKED:
        check(family, ["", "Sunny.", calls], [], reasoning="disabled", tool_choice="none")
    else:
        check(family, ["", "Sunny."], [calls], reasoning="disabled", tool_choice="none")


@pytest.mark.parametrize("family", FAMILIES)
def test_named(family: str) -> None:
    it = FAMILIES[family]
    check(
        family,
        [it.calls()],
        [it.calls().replace("get_weather", "get_time"), "Sunny."],
        reasoning="disabled",
        tool_choice={"type": "function", "function": {"name": "get_weather"}},
    )
    subset = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "get_time"}]}
    check(family, ["Sunny."], [it.calls()], reasoning="disabled", tool_choice=subset)


@pytest.mark.parametrize("family", FAMILIES)
def test_one_call_at_most(family: str) -> None:
    it = FAMILIES[family]
    check(
        family,
        ["Sunny.", it.calls(), "See: " + it.calls()],
        [it.calls(2), it.calls() + "Done."],
        reasoning="disabled",
        parallel_tool_calls=False,
    )


@pytest.mark.parametrize("family", [name for name, it in FAMILIES.items() if it.think])
def test_reasoning(family: str) -> None:
    it = FAMILIES[family]
    assert it.think is not None
    begin, end = it.think
    thought = f"Let me see: < 5?\n{end}\n\n"
    answers = ["Sunny.", it.calls()]
    thoughtful = [thought + a for a in answers] + [begin + thought + a for a in answers]
    check(family, thoughtful, ["Sunny.", it.calls()], reasoning="enabled")
    check(
        family,
        [begin + thought + answer for answer in answers] + answers,
        [thought + "Sunny."],
        reasoning="auto",
    )
    check(family, answers, [begin + thought + "Sunny.", thought + it.calls()], reasoning="disabled")
    check(family, [thought + it.calls()], [thought + "Sunny."], reasoning="enabled", tool_choice="required")


DEFAULT_REASONING = {
    "disabled": ("hermes", "qwen_2_5", "granite_4", "llama", "llama_4_pythonic", "qwen_3_coder", "deepseek_v3"),
    "auto": ("qwen_3", "exaone", "granite", "mistral", "command_a", "glm", "kimi", "deepseek_v3_1", "gemma_4"),
    "enabled": ("deepseek_r1", "qwen_3_5", "nemotron_3", "minimax", "glm_4_7", "cohere"),
}


@pytest.mark.parametrize(
    ("reasoning", "family"), [(r, family) for r, families in DEFAULT_REASONING.items() for family in families]
)
def test_reasoning_is_what_the_models_do(reasoning: str, family: str) -> None:
    assert get_model_structural_tag(family, TOOLS) == get_model_structural_tag(family, TOOLS, reasoning=reasoning)
    assert get_model_structural_tag(family, TOOLS, reasoning=None) == get_model_structural_tag(family, TOOLS)


def test_the_families_that_ignore_reasoning_are_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "model_families.md").read_text("utf-8")
    (listed,) = re.findall(r"The formats of (.*?)\shave no reasoning", page, re.DOTALL)
    for family in FAMILIES:
        tags = {get_model_structural_tag(family, TOOLS, "auto", mode).to_json() for mode in ("enabled", "disabled")}
        assert (len(tags) == 1) == bool(re.search(rf"\b{family}\b", listed)), family


def test_usual_outputs_are_no_reasoning() -> None:
    for family, it in FAMILIES.items():
        if it.think is None or family in DEFAULT_REASONING["auto"]:
            check(family, ["Sunny.", it.calls()], [])
            check(family, [it.calls()], ["Sunny."], tool_choice="required")


@pytest.mark.parametrize(("family", "request_", "accepted", "rejected"), OTHERS)
def test_others(family: str, request_: dict[str, Any], accepted: list[str], rejected: list[str]) -> None:
    check(family, accepted, rejected, **request_)


@pytest.mark.parametrize("family", FAMILIES)
def test_content_where_nothing_is_called(family: str) -> None:
    it = FAMILIES[family]
    content = JSONSchemaFormat({"enum": ["sunny"]})
    check(family, ['"sunny"', it.calls()], ["sunny", ""], reasoning="disabled", content=content)
    check(family, ['"sunny"'], [it.calls()], reasoning="disabled", content=content, tool_choice="none")


@pytest.mark.parametrize("family", FAMILIES)
def test_the_order_of_arguments(family: str) -> None:
    """Any order, but for the family whose template sorts; deep inside, too."""
    nested = {"type": "object", "properties": {"d": {"type": "integer"}, "c": {"type": "integer"}}}
    parameters = {"type": "object", "properties": {"b": nested, "a": {"type": "integer"}}}
    tools = [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
    orders = [compiled(family, tools=tools, tool_choice="required", any_order=order) for order in (None, False, True)]
    usual, declared, free = orders
    assert usual.grammar == (declared if family == "gemma_4" else free).grammar


def test_gemma_sorts() -> None:
    properties = {"b": {"type": "object", "properties": {"d": {}, "C": {}}}, "a": {"type": "null"}}
    tools = [{"name": "f", "parameters": {"type": "object", "properties": properties, "required": ["b"]}}]
    accepted = ["a:None,b:{C:1,d:2}", "b:{d:1}", "b:{C:null,x:1,d:2}", "0:1,a:null,aa:2,b:{},c:3"]
    rejected = ["b:{},a:null", "a:null,b:{d:2,C:1}", "a:none,b:{}", "0:1", "a:null,a:null,b:{}"]
    call = "<|tool_call>call:f{{{}}}<tool_call|>".format
    request = {"tools": tools, "tool_choice": "required"}
    check("gemma_4", [*map(call, accepted)], [*map(call, rejected)], **request)
    check("gemma_4", [*map(call, [*accepted, *rejected[:2]])], [], any_order=True, **request)


def test_every_family_is_tested() -> None:
    tested = {*FAMILIES, *(name for name, *_ in OTHERS)}
    builders = {name for name in model_families() if not name.startswith("test_")}
    aliases = {
        "qwen_2_5", "exaone_4", "granite_3", "command_r7b", "glm", "glm_4_6", "glm_4_7", "kimi_k2", "deepseek_v3",
        "mistral_v13", "mistral_v15", "nemotron_3", "granite_4_2",
        "longcat_flash", "longcat_flash_thinking", "olmo_3_think", "intern_s1",
        "llama_nemotron", "jamba_1_5", "xlam_2", "toolace", "step_3_5",
        "gpt_oss", "minimax_m2", "llama_3", "llama_3_1", "llama_3_2", "llama_3_3",
    }  # fmt: skip
    assert builders - aliases == tested


def test_names_are_compared_loosely() -> None:
    assert get_model_structural_tag("Qwen3.5") == get_model_structural_tag("qwen_3_5")
    assert "qwen_3_5" in model_families()


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("lama-3.1", "llama_3_1"),
        ("tuned-gpt-oss", "gpt_oss"),
        ("no such model", "the families are: "),
    ],
)
def test_unknown_family(name: str, hint: str) -> None:
    with pytest.raises(RequestError, match=hint) as caught:
        get_model_structural_tag(name)
    assert caught.value.pointer == "/model"


def test_model_is_a_name() -> None:
    with pytest.raises(RequestError, match="found null"):
        get_model_structural_tag(None)  # type: ignore[arg-type]


def test_python_cannot_call_every_name() -> None:
    with pytest.raises(RequestError, match="is not a valid function name in Python") as caught:
        get_model_structural_tag("llama_4_pythonic", [{"type": "function", "function": {"name": "get-weather"}}])
    assert caught.value.pointer == "/tools/0/function/name"


def test_a_family_of_ones_own() -> None:
    @register_model_structural_tag("test_shout")
    def shout(request: ToolRequest) -> ConstStringFormat:
        return ConstStringFormat("!" * len(request.tools))

    check("test_shout", ["!!"], ["!"])


def test_a_family_of_ones_own_says_whether_it_reasons() -> None:
    @register_model_structural_tag("test_hybrid", reasoning="auto")
    @register_model_structural_tag("test_plain")
    def echo(request: ToolRequest) -> ConstStringFormat:
        return ConstStringFormat(request.reasoning)

    check("test_hybrid", ["auto"], [])
    check("test_plain", ["disabled"], [])
    check("test_plain", ["enabled"], [], reasoning=True)


def test_a_family_of_ones_own_with_reasoning() -> None:
    @register_model_structural_tag("test_thinker")
    def thinker(request: ToolRequest) -> SequenceFormat:
        return SequenceFormat((request.thought("<t>", "</t>", "!"), ConstStringFormat("!")))

    check("test_thinker", ["<t>abc</t>!", "<t></t>!"], ["<t>abcd</t>!", "<t>a!</t>!", "!"], thinking_token_budget=3)
    check("test_thinker", ["<t>abcd</t>!"], [])


def test_a_family_of_ones_own_with_a_form_of_the_answer() -> None:
    @register_model_structural_tag("test_deaf")
    def deaf(request: ToolRequest) -> AnyTextFormat:
        return AnyTextFormat()

    @register_model_structural_tag("test_formal")
    def formal(request: ToolRequest) -> Format:
        return request.content or AnyTextFormat()

    with pytest.raises(RequestError, match="'test_deaf' has no place for the format of the answer") as caught:
        get_model_structural_tag("test_deaf", content=ConstStringFormat("yes"))
    assert caught.value.pointer == "/model"
    check("test_formal", ["yes"], ["no"], content=ConstStringFormat("yes"))


def test_a_family_is_registered_under_a_name() -> None:
    def build(request: ToolRequest) -> AnyTextFormat:
        return AnyTextFormat()

    known = model_families()
    with pytest.raises(mw.ArgumentError, match="name must be a str, not function") as caught:
        register_model_structural_tag(build)  # type: ignore[arg-type]  # as a decorator without parentheses
    assert caught.value.hint == 'write @register_model_structural_tag("my_model")'
    for names in ((), ("",), ("---",), ("mine", "")):
        with pytest.raises(mw.OptionError, match="needs a name with letters or digits"):
            register_model_structural_tag(*names)
    with pytest.raises(mw.OptionError, match="reasoning must be 'disabled', 'auto' or 'enabled', not True"):
        register_model_structural_tag("mine", reasoning=True)  # type: ignore[arg-type]
    assert model_families() == known


def test_special_tokens_are_tokens() -> None:
    special = ["<|channel|>", "<|message|>", "<|call|>", "<|end|>", "<|return|>", "<|start|>", "<|constrain|>"]
    grammar = mw.GrammarCompiler(vocabulary(special)).compile_structural_tag(get_model_structural_tag("harmony", TOOLS))
    for family, request, accepted, rejected in OTHERS:
        if (family, request) == ("harmony", {}):
            assert all(accepts(grammar, text) for text in accepted)
            assert not any(accepts(grammar, text) for text in rejected)
    matcher = mw.GrammarMatcher(grammar)
    assert not matcher.accept_string("<|channel|>"), "the token's text is not the token"
