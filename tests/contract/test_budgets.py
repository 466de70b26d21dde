"""Budgets of tokens and temperatures as users meet them; tests/exhaustive/test_token_budgets.py has every mask bit."""

from __future__ import annotations

import json
import random
from typing import Literal

import pytest

import maskwright
from maskwright import BatchGrammarMatcher, Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from oracle.comparing import mask_of

TEXTS = [*(bytes((b,)) for b in range(256)), b"ab", b"abc", b"->", b"</", b"think>", b'"}', b'", "', b"true"]
AB, THINK, END_THINK, STOP = 256, len(TEXTS), len(TEXTS) + 1, len(TEXTS) + 2
INFO = TokenizerInfo.from_vocab(
    [*TEXTS, b"<think>", b"</think>", b"</s>"], special_token_ids=[THINK, END_THINK, STOP], stop_token_ids=[STOP]
)
COMPILER = GrammarCompiler(INFO)
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "next": {"$ref": "#"}, "flags": {"type": "array"}},
    "required": ["name"],
}


def matcher(ebnf: str, **options: int) -> GrammarMatcher:
    return GrammarMatcher(COMPILER.compile_grammar(Grammar.from_ebnf(ebnf)), **options)


def allowed(m: GrammarMatcher) -> set[int]:
    return mask_of(m, INFO.vocab_size)


def random_output(m: GrammarMatcher, rng: random.Random) -> list[int]:
    """Take any token that is allowed, a stop token only where nothing else is."""
    out: list[int] = []
    while True:
        tokens = sorted(allowed(m) - {STOP})
        if not tokens:
            return out
        out.append(rng.choice(tokens))
        assert m.accept_token(out[-1])


def test_a_rule_ends_within_its_budget_by_the_last_token() -> None:
    m = matcher('root ::= r "!"\nr[max_tokens=4] ::= "<" [a-c]* "->"')
    assert allowed(m) == {ord("<")}
    assert m.accept_tokens([ord("<"), AB]) == 2
    assert allowed(m) == {*b"abc-", AB, AB + 1, AB + 2}
    assert m.accept_token(ord("a"))
    assert allowed(m) == {AB + 2}, "one token is left, and only one ends the rule"
    assert m.accept_tokens([AB + 2, ord("!"), STOP]) == 3


def test_a_token_counts_for_every_rule_that_it_has_a_byte_of() -> None:
    m = matcher('root ::= x y\nx[max_tokens=1] ::= "a"\ny[max_tokens=1] ::= "bc" | "b"')
    assert m.accept_tokens([AB + 1]) == 1
    assert m.is_completed()
    m.reset()
    assert m.accept_tokens([AB]) == 1
    assert m.is_completed()
    assert allowed(m) == {STOP}, "the token that began y is its only one"


@pytest.mark.parametrize("budget", [10, 11, 12, 13, 15, 20, 30, 40])
def test_outputs_are_complete_within_their_budget(budget: int) -> None:
    """JSON that is recursive and open-ended, cut at every budget, by a model without any sense."""
    compiled = COMPILER.compile_json_schema(SCHEMA)
    for seed in range(3):
        m = GrammarMatcher(compiled, max_tokens=budget)
        out = random_output(m, random.Random(seed))
        assert m.is_completed()
        assert len(out) <= budget


def test_the_error_says_the_least_budget() -> None:
    """Which is enough, and leaves nothing to choose that would take longer."""
    compiled = COMPILER.compile_json_schema(SCHEMA)
    with pytest.raises(maskwright.UnsatisfiableError, match="the shortest output needs") as info:
        GrammarMatcher(compiled, max_tokens=1)
    least = int(str(info.value).split("needs ")[1].split()[0])
    assert info.value.hint == f"allow {least} tokens or more"
    with pytest.raises(maskwright.UnsatisfiableError):
        GrammarMatcher(compiled, max_tokens=least - 1)
    assert len(random_output(GrammarMatcher(compiled, max_tokens=least), random.Random(1))) == least


def test_equal_remaining_budgets_are_equal_configurations() -> None:
    compiled = GrammarCompiler(INFO, cache_enabled=False).compile_grammar(Grammar.from_ebnf("root ::= [a-z]*"))
    one, other = GrammarMatcher(compiled, max_tokens=9), GrammarMatcher(compiled, max_tokens=5)
    assert one.accept_tokens(list(b"abcd")) == 4
    before = compiled.stats().num_configurations
    assert allowed(one) == allowed(other)
    for token in b"xy":
        assert one.accept_token(token) == other.accept_token(token)
        assert allowed(one) == allowed(other)
    assert compiled.stats().num_configurations <= before + 4


def test_far_from_its_end_a_budget_shares_one_mask() -> None:
    compiled = GrammarCompiler(INFO, cache_enabled=False).compile_grammar(
        Grammar.from_ebnf('root ::= t "."\nt[lazy, max_tokens=10000] ::= [a-z ]* "</think>"')
    )
    m = GrammarMatcher(compiled)
    for _ in range(1_000):
        assert ord("q") in allowed(m)
        assert m.accept_token(ord("q"))
    assert compiled.stats().num_masks < 10


