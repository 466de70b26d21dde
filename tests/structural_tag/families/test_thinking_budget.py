"""Budgets for reasoning, on a real vocabulary: after so many tokens of it only its end is allowed, in every family.

The vocabulary is that of test_real_vocabulary.py; without one the tests are skipped. `<think>` is text in it, and so
are its relatives without bars; the others are special tokens.
"""

from __future__ import annotations

import itertools
import random
from typing import Any, NamedTuple

import numpy as np
import pytest

import maskwright as mw
from maskwright.errors import RequestError
from maskwright.events import CallDone, EventReader, ReasoningDelta
from maskwright.structural_tag import get_model_structural_tag
from oracle.comparing import scaled, seeded
from structural_tag.families.test_real_vocabulary import FILES, compiler, tokenizer
from structural_tag.families.transcripts import FAMILIES, HARMONY_CALL, K3_END, K3_TEXT, K3_TOOLS, TOOLS
from structural_tag.spelling import tokenize

pytestmark = pytest.mark.skipif(not FILES, reason="no *.tiktoken file beside the checkout")


class Thinking(NamedTuple):
    """What opens reasoning, what closes it, and an answer that calls something."""

    begin: str
    end: str
    answer: str


THINKING = {name: Thinking(*it.think, f"\n{it.calls()}") for name, it in FAMILIES.items() if it.think is not None} | {
    "harmony": Thinking("<|channel|>analysis<|message|>", "<|end|>", f"<|start|>assistant{HARMONY_CALL}"),
    "kimi_k3": Thinking("<|open|>think<|sep|>", "<|close|>think<|sep|>", K3_TEXT + K3_TOOLS + K3_END),
}


def compiled(
    family: str, budget: int, choice: Any = "auto", reasoning: str = "enabled", **request: Any
) -> mw.CompiledGrammar:
    tag = get_model_structural_tag(family, TOOLS, choice, reasoning, thinking_token_budget=budget, **request)
    return compiler().compile_structural_tag(tag)


def allowed(matcher: mw.GrammarMatcher) -> list[int]:
    bitmask = mw.allocate_token_bitmask(1, tokenizer().vocab_size)
    matcher.fill_next_token_bitmask(bitmask)
    return [int(i) for i in np.flatnonzero(np.unpackbits(bitmask[0].view(np.uint8), bitorder="little"))]


def word(tokens: list[int], rng: random.Random) -> int:
    """One of the tokens that are words, and so begin no end."""
    return rng.choice([i for i in rng.sample(tokens, min(len(tokens), 200)) if tokenizer().token_bytes[i].isalpha()])


@pytest.mark.parametrize("family", THINKING)
@pytest.mark.parametrize(("budget", "choice", "reasoning"), [(0, "auto", "enabled"), (3, "required", "auto")])
def test_who_does_not_stop_is_stopped(family: str, budget: int, choice: str, reasoning: str) -> None:
    info, it = tokenizer(), THINKING[family]
    rng = seeded(family)
    matcher = mw.GrammarMatcher(compiled(family, budget, choice, reasoning=reasoning))
    tokens = tokenize(info, it.begin)
    assert matcher.accept_tokens(tokens) == len(tokens)
    for _ in range(budget):
        assert matcher.accept_token(word(allowed(matcher), rng))
    closing = tokenize(info, it.end)
    for token in allowed(matcher):
        assert it.end.encode().startswith(info.token_bytes[token]), info.token_bytes[token]
        assert (token in info.special_token_ids) == (closing[0] in info.special_token_ids)
    rest = [*closing, *tokenize(info, it.answer)]
    assert matcher.accept_tokens(rest) == len(rest)
    assert matcher.is_completed()


@pytest.mark.parametrize("family", THINKING)
def test_reasoning_may_be_open_already(family: str) -> None:
    if family == "harmony":  # whose prompt opens nothing
        return
    info, it = tokenizer(), THINKING[family]
    matcher = mw.GrammarMatcher(compiled(family, 2, "required"))
    rng = seeded(family)
    for _ in range(2):
        assert matcher.accept_token(word(allowed(matcher), rng))
    assert all(it.end.encode().startswith(info.token_bytes[token]) for token in allowed(matcher))


@pytest.mark.parametrize(("family", "parallel"), [*zip(THINKING, itertools.cycle((True, False)), strict=False)])
def test_random_outputs_within_both_budgets(family: str, parallel: bool) -> None:
    info, budget, total = tokenizer(), 3, 90
    rng = seeded(family)
    grammar = compiled(family, budget, "required", parallel_tool_calls=parallel)
    begin = tokenize(info, THINKING[family].begin)
    for _ in range(scaled(1)):
        matcher = mw.GrammarMatcher(grammar, max_tokens=total)
        assert matcher.accept_tokens(begin) == len(begin)
        tokens: list[int] = []
        while not matcher.is_terminated():
            tokens.append(rng.choice(allowed(matcher)))
            assert matcher.accept_token(tokens[-1])
        assert len(begin) + len(tokens) <= total + 1  # the stop token is not counted
        events = EventReader(matcher).read()
        thought = "".join(event.text for event in events if isinstance(event, ReasoningDelta)).encode()
        starts = itertools.accumulate((len(info.token_bytes[token]) for token in tokens), initial=0)
        assert sum(start < len(thought) for start in starts) == budget, "a random walk has no reason to close earlier"
        calls = [event for event in events if isinstance(event, CallDone)]
        assert calls
        assert parallel or len(calls) == 1


def test_without_reasoning_the_budget_binds_nothing() -> None:
    for family, request in (("llama", {}), ("hermes", {"reasoning": "disabled"})):
        with_budget = get_model_structural_tag(family, TOOLS, thinking_token_budget=0, **request)
        assert with_budget == get_model_structural_tag(family, TOOLS, **request)


def test_harmony_has_one_message_of_reasoning() -> None:
    info, it = tokenizer(), THINKING["harmony"]
    matcher = mw.GrammarMatcher(compiled("harmony", 9))
    for token in tokenize(info, f"{it.begin}Hm.{it.end}<|start|>assistant<|channel|>"):
        assert matcher.accept_token(token)
    assert not matcher.accept_string("analysis<")
    assert matcher.accept_string("commentary")


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        (-1, "from 0 to"),
        (10**10, "from 0 to"),
        (True, "expected an integer"),
        ("5", "expected an integer"),
    ],
)
def test_errors(budget: Any, message: str) -> None:
    with pytest.raises(RequestError, match=message) as caught:
        get_model_structural_tag("hermes", TOOLS, thinking_token_budget=budget)
    assert caught.value.pointer == "/thinking_token_budget"
