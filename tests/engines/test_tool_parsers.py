"""Servers' own parsers read what the masks of a model family let through: the calls that our reader tells.

Random walks, and samples of the families' formats, are read by the tool parser of vLLM and of SGLang that is meant for
the family. Left out is what a parser of these versions reads otherwise than its model's format says, which
docs/engines/vllm.md and docs/engines/sglang.md list: null where the chat template writes `None`, for example.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import maskwright as mw
from maskwright.events import CallDone, EventReader, TextDelta
from maskwright.structural_tag import get_model_structural_tag
from oracle.comparing import scaled, seeded
from structural_tag.families.test_walks import text_of, vocabulary_for, walk
from structural_tag.families.transcripts import FAMILIES
from structural_tag.families.transcripts import TOOLS as SAMPLE_TOOLS
from structural_tag.spelling import tokenize

Call = tuple[str, dict[str, Any]]

# By family: the parsers of vLLM and of SGLang.
PARSERS = {
    "hermes": ("hermes", "hermes"),
    "qwen_3": ("hermes", "qwen25"),
    "granite_4": ("granite4", None),
    "exaone": ("hermes", "hermes"),
    "ernie_4_5": ("ernie45", None),
    "longcat": ("longcat", None),
    "granite_20b_functioncalling": ("granite-20b-fc", None),
    "granite": ("granite", None),
    "hunyuan_a13b": ("hunyuan_a13b", None),
    "jamba": ("jamba", None),
    "apertus": ("apertus", "apertus2509"),
    "xlam": ("xlam", None),
    "llama": ("llama3_json", "llama3"),
    "mistral": ("mistral", "mistral"),
    "mistral_v3": ("mistral", None),
    "command_a": (None, "cohere_command4"),
    "kimi": ("kimi_k2", "kimi_k2"),
    "deepseek_r1": ("deepseek_v3", "deepseekv3"),
    "deepseek_v3_1": ("deepseek_v31", "deepseekv31"),
    "deepseek_v3_2": ("deepseek_v32", "deepseekv32"),
    "deepseek_v4": ("deepseek_v4", "deepseekv4"),
    "deepseek_v4_1": ("deepseek_v41", "deepseekv41"),
    "qwen_3_coder": ("qwen3_coder", "qwen3_coder"),
    "qwen_3_5": ("qwen3_coder", "qwen3_coder"),
    "mimo": ("mimo", "mimo"),
    "glm_4_5": ("glm45", "glm45"),
    "minimax": ("minimax_m2", "minimax-m2"),
    "minimax_m3": ("minimax_m3", "minimax-m3"),
    "seed_oss": ("seed_oss", None),
    "step_3": ("step3", "step3"),
    "hunyuan_3": ("hy_v3", "hunyuan"),
    "dots": ("dots", "dots"),
    "llama_4_pythonic": ("llama4_pythonic", "pythonic"),
    "gemma_3": ("pythonic", "pythonic"),
    "olmo_3": ("olmo3", None),
    "gemma_4": ("gemma4", "gemma4"),
}
# What parsers of vLLM look for in the vocabulary beside the marks that the walks have as tokens.
_MARKS = {
    "llama": ("<|python_tag|>",),
    "mistral_v3": ("[TOOL_CALLS]",),
    "hunyuan_3": ("<tool_calls>", "</tool_calls>", "<tool_call>", "</tool_call>"),
}
_WRITE_NONE = ("qwen_3_coder", "qwen_3_5", "mimo", "seed_oss", "gemma_4")


def tools(family: str) -> list[dict[str, Any]]:
    members: dict[str, Any] = {
        "flag": {"type": "boolean"},
        "kind": {"type": "string", "enum": ["new", "old one"]},
        "none": {"type": "null"},
        "note": {"type": "string", "pattern": "^[a-z]{1,6}$"},
        "pages": {"type": "integer", "minimum": 1, "maximum": 30},
    }
    if family in _WRITE_NONE:
        del members["none"]
    schema = {"type": "object", "properties": members, "required": ["flag"], "additionalProperties": False}
    ping = {"type": "object", "properties": {}, "additionalProperties": False}
    named = {"book": schema, "ping": ping}
    return [{"type": "function", "function": {"name": name, "parameters": each}} for name, each in named.items()]


class Tokenizer:
    """As much of a tokenizer as vLLM's parsers ask for. The marks of a format are in its vocabulary."""

    chat_template = response_template = bos_token_id = None
    is_fast = True

    def __init__(self, info: mw.TokenizerInfo, family: str) -> None:
        self.info = info
        self.vocab = {text.decode("utf-8", "replace"): i for i, text in enumerate(info.token_bytes)}
        for mark in _MARKS.get(family, ()):
            self.vocab.setdefault(mark, len(self.vocab) + 1_000)
        self.eos_token_id = info.stop_token_ids[0]
        self.all_special_ids = [i for i in info.special_token_ids if b"|" in info.token_bytes[i]]
        self.all_special_tokens = [info.token_bytes[i].decode() for i in self.all_special_ids]

    def get_vocab(self) -> dict[str, int]:
        return self.vocab

    def encode(self, text: str, **_: Any) -> list[int]:
        return tokenize(self.info, text)

    def decode(self, ids: list[int] | int, **_: Any) -> str:
        return text_of(self.info, [ids] if isinstance(ids, int) else list(ids))

    def convert_tokens_to_ids(self, token: str) -> int | None:
        return self.vocab.get(token)


