"""Drafts change how many steps an output takes, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from fake_models import FakeModel, scattered

from maskwright import GrammarCompiler
from maskwright.engine import LocalEngine, Request, SamplingParams, complete, prompt_lookup
from maskwright.errors import ArgumentError, OptionError

Start = Callable[..., LocalEngine]
LETTERS = [bytes([c]) for c in b"abcdefgh ,"]
PATTERN = "([a-h]{2,4}, ){3,8}[a-h]+"


def model() -> FakeModel:
    return FakeModel(LETTERS, scattered(len(LETTERS) + 1))


def outcome(engine: LocalEngine, seed: int, held: bool, **more: Any) -> Any:
    grammar = GrammarCompiler(engine.tokenizer_info).compile_regex(PATTERN) if held else None
    params = {"seed": seed, "max_tokens": 40, "temperature": 0.8, "frequency_penalty": 0.3, "ignore_eos": True}
    return complete(engine, Request([0, 1], SamplingParams(**params), grammar=grammar, **more))


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_the_output_is_the_same_with_drafts_and_without(start: Start, seed: int, held: bool) -> None:
    plain, fake = model(), model()
    expected = outcome(start(plain), seed, held)
    known = expected.token_ids

    def propose(ids: Sequence[int]) -> Sequence[int]:
        """Right for five tokens, then wrong, as often as not."""
        at = len(ids) - 2
        return [*known[at : at + 5], 3, 3] if at % 3 else [7, 7]

    found = outcome(start(fake), seed, held, propose=propose)
    assert found.token_ids == expected.token_ids
    assert found.text == expected.text
    assert found.finish_reason == expected.finish_reason
    assert 0 < found.usage.accepted_draft_tokens < found.usage.drafted_tokens
    assert len(fake.asked) < len(plain.asked)
    assert fake.slots == [[] for _ in fake.slots]


def test_logprobs_are_the_same_with_drafts_and_without(start: Start) -> None:
    grammar = GrammarCompiler(model().tokenizer_info).compile_regex(PATTERN)
    params = SamplingParams(seed=2, max_tokens=40, logprobs=3)
    expected = complete(start(model()), Request([0, 1], params, grammar=grammar))
    known = [*expected.token_ids, 0, 0]

    def propose(ids: Sequence[int]) -> Sequence[int]:
        """Two tokens that are right, then one that is not."""
        at = len(ids) - 2
        return [*known[at : at + 2], 7 - known[at + 2] % 2]

    found = complete(start(model()), Request([0, 1], params, grammar=grammar, propose=propose))
    assert found.usage.accepted_draft_tokens > 3
    assert found.logprobs == expected.logprobs
    assert [each.token_id for each in found.logprobs] == found.token_ids == expected.token_ids


def test_a_draft_is_cut_to_what_the_grammar_allows(start: Start) -> None:
    fake = model()
    engine = start(fake)
    outcome(engine, 1, True, propose=lambda ids: [9, 8, 0, 0, 999, -5])
    matching = [step for steps in fake.asked for step in steps if len(step.token_ids) > 1][1:]
    for step in matching:
        text = b"".join(LETTERS[i] for i in step.token_ids[1:])
        assert b", a".startswith(text) or text == b", aa"
    assert matching


def test_a_draft_never_goes_beyond_the_last_token(start: Start) -> None:
    fake = model()
    engine = start(fake)
    request = Request([0], SamplingParams(max_tokens=5, ignore_eos=True), propose=lambda ids: [0] * 100)
    whole = complete(engine, request)
    assert len(whole.token_ids) == 5
    assert all(sum(len(s.token_ids) for s in steps) <= 9 for steps in fake.asked)


def test_what_propose_does_wrong_ends_its_output(start: Start) -> None:
    engine = start(model())
    with pytest.raises(ArgumentError, match="propose"):
        complete(engine, Request([0], SamplingParams(ignore_eos=True, max_tokens=9), propose=lambda ids: ["a"]))
    with pytest.raises(ZeroDivisionError):
        complete(engine, Request([0], SamplingParams(ignore_eos=True, max_tokens=9), propose=lambda ids: [1 // 0]))
    assert complete(engine, Request([0], SamplingParams(max_tokens=3, ignore_eos=True))).finish_reason == "length"


def test_prompt_lookup_proposes_what_came_before() -> None:
    propose = prompt_lookup(num_tokens=3)
    assert propose([1, 2, 3, 4, 5, 9, 1, 2, 3]) == [4, 5, 9]
    assert propose([5, 3, 8, 3]) == [8, 3]
    assert propose([1, 2]) == []
    assert propose([1]) == []
    for options in ({"num_tokens": 0}, {"longest_match": 0}):
        with pytest.raises(OptionError):
            prompt_lookup(**options)
