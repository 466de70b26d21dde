"""Tokens by id and text, and special tokens written out in strings."""

from __future__ import annotations

import gc
from typing import Any

import pytest

import maskwright as mw
from maskwright.errors import GrammarError, StructuralTagError
from maskwright.structural_tag.texts.tokens import _KNOWN, Tokens, joined, tokens_of
from structural_tag.spelling import vocabulary

INFO = vocabulary(["<|a|>", "<|a|>b", "<x>"], ["hello", "ab"])
HELLO, AB, A, A_B, X, STOP = range(256, 262)
COMPILER = mw.GrammarCompiler(INFO)


def outputs(format_: dict[str, Any], longest: int = 2) -> set[tuple[int, ...]]:
    """All whole outputs of so many tokens, out of the tokens that are no single bytes; the same however it is read."""
    tag = {"format": format_}
    found = outputs_of(COMPILER.compile_structural_tag(tag), longest)
    assert found == outputs_of(COMPILER.compile_grammar(mw.Grammar.from_structural_tag(tag)), longest)
    return found


def outputs_of(compiled: mw.CompiledGrammar, longest: int) -> set[tuple[int, ...]]:
    found: set[tuple[int, ...]] = set()
    open_ends: list[tuple[int, ...]] = [()]
    while open_ends:
        start = open_ends.pop()
        matcher = mw.GrammarMatcher(compiled)
        assert matcher.accept_tokens(start) == len(start)
        if matcher.is_completed():
            found.add(start)
        if len(start) < longest:
            open_ends += [(*start, t) for t in (HELLO, AB, A, A_B, X) if matcher.validate_tokens([t])]
    return found


def test_pieces() -> None:
    tokens = Tokens(INFO)
    assert tokens.pieces("") == ()
    assert tokens.pieces("ab") == ("ab",)
    assert tokens.pieces("<|a|>") == (A,)
    assert tokens.pieces("x<|a|>b<|a|>c<x>") == ("x", A_B, A, "c", X)
    assert joined(["a", "b", 1, "c", "d"]) == ("ab", 1, "cd")


def test_ids() -> None:
    tokens = Tokens(INFO)
    assert [tokens.id_of(t, "") for t in ("hello", "<x>", 7)] == [HELLO, X, 7]
    for missing in ("nothing", -1, INFO.vocab_size):
        with pytest.raises(StructuralTagError) as caught:
            tokens.id_of(missing, "/here")
        assert caught.value.pointer == "/here"


def test_a_special_token_in_a_string() -> None:
    assert outputs({"type": "const_string", "value": "<|a|>ab"}) == {(A_B,)} - {(A_B,)} | {(A, AB)}
    assert outputs({"type": "const_string", "value": "<x>hello"}) == {(X, HELLO)}


def test_one_token() -> None:
    assert outputs({"type": "token", "token": "hello"}) == {(HELLO,)}
    assert outputs({"type": "token", "token": X}) == {(X,)}


def test_all_but_some() -> None:
    every = {HELLO, AB, A, A_B, X}
    excluded = {"type": "exclude_token", "exclude_tokens": ["hello", X]}
    assert outputs(excluded) == {(t,) for t in every - {HELLO, X}}
    assert outputs({"type": "any_tokens", "exclude_tokens": [AB]}, 1) == {()} | {(t,) for t in every - {AB}}
    assert outputs({"type": "any_tokens", "max_tokens": 1}, 3) == {()} | {(t,) for t in every}


def test_no_stop_token_is_any_token() -> None:
    matcher = mw.GrammarMatcher(COMPILER.compile_structural_tag({"format": {"type": "exclude_token"}}))
    assert not matcher.accept_token(STOP)


def test_a_tag_between_tokens() -> None:
    token = {"type": "token", "token": "<x>"}
    tag = {"type": "tag", "begin": token, "content": {"type": "any_tokens"}, "end": token}
    assert outputs(tag, 3) == {(X, X)} | {(X, t, X) for t in (HELLO, AB, A, A_B)}


def test_text_holds_no_special_token() -> None:
    assert outputs({"type": "any_text"}, 1) == {(), (HELLO,), (AB,)}
    token = {"type": "token", "token": "<x>"}
    tag = {"type": "tag", "begin": token, "content": {"type": "any_text", "excludes": ["lo"]}, "end": token}
    assert outputs(tag, 3) == {(X, X), (X, AB, X)}


def triggered(**more: Any) -> dict[str, Any]:
    tag = {"begin": {"type": "token", "token": X}, "content": {"type": "const_string", "value": "ab"}, "end": "<|a|>"}
    return {"type": "token_triggered_tags", "trigger_tokens": ["<x>"], "tags": [tag], **more}


def test_tokens_for_triggers() -> None:
    call = (X, AB, A)
    text = {HELLO, AB, A, A_B}
    assert outputs(triggered(), 4) >= {(), call, (HELLO, *call), (*call, A)}
    assert outputs(triggered(), 1) == {()} | {(t,) for t in text}
    assert outputs(triggered(exclude_tokens=["hello"]), 1) == {()} | {(t,) for t in text - {HELLO}}
    assert outputs(triggered(at_least_one=True, stop_after_first=True), 4) == {call}
    assert outputs(triggered(stop_after_first=True), 4) >= {(HELLO, *call)}
    assert (*call, A) not in outputs(triggered(stop_after_first=True), 4)


