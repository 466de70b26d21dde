"""The limits on work hold in time, too: a text that asks for more than a limit allows is refused in half a second.

Processor time is measured, and each case may be tried again, so that a busy machine fails none.
"""

from __future__ import annotations

import os
import time

import pytest
from hostile_inputs import COMPILER

import maskwright

SECONDS = 0.5 * (20 if "LD_PRELOAD" in os.environ else 2)  # twice what is promised, as machines differ
UNREACHABLE = {
    "a million": 'root[max_tokens=3] ::= "a"{1000000}',
    "a billion": 'root[max_tokens=3] ::= "a"{1000000000}',
    "of rules": 'root[max_tokens=30] ::= x{1000000}\nx ::= "ab" | "c"',
    "nested": 'root[max_tokens=30] ::= (("a"{1000} "b"){1000} "c"){1000}',
    "at least a million": 'root[max_tokens=30] ::= "a"{1000000,2000000}',
    "in each item": "root ::= x{1000000}\nx[max_tokens=2] ::= [a-z]{1000}",
    "a long literal": 'root[max_tokens=3] ::= "' + "ab" * 300_000 + '"',
    "doublings": "\n".join(
        ["root[max_tokens=3] ::= r0", *(f"r{i} ::= r{i + 1} r{i + 1}" for i in range(40)), 'r40 ::= "a"']
    ),
    "one token short": 'root[max_tokens=24999] ::= "a"{1000000}',
}
# Of each, the shortest output takes as many tokens as the first budget; that is found by arithmetic.
EXACT = {
    'root[max_tokens={}] ::= "a"{{1000000}}': 25_000,
    'root[max_tokens={}] ::= ("a" | "bc"){{40000}}': 1_000,
    'root[max_tokens={}] ::= "a"{{4001}}': 101,
    'root[max_tokens={}] ::= x{{4000}}\nx ::= "a" | "b" x "c"': 100,
    'root[max_tokens={}] ::= ("a"{{3}} "b"){{200}}': 800,
}


def seconds(call: object, *arguments: object) -> float:
    begin = time.process_time()
    call(*arguments)  # type: ignore[operator]
    return time.process_time() - begin


def refused(source: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        COMPILER.compile_grammar(source)


@pytest.mark.parametrize("source", UNREACHABLE.values(), ids=UNREACHABLE)
def test_budgets_below_long_repetitions(source: str) -> None:
    assert min(seconds(refused, source, maskwright.UnsatisfiableError) for _ in range(3)) < SECONDS


@pytest.mark.parametrize(("source", "tokens"), EXACT.items())
def test_the_fewest_tokens_of_a_repetition(source: str, tokens: int) -> None:
    COMPILER.compile_grammar(source.format(tokens))
    refused(source.format(tokens - 1), maskwright.UnsatisfiableError)


def test_a_repetition_within_its_budget_to_the_end() -> None:
    matcher = maskwright.GrammarMatcher(COMPILER.compile_grammar('root[max_tokens=251] ::= "a"{10000} "b"'))
    forty = 258  # forty times `a`
    assert not matcher.accept_token(ord("a")), "no token can be spared"
    assert matcher.accept_tokens([forty] * 250 + [ord("b")]) == 251
    assert matcher.is_completed()


LIMITED = {
    "left recursive rules": "\n".join(
        ["root ::= r0", *(f'r{i} ::= r{i + 1} "b" | "a"' for i in range(30_000)), "r30000 ::= root"]
    ),
    "between the bounds": 'root[max_tokens=300000] ::= ("a"{1,50} "b" | "c"{3}){200000}',
}


@pytest.mark.parametrize("source", LIMITED.values(), ids=LIMITED)
def test_refusals(source: str) -> None:
    assert min(seconds(refused, source, maskwright.LimitError) for _ in range(3)) < SECONDS
