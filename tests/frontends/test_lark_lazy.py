"""Non-greedy repetitions in random terminals, compared with Python's `re`: they end as soon as they can.

A text that `re` takes as a whole is accepted, unless it goes on after a shorter one that is: which of two texts is the
first is decided by where they end. Nothing else is accepted but what the pattern matches.
"""

from __future__ import annotations

import itertools
import random
import re

import pytest
from test_random_grammars import language

from maskwright import Grammar
from maskwright.errors import LarkSyntaxError
from oracle.accepting import accepts
from oracle.comparing import scaled, seeded

TEXTS = ["".join(letters) for length in range(6) for letters in itertools.product("abc", repeat=length)]
LAZY = [".*?", ".+?", "[ab]*?", "a*?", "(a|b)+?", "(ab)*?", "a??", "b{1,3}?", "(.*?b)", "(a*?|b)"]
PARTS = [
    "a",
    "b",
    "c",
    "a*",
    "b+",
    "c?",
    "(a|b)",
    "(b|ab|c)",
    "(b|bc)",
    "(bc)?",
    "b{1,2}",
    "(ab?)",
    "(bc)+",
    "((b|c)c)?",
]


def random_pattern(rng: random.Random, most_before: int = 2) -> str:
    before = rng.choices(PARTS, k=rng.randint(0, most_before))
    lazy = [rng.choice(LAZY), *rng.choice([[], [], [rng.choice(PARTS), rng.choice(LAZY)]])]
    return "".join([*before, *lazy, *rng.choices(PARTS, k=rng.randint(0, 3))])


def test_random_terminals_against_re() -> None:
    rng = seeded("lazy terminals")
    for _ in range(scaled(60)):
        pattern = random_pattern(rng)
        matching = [text for text in TEXTS if re.fullmatch(pattern, text)]
        accepted = set(language(Grammar.from_lark(f"start: T\nT: /{pattern}/"), TEXTS))
        assert accepted <= set(matching), pattern
        for text in matching:
            shorter = [text[:end] for end in range(len(text))]
            if not any(re.fullmatch(pattern, each) for each in shorter):
                assert text in accepted, (pattern, text)  # it is the first
            found = re.match(pattern, text)
            if found is not None and found.end() == len(text):
                assert text in accepted or accepted.intersection(shorter), (pattern, text)


@pytest.mark.parametrize(
    ("terminal", "accepted", "rejected"),
    [
        (r"/<.*?(>|\/>)/", ["<>", "<a>", "<a/>"], ["<a>b>", "<a/>>", "<a"]),
        (r"/a.*?b+c/", ["abc", "axbc", "axbxbbc"], ["abcbc", "ab"]),
        (r"/a.*?(b|bc)c?d/", ["abd", "axbcd", "axbccd", "abxbd"], ["abdd", "abxd"]),
        (r"/a.*?\s*;/", ["a;", "ab  ;"], ["a;;", "ab "]),
        (r"/a.*?;*/", ["a", "a;;"], ["ab", "a;b;"]),
        (r"/a.*?(bc)*d{2,3}/", ["add", "axbcddd"], ["ad", "adddd", "addxdd"]),
        (r"/\/\/.*?$/m", ["//", "// x"], ["//\n", "/"]),
        (r"/a.*?$/", ["a", "abc"], ["a\n"]),
        (r"/'.*?'(?!')/", ["''", "'a'", "'a''"], ["'a'b'", "'a''b'"]),
        (r"/x.*?a(?=bb)b+/", ["xabb", "xyabb", "xabxabb"], ["xab", "xa"]),
        (r"/a+?(?=b)a*(bc)?/", ["abc", "aabc"], ["a", "ab"]),
    ],
)
def test_what_follows_may_have_any_length(terminal: str, accepted: list[str], rejected: list[str]) -> None:
    grammar = Grammar.from_lark(f"start: T\nT: {terminal}")
    assert language(grammar, accepted + rejected) == accepted


@pytest.mark.parametrize("comment", [r"/#.*?$/m", r"/#.*?$/", r"/#.*?(\n|$)/"])
def test_a_comment_to_the_end_of_its_line(comment: str) -> None:
    grammar = Grammar.from_lark(f'start: "f" "(" ")"\n%ignore {comment}\n%ignore /\\s/')
    assert all(accepts(grammar, text) for text in ("f()", "f( # )\n)", "f()# x", "f#\n(#a\n#b\n)"))
    assert not accepts(grammar, "f( # )")


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("start: T\nT: /(a(?=bb))+/", (2, 4)),
        ('start: "x" /(a(?=bb))+?c/', (1, 12)),
        ('start: ~/(a(?=bb))+/ & "b"', (1, 9)),
        ("start[stop=/(a(?=bb))+/]: /b*/", (1, 7)),
        ('start: "a"\n%ignore " "\n%ignore /b(a(?=bb))+/', (3, 9)),
    ],
)
def test_an_assertion_that_is_not_supported_has_its_place(source: str, place: tuple[int, int]) -> None:
    with pytest.raises(LarkSyntaxError, match="this lookahead is not supported") as caught:
        Grammar.from_lark(source)
    assert (caught.value.line, caught.value.column) == place