def test_dispatch_by_tokens() -> None:
    rules = [["<x>", {"type": "const_string", "value": "hello"}]]
    looped = outputs({"type": "token_dispatch", "rules": rules, "exclude_tokens": [A]}, 4)
    assert looped >= {(), (AB, X, HELLO), (X, HELLO, X, HELLO)}
    assert not any(A in each for each in looped)
    once = outputs({"type": "token_dispatch", "rules": rules, "loop": False}, 4)
    assert (X, HELLO) in once
    assert (X, HELLO, AB) not in once


@pytest.mark.parametrize(
    ("data", "pointer"),
    [
        (triggered(trigger_tokens=["<x>", "hello"]), "/format/trigger_tokens"),
        (triggered(trigger_tokens=["hello"]), "/format/tags/0/begin"),
        (triggered(trigger_tokens=["nothing"]), "/format/trigger_tokens/0"),
        (triggered(tags=[{"begin": "<x>", "content": {"type": "any_text"}, "end": ""}]), "/format/tags/0/begin"),
    ],
)
def test_errors(data: dict[str, Any], pointer: str) -> None:
    with pytest.raises(StructuralTagError) as caught:
        COMPILER.compile_structural_tag({"format": data})
    assert caught.value.pointer == pointer


def test_kept_as_long_as_the_tokenizer() -> None:
    gc.collect()  # the tokenizers of other tests
    info = vocabulary(["<y>"])
    assert tokens_of(info) is tokens_of(info)
    known = len(_KNOWN)
    del info
    gc.collect()
    assert len(_KNOWN) == known - 1


def test_tokens_are_looked_up_when_a_grammar_is_compiled() -> None:
    tag = {"format": triggered(exclude_tokens=["hello"])}
    grammar = mw.Grammar.from_structural_tag(tag)
    assert "<[^hello,260]>" in grammar.dump()
    assert outputs_of(COMPILER.compile_grammar(grammar), 3)
    other = mw.GrammarCompiler(vocabulary(["<|a|>", "<|a|>b", "<x>"], ["ab", "abc"]))
    with pytest.raises(StructuralTagError, match="no token 'hello'") as caught:
        other.compile_grammar(grammar)
    assert caught.value.pointer == "/format/exclude_tokens/0"


def test_tokens_are_looked_up_in_a_grammar_that_was_combined() -> None:
    formats: list[dict[str, Any]] = [
        {"type": "token", "token": "hello"},
        {"type": "exclude_token", "exclude_tokens": ["hello", X]},
        {"type": "any_tokens", "exclude_tokens": ["ab"], "max_tokens": 1},
        {"type": "tag", "begin": {"type": "token", "token": "<x>"}, "content": {"type": "any_tokens"}, "end": "ab"},
    ]
    for format_ in formats:
        combined = mw.Grammar.concat(mw.Grammar.from_structural_tag({"format": format_}))
        assert outputs_of(COMPILER.compile_grammar(combined), 2) == outputs(format_, 2)
    missing = mw.Grammar.concat(mw.Grammar.from_structural_tag({"format": {"type": "token", "token": "nothing"}}))
    with pytest.raises(GrammarError, match="no token 'nothing'"):
        COMPILER.compile_grammar(missing)


def test_a_tag_with_unknown_tokens_is_not_taken_from_another_grammar() -> None:
    tag = {"begin": "<x>", "content": {"type": "token", "token": "hello"}, "end": "ab"}
    other = {"begin": "<x>", "content": {"type": "token", "token": "ab"}, "end": "ab"}
    first = {"type": "triggered_tags", "triggers": ["<x>"], "tags": [tag]}
    second = {"type": "triggered_tags", "triggers": ["<x>"], "tags": [other, tag]}
    for format_ in (first, second, first):
        assert outputs(format_, 3) >= {(), (HELLO,), (X, HELLO, AB)}


def test_one_token_before_a_token_that_ends_a_tag() -> None:
    token = {"type": "token", "token": "<x>"}
    tag = {"type": "tag", "begin": "ab", "content": {"type": "exclude_token"}, "end": token}
    assert outputs(tag, 3) == {(AB, t, X) for t in (HELLO, AB, A, A_B)}


def test_tokens_that_may_end_a_tag() -> None:
    tag = {"type": "tag", "begin": "ab", "content": {"type": "any_tokens"}, "end": ["<x>", ""]}
    assert outputs(tag, 3) == {
        (AB, *some, *end) for some in [(), *((t,) for t in (HELLO, AB, A, A_B))] for end in [(), (X,)]
    } | {(AB, s, t) for s in (HELLO, AB, A, A_B) for t in (HELLO, AB, A, A_B)}
    text = {"type": "tag", "begin": "ab", "content": {"type": "any_text"}, "end": ["<x>", ""]}
    assert outputs(text, 2) == {(AB,), (AB, X), (AB, HELLO), (AB, AB)}
