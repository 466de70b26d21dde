"""The event reader: what it tells is what a plain parse of the finished text finds, however the text came."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import pytest

import maskwright as mw
from maskwright.events import (
    CallDone,
    CallStarted,
    Event,
    EventReader,
    FieldDone,
    FieldStarted,
    ReasoningDelta,
    TextDelta,
    ValueDelta,
)
from maskwright.structural_tag import JSONSchemaFormat, get_model_structural_tag
from oracle.comparing import scaled, seeded
from structural_tag.families.readers import FAMILIES, read
from structural_tag.families.test_walks import CHOICES, SCHEMAS, TOOLS, text_of, vocabulary_for, walk
from structural_tag.spelling import plain_tokens, vocabulary

DELTAS = (TextDelta, ReasoningDelta, ValueDelta)


def joined(events: list[Event]) -> list[Event]:
    """The events with adjacent deltas of a kind as one."""
    out: list[Event] = []
    for event in events:
        if out and isinstance(event, DELTAS) and type(event) is type(out[-1]):
            out[-1] = type(event)(out[-1][0] + event[0])
        else:
            out.append(event)
    return out


def parts_of(events: list[Event]) -> list[tuple[Any, ...]]:
    """The parts that events tell of, as the plain reader has them; the order of events is checked on the way."""
    parts: list[tuple[Any, ...]] = []
    pending = joined(events)[::-1]
    while pending:
        event = pending.pop()
        if isinstance(event, TextDelta | ReasoningDelta):
            parts.append(("content" if isinstance(event, TextDelta) else "reasoning", event.text))
            continue
        assert isinstance(event, CallStarted)
        arguments: dict[str, Any] = {}
        while isinstance(pending[-1], FieldStarted):
            name, value, done = pending.pop().name, pending.pop(), pending.pop()
            assert isinstance(value, ValueDelta)
            assert isinstance(done, FieldDone)
            assert value.json == done.json
            arguments[name] = json.loads(done.json)
        over = pending.pop()
        assert isinstance(over, CallDone)
        assert over.name == event.name
        assert list(json.loads(over.arguments).items()) == list(arguments.items())
        parts.append(("call", event.name, arguments))
    return parts


def told(compiled: mw.CompiledGrammar, tokens: list[int]) -> list[Event]:
    """The events of a whole output, read after each token."""
    matcher = mw.GrammarMatcher(compiled)
    reader = EventReader(matcher)
    out = []
    for token in (*tokens, compiled.tokenizer_info.stop_token_ids[0]):
        assert matcher.accept_token(token)
        out += reader.read()
    assert out == reader.events
    return out


def told_with_rollbacks(compiled: mw.CompiledGrammar, tokens: list[int], rng: random.Random) -> list[Event]:
    """The same where some tokens are accepted, read and taken back before they are accepted again."""
    matcher = mw.GrammarMatcher(compiled)
    reader, known = EventReader(matcher), [*tokens, compiled.tokenizer_info.stop_token_ids[0]]
    for _ in range(3 * len(known)):
        at = matcher.num_accepted_tokens
        count = rng.randint(0, min(6, len(known) - at))
        assert matcher.accept_tokens(known[at : at + count]) == count
        if rng.random() < 0.6:
            reader.read()
        if rng.random() < 0.4:
            matcher.rollback(rng.randint(0, min(8, matcher.num_accepted_tokens)))
        if rng.random() < 0.1:
            reader.read()
    at = matcher.num_accepted_tokens
    matcher.accept_tokens(known[at:])
    reader.read()
    return reader.events


def respelled(info: mw.TokenizerInfo, tokens: list[int], other: mw.TokenizerInfo) -> list[int]:
    """The same output in the tokens of another vocabulary with the same special tokens."""
    names = {other.token_bytes[i]: i for i in other.special_token_ids}
    out: list[int] = []
    for is_special, run in itertools.groupby(tokens, info.special_token_ids.__contains__):
        texts = [info.token_bytes[token] for token in run]
        out += [names[text] for text in texts] if is_special else plain_tokens(other, b"".join(texts))
    return out


def without_white_space(parts: list[Any]) -> list[Any]:
    return [part for part in parts if part[0] != "content" or part[1].strip()]


@pytest.mark.parametrize("family", FAMILIES)
def test_events_are_those_of_a_plain_parse(family: str) -> None:
    rng = seeded(f"reader {family}")
    walked = vocabulary_for(family)
    special = [walked.token_bytes[i].decode() for i in walked.special_token_ids[:-1]]
    compilers = [
        mw.GrammarCompiler(info)
        for info in (
            walked,
            vocabulary(special),
            vocabulary(special, ["book", '"kind', '": "', "ne", '"}', "}}\n", "</"]),
        )
    ]
    read_any = 0
    for choice, parallel, reasoning in itertools.product(CHOICES, (True, False), ("enabled", "disabled", "auto")):
        tag = get_model_structural_tag(family, TOOLS, choice, reasoning, parallel_tool_calls=parallel)
        grammars = [compiler.compile_structural_tag(tag) for compiler in compilers]
        for _ in range(scaled(2)):
            found = walk(grammars[0], rng)
            if found is None:
                continue
            text = text_of(walked, found)
            expected = read(family, text, SCHEMAS, thinks=reasoning == "enabled")
            if choice == "none":  # what looks like a call is text
                expected = [part for part in expected if part[0] == "reasoning"]
            for grammar in grammars:
                tokens = respelled(walked, found, grammar.tokenizer_info)
                events = told(grammar, tokens)
                parts = parts_of(events)
                if choice == "none":
                    parts = [part for part in parts if part[0] == "reasoning"]
                elif (choice != "auto" or not parallel) and family not in ("harmony", "kimi_k3"):
                    # White space before a required call and after the only one is no content.
                    expected, parts = without_white_space(expected), without_white_space(parts)
                assert parts == expected, text
                assert joined(told_with_rollbacks(grammar, tokens, rng)) == joined(events), text
            read_any += 1
    assert read_any >= 8


def reader_of(family: str, tools: list[dict[str, Any]], **request: Any) -> tuple[mw.GrammarMatcher, EventReader]:
    tag = get_model_structural_tag(family, tools, reasoning="disabled", **request)
    matcher = mw.GrammarMatcher(mw.GrammarCompiler(vocabulary()).compile_structural_tag(tag))
    return matcher, EventReader(matcher)


def test_events_come_as_soon_as_they_are_certain() -> None:
    matcher, reader = reader_of("hermes", TOOLS)
    told = []
    for piece in (
        "Hi <tool",
        "s> <tool_call>",
        '\n{"name": "book", "arguments": {"ki',
        'nd": "n',
        'ew", "pages": 1',
        "2}}",
    ):
        assert matcher.accept_string(piece)
        told.append(reader.read())
    assert told == [
        [TextDelta("Hi ")],
        [TextDelta("<tools> ")],
        [CallStarted("book")],
        [FieldStarted("kind"), ValueDelta('"n')],
        [ValueDelta('ew"'), FieldDone('"new"'), FieldStarted("pages"), ValueDelta("1")],
        [ValueDelta("2"), FieldDone("12")],
    ]
    assert matcher.accept_string("\n</tool_call>")
    assert reader.read() == [CallDone("book", '{"kind": "new", "pages": 12}')]
    assert reader.read() == []


def test_characters_are_told_whole() -> None:
    matcher, reader = reader_of("hermes", TOOLS)
    told = []
    for byte in "€ö".encode():
        assert matcher.accept_token(byte)
        told.append(reader.read())
    assert told == [[], [], [TextDelta("€")], [], [TextDelta("ö")]]


def test_names_that_begin_alike_wait() -> None:
    tools = [{"type": "function", "function": {"name": name}} for name in ("get", "get_time")]
    matcher, reader = reader_of("glm_4_7", tools)
    assert matcher.accept_string("<tool_call>get")
    assert reader.read() == []
    fork = matcher.fork()
    assert matcher.accept_string("\n")
    assert reader.read() == [CallStarted("get")]
    assert fork.accept_string("_time</tool_call>")
    assert EventReader(fork).read() == [CallStarted("get_time"), CallDone("get_time", "{}")]


@pytest.mark.parametrize(
    ("parameters", "arguments", "fields"),
    [
        ({}, '{"a\\n": {"value": [1]}, "b": "x"}', [("a\n", '{"value": [1]}'), ("b", '"x"')]),
        ({"additionalProperties": {"type": "number"}}, '{"x": 1e5}', [("x", "1e5")]),
        ({"patternProperties": {"^n": {"type": "null"}}}, '{"n": null, "m": 2}', [("n", "null"), ("m", "2")]),
        ({"properties": {"inner": {"$ref": "#"}}}, '{"inner": {"inner": {}}}', [("inner", '{"inner": {}}')]),
        ({"$ref": "#/$defs/x", "$defs": {"x": {"properties": {"k": {}}}}}, '{"k": [{}]}', [("k", "[{}]")]),
        ({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, '{"b": 1}', [("b", "1")]),
        ({"properties": {"a": {}, "b": {}}, "minProperties": 1, "maxProperties": 1}, '{"b": 1}', [("b", "1")]),
        (
            {"properties": {"a": {"type": "array", "items": {"type": "string"}, "uniqueItems": True}}},
            '{"a": ["x", "y"]}',
            [("a", '["x", "y"]')],
        ),
        ({"properties": {"a": {"type": "string", "pattern": r"^(\w+) \1$"}}}, '{"a": "x x"}', [("a", '"x x"')]),
    ],
)
def test_members_of_any_object_are_told(parameters: Any, arguments: str, fields: list[tuple[str, str]]) -> None:
    function = {"name": "f", "parameters": parameters}
    matcher, reader = reader_of("hermes", [{"type": "function", "function": function}], tool_choice="required")
    assert matcher.accept_string(f'<tool_call>\n{{"name": "f", "arguments": {arguments}}}\n</tool_call>')
    events: list[Event] = [CallStarted("f")]
    for name, value in fields:
        events += [FieldStarted(name), ValueDelta(value), FieldDone(value)]
    assert joined(reader.read()) == [*events, CallDone("f", arguments)]


@pytest.mark.parametrize("choice", ["auto", "required"])
def test_what_separates_calls_is_no_text(choice: str) -> None:
    call = '{"name": "ping", "parameters": {}}'
    for output, texts in ((f"{call}; {call}", " "), (f"{call};{call};", ""), (f"{call}; a; b", " a; b")):
        matcher, reader = reader_of("llama", TOOLS, tool_choice=choice)
        assert matcher.accept_string(output)
        assert matcher.is_completed()
        matcher.accept_token(matcher.compiled_grammar.tokenizer_info.stop_token_ids[0])
        events = reader.read()
        assert "".join(event.text for event in events if isinstance(event, TextDelta)) == texts
        assert sum(isinstance(event, CallDone) for event in events) == output.count("ping")


@pytest.mark.parametrize(
    ("family", "call"),
    [
        ("hermes", '<tool_call>\n{"name": "book", "arguments": {"pages": 1, "kind": "new"}}\n</tool_call>'),
        (
            "glm",
            "<tool_call>book\n<arg_key>pages</arg_key>\n<arg_value>1</arg_value>"
            "<arg_key>kind</arg_key>\n<arg_value>new</arg_value>\n</tool_call>",
        ),
    ],
)
def test_members_in_any_order(family: str, call: str) -> None:
    matcher, reader = reader_of(family, TOOLS, any_order=True)
    assert matcher.accept_string(call)
    assert [event.name for event in reader.read() if isinstance(event, FieldStarted)] == ["pages", "kind"]


def test_content_with_a_format_of_its_own() -> None:
    matcher, reader = reader_of("hermes", TOOLS, content=JSONSchemaFormat({"type": "object"}))
    assert matcher.accept_string('\n{"x": [1]}')
    assert matcher.accept_token(matcher.stop_token_ids[0])
    assert reader.read() == [TextDelta('{"x": [1]}')]


def test_what_was_taken_back_is_told_anew() -> None:
    matcher, reader = reader_of("llama", TOOLS)
    assert matcher.accept_string("Well, ")
    assert reader.read() == [TextDelta("Well, ")]
    assert matcher.accept_string("no")
    assert reader.read() == [TextDelta("no")]
    matcher.rollback(1)
    assert matcher.accept_string("yes")
    assert reader.read() == [TextDelta("yes")]
    assert reader.events == [TextDelta("Well, "), TextDelta("yes")]
    assert matcher.accept_token(matcher.stop_token_ids[0])
    reader.read()
    matcher.rollback(1)
    assert matcher.accept_string("!")
    assert reader.read() == [TextDelta("!")]
    matcher.reset()
    assert reader.read() == reader.events == []


def test_long_outputs_are_read_in_linear_time() -> None:
    matcher, reader = reader_of("hermes", TOOLS)
    for _ in range(20_000):
        assert matcher.accept_token(ord("a"))
        assert reader.read() == [TextDelta("a")]


UNIONS = [
    ({"type": ["string", "null"]}, {"null": None, "nullx": "nullx", "true": "true", "5": "5"}),
    (
        {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        {"5": 5, "-12": -12, "5.5": "5.5", "05": "05", "null": "null"},
    ),
    ({"anyOf": [{"type": "string", "maxLength": 5}, {"type": "null"}]}, {"null": None, "abc": "abc"}),
    ({"type": ["string", "boolean"]}, {"true": True, "false": False, "truth": "truth", "null": "null"}),
    ({}, {"null": None, "5": 5, "-5.0e2": -500, "true": True, "[1]": "[1]", "x y": "x y", "": ""}),
    ({"type": "string"}, {"null": "null", "5": "5", "true": "true"}),
    ({"enum": ["null", None, "true", True, "false"]}, {"null": None, "true": True, "false": "false"}),
    ({"enum": ["null", "true"]}, {"null": "null", "true": "true"}),
]


@pytest.mark.parametrize(
    ("family", "call"),
    [
        ("qwen_3_coder", "<tool_call>\n<function=f>\n<parameter=a>{}</parameter>\n</function>\n</tool_call>"),
        ("qwen_3_coder", "<tool_call>\n<function=f>\n<parameter=a>\n{}\n</parameter>\n</function>\n</tool_call>"),
        ("glm", "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>{}</arg_value>\n</tool_call>"),
    ],
)
@pytest.mark.parametrize(("schema", "values"), UNIONS)
def test_values_without_quotes_are_read_as_their_schema_has_them(
    family: str, call: str, schema: dict[str, Any], values: dict[str, Any]
) -> None:
    parameters = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    for text, value in values.items():
        matcher, reader = reader_of(family, [{"name": "f", "parameters": parameters}], tool_choice="required")
        assert matcher.accept_string(call.format(text))
        arguments = [event.arguments for event in reader.read() if isinstance(event, CallDone)]
        assert [json.loads(each) for each in arguments] == [{"a": value}], text
