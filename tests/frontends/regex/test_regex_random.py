r"""Random patterns against random texts, compared with Python's `re` and with the `regex` package.

Patterns are built from literals, classes, groups, counts, anchors, word boundaries and lookarounds, at any place;
texts are all short strings over a small alphabet. `$` is written `\Z` for the other engines, which let it stand before
a final newline.
"""

from __future__ import annotations

import itertools
import random
import re
from types import ModuleType

import pytest

from frontends.ir_matcher import matches
from maskwright.errors import LimitError, RegexSyntaxError
from maskwright.frontends.charset import json_string_chars
from maskwright.frontends.regex import regex_to_expr

TEXTS = ["".join(t) for n in range(4) for t in itertools.product("ab-\n", repeat=n)]
ATOMS = ["a", "b", "-", "ab", "[ab]", "[^a]", ".", r"\w", r"\W", r"\s", "(?i:A)", "(?s:.)", r"\x61"]
COUNTS = ["*", "+", "?", "*?", "{2}", "{1,2}", "{0,2}", "{2,}", "{0}"]
ANCHORS = ["^", "$", r"\b", r"\B", "(?m:^)", "(?m:$)"]
LOOKS = ["(?=", "(?!", "(?<=", "(?<!"]


def random_pattern(rng: random.Random, depth: int, assertions: list[str]) -> str:
    kind = rng.random()
    if depth == 0 or kind < 0.3:
        return rng.choice(ATOMS)
    parts = [random_pattern(rng, depth - 1, assertions) for _ in range(rng.randint(1, 3))]
    if kind < 0.5:
        return "".join(parts)
    if kind < 0.6:
        return "(" + "|".join(parts) + rng.choice(["", "|"]) + ")"
    if kind < 0.75 or not assertions:
        return f"(?:{parts[0]}){rng.choice(COUNTS)}"
    chosen = rng.choice(assertions)
    return chosen + parts[0] + ")" if chosen in LOOKS else chosen


def for_others(pattern: str) -> str:
    return pattern.replace("(?m:$)", r"(?=\n|\Z)").replace("$", r"\Z")


def compare(engine: ModuleType, pattern: str, *, search: bool) -> bool:
    """Compare on all texts; False if the pattern is refused, by either side."""
    try:
        other = engine.compile(for_others(pattern))
        expr = regex_to_expr(pattern, search=search)
    except (engine.error, RegexSyntaxError, LimitError):
        return False
    run = other.search if search else other.fullmatch
    # Until Python 3.14, re holds that \B does not match in the empty text.
    texts = [t for t in TEXTS if t or engine is not re or r"\B" not in pattern]
    wrong = [t for t in texts if matches(expr, t) != bool(run(t))]
    assert not wrong, (pattern, search, wrong, expr.dump())
    return True


@pytest.mark.parametrize("search", [False, True])
@pytest.mark.parametrize(
    "assertions", [[], ANCHORS, LOOKS[:2], ANCHORS + LOOKS[:2]], ids=["none", "anchors", "looks", "both"]
)
def test_against_re(assertions: list[str], search: bool) -> None:
    rng = random.Random(f"{assertions} {search}")
    patterns = [random_pattern(rng, rng.randint(1, 4), assertions) for _ in range(80)]
    assert sum(compare(re, p, search=search) for p in patterns) > 70


def test_loops_with_lookaheads_against_re() -> None:
    """`(?:(?!X)C)` so many times, before an X, before other text and at the end."""
    rng = random.Random(11)
    stops = ["ab", "a", "--", "b-?", "[ab]-", "aa|b-", "a{2}"]
    patterns = []
    for _ in range(300):
        stop = rng.choice(stops)
        looks = f"(?!{stop})" + rng.choice(["", f"(?!{rng.choice(stops)})"])
        rest = rng.choice(["", "", f"(?:{stop})", stop, "a", "-a?", r"\n", "$", "b?$"])
        count = rng.choice([*COUNTS, "{1,3}", "{3}"])
        patterns.append(
            rng.choice(["", "^", "b"]) + f"(?:{looks}{rng.choice(['.', '[ab]', '[^b]', '(?:a|-)'])}){count}{rest}"
        )
    assert sum(compare(re, p, search=False) for p in patterns) > 190  # others are refused


@pytest.mark.parametrize("search", [False, True])
def test_lookbehinds_of_any_width_against_regex(search: bool) -> None:
    regex = pytest.importorskip("regex")
    rng = random.Random(7)
    patterns = [random_pattern(rng, rng.randint(2, 4), ANCHORS + LOOKS) for _ in range(100)]
    assert sum(compare(regex, p, search=search) for p in patterns) > 85


def test_properties_and_folding_against_regex() -> None:
    regex = pytest.importorskip("regex")
    rng = random.Random(8)
    pieces = [r"\p{Lu}", r"\P{L}", r"\p{Script=Greek}", r"\p{Nd}", "(?i:ß)", "(?i:σ)", "(?i:k)"]
    characters = "aZé1σΣςß\u1e9ek\u212aK-٣一😀 "
    texts = [*characters, "".join(rng.sample(characters, 3)), "".join(rng.sample(characters, 2))]
    for _ in range(60):
        pattern = "".join(rng.choices(pieces, k=rng.randint(1, 3))) + rng.choice(["", "*", "+"])
        expr, other = regex_to_expr(pattern), regex.compile(pattern, regex.V0)
        for text in texts:
            assert matches(expr, text) == bool(other.fullmatch(text)), (pattern, text)


def test_json_spellings_match_what_the_text_matches() -> None:
    rng = random.Random(9)
    compared = 0
    for _ in range(100):
        pattern = random_pattern(rng, 3, ANCHORS + LOOKS)
        try:
            plain = regex_to_expr(pattern, search=True)
            escaped = regex_to_expr(pattern, search=True, encode=json_string_chars)
        except (RegexSyntaxError, LimitError):
            continue
        for text in rng.sample(TEXTS, 12):
            spelled = "".join(rng.choice([f"\\u{ord(c):04x}", c if c >= " " else "\\n"]) for c in text)
            assert matches(escaped, spelled) == matches(plain, text), (pattern, spelled)
        assert not matches(escaped, "\n")
        compared += 1
    assert compared > 80
