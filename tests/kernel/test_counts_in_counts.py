"""Counts in counts that are too many to be spelled out, within a length: all that counts them alike is one state."""

from __future__ import annotations

import json
import re

import pytest

import maskwright
from oracle.comparing import mask_of
from timing import SLOWER, processor_seconds

HOST = r"^(?=.{1,255}$)(.{1,63}\.){1,127}[a-z0-9-]+\.?$"
NO_NUMBER = r"^(?=.{1,255}$)(.{1,63}\.){1,127}(?![0-9]*$)[a-z0-9-]+\.?$"
TEXTS = [
    *(bytes([b]) for b in range(256)),
    b"host",
    b"a.b",
    b"..",
    b".com",
    b"example.",
    b'x"',
    b'."',
    b"-" * 63,
    b".1",
]
STOP = len(TEXTS)
INFO = maskwright.TokenizerInfo.from_vocab([*TEXTS, b"</s>"], stop_token_ids=[STOP], special_token_ids=[STOP])


def matcher_of(pattern: str) -> maskwright.GrammarMatcher:
    grammar = maskwright.Grammar.from_json_schema({"type": "string", "pattern": pattern})
    return maskwright.GrammarMatcher(maskwright.GrammarCompiler(INFO).compile_grammar(grammar))


@pytest.mark.parametrize("pattern", [HOST, NO_NUMBER])
@pytest.mark.parametrize("text", ["", "a", "a.", "..", "a.1", "a.b.c", "-" * 63, "-" * 63 + ".", "a." * 126 + "a"])
def test_masks(pattern: str, text: str) -> None:
    matcher = matcher_of(pattern)
    assert matcher.accept_string('"' + text)
    allowed = mask_of(matcher, STOP + 1)
    assert allowed == {token for token in range(STOP + 1) if matcher.fork().accept_token(token)}
    assert (TEXTS.index(b'"') in allowed) == bool(re.fullmatch(pattern, text))


@pytest.mark.parametrize("pattern", [HOST, NO_NUMBER])
@pytest.mark.parametrize(
    "text",
    ["a.b", "a", "a..b", "..b", "a.1", "a.1.", "a.b.", "a.b..", "-" * 63 + ".b", "-" * 64 + ".b", ".".join("x" * 128)],
)
def test_texts(pattern: str, text: str) -> None:
    assert matcher_of(pattern).accept_string(json.dumps(text)) == bool(re.fullmatch(pattern, text))


def test_many_lookaheads_in_a_row() -> None:
    """They lie inside each other: the time to compile grew exponentially with their number, past all limits of work."""
    compiler = maskwright.GrammarCompiler(INFO)
    pattern = "(?=.*a{1,40}.*b{1,40}.*c{1,40})(a|b|c|ab|bc|abc){1,3000}" * 40
    assert processor_seconds(lambda: compiler.compile_regex(pattern)) < SLOWER  # 0.06 on an idle core
