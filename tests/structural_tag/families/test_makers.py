"""Outputs as the makers of the models write them: each is accepted, and read as what was written.

Beside the transcripts, the libraries of three makers where they are installed: what mistral-common writes now, and what
cohere-melody and openai-harmony write and read, the latter if it can load its vocabulary.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import maskwright as mw
from maskwright.events import CallDone, EventReader, ReasoningDelta, TextDelta
from maskwright.structural_tag import get_model_structural_tag, model_families
from oracle.comparing import scaled, seeded
from structural_tag.families.makers import BOTH, JSON, SPECIAL, TOOLS, TOOLS_OF_HARMONY, TRANSCRIPTS
from structural_tag.families.test_walks import SCHEMAS, text_of, vocabulary_for, walk
from structural_tag.families.test_walks import TOOLS as WALKED
from structural_tag.spelling import tokenize, vocabulary


@lru_cache
def compiler(*, special: bool) -> mw.GrammarCompiler:
    pieces = ["<think>", "</think>", "<tool_call>", "</tool_call>", "Paris"]
    return mw.GrammarCompiler(vocabulary(SPECIAL if special else (), pieces))


def said(compiled: mw.CompiledGrammar, tokens: list[int]) -> tuple[str, str, list[Any]]:
    """What a whole output says: reasoning, content, calls."""
    matcher = mw.GrammarMatcher(compiled)
    for i, token in enumerate(tokens):
        assert matcher.accept_token(token), (i, compiled.tokenizer_info.token_bytes[token])
    assert matcher.is_completed()
    matcher.accept_token(compiled.tokenizer_info.stop_token_ids[0])
    events = EventReader(matcher).read()
    reasoning = "".join(event.text for event in events if isinstance(event, ReasoningDelta))
    content = "".join(event.text for event in events if isinstance(event, TextDelta))
    return reasoning, content, [(e.name, json.loads(e.arguments)) for e in events if isinstance(e, CallDone)]


def random_calls(compiled: mw.CompiledGrammar, seed: str, count: int) -> Iterator[tuple[str, list[Any]]]:
    """Random outputs, those that come to an end: the text, and the calls that it says."""
    rng = seeded(seed)
    for _ in range(scaled(count)):
        tokens = walk(compiled, rng)
        if tokens is not None:
            yield text_of(compiled.tokenizer_info, tokens), said(compiled, tokens)[2]


@pytest.mark.parametrize("special", [True, False])
@pytest.mark.parametrize("source", TRANSCRIPTS)
def test_transcripts(source: str, special: bool) -> None:
    case = TRANSCRIPTS[source]
    it = compiler(special=special)
    tools = TOOLS_OF_HARMONY if case["family"] == "harmony" else TOOLS
    tag = get_model_structural_tag(case["family"], tools, **case.get("request", {}))
    reasoning, content, calls = said(it.compile_structural_tag(tag), tokenize(it.tokenizer_info, case["output"]))
    assert (reasoning, content) == (case.get("reasoning", ""), case.get("content", ""))
    assert [list(call) for call in calls] == case.get("calls", [])


PAGE = Path(__file__).resolve().parents[3] / "docs" / "model_families.md"


def documented() -> list[tuple[str, str]]:
    """The samples of docs/model_families.md, each with a family that is named above it."""
    known, names, out = set(model_families()), [""], []
    fence, sample = "", [""]
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if fence and line == fence:
            out += [(name, "\n".join(sample)) for name in names]
            fence = ""
        elif fence:
            sample.append(line)
        elif line.endswith("```text"):
            fence, sample = line.removesuffix("text"), []
        elif line.startswith("`"):
            names = [name for name in re.findall("`([a-z0-9_]+)`", line) if name in known]
    return out


@pytest.mark.parametrize(("family", "sample"), documented())
def test_documented_samples(family: str, sample: str) -> None:
    it = compiler(special=True)
    compiled = it.compile_structural_tag(get_model_structural_tag(family, TOOLS[:2], reasoning="auto"))
    _, _, calls = said(compiled, tokenize(it.tokenizer_info, sample))
    assert calls == BOTH[:1] or "Hello!" in sample


def test_all_families_are_documented() -> None:
    named = {name for name in model_families() if not name.startswith("test_")}
    assert {name for name, _ in documented()} == named


# ---- mistral-common


def mistral_tokenizer(name: str, folder: Path) -> Any:
    """The tokenizers that come with the package; v11 and v13 are tekken's vocabulary with their special tokens."""
    mistral = pytest.importorskip("mistral_common.tokens.tokenizers.mistral")
    if name in ("v3", "v7"):
        return getattr(mistral.MistralTokenizer, name)().instruct_tokenizer
    if name == "v3 tekken":
        return mistral.MistralTokenizer.v3(is_tekken=True).instruct_tokenizer
    instruct = pytest.importorskip("mistral_common.tokens.tokenizers.instruct")
    tekken = pytest.importorskip("mistral_common.tokens.tokenizers.tekken").Tekkenizer
    base = pytest.importorskip("mistral_common.tokens.tokenizers.base")
    known = [token["token_str"] for token in tekken.DEPRECATED_SPECIAL_TOKENS]
    names = [*known, *(token.value for token in base.SpecialTokens if token.value not in known)]
    data = json.loads(next(Path(mistral.__file__).parents[2].glob("data/tekken_240718.json")).read_text())
    data["config"]["version"] = name
    data["special_tokens"] = [{"rank": i, "token_str": text, "is_control": True} for i, text in enumerate(names)]
    file = folder / f"tekken_{name}.json"
    file.write_text(json.dumps(data))
    return getattr(instruct, f"InstructTokenizer{name.upper()}")(tekken.from_file(file))


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("v3", "mistral_v3"),
        ("v3 tekken", "mistral_v3"),
        ("v7", "mistral_v3"),
        ("v11", "mistral_v11"),
        ("v13", "mistral"),
    ],
)
def test_mistral_common(name: str, family: str, tmp_path: Path) -> None:
    messages = pytest.importorskip("mistral_common.protocol.instruct.messages")
    tools = pytest.importorskip("mistral_common.protocol.instruct.tool_calls")
    instruct = mistral_tokenizer(name, tmp_path)
    info = mw.TokenizerInfo.from_mistral(instruct.tokenizer)
    it = mw.GrammarCompiler(info)
    calls = [
        tools.ToolCall(id=f"abcdefgh{i}", function=tools.FunctionCall(name=each, arguments=json.dumps(arguments)))
        for i, (each, arguments) in enumerate(BOTH)
    ]

    def encoded(content: Any, calls: Any = None) -> list[int]:
        message = messages.AssistantMessage(content=content, tool_calls=calls)
        tokens: list[int] = instruct.encode_assistant_message(message, False)
        assert tokens[-1] in info.stop_token_ids
        return tokens[:-1]

    compiled = it.compile_structural_tag(get_model_structural_tag(family, TOOLS, reasoning="auto"))
    must_call = it.compile_structural_tag(get_model_structural_tag(family, TOOLS, "required", reasoning="auto"))
    assert said(compiled, encoded(None, calls)) == ("", "", BOTH)
    assert said(must_call, encoded(None, calls)) == ("", "", BOTH)
    assert said(compiled, encoded("Sunny."))[1].strip() == "Sunny."
    if "v3" not in name:  # which has no content before calls
        reasoning, content, told = said(compiled, encoded("Let me see.", calls))
        assert (reasoning, content.strip(), told) == ("", "Let me see.", BOTH)
    if name == "v13":
        thought = messages.ThinkChunk(thinking="Hm.")
        assert said(compiled, encoded([thought], calls)) == ("Hm.", "", BOTH)
        assert said(compiled, encoded([thought, messages.TextChunk(text="Sunny.")])) == ("Hm.", "Sunny.", [])


