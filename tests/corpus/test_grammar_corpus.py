"""Every case of the corpus, in every way in which a grammar can be used.

A case (in the `.toml` files beside this one) has a `name`, a `language`, a `grammar` (or `grammar_parts`: texts, and
how often each is repeated), and what is to be: texts that it `accepts` as a whole, `prefixes` of such that are not
whole, texts that it `rejects`, or the class of the `error` with which it is refused. Each is run

* byte by byte, on a grammar compiled afresh and again on the same one when all texts have been through it, with the
  same mask at every step, forwards and after rolling back,
* token by token, cut up at random into the tokens of a small random vocabulary; at every step, each bit of the mask
  says what `accept_token` says,
* against the oracle, where the grammar is small enough for it.
"""

from __future__ import annotations

import random
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import maskwright
from maskwright import Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from maskwright.ir import GrammarIR, postorder
from oracle import recognizer
from oracle.comparing import mask_of, scaled

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

READERS = {"ebnf": Grammar.from_ebnf, "lark": Grammar.from_lark, "regex": Grammar.from_regex}
BYTES = [bytes((b,)) for b in range(256)]
STOP = 256
BYTE_INFO = TokenizerInfo.from_vocab([*BYTES, b"</s>"], special_token_ids=[STOP], stop_token_ids=[STOP])
MAX_ORACLE_EXPRESSIONS = 250
MAX_ORACLE_BYTES = 12


def read_cases() -> dict[str, dict[str, Any]]:
    cases = {}
    for path in sorted(Path(__file__).parent.glob("*.toml")):
        for case in tomllib.loads(path.read_text("utf-8"))["case"]:
            if "grammar_parts" in case:
                case["grammar"] = "".join(text * count for text, count in case["grammar_parts"])
            name = f"{path.stem}: {case['name']}"
            assert name not in cases, "names are unique"
            cases[name] = {"accepts": [], "prefixes": [], "rejects": [], **case}
    return cases


CASES = read_cases()
REFUSED = [name for name, case in CASES.items() if "error" in case]
WORKING = [name for name, case in CASES.items() if "error" not in case]


@cache
def grammar_of(name: str) -> Grammar:
    return READERS[CASES[name]["language"]](CASES[name]["grammar"])


def texts_of(name: str) -> list[bytes]:
    case = CASES[name]
    return [text.encode() for text in (*case["accepts"], *case["prefixes"], *case["rejects"])]


def test_the_corpus_is_large() -> None:
    assert len(CASES) >= 600
    assert all(texts_of(name) for name in WORKING if "hostile" not in name)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    start = time.thread_time()
    with pytest.raises(getattr(maskwright, CASES[name]["error"])) as info:
        GrammarCompiler(BYTE_INFO).compile_grammar(READERS[CASES[name]["language"]](CASES[name]["grammar"]))
    assert time.thread_time() - start < 3  # usually far below one second
    assert len(str(info.value)) < 1000


def walk(compiled: maskwright.CompiledGrammar, text: bytes) -> tuple[list[set[int]], bool]:
    """The masks before each byte and after the last that is accepted, and whether all were."""
    matcher = GrammarMatcher(compiled)
    masks = [mask_of(matcher, BYTE_INFO.vocab_size)]
    for byte in text:
        if not matcher.accept_token(byte):
            assert byte not in masks[-1]
            return masks, False
        assert byte in masks[-1]
        masks.append(mask_of(matcher, BYTE_INFO.vocab_size))
    for mask in masks[-2::-1]:
        matcher.rollback(1)
        assert mask_of(matcher, BYTE_INFO.vocab_size) == mask
    return masks, True


@pytest.mark.parametrize("name", WORKING)
def test_byte_by_byte(name: str) -> None:
    start = time.thread_time()
    case, compiled = CASES[name], GrammarCompiler(BYTE_INFO).compile_grammar(grammar_of(name))
    fresh = {text: walk(compiled, text) for text in texts_of(name)}
    for text in case["accepts"]:
        masks, whole = fresh[text.encode()]
        assert whole, text
        assert STOP in masks[-1], text
    for text in case["prefixes"]:
        masks, whole = fresh[text.encode()]
        assert whole, text
        assert masks[-1], text
        assert STOP not in masks[-1], text
    for text in case["rejects"]:
        masks, whole = fresh[text.encode()]
        assert not whole or STOP not in masks[-1], text
    assert time.thread_time() - start < 5  # usually far below one second
    warm = {text: walk(compiled, text) for text in reversed(texts_of(name))}
    assert warm == fresh
    again = GrammarCompiler(BYTE_INFO).compile_grammar(grammar_of(name))
    assert {text: walk(again, text) for text in texts_of(name)[::-1]} == fresh


def random_vocabulary(texts: list[bytes], rng: random.Random) -> list[bytes]:
    """Pieces of the texts, pieces joined that do not belong together, and all bytes."""
    pieces = []
    for _ in range(24):
        text = rng.choice(texts) if texts else b"ab"
        at = rng.randrange(len(text) + 1)
        pieces.append(text[at : at + rng.randint(1, 5)] + (rng.choice(BYTES) if rng.random() < 0.2 else b""))
    return [*BYTES, b"</s>", *(piece for piece in pieces if piece)]


@pytest.mark.parametrize("name", [name for name in WORKING if "hostile" not in name])
def test_token_by_token(name: str) -> None:
    rng = random.Random(name)
    tokens = random_vocabulary(texts_of(name), rng)
    info = TokenizerInfo.from_vocab(tokens, special_token_ids=[STOP], stop_token_ids=[STOP])
    compiled = GrammarCompiler(info).compile_grammar(grammar_of(name))
    for text in CASES[name]["accepts"][: scaled(3)]:
        matcher, rest = GrammarMatcher(compiled), text.encode()
        while True:
            mask = mask_of(matcher, info.vocab_size)
            for token in (*range(0, 256, 5), *range(STOP, info.vocab_size)):
                assert matcher.fork().accept_token(token) == (token in mask), (text, rest, tokens[token])
            if not rest:
                break
            fitting = [t for t, piece in enumerate(tokens) if t != STOP and rest.startswith(piece)]
            token = rng.choice([t for t in fitting if t > STOP] or fitting)
            assert matcher.accept_token(token), (text, rest)
            rest = rest[len(tokens[token]) :]
        assert matcher.is_completed()


def is_small(ir: GrammarIR) -> bool:
    return not ir.token_sets and sum(len(postorder(rule.body)) for rule in ir.rules) <= MAX_ORACLE_EXPRESSIONS


@pytest.mark.parametrize("name", [name for name in WORKING if is_small(grammar_of(name).ir) and "hostile" not in name])
def test_against_the_oracle(name: str) -> None:
    case, ir = CASES[name], grammar_of(name).ir
    for key, expected in (("accepts", True), ("prefixes", False), ("rejects", False)):
        for text in case[key]:
            data = text.encode()
            if len(data) <= MAX_ORACLE_BYTES:
                assert recognizer.matches(ir, data) == expected, text
                if key == "prefixes":
                    assert recognizer.is_viable(ir, data), text
