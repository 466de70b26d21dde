"""Random walks through masks: whatever comes out is read by an independent reader, and its arguments are valid.

For each family, tool choice, number of calls and kind of reasoning. The vocabulary has the pieces of a sample output,
so that walks get into calls and out of them; every token of the mask is as likely, but pieces and ends are preferred.
"""

from __future__ import annotations

import itertools
import random
import re
from typing import Any

import jsonschema
import numpy as np
import pytest

import maskwright as mw
from maskwright.structural_tag import get_model_structural_tag
from oracle.comparing import scaled, seeded
from structural_tag.families.readers import FAMILIES as READABLE
from structural_tag.families.readers import read
from structural_tag.families.transcripts import FAMILIES, OTHERS
from structural_tag.spelling import vocabulary

BOOK = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "minLength": 1, "maxLength": 6},
        "code": {"type": "string", "pattern": "^[a-c]{2,3}$"},
        "kind": {"type": "string", "enum": ["new", "old <"]},
        "pages": {"type": "integer", "minimum": 1, "maximum": 30},
        "tags": {"type": "array", "items": {"enum": ["x", 1, None]}, "maxItems": 2},
        "note": {"type": "string"},
    },
    "required": ["kind", "pages"],
    "additionalProperties": False,
}
PING = {"type": "object", "properties": {}, "additionalProperties": False}
SCHEMAS = {"book": BOOK, "ping": PING}
TOOLS = [{"type": "function", "function": {"name": n, "parameters": s}} for n, s in SCHEMAS.items()]
CHOICES = ("auto", "required", "none", {"type": "function", "name": "ping"})
MAX_TOKENS = 400


def sample(family: str) -> str:
    if family in FAMILIES:
        it = FAMILIES[family]
        return "".join(it.think or ()) + it.calls(2)
    return "".join(text for name, _, accepted, _ in OTHERS if name == family for text in accepted)


def vocabulary_for(family: str) -> mw.TokenizerInfo:
    """Names between `<|` and `|>` are special tokens, as in the models' own; everything else is text."""
    text = sample(family).replace("get_weather", "\0")
    special = dict.fromkeys(re.findall(r"<[|｜][^<>]*[|｜]>", text))
    pieces = dict.fromkeys(re.findall(r"\n?<[^<>]*>\n?|\[/?[A-Z_]+\]\[?|[^<>\[\0]{2,}", text))
    words = ["book", "ping", "kind", "pages", '"}', '": "', '": ', "new", "</", "old <"]
    # A piece with the text of a special token in it would be text, and no reader of texts could tell.
    return vocabulary(special, [piece for piece in (*pieces, *words) if not any(name in piece for name in special)])


def walk(compiled: mw.CompiledGrammar, rng: random.Random) -> list[int] | None:
    """The tokens of a random output; None if it did not come to an end."""
    info = compiled.tokenizer_info
    out: list[int] = []
    matcher = mw.GrammarMatcher(compiled)
    bitmask = mw.allocate_token_bitmask(1, info.vocab_size)
    stop = info.stop_token_ids[0]
    for _ in range(MAX_TOKENS):
        matcher.fill_next_token_bitmask(bitmask)
        allowed = np.flatnonzero(np.unpackbits(bitmask[0].view(np.uint8), bitorder="little")[: info.vocab_size])
        assert len(allowed), "a dead end"
        if stop in allowed and rng.random() < 0.2:
            return out
        pieces = [i for i in allowed if len(info.token_bytes[i]) > 1 and i != stop]
        ends = [i for i in allowed if info.token_bytes[i] in (b'"', b"}", b"]", b">", b"<")]
        pool = pieces if pieces and rng.random() < 0.7 else ends if ends and rng.random() < 0.3 else list(allowed)
        token = int(rng.choice([i for i in pool if i != stop] or [stop]))
        if token == stop:
            return out
        assert matcher.accept_token(token)
        out.append(token)
    return None


def text_of(info: mw.TokenizerInfo, tokens: list[int]) -> str:
    """The text of an output, special tokens by their names."""
    return b"".join(info.token_bytes[token] for token in tokens).decode()


@pytest.mark.parametrize("family", READABLE)
def test_outputs_can_be_read(family: str) -> None:
    rng = seeded(f"walks {family}")
    compiler = mw.GrammarCompiler(vocabulary_for(family))
    ended = with_calls = 0
    for choice, parallel, reasoning in itertools.product(CHOICES, (True, False), ("enabled", "disabled", "auto")):
        tag = get_model_structural_tag(family, TOOLS, choice, reasoning, parallel_tool_calls=parallel)
        compiled = compiler.compile_structural_tag(tag)
        for _ in range(scaled(3)):
            tokens = walk(compiled, rng)
            if tokens is None:
                continue
            text = text_of(compiled.tokenizer_info, tokens)
            ended += 1
            if choice == "none":  # all is text, and no one reads it
                continue
            parts = read(family, text, SCHEMAS, thinks=reasoning == "enabled")
            calls = [part[1:] for part in parts if part[0] == "call"]
            with_calls += bool(calls)
            check(calls, choice, parallel, text)
    assert ended >= 12, "hardly any walk came to an end"
    assert with_calls >= 4, "hardly any walk called something"


def check(calls: list[tuple[str, Any]], choice: Any, parallel: bool, text: str) -> None:
    allowed = {*SCHEMAS} if choice in ("auto", "required") else {"ping"}
    assert {name for name, _ in calls} <= allowed, text
    assert parallel or len(calls) <= 1, text
    assert calls or choice == "auto", text
    for name, arguments in calls:
        assert not list(jsonschema.Draft202012Validator(SCHEMAS[name]).iter_errors(arguments)), (text, arguments)
