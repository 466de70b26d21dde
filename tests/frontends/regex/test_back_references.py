"""Back-references: the language against Python's `re`, masks against the oracle; what is refused, and where."""

from __future__ import annotations

import itertools
import random
import re

import pytest

import maskwright
from oracle.comparing import scaled, seeded, walk
from oracle.model import Language
from oracle.vocabularies import of, strings

VOCAB = of(*strings(b"ab-", 1), "ab", "ba", "a-", "-a", stop=(b"</s>",), padding=3)
TEXTS = ["".join(text) for length in range(7) for text in itertools.product("ab-", repeat=length)]
PATTERNS = [
    r"(a|b)-\1",
    r"(?P<x>[ab]+)-(?P=x)",
    r"(?<x>[ab]+)-\k<x>?",
    r"([ab]*)-\1",
    r"(a*)(b*)-\2\1",
    r"(?:([ab])\1)+",
    r"(?:([ab]+)-\1|b)*",
    r"((a)|b)-\1",
    r"((a)b)-\2",
    r"^([ab]{2})\1$",
    r"(?:(a|b))-(\1)",
    r"(a)(?:-|\1{0,2})\1",
    r"([ab])(?:([ab])\2\1)*\1",
    r"(?i:(a))-\1",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_language_is_that_of_re(pattern: str) -> None:
    python = re.compile(pattern.replace("(?<", "(?P<").replace(r"\k<x>", "(?P=x)"))
    compiled = maskwright.GrammarCompiler(VOCAB.info()).compile_regex(pattern)
    for text in TEXTS:
        matcher = maskwright.GrammarMatcher(compiled)
        assert (matcher.accept_string(text) and matcher.is_completed()) == bool(python.fullmatch(text)), text


@pytest.mark.parametrize("pattern", PATTERNS)
def test_masks(pattern: str) -> None:
    grammar = maskwright.Grammar.from_regex(pattern)
    compiled = maskwright.GrammarCompiler(VOCAB.info()).compile_grammar(grammar)
    walk(compiled, Language(grammar.ir), VOCAB, seeded(pattern), steps=6)


def random_pattern(rng: random.Random, depth: int, groups: list[int]) -> str:
    """Groups and back-references in every order; `groups` has how many there are so far."""
    kind = rng.random()
    if depth == 0 or kind < 0.25:
        return rng.choice(("a", "b", "-", "[ab]", "[ab]+", "a*", "(?:ab)?"))
    if kind < 0.4 and groups[0]:
        return rf"\{rng.randint(1, groups[0])}" + rng.choice(("", "", "{0,2}", "?"))
    if kind < 0.6:
        groups[0] += 1
        return f"({random_pattern(rng, depth - 1, groups)})"
    if kind < 0.9:
        return "".join(random_pattern(rng, depth - 1, groups) for _ in range(rng.randint(2, 3)))
    branches = "|".join(random_pattern(rng, depth - 1, groups) for _ in range(2))
    return f"(?:{branches})" + rng.choice(("", "*", "+", "{1,2}"))


def test_random_patterns() -> None:
    compiler = maskwright.GrammarCompiler(VOCAB.info())
    refused = 0
    for i in range(scaled(150)):
        rng = seeded(f"back-references {i}")
        pattern = "".join(random_pattern(rng, 3, groups) for groups in [[0]] for _ in range(3))
        try:
            compiled = compiler.compile_regex(pattern)
        except maskwright.RegexSyntaxError as error:
            assert error.span is not None, pattern  # noqa: PT017
            refused += 1
            continue
        python = re.compile(pattern)
        for text in rng.sample(TEXTS, 150):
            matcher = maskwright.GrammarMatcher(compiled)
            accepted = matcher.accept_string(text) and matcher.is_completed()
            assert accepted == bool(python.fullmatch(text)), (pattern, text)
    assert 0 < refused < scaled(150)


@pytest.mark.parametrize(
    ("pattern", "message", "place"),
    [
        (r"\1(a)", "no group '1' ends before", r"\1"),
        (r"(a\1)", "no group '1' ends before", r"\1"),
        (r"(a)(?P=x)", "no group 'x' ends before", "(?P=x)"),
        (r"(?<n>a)\k{n}", "this spelling of a back-reference", r"\k"),
        (r"(a)?\1", "group 1 may not have matched", r"\1"),
        (r"(?:(a)|b)\1", "group 1 may not have matched", r"\1"),
        (r"(a)|\1", "group 1 may not have matched", r"\1"),
        (r"(?:(a)b)*\1", "group 1 may not have matched", r"\1"),
        (r"(?:(a)b){2}\1", "group 1 may not have matched", r"\1"),
        (r"(?i)(a)\1", "under the flag i", r"\1"),
        (r"(?:(a)(b\1))\2", "contains a back-reference", r"(b\1)"),
        (r"((a)b)\1\2", "contains a back-reference or another such group", "((a)b)"),
    ],
)
def test_refused(pattern: str, message: str, place: str) -> None:
    with pytest.raises(maskwright.RegexSyntaxError, match=re.escape(message)) as caught:
        maskwright.Grammar.from_regex(pattern)
    assert caught.value.span is not None
    assert pattern[slice(*caught.value.span)] == place


def test_refused_beside_assertions() -> None:
    with pytest.raises(maskwright.RegexSyntaxError, match="assertions beside back-references"):
        maskwright.Grammar.from_regex(r"(a)\b-\1")


def test_many_groups() -> None:
    pattern = "([ab])" * 30 + "".join(rf"\{i}" for i in range(1, 31))
    matcher = maskwright.GrammarMatcher(maskwright.GrammarCompiler(VOCAB.info()).compile_regex(pattern))
    assert matcher.accept_string("ab" * 20)
    assert not matcher.accept_string("b")
    assert matcher.find_jump_forward_string() == "ab" * 10
    with pytest.raises(maskwright.LimitError) as caught:
        maskwright.Grammar.from_regex("([ab]*)" * 30 + "".join(rf"\{i}" for i in range(1, 31)))
    assert caught.value.limit == "remembered_text_cases"


def test_a_rejection_is_explained() -> None:
    compiled = maskwright.GrammarCompiler(VOCAB.info()).compile_regex(r"([ab])-\1")
    assert compiled.explain_rejection("a-b") is not None