def test_text_counts_as_one_token() -> None:
    m = matcher('root ::= r\nr[max_tokens=2] ::= [a-z]+ "."')
    assert m.accept_string("hello")
    assert allowed(m) == {ord(".")}
    m.rollback(1)
    assert m.accept_token(ord("h"))
    assert not m.accept_string("ello"), "no token would be left for the end"
    assert m.accept_string("ello.")


@pytest.mark.parametrize(("end", "last"), [("</think>", {END_THINK}), ("->", set(b"-") | {TEXTS.index(b"->")})])
def test_a_thought_within_its_budget(end: str, last: set[int]) -> None:
    content = {"type": "any_text", "max_tokens": 3}
    tag = {"type": "tag", "begin": "<think>", "content": content, "end": end}
    answer = {"type": "const_string", "value": "ab"}
    compiled = COMPILER.compile_structural_tag(
        {"type": "structural_tag", "format": {"type": "sequence", "elements": [tag, answer]}}
    )
    m = GrammarMatcher(compiled)
    assert m.accept_tokens([THINK, *b"xyz"]) == 4
    assert allowed(m) == last, "the end is not counted, whether it is a special token or text"
    assert m.accept_string(end) if END_THINK not in last else m.accept_token(END_THINK)
    assert m.accept_tokens([AB, STOP]) == 2


@pytest.mark.parametrize(
    ("ebnf", "rule", "budget", "least"),
    [
        ('root ::= r\nr[max_tokens=2] ::= "xxx"', "r", 2, 3),
        ('root ::= "x" r\nr[max_tokens=1, capture, temperature=1] ::= ("xx" s)*  "xxxx"\ns ::= "x"', "r", 1, 4),
        ('root ::= r\nr[max_tokens=9] ::= s "x"\ns[max_tokens=20] ::= "x"{40}', "s", 20, 40),
    ],
)
def test_the_rule_whose_budget_is_too_small_is_named(ebnf: str, rule: str, budget: int, least: int) -> None:
    with pytest.raises(maskwright.UnsatisfiableError) as caught:
        COMPILER.compile_grammar(ebnf)
    error = caught.value
    assert (error.rule, error.line, error.column) == (rule, ebnf[: ebnf.index(f"\n{rule}[")].count("\n") + 2, 1)
    assert error.message == f"max_tokens={budget} is too few for this rule: its shortest text needs {least} tokens"
    assert error.hint == f"write max_tokens={least} or more"
    with pytest.raises(maskwright.UnsatisfiableError, match=f"max_tokens={least - 1} is too few"):
        COMPILER.compile_grammar(ebnf.replace(f"{rule}[max_tokens={budget}", f"{rule}[max_tokens={least - 1}"))


def test_a_budget_that_cannot_be_kept_is_refused() -> None:
    combined = Grammar.from_ebnf('root ::= r\nr[max_tokens=2] ::= "xxx"') + Grammar.from_regex("x")
    with pytest.raises(maskwright.UnsatisfiableError, match=r"token budgets .*\n  hint: raise max_tokens where"):
        COMPILER.compile_grammar(combined)
    with pytest.raises(maskwright.UnsatisfiableError, match="the shortest output needs 3 tokens, but max_tokens is 2"):
        matcher('root ::= "xxx"', max_tokens=2)
    with pytest.raises(maskwright.OptionError, match="max_tokens must be >= 1, not 0"):
        matcher('root ::= "xxx"', max_tokens=0)
    with pytest.raises(maskwright.LimitError, match="left-recursive") as info:
        matcher('root[max_tokens=5] ::= root "a" | "b"')
    assert info.value.limit == "left_recursive_span"


def test_grammars_with_budgets_are_printed_and_read_again() -> None:
    source = 'root ::= r | "x" q\nq[max_tokens=2] ::= "c"\nr[max_tokens=4, temperature=0.5] ::= "a" r | "b"'
    grammar = Grammar.from_ebnf(source)
    assert str(Grammar.from_ebnf(str(grammar))) == str(grammar) == source
    assert str(Grammar.from_lark(grammar.to_lark())) == str(grammar)
    with pytest.raises(maskwright.GrammarError):
        grammar.to_regex()


def test_temperatures() -> None:
    m = matcher(
        'root ::= "(" list ")" | quiet\nlist[temperature=0.25] ::= word ("," word)*\n'
        'word[temperature=1.5] ::= [a-z]+\nquiet[temperature=0] ::= "q" [0-9]'
    )
    assert m.temperature() == 0, "the rule may begin here, and the other reading has none"
    batch = BatchGrammarMatcher([m, m.fork()])
    assert batch.accept_token([ord("("), ord("q")]) == [True, True]
    assert batch.temperature() == [1.5, 0]
    assert m.accept_token(ord("a"))
    assert m.temperature() == 1.5, "the word may go on, and is warmer than the list"
    assert m.accept_token(ord(","))
    assert m.temperature() == 1.5
    assert m.accept_tokens(list(b"b)")) == 2
    assert m.temperature() is None
    assert matcher('root ::= "a"').temperature() is None


