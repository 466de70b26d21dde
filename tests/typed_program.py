"""A program as users write it, for a strict type checker (tests/test_types_of_users.py); it also runs."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future

import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type

import maskwright as mw
from maskwright.events import EventReader, TextDelta
from maskwright.structural_tag import StructuralTag, get_model_structural_tag

info = mw.TokenizerInfo.from_vocab([bytes([byte]) for byte in range(256)] + [b"</s>"], stop_token_ids=[256])
compiler = mw.GrammarCompiler(info, max_threads=2)


def mask_of(matcher: mw.GrammarMatcher) -> npt.NDArray[np.int32]:
    bitmask = mw.allocate_token_bitmask(1, info.vocab_size)
    assert_type(bitmask, npt.NDArray[np.int32])
    assert_type(matcher.fill_next_token_bitmask(bitmask), bool)
    return bitmask


def generate(matcher: mw.GrammarMatcher, token_ids: list[int]) -> int:
    assert_type(matcher.accept_token(token_ids[0]), bool)
    assert_type(matcher.accept_token(np.int64(token_ids[1])), bool)
    assert_type(matcher.accept_tokens(np.array(token_ids[2:])), int)
    assert_type(matcher.temperature(), "float | None")
    assert_type(matcher.forced_token(), "int | None")
    matcher.rollback(1)
    assert_type(matcher.is_terminated(), bool)
    assert_type(matcher.num_accepted_tokens, int)
    return matcher.num_accepted_tokens


async def compile_both() -> list[mw.CompiledGrammar]:
    pending: Future[mw.CompiledGrammar] = compiler.compile_regex_async("[0-9]+")
    assert_type(pending.result(), mw.CompiledGrammar)
    awaited = await compiler.compile_json_schema_async({"type": "object"})
    assert_type(awaited, mw.CompiledGrammar)
    return [awaited, *await asyncio.gather(compiler.compile_choices_async(["a", "b"]))]


def read(output: str) -> list[str]:
    tag = get_model_structural_tag("hermes", reasoning="disabled")
    assert_type(tag, StructuralTag)
    matcher = mw.GrammarMatcher(compiler.compile_structural_tag(tag))
    reader = EventReader(matcher)
    matcher.accept_string(output)
    return [event.text for event in reader.read() if isinstance(event, TextDelta)]


def refused(pattern: str) -> str:
    try:
        return mw.Grammar.from_regex(pattern).to_ebnf()
    except mw.RegexSyntaxError as error:
        return f"{error.line}:{error.column}: {error.hint or error.message}"


if __name__ == "__main__":
    matcher = mw.GrammarMatcher(compiler.compile_regex("[a-z]+"))
    mask_of(matcher)
    generate(matcher, list(b"abc"))
    batch = mw.BatchGrammarMatcher([matcher, matcher.fork()])
    assert_type(batch.accept_token([97, 98]), list[bool])
    batch.rollback(1)
    asyncio.run(compile_both())
    print(read("hello"), refused("("))