# ---- openai-harmony


@pytest.fixture(scope="module")
def harmony() -> Any:
    """OpenAI's renderer and parser, with their vocabulary."""
    library = pytest.importorskip("openai_harmony")
    try:
        return library.load_harmony_encoding(library.HarmonyEncodingName.HARMONY_GPT_OSS)
    except library.HarmonyError as error:
        pytest.skip(f"openai-harmony cannot load its vocabulary: {error}")


@pytest.mark.parametrize("content_type", ["<|constrain|>json", "json", None])
def test_harmony_renders(harmony: Any, content_type: str | None) -> None:
    library = pytest.importorskip("openai_harmony")
    message, assistant = library.Message.from_role_and_content, library.Role.ASSISTANT
    call = message(assistant, JSON).with_channel("commentary").with_recipient("functions.get_weather")
    call = call.with_content_type(content_type) if content_type else call
    written = {
        "thought": message(assistant, "Hm.").with_channel("analysis"),
        "preamble": message(assistant, "Let me see.").with_channel("commentary"),
        "call": call,
        "answer": message(assistant, "Sunny.").with_channel("final"),
    }
    compiled = compiler(special=True).compile_structural_tag(get_model_structural_tag("harmony", TOOLS_OF_HARMONY))
    for names, expected in (
        (("thought", "call"), ("Hm.", "", BOTH[:1])),
        (("thought", "preamble", "call", "call"), ("Hm.", "Let me see.", [BOTH[0], BOTH[0]])),
        (("call",), ("", "", BOTH[:1])),
        (("answer",), ("", "Sunny.", [])),
    ):
        conversation = library.Conversation.from_messages([written[name] for name in names])
        text = harmony.decode(harmony.render_conversation_for_training(conversation))
        output = text.removeprefix("<|start|>assistant")
        assert said(compiled, tokenize(compiled.tokenizer_info, output)) == expected