SENTENCE = {"type": "string", "pattern": r"^(?:\S+\s+){0,49}\S+$", "maxLength": 500}
LONG_NAMES = ["abc" * 30 + last for last in "klmnop"]
LONG = {
    "type": "object",
    "properties": dict.fromkeys(LONG_NAMES, SENTENCE),
    "required": LONG_NAMES,
    "additionalProperties": False,
}


def test_long_names_fit_by_their_tokens_not_by_their_bytes() -> None:
    compiled = COMPILER.compile_json_schema(LONG)
    for seed in range(3):
        m = GrammarMatcher(compiled, max_tokens=240, budget="quick")  # of some 600 bytes
        rng = random.Random(seed)
        while not m.is_completed():
            assert m.accept_token(rng.choice(sorted(allowed(m))))
        assert m.num_accepted_tokens <= 240


def test_a_budget_that_is_hard_to_judge_is_refused_with_one_that_is_enough() -> None:
    compiled = COMPILER.compile_json_schema(LONG)
    with pytest.raises(
        maskwright.LimitError, match=r"whether an output fits into max_tokens, 200, .* enough"
    ) as refused:
        GrammarMatcher(compiled, max_tokens=200)
    enough = int(str(refused.value).split("; ")[1].split()[0])
    assert not GrammarMatcher(compiled, max_tokens=enough).is_completed()


def test_text_that_leads_further_than_any_token_is_held_to_the_budget() -> None:
    info = TokenizerInfo.from_vocab(["a", "b", "</s>"], special_token_ids=[2], stop_token_ids=[2])
    compiled = GrammarCompiler(info).compile_grammar(Grammar.from_ebnf('root ::= "a" | "b" root root'))
    for max_tokens in range(1, 9):
        for num_b in range(1, 8):  # one token for the text, and an `a` more than there are b
            m = GrammarMatcher(compiled, max_tokens=max_tokens)
            assert m.accept_string("b" * num_b) == (1 + num_b + 1 <= max_tokens), (max_tokens, num_b)


@pytest.mark.parametrize("budget", ["quick", "exact"])
def test_an_enum_of_very_many_texts_is_completed_in_time(budget: Literal["quick", "exact"]) -> None:
    values = [f"{i * 7919 % 1_000_003:x}-of-{i}" for i in range(90_000)]
    schema = {"type": "object", "properties": {"id": {"enum": values}}, "required": ["id"]}
    m = GrammarMatcher(COMPILER.compile_json_schema(schema, strict_mode=True), max_tokens=40, budget=budget)
    output = random_output(m, random.Random(1))
    assert m.is_completed()
    assert len(output) <= 40
    assert json.loads(b"".join(TEXTS[token] for token in output))["id"] in values


@pytest.mark.parametrize("text", [".*", "[^a]{0,9}", "(.|aa)*"])
def test_characters_begun_by_a_token_can_be_ended_in_time(text: str) -> None:
    """Behind a token that ends inside a character, the rest of it is needed, too."""
    for budget in range(2, 9):
        m = matcher(f'root ::= "<" r\nr ::= Regex("{text}>")', max_tokens=budget)
        assert m.accept_token(ord("<"))
        assert (0xF0 in allowed(m)) == (budget >= 6), "three bytes and the bracket follow"
        for token in allowed(m):
            fork = m.fork()
            assert fork.accept_token(token)
            assert allowed(fork), (budget, token)


def test_a_flush_refuses_nothing_that_estimates_have_allowed() -> None:
    """Outputs of a large product stay with their engine: estimates of another one differ."""
    names = [{"pattern": text} for text in ("ab1|b12", "bc1|c12", "ca1|a12")]
    words = [{"pattern": "^[\\w]*$"}, {"pattern": "\\d\\d"}]
    one = [{"not": {"anyOf": [{"pattern": "^....$"}, name]}} for name in names]
    two = [{"not": {"anyOf": [*words, {"pattern": text}]}} for text in ("[a|b]", "[b|c]", "[c|a]")]
    parts = [{"not": {"anyOf": one}}, {"not": {"anyOf": two}}, {"pattern": "[aA][12].*[zZ]"}]
    schema = {"type": "string", "allOf": [*parts, {"minLength": 10}, {"maxLength": 20}]}
    compiler = GrammarCompiler(INFO, grammar_limit_bytes=2000)
    compiled = compiler.compile_grammar(Grammar.from_json_schema(schema))
    for seed in range(10):
        rng = random.Random(seed)
        m = GrammarMatcher(compiled, max_tokens=13 + seed % 3)
        while not m.is_terminated():
            tokens = allowed(m)
            for token in rng.sample(sorted(tokens), min(4, len(tokens))):
                assert m.fork().accept_token(token)
            assert m.accept_token(rng.choice(sorted(tokens)))
    assert compiled.stats().num_flushes > 0
