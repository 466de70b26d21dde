"""Drafts learnt from outputs: what is proposed, that outputs stay the same, and that fewer steps are taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fake_models import FakeModel, scattered

import maskwright as mw
from maskwright.engine import GrammarDrafts, LocalEngine, Request, SamplingParams, complete
from maskwright.errors import TokenizerError

Start = Callable[..., LocalEngine]
TOKENS = [*[bytes((c,)) for c in b'abcdefgh ,{}":'], b"</s>"]
STOP = len(TOKENS) - 1
INFO = mw.TokenizerInfo.from_vocab(TOKENS, stop_token_ids=[STOP], special_token_ids=[STOP])
OBJECT = r'\{"a": "[a-h]{1,9}", "b": "(abba|baab|cage)", "c": "[a-h]{1,9}"\}'
LETTERS = [bytes([c]) for c in b"abcdefgh ,"]
PATTERN = "([a-h]{2,4}, ){3,8}[a-h]+"


def ids_of(text: str) -> list[int]:
    return [TOKENS.index(bytes((c,))) for c in text.encode()]


def written(a: str, b: str, c: str) -> list[int]:
    return ids_of(f'{{"a": "{a}", "b": "{b}", "c": "{c}"}}')


def text_of(token_ids: list[int]) -> str:
    return b"".join(TOKENS[token] for token in token_ids).decode()


def standing_at(compiled: mw.CompiledGrammar, text: str, **options: Any) -> mw.GrammarMatcher:
    matcher = mw.GrammarMatcher(compiled, **options)
    assert matcher.accept_string(text)
    return matcher


@pytest.fixture
def compiled() -> mw.CompiledGrammar:
    return mw.GrammarCompiler(INFO).compile_regex(OBJECT)


def test_what_followed_there_is_proposed_whatever_stands_before(compiled: mw.CompiledGrammar) -> None:
    drafts = GrammarDrafts(num_tokens=30)
    for first, last in (("ab", "g"), ("hag", "f"), ("c", "d")):
        drafts.learn(compiled, written(first, "baab", last))
    for options in ({}, {"max_tokens": 60}):
        matcher = standing_at(compiled, '{"a": "fed"', **options)
        before = matcher.num_accepted_tokens
        assert text_of(drafts.propose(matcher, ids_of('"')[0])) == ', "b": "baab", "c": "'
        assert matcher.num_accepted_tokens == before
    assert drafts.propose(standing_at(compiled, '{"a": "'), ids_of('"')[0]) == []  # three ways to go on


def test_forced_text_needs_a_tokenizer_that_encodes(compiled: mw.CompiledGrammar) -> None:
    with pytest.raises(TokenizerError, match="no tokenizer to encode with"):
        GrammarDrafts().propose(mw.GrammarMatcher(compiled), with_forced=True)


def test_what_is_proposed_is_allowed(compiled: mw.CompiledGrammar) -> None:
    drafts = GrammarDrafts(num_tokens=20)
    for _ in range(3):
        drafts.learn(compiled, written("h" * 9, "cage", "a"))
    matcher = standing_at(compiled, '{"a": "hhhh')
    draft = drafts.propose(matcher, ids_of("h")[0])
    assert draft[:5] == ids_of("hhhhh")
    assert matcher.validate_tokens(draft) == len(draft) == 20
    short = standing_at(compiled, '{"a": "f"', max_tokens=36)  # `{"a": "f"` counts as one
    room = drafts.propose(short, ids_of('"')[0])
    assert short.validate_tokens(room) == len(room)


def test_one_observation_is_not_enough_and_habits_change(compiled: mw.CompiledGrammar) -> None:
    drafts, there = GrammarDrafts(), standing_at(compiled, '{"a": "f", "b": "')
    last = ids_of('"')[0]
    drafts.learn(compiled, ids_of('{"a": "a", "b": "abba'))
    assert drafts.propose(there, last) == []
    drafts.learn(compiled, ids_of('{"a": "a", "b": "abba'))
    assert text_of(drafts.propose(there, last)) == "abba"
    for _ in range(7):
        drafts.learn(compiled, ids_of('{"a": "a", "b": "cage'))
    assert text_of(drafts.propose(there, last)) == "cage"


def test_learning_stops_where_the_grammar_does(compiled: mw.CompiledGrammar) -> None:
    drafts = GrammarDrafts()
    assert drafts.learn(compiled, ids_of('{"a": a')) == 6
    other = mw.GrammarCompiler(INFO).compile_regex("[a-h]*")
    assert drafts.learn(other, [*ids_of("abc"), STOP]) == 4
    assert drafts.propose(mw.GrammarMatcher(other)) == []


def test_replaced_tokens_are_taken_back(compiled: mw.CompiledGrammar) -> None:
    drafts = GrammarDrafts()
    for _ in range(2):
        reader = drafts.reader(compiled)
        reader.read(ids_of('{"a": "a", "b": "ab'))
        reader.read(ids_of('{"a": "a", "b": "ba'))
        reader.read(ids_of('{"a": "a", "b": "cage'))  # whose second letter is the same
        assert reader.num_read == len(ids_of('{"a": "a", "b": "cage'))
        reader.read(ids_of('{"a": "a"'))
        assert reader.num_read == 9
        reader.read(ids_of('{"a": "a", "b": "baab"'))
    assert text_of(drafts.propose(standing_at(compiled, '{"a": "c", "b": "b'), ids_of("b")[0])).startswith("aab")


def test_counts_are_bounded(monkeypatch: pytest.MonkeyPatch, compiled: mw.CompiledGrammar) -> None:
    monkeypatch.setattr("maskwright.outputs.grammar_drafts._MAX_PLACES", 50)
    monkeypatch.setattr("maskwright.outputs.grammar_drafts._MAX_GRAMMARS", 3)
    drafts = GrammarDrafts()
    for letter in "abcdefgh":
        drafts.learn(compiled, written(letter * 9, "cage", letter * 9))
        drafts.learn(mw.GrammarCompiler(INFO).compile_regex(f"{letter}*"), ids_of(letter * 3))
    kept = list(drafts._grammars.values())
    assert len(kept) == 3
    assert max(len(each.places) for each in kept) <= 50


def fake_model() -> FakeModel:
    return FakeModel(LETTERS, scattered(len(LETTERS) + 1))


@pytest.mark.parametrize("seed", range(4))
def test_an_engine_learns_from_what_it_writes(start: Start, seed: int) -> None:
    def outputs(fake: FakeModel, **more: Any) -> list[Any]:
        engine = start(fake)
        grammar = mw.GrammarCompiler(engine.tokenizer_info).compile_regex(PATTERN)
        params = SamplingParams(seed=seed, max_tokens=40, temperature=0.8, ignore_eos=True)
        return [complete(engine, Request([0, 1], params, grammar=grammar, **more)) for _ in range(4)]

    plain, learning = fake_model(), fake_model()
    expected, found = outputs(plain), outputs(learning, propose=GrammarDrafts())
    assert [each.token_ids for each in found] == [each.token_ids for each in expected]
    assert sum(each.usage.accepted_draft_tokens for each in found) > 10
    assert len(learning.asked) < len(plain.asked)


def test_without_a_grammar_nothing_is_proposed(start: Start) -> None:
    found = complete(
        start(fake_model()), Request([0, 1], SamplingParams(max_tokens=9, seed=1), propose=GrammarDrafts())
    )
    assert found.usage.drafted_tokens == 0


@pytest.mark.parametrize("options", [{"num_tokens": 0}, {"min_share": 0}, {"min_share": 1.5}])
def test_wrong_options(options: dict[str, Any]) -> None:
    with pytest.raises(mw.OptionError, match=next(iter(options))):
        GrammarDrafts(**options)


def test_a_grammar_must_be_compiled() -> None:
    wrong: Any = mw.Grammar.from_regex("a")
    with pytest.raises(mw.ArgumentError, match="compile"):
        GrammarDrafts().learn(wrong, [])