def by_vllm(parser: str, given: list[dict[str, Any]], text: str, tokenizer: Tokenizer) -> list[Call]:
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
    from vllm.parser import ParserManager

    request = ChatCompletionRequest(messages=[], model="m", tools=given, tool_choice="auto")
    made = ParserManager.get_parser(parser, None, enable_auto_tools=True)
    assert made is not None
    ids = tokenizer.encode(text)
    _, _, calls = made(tokenizer, request.tools).parse(
        text, request, enable_auto_tools=True, model_output_token_ids=ids
    )
    return [(call.name, json.loads(call.arguments)) for call in calls or []]


def by_sglang(parser: str, given: list[dict[str, Any]], text: str, _: Tokenizer) -> list[Call]:
    from sglang.srt.entrypoints.openai.protocol import Tool
    from sglang.srt.function_call.function_call_parser import FunctionCallParser

    made = FunctionCallParser([Tool(**each) for each in given], parser)
    calls = made.parse_non_stream(text)[1] if made.has_tool_call(text) else []
    return [(call.name, json.loads(call.parameters)) for call in calls]


def told(compiled: mw.CompiledGrammar, tokens: list[int]) -> tuple[list[Call], str]:
    """The calls of an output, and the text around them."""
    matcher = mw.GrammarMatcher(compiled)
    assert matcher.accept_tokens(tokens) == len(tokens)
    assert matcher.accept_token(compiled.tokenizer_info.stop_token_ids[0])
    events = EventReader(matcher).read()
    content = "".join(event.text for event in events if isinstance(event, TextDelta))
    return [(event.name, json.loads(event.arguments)) for event in events if isinstance(event, CallDone)], content


def check(family: str, parser: str, read: Callable[..., list[Call]]) -> None:
    compiler = mw.GrammarCompiler(vocabulary_for(family))
    tokenizer = Tokenizer(compiler.tokenizer_info, family)
    rng = seeded(f"tool parsers {family}")
    tag = get_model_structural_tag(family, SAMPLE_TOOLS, "required", "disabled")
    sample = FAMILIES[family].calls(2)
    expected, _ = told(compiler.compile_structural_tag(tag), tokenizer.encode(sample))
    assert expected == [("get_weather", {"city": "Paris", "days": 3})] * 2
    assert read(parser, SAMPLE_TOOLS, sample, tokenizer) == expected
    with_calls = 0
    for parallel in (True, False):
        given = tools(family)
        tag = get_model_structural_tag(family, given, "required", "disabled", parallel_tool_calls=parallel)
        compiled = compiler.compile_structural_tag(tag)
        for _ in range(scaled(8)):
            tokens = walk(compiled, rng)
            if tokens is None:
                continue
            text = text_of(compiler.tokenizer_info, tokens)
            calls, content = told(compiled, tokens)
            if content.strip():  # half a call, say, which parsers take for one
                continue
            assert read(parser, given, text, tokenizer) == calls, text
            with_calls += 1
    assert with_calls >= 3, "hardly any walk came to an end"


@pytest.mark.parametrize("family", [family for family, (parser, _) in PARSERS.items() if parser])
def test_vllm_reads_what_we_let_through(family: str) -> None:
    pytest.importorskip("vllm", reason="vLLM is not installed: make engines")
    check(family, str(PARSERS[family][0]), by_vllm)


@pytest.mark.parametrize("family", [family for family, (_, parser) in PARSERS.items() if parser])
def test_sglang_reads_what_we_let_through(family: str) -> None:
    pytest.importorskip("sglang", reason="SGLang is not installed: make engines")
    check(family, str(PARSERS[family][1]), by_sglang)
