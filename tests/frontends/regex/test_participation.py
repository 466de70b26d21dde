"""Back-references as ECMA-262 means them: against a matcher that follows the steps of the standard."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable

import pytest

import maskwright
from maskwright.frontends.regex import ast, lower, parse
from maskwright.frontends.regex.back_references import lower_recalling, recalled_groups
from maskwright.frontends.regex.lower import anywhere
from maskwright.frontends.regex.participation import few_texts, with_groups_spelled
from maskwright.ir import Expr, GrammarIR, Rule, alt, literal
from oracle.comparing import scaled, seeded
from oracle.vocabularies import BYTES

TEXTS = ["".join(text) for length in range(6) for text in itertools.product("ab-", repeat=length)]
Captures = dict[int, str]
Then = Callable[[int, Captures], bool]


def found_in(node: ast.Node, text: str) -> bool:
    """Whether a pattern is found in a text: ECMA-262, section 22.2.2, with continuations."""
    return any(_match(node, text, i, {}, lambda *_: True) for i in range(len(text) + 1))


def _match(node: ast.Node, text: str, i: int, captures: Captures, then: Then) -> bool:
    if isinstance(node, ast.Literal):
        return text.startswith(node.text, i) and then(i + len(node.text), captures)
    if isinstance(node, ast.Chars):
        return i < len(text) and text[i] in node.chars and then(i + 1, captures)
    if isinstance(node, ast.BackReference):
        again = captures.get(node.number, "")
        return text.startswith(again, i) and then(i + len(again), captures)
    if isinstance(node, ast.Group):
        number = node.number
        return _match(node.item, text, i, captures, lambda j, c: then(j, {**c, number: text[i:j]}))
    if isinstance(node, ast.Alt):
        return any(_match(branch, text, i, captures, then) for branch in node.branches)
    if isinstance(node, ast.Repeat):
        return _repeat(node, node.minimum, node.maximum, text, i, captures, then)
    if isinstance(node, ast.Anchor):
        return i == (0 if node.kind == "start" else len(text)) and then(i, captures)
    if isinstance(node, ast.Look):
        assert node.ahead
        return _match(node.item, text, i, captures, lambda *_: True) != node.negative and then(i, captures)
    assert isinstance(node, ast.Seq)
    return _sequence(node.items, text, i, captures, then)


def _sequence(items: tuple[ast.Node, ...], text: str, i: int, captures: Captures, then: Then) -> bool:
    if not items:
        return then(i, captures)
    return _match(items[0], text, i, captures, lambda j, c: _sequence(items[1:], text, j, c, then))


def _repeat(
    node: ast.Repeat,
    least: int,
    most: int,
    text: str,
    i: int,
    captures: Captures,
    then: Then,
) -> bool:
    def again(j: int, now: Captures) -> bool:
        return (least > 0 or j > i) and _repeat(node, max(least - 1, 0), most - 1, text, j, now, then)

    inside = _groups(node)
    forgotten = {number: one for number, one in captures.items() if number not in inside}
    return (most > 0 and _match(node.item, text, i, forgotten, again)) or (least == 0 and then(i, captures))


def _groups(node: ast.Node) -> set[int]:
    own = {node.number} if isinstance(node, ast.Group) else set()
    return own.union(*map(_groups, ast.children_of(node)))


def expression(pattern: str) -> Expr:
    """The texts in which a pattern is found."""
    node = anywhere(with_groups_spelled(parse(pattern, "", "ecma", back_references=True), pattern))
    return lower_recalling(node, pattern) if recalled_groups(node) else lower(node, pattern=pattern)


def compare(pattern: str, texts: list[str]) -> None:
    ir = GrammarIR((Rule("root", alt(expression(pattern), literal(b"something else"))),), 0)
    compiled = maskwright.GrammarCompiler(BYTES.info()).compile_grammar(maskwright.Grammar(ir))
    node = parse(pattern, "", "ecma", back_references=True)
    for text in texts:
        matcher = maskwright.GrammarMatcher(compiled)
        assert (matcher.accept_string(text) and matcher.is_completed()) == found_in(node, text), (pattern, text)


@pytest.mark.parametrize(
    "pattern",
    [
        r"^(?:(a|b)|-)\1$",
        r"^(?:(a+)|-)\1$",
        r"^(?:(a+)|(b+))-\1\2$",
        r"^(a+)?-\1$",
        r"^(?:(a)|b)+\1$",
        r"^(?:(a+)b?)+-\1$",
        r"^(?:(a)|b){2,3}-\1$",
        r"^(?:(a)|b*)?-\1$",
        r"^\1(a)$",
        r"^(a\1)-\1$",
        r"^(?<x>[ab])\k<x>$",
        r"^\k<x>(?<x>[ab])$",
        r"^((a)|b)-\2\1$",
        r"^((a+)|b)-\2$",
        r"^([ab])(?!\1)[ab]$",
        r"^(a|b)(?=\1)",
        r"([ab])-\1",
        r"([ab]+)-\1",
        r"^(?:(a)\1|b\1)*$",
        r"^(a|b)*-\1$",
        r"^(a){0}\1b$",
        r"([^ab])\1",
    ],
)
def test_the_language_is_that_of_the_standard(pattern: str) -> None:
    compare(pattern, TEXTS)


def random_pattern(rng: random.Random, depth: int, groups: list[int]) -> str:
    """Groups and back-references in every order; `groups` has how many there are so far."""
    kind = rng.random()
    if depth == 0 or kind < 0.25:
        return rng.choice(("a", "b", "-", "[ab]", "[ab]+", "a*", "(?:ab)?", ".", "$"))
    if kind < 0.4 and groups[0]:
        return rf"(?:\{rng.randint(1, groups[0])}" + rng.choice((")", ")", "){0,2}", ")?"))
    if kind < 0.6:
        groups[0] += 1
        return f"({random_pattern(rng, depth - 1, groups)})" + rng.choice(("", "", "?"))
    if kind < 0.9:
        return "".join(random_pattern(rng, depth - 1, groups) for _ in range(rng.randint(2, 3)))
    branches = "|".join(random_pattern(rng, depth - 1, groups) for _ in range(2))
    return f"(?:{branches})" + rng.choice(("", "*", "+", "{1,2}"))


def test_random_patterns() -> None:
    compared = 0
    for i in range(scaled(300)):
        rng = seeded(f"participation {i}")
        pattern = "^" + "".join(random_pattern(rng, 3, groups) for groups in [[0]] for _ in range(4))
        try:
            expression(pattern)
        except maskwright.RegexSyntaxError:
            continue
        compare(pattern, rng.sample(TEXTS, 100))
        compared += bool(recalled_groups(parse(pattern, "", "ecma", back_references=True)))
    assert compared > scaled(300) // 5


@pytest.mark.parametrize(
    ("pattern", "message", "place"),
    [
        (r"(a)\2", "the pattern has no group '2'", r"\2"),
        (r"(a)\k<x>", "the pattern has no group 'x'", r"\k<x>"),
        (rf"(a)\{'9' * 5000}", "the pattern has no group", "\\" + "9" * 5000),
        (r"(a*)*\1", "a repetition that may match nothing", "(a*)*"),
        (r"(?=(a+))\1", "a group in a lookaround is referred back to", "(?=(a+))"),
        (r"(?<=\1(a))b", "a back-reference in a lookbehind comes before its group", r"\1"),
        (r"(?i:(a)\1)", "under the flag i", r"\1"),
    ],
)
def test_refused(pattern: str, message: str, place: str) -> None:
    with pytest.raises(maskwright.RegexSyntaxError, match=re.escape(message)) as caught:
        expression(pattern)
    assert caught.value.span is not None
    assert pattern[slice(*caught.value.span)] == place
    assert caught.value.hint


def test_few_texts() -> None:
    assert few_texts(parse("(a|b)[cd]?")) == ["a", "ac", "ad", "b", "bc", "bd"]
    assert few_texts(parse("a|b|a")) == ["a", "b"]
    for pattern in ("a*", "[a-z]{2}", r"\w(?=a)", "(?:(?:a{60}){60}){60}", "a{400}b{400}", "[^a]"):
        assert few_texts(parse(pattern)) is None, pattern


def test_groups_one_after_the_other_do_not_multiply() -> None:
    spelled = with_groups_spelled(parse(r"([ab])-\1" + r"([cd])\2" * 1, "", "ecma", back_references=True), "")
    assert str(spelled) == "seq(alt(seq('a', '-', 'a'), seq('b', '-', 'b')), alt(seq('c', 'c'), seq('d', 'd')))"
    pattern = "".join(rf"([ab])-\{i}" for i in range(1, 101))
    assert with_groups_spelled(parse(pattern, "", "ecma", back_references=True), pattern).size < 1_000


@pytest.mark.parametrize(
    ("pattern", "limit"),
    [
        ("(a+)?" * 30 + "".join(rf"\{i}" for i in range(1, 31)), "regex size"),
        (r"([ab])\1" * 50_000, "regex size"),
        ("(?:([a-h]+)|([a-h])|c)" * 12 + "".join(rf"\{i}" for i in range(1, 25)), "regex size"),
        ("".join(rf"([ab])\{i}" for i in range(1, 300)), "remembered_texts"),
    ],
    ids=lambda value: value if len(value) < 20 else value[:10],
)
def test_limits(pattern: str, limit: str) -> None:
    with pytest.raises(maskwright.LimitError) as caught:
        with_groups_spelled(parse(pattern, "", "ecma", back_references=True), pattern)
    assert caught.value.limit == limit
    assert caught.value.hint


def test_groups_that_would_be_too_large_spelled_out_stay() -> None:
    pattern = "([a-z])" * 8 + "".join(rf"\{i}" for i in range(1, 9))
    spelled = with_groups_spelled(parse(pattern, "", "ecma", back_references=True), pattern)
    assert recalled_groups(spelled) == set(range(1, 9))
