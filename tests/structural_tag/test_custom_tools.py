"""Custom tools: calls in the formats of families, their grammars, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

import maskwright as mw
from maskwright.errors import MaskwrightError, RequestError
from maskwright.events import CallDone, CallStarted, EventReader, FieldStarted, ValueDelta
from maskwright.openai_shapes import chat_completion, responses
from maskwright.structural_tag import get_model_structural_tag
from structural_tag.spelling import accepts, vocabulary

INFO = vocabulary(["<|channel|>", "<|message|>", "<|call|>", "<|start|>", "<|end|>", "<|return|>", "<|constrain|>"])
COMPILER = mw.GrammarCompiler(INFO)
LARK = {"syntax": "lark", "definition": 'start: "(" start ")" | WORD\nWORD: /[a-z]+/ | "\\""'}
REGEX = {"syntax": "regex", "definition": "[a-c<]+\n"}


def tool(name: str, grammar: Any = None, *, nested: bool = False) -> dict[str, Any]:
    if grammar is None:
        body: dict[str, Any] = {"name": name}
    elif nested:
        body = {"name": name, "format": {"type": "grammar", "grammar": grammar}}
    else:
        body = {"name": name, "format": {"type": "grammar", **grammar}}
    return {"type": "custom", "custom": body} if nested else {"type": "custom", **body}


CALLS = {
    "hermes": '<tool_call>\n{{"name": "{}", "arguments": {{"input": "{}"}}}}\n</tool_call>',
    "llama": '{{"name": "{}", "parameters": {{"input": "{}"}}}}',
    "llama_4_pythonic": '[{}(input="{}")]',
    "harmony": '<|channel|>commentary to=functions.{} <|constrain|>json<|message|>{{"input": "{}"}}<|call|>',
}


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("family", CALLS)
def test_the_input_follows_the_grammar(family: str, nested: bool) -> None:
    tools = [tool("f", LARK, nested=nested), tool("g", REGEX, nested=nested), tool("h", nested=nested)]
    tag = get_model_structural_tag(family, tools, "required", "disabled")
    grammar = COMPILER.compile_structural_tag(tag)
    for name, text in (("f", "((ab))"), ("f", '(\\")'), ("g", "ab<\\n"), ("h", ""), ("h", "é\\n\\\\")):
        assert accepts(grammar, CALLS[family].format(name, text)), text
    for name, text in (("f", "((ab)"), ("f", ""), ("f", "A"), ("g", "ab"), ("g", "d\\n"), ("h", "\n")):
        assert not accepts(grammar, CALLS[family].format(name, text)), text
    assert not accepts(grammar, CALLS[family].format("h", 'a", "b": "c'))


def test_without_quotes() -> None:
    written = "<tool_call>\n<function={}>\n<parameter=input>\n{}\n</parameter>\n</function>\n</tool_call>"
    tag = get_model_structural_tag("qwen_3_coder", [tool("f", LARK), tool("g", REGEX)], "required", "disabled")
    grammar = COMPILER.compile_structural_tag(tag)
    assert accepts(grammar, written.format("f", '(("))'))
    assert accepts(grammar, written.format("g", "a<b\n"))
    assert not accepts(grammar, written.format("f", "(("))
    less = tool("f", {**LARK, "definition": 'start: "(" start ")" | "<"'})
    with pytest.raises(MaskwrightError, match="in this style strings have no quotes") as caught:
        COMPILER.compile_structural_tag(get_model_structural_tag("qwen_3_coder", [less], "required"))
    assert caught.value.pointer == "/tools/0/format/definition"  # type: ignore[attr-defined]


def test_events_bring_the_input() -> None:
    tag = get_model_structural_tag("hermes", [tool("f", LARK)], "required", "disabled")
    matcher = mw.GrammarMatcher(COMPILER.compile_structural_tag(tag))
    reader = EventReader(matcher)
    assert matcher.accept_string(CALLS["hermes"].format("f", '(\\")'))
    *begin, _, done = reader.read()
    assert begin == [CallStarted("f"), FieldStarted("input"), ValueDelta('"(\\")"')]
    assert done == CallDone("f", '{"input": "(\\")"}')


def test_which_may_be_called() -> None:
    tools = [tool("f", LARK), tool("g", REGEX)]
    choices: tuple[Any, ...] = (
        {"type": "custom", "name": "g"},
        {"type": "custom", "custom": {"name": "g"}},
        {"type": "allowed_tools", "mode": "required", "tools": [{"type": "custom", "name": "g"}]},
        {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [tool("g", nested=True)]}},
    )
    for choice in choices:
        grammar = COMPILER.compile_structural_tag(get_model_structural_tag("hermes", tools, choice, "disabled"))
        assert accepts(grammar, CALLS["hermes"].format("g", "a\\n")), choice
        assert not accepts(grammar, CALLS["hermes"].format("f", "a")), choice


@pytest.mark.parametrize(
    ("given", "pointer", "message"),
    [
        ("text", "", "expected an object, found 'text'"),
        ({"type": "lark"}, "/type", "expected 'text' or 'grammar', found 'lark'"),
        ({"type": "grammar"}, "", "the object requires the field 'syntax'"),
        ({"type": "grammar", "syntax": "lark"}, "", "the object requires the field 'definition'"),
        ({"type": "grammar", "grammar": 3}, "/grammar", "expected an object, found a number"),
        ({"type": "grammar", "syntax": "lark", "definition": 3}, "/definition", "expected a string, found a number"),
        ({"type": "grammar", "syntax": "larc", "definition": ""}, "/syntax", "unknown syntax 'larc'"),
    ],
)
def test_malformed_formats(given: Any, pointer: str, message: str) -> None:
    for read, body, at in (
        (responses, {"type": "custom", "name": "f", "format": given}, "/tools/0/format"),
        (chat_completion, {"type": "custom", "custom": {"name": "f", "format": given}}, "/tools/0/custom/format"),
    ):
        with pytest.raises(RequestError) as caught:
            read({"tools": [body]}, model="hermes")
        assert (caught.value.message, caught.value.pointer) == (message, at + pointer)


def test_a_mistake_in_the_definition_says_where() -> None:
    wrong = {"syntax": "lark", "definition": 'start: "a"\n     | missing'}
    for read, nested, pointer in (
        (responses, False, "/tools/1/format/definition"),
        (chat_completion, True, "/tools/1/custom/format/grammar/definition"),
    ):
        with pytest.raises(mw.SchemaError) as caught:
            read({"tools": [tool("f", nested=nested), tool("g", wrong, nested=nested)]}, model="hermes")
        assert caught.value.message == (
            "tool 'g': the grammar cannot be used: rule 'missing' is not defined (line 2, column 8)"
        )
        assert caught.value.pointer == pointer


def test_a_custom_tool_has_no_parameters() -> None:
    with pytest.raises(RequestError, match="a custom tool has no parameters") as caught:
        responses({"tools": [{"type": "custom", "name": "f", "parameters": {}}]}, model="hermes")
    assert caught.value.pointer == "/tools/0/parameters"


@pytest.mark.parametrize(
    ("given", "pointer", "hint"),
    [
        ({"type": "custom"}, "/name", 'a custom tool is {"type": "custom", "name": …, "format": …}'),
        ({"type": "custom", "custom": {"name": "f"}, "format": {"type": "text"}}, "/format", "move it into 'custom'"),
        *[
            ({"type": "custom", "name": "f", name: "start: /a/"}, f"/{name}", 'write "format": {"type": "grammar", ')
            for name in ("grammar", "syntax", "definition")
        ],
        (
            {"type": "custom", "custom": {"name": "f", "grammar": {}}},
            "/custom/grammar",
            'write "format": {"type": "grammar", ',
        ),
    ],
)
def test_what_would_have_no_effect(given: Any, pointer: str, hint: str) -> None:
    with pytest.raises(RequestError) as caught:
        responses({"tools": [given]}, model="hermes")
    assert caught.value.pointer == f"/tools/0{pointer}"
    assert (caught.value.hint or "").startswith(hint)


def test_hints_name_the_other_syntax() -> None:
    with pytest.raises(mw.SchemaError) as caught:
        responses({"tools": [tool("f", {"syntax": "lark", "definition": 'root ::= "a"'})]}, model="hermes")
    assert caught.value.hint == 'this looks like EBNF: let syntax be "ebnf"; in Lark, write name: body'


def test_what_is_surely_meant_otherwise_is_a_warning() -> None:
    meant = {"syntax": "regex", "definition": 'start: a "b"\na: "c"'}
    for nested, pointer in ((False, "/tools/0/format/definition"), (True, "/tools/0/custom/format/grammar/definition")):
        tag = get_model_structural_tag("hermes", [tool("f", meant, nested=nested)], "required")
        with pytest.warns(mw.SchemaWarning, match="this looks like Lark") as caught:
            COMPILER.compile_structural_tag(tag)
        assert [warning.message.pointer for warning in caught] == [pointer]  # type: ignore[union-attr]


def test_a_grammar_without_texts_is_named() -> None:
    endless = tool("f", {"syntax": "lark", "definition": 'start: "a" start'})
    with pytest.raises(mw.StructuralTagError, match="no text follows the grammar") as caught:
        COMPILER.compile_structural_tag(get_model_structural_tag("hermes", [endless], "required"))
    assert caught.value.pointer == "/tools/0/format/definition"
