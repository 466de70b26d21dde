"""Mistakes that callers make: what is raised says what was expected and a way out that works where it is raised."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import maskwright as mw
from maskwright import openai_shapes
from maskwright.engine import Request
from maskwright.lm import load_embedded_model
from maskwright.sampling import StructureSampler
from maskwright.show.trace import trace
from maskwright.structural_tag import JSONSchemaFormat
from maskwright.support.argument_names import PASS_TO_MATCHER

LM = load_embedded_model()
INFO = mw.TokenizerInfo.from_vocab([bytes((b,)) for b in range(256)] + ["</s>"], stop_token_ids=[256])
COMPILER = mw.GrammarCompiler(INFO)
GRAMMAR = COMPILER.compile_regex("ab*c")
TOOL = {"type": "function", "function": {"name": "w", "parameters": {"type": "object"}}}


def matcher() -> mw.GrammarMatcher:
    return mw.GrammarMatcher(GRAMMAR)


def tag(data: Any) -> mw.CompiledGrammar:
    return COMPILER.compile_structural_tag(data)


def tools(given: Any, **options: Any) -> Any:
    return mw.get_model_structural_tag("qwen_3", given, **options)


def sampler(**options: Any) -> StructureSampler:
    compiled = mw.GrammarCompiler(LM.tokenizer_info).compile_regex(" yes| no")
    return StructureSampler(compiled, LM.logits, LM.encode("a"), max_tokens=9, **options)


MAKERS: tuple[Any, ...] = (
    *(COMPILER.compile_regex, COMPILER.compile_regex_async, COMPILER.compile_grammar, COMPILER.compile_grammar_async),
    *(COMPILER.compile_choices, COMPILER.compile_choices_async),
    *(mw.Grammar.from_regex, mw.Grammar.from_ebnf, mw.Grammar.from_choices),
)
MISTAKES: dict[str, tuple[Callable[[], Any], type[mw.MaskwrightError], str]] = {
    "a file as a grammar": (lambda: mw.Grammar.from_lark(StringIO()), mw.ArgumentError, "file.read()"),  # type: ignore[arg-type]
    "a file as a schema": (lambda: COMPILER.compile_json_schema(StringIO()), mw.SchemaError, "file.read()"),
    "a path as a tag": (lambda: tag(Path("tag.json")), mw.StructuralTagError, "path.read_text()"),
    "an open file as choices": (lambda: COMPILER.compile_choices(StringIO("a\nb")), mw.ArgumentError, "splitlines()"),
    "text added to a grammar": (lambda: GRAMMAR.grammar + "b", mw.ArgumentError, "Grammar.from_choices([text])"),
    "stop tokens of a matcher": (
        lambda: mw.GrammarMatcher(GRAMMAR, stop_token_ids=[1]),  # type: ignore[call-arg]
        mw.ArgumentError,
        "use override_stop_tokens",
    ),
    "text as a format": (lambda: tag({"format": "hi"}), mw.StructuralTagError, '"const_string", "value"'),
    "a name as a format": (
        lambda: tag({"format": "json"}),
        mw.StructuralTagError,
        '"type": "json_schema", "json_schema"',
    ),
    "text as content": (
        lambda: tag({"format": {"type": "tag", "begin": "<", "content": "any", "end": ">"}}),
        mw.StructuralTagError,
        'any text: {"type": "any_text"}',
    ),
    "a mask of rows to fill": (
        lambda: mw.BatchGrammarMatcher([matcher()]).fill_next_token_bitmask(mw.allocate_token_bitmask(1, 257), [True]),
        mw.ArgumentError,
        "not bool\n  hint: pass numbers instead of a mask: numpy.flatnonzero(mask)",
    ),
    "an array as a mask of rows to apply": (
        lambda: mw.apply_token_bitmask_inplace(
            np.zeros((1, 257), np.float32), mw.allocate_token_bitmask(1, 257), indices=np.array([True])
        ),
        mw.ArgumentError,
        "hint: pass numbers instead of a mask: numpy.flatnonzero(mask)",
    ),
    "a tool's name as tools": (lambda: tools("w"), mw.RequestError, "pass the tools themselves, not a name"),
    "tools as a text": (lambda: tools("[]"), mw.RequestError, "pass the array itself, not its JSON text"),
    "names as parameters": (
        lambda: tools([{"type": "function", "function": {"name": "w", "parameters": ["city"]}}]),
        mw.RequestError,
        'write {"type": "object", "properties": …}',
    ),
    "a tool's name as a choice": (
        lambda: tools([TOOL], tool_choice="w"),
        mw.RequestError,
        'use {"type": "function", "function": {"name": "w"}}',
    ),
    "reasoning on": (lambda: tools([TOOL], reasoning="on"), mw.RequestError, "use 'enabled'"),
    "reasoning off": (lambda: tools([TOOL], reasoning="off"), mw.RequestError, "use 'disabled'"),
    "a narrow bitmask": (
        lambda: matcher().fill_next_token_bitmask(np.zeros((1, 1), np.int32)),
        mw.BitmaskError,
        "has 1 word of 32 tokens, but the vocabulary needs 9",
    ),
    "a bitmask of floats": (
        lambda: matcher().fill_next_token_bitmask(np.zeros((1, 9), np.float32)),
        mw.BitmaskError,
        "dtype int32, not float32",
    ),
    "logits as a list": (
        lambda: mw.apply_token_bitmask_inplace([0.0] * 257, mw.allocate_token_bitmask(1, 257)),
        mw.BitmaskError,
        "pass numpy.array(logits)",
    ),
    "a text for saved bytes": (lambda: mw.Grammar.deserialize("a"), mw.ArgumentError, "must be bytes, not str"),  # type: ignore[arg-type]
    "no directory": (lambda: mw.GrammarCompiler(INFO, cache_dir=""), mw.OptionError, "pass a directory, or None"),
    "a budget by another name": (
        lambda: mw.GrammarMatcher(GRAMMAR, max_new_tokens=9),
        mw.ArgumentError,
        "use max_tokens",
    ),
    **{
        f"a budget of {make.__name__}": (partial(make, "root ::= 'a'", max_tokens=9), mw.ArgumentError, PASS_TO_MATCHER)
        for make in MAKERS
    },
    "a class as a type": (
        lambda: mw.Grammar.from_json_schema({"properties": {"a": {"type": str}}}),
        mw.SchemaError,
        'write "string" in quotes',
    ),
    "a format as a tag": (
        lambda: tag(JSONSchemaFormat({"type": "integer"})),
        mw.StructuralTagError,
        "wrap the format: StructuralTag(format=…)",
    ),
    "a definition by another name": (
        lambda: tools([{"type": "custom", "name": "a", "format": {"type": "grammar", "grammar": "a"}}]),
        mw.RequestError,
        '"syntax": "lark", "definition": …',
    ),
    "the format of an answer": (
        lambda: tools([TOOL], response_format={"type": "json_object"}),
        mw.OptionError,
        "did you mean 'content'?",
    ),
    "a temperature of zero": (lambda: sampler(temperature=0), mw.OptionError, "use best_of"),
    "a text as a token": (lambda: matcher().accept_token("a"), mw.ArgumentError, "accept_string accepts text"),  # type: ignore[arg-type]
    "a tokenizer's name": (
        lambda: mw.TokenizerInfo.from_huggingface("gpt2"),
        mw.TokenizerError,
        "transformers.AutoTokenizer.from_pretrained(name)",
    ),
    "an encoding's name": (
        lambda: mw.TokenizerInfo.from_tiktoken("cl100k_base"),
        mw.TokenizerError,
        "tiktoken.get_encoding(name)",
    ),
    "sampling parameters as a dict": (
        lambda: Request([1], {"max_tokens": 3}),  # type: ignore[arg-type]
        mw.ArgumentError,
        "pass SamplingParams(max_tokens=…",
    ),
    "a class as a response format": (
        lambda: openai_shapes.chat_completion({"response_format": int}),
        mw.RequestError,
        'a class is written {"type": "json_schema"',
    ),
    "numbers to choose from": (
        lambda: openai_shapes.vllm({"choice": [1, 2]}),
        mw.RequestError,
        "write numbers and other values as strings",
    ),
    "a text to choose from": (
        lambda: openai_shapes.vllm({"choice": "a"}),
        mw.RequestError,
        "put the text into an array",
    ),
    "an object of vLLM": (lambda: openai_shapes.vllm(object()), mw.RequestError, 'write {"json": …}'),  # type: ignore[arg-type]
    "an object of SGLang": (lambda: openai_shapes.sglang(object()), mw.RequestError, 'write {"json_schema": …}'),  # type: ignore[arg-type]
    "a trace of a text": (lambda: trace(matcher(), "abc"), mw.ArgumentError, "encode the text first"),  # type: ignore[arg-type]
    "a trace of a grammar": (
        lambda: trace(GRAMMAR, [97]),  # type: ignore[arg-type]
        mw.ArgumentError,
        "make one with GrammarMatcher(compiled_grammar)",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_message_says_what_to_do(name: str) -> None:
    call, kind, part = MISTAKES[name]
    with pytest.raises(kind) as caught:
        call()
    assert part in str(caught.value)