@pytest.mark.parametrize("budget", [None, 3])
def test_harmony_parses_random_outputs(harmony: Any, budget: int | None) -> None:
    library = pytest.importorskip("openai_harmony")
    it = mw.GrammarCompiler(vocabulary_for("harmony"))
    tag = get_model_structural_tag("harmony", WALKED, thinking_token_budget=budget)
    compiled = it.compile_structural_tag(tag)
    called = 0
    for text, calls in random_calls(compiled, f"harmony {budget}", 30):
        ids = harmony.encode(text, allowed_special="all")
        messages = harmony.parse_messages_from_completion_tokens(ids, library.Role.ASSISTANT)
        assert {message.channel for message in messages} <= {"analysis", "commentary", "final"}
        parsed = [
            (m.recipient.removeprefix("functions."), json.loads(m.content[0].text)) for m in messages if m.recipient
        ]
        assert parsed == calls, text
        assert all(not list(Draft202012Validator(SCHEMAS[name]).iter_errors(given)) for name, given in parsed)
        called += bool(parsed)
    assert called >= 3


# ---- cohere-melody


@pytest.fixture(scope="module")
def melody() -> Any:
    """Cohere's renderer and parser."""
    return pytest.importorskip("cohere_melody")


@pytest.mark.parametrize(
    ("render", "family"), [("render_cmd3", "command_a"), ("render_cmd4", "command_a"), ("render_cmd5", "cohere")]
)
def test_melody_renders(melody: Any, render: str, family: str) -> None:
    odd = {'a<&">': "x < y &amp; z\n", "nested": {"b": [True, None, 1.5, "c", [], {}]}}
    calls = [*BOTH, ("odd", odd)]
    text = getattr(melody, render)(
        {
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "?"}]},
                {
                    "role": "chatbot",
                    "content": [{"type": "thinking", "thinking": "Hm."}],
                    "tool_calls": [
                        {"id": name, "name": name, "parameters": json.dumps(given, ensure_ascii=False)}
                        for name, given in calls
                    ],
                },
                *[
                    {"role": "tool", "tool_call_id": name, "content": [{"type": "text", "text": "!"}]}
                    for name, _ in calls
                ],
                {"role": "chatbot", "content": [{"type": "text", "text": "Sunny."}]},
            ],
            "available_tools": [{"name": "f", "description": "", "parameters": {}}],
        }
    )
    nested = {"properties": {"b": {"type": "array", "items": {}}}}
    tool = {"name": "odd", "parameters": {"properties": {'a<&">': {"type": "string"}, "nested": nested}}}
    it = compiler(special=True)
    tag = get_model_structural_tag(family, [*TOOLS, tool], reasoning="auto")
    compiled = it.compile_structural_tag(tag)
    turns = re.findall(r"<\|CHATBOT_TOKEN\|>(.*?)<\|END_OF_TURN_TOKEN\|>", text, re.DOTALL)
    called, answered = (said(compiled, tokenize(it.tokenizer_info, turn)) for turn in turns)
    assert called == ("Hm.", "", calls)
    assert answered[1] == "Sunny."


@pytest.mark.parametrize(("family", "options"), [("command_a", "cmd3"), ("command_a", "cmd4"), ("cohere", "cmd5")])
def test_melody_parses_random_outputs(melody: Any, family: str, options: str) -> None:
    it = mw.GrammarCompiler(vocabulary_for(family))
    compiled = it.compile_structural_tag(get_model_structural_tag(family, WALKED, "required"))
    ended = 0
    for text, calls in random_calls(compiled, options, 20):
        opening = "" if text.lstrip().startswith("<|START_THINKING|>") else "<|START_THINKING|>"
        filter_ = melody.PyFilter(getattr(melody.PyFilterOptions(), options)().stream_tool_actions())
        parsed = filter_.process_full_text(opening + text)
        assert [(call.name, json.loads(call.arguments or "{}")) for call in parsed.tool_calls] == calls, text
        ended += 1
    assert ended >= scaled(5)
