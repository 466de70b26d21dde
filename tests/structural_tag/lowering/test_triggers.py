"""Free text with triggers: against the definition, string by string, and against the oracle, mask by mask.

The definition, as `TriggeredTagsFormat` has it: read from the left to where the first trigger ends; there, a tag begins
whose `begin` starts with a trigger that ends there.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

import maskwright as mw
from maskwright.errors import LimitError, StructuralTagError
from maskwright.structural_tag.texts import stops
from oracle import vocabularies
from oracle.comparing import compile_fresh, scaled, seeded, walk
from oracle.model import Language
from structural_tag.spelling import accepts, vocabulary

INFO = vocabulary()


class Tag(NamedTuple):
    begin: str
    content: str
    end: str

    def whole(self) -> str:
        return self.begin + self.content + self.end

    def to_dict(self) -> dict[str, Any]:
        return {"begin": self.begin, "content": {"type": "const_string", "value": self.content}, "end": self.end}


class Case(NamedTuple):
    triggers: tuple[str, ...]
    tags: tuple[Tag, ...]
    excludes: tuple[str, ...] = ()
    at_least_one: bool = False
    stop_after_first: bool = False
    end: str = ""

    def to_dict(self) -> dict[str, Any]:
        inner = {
            "type": "triggered_tags",
            "triggers": list(self.triggers),
            "tags": [tag.to_dict() for tag in self.tags],
            "excludes": list(self.excludes),
            "at_least_one": self.at_least_one,
            "stop_after_first": self.stop_after_first,
        }
        return {"format": {"type": "tag", "begin": "", "content": inner, "end": self.end}}


def holds(case: Case, text: str, *, start: bool = True) -> bool:
    """Whether the definition admits the text."""
    if start and case.at_least_one:
        return any(after_tag(case, text[len(tag.whole()) :]) for tag in case.tags if text.startswith(tag.whole()))
    stops = (*case.triggers, case.end) if case.end else case.triggers
    for place in range(1, len(text) + 1):
        met = [stop for stop in stops if text[:place].endswith(stop)]
        if met:
            return any(after_stop(case, text, place, stop) for stop in met)
    return not case.end and clean(case, text)


def clean(case: Case, text: str) -> bool:
    return not any(excluded in text for excluded in case.excludes)


def after_stop(case: Case, text: str, place: int, stop: str) -> bool:
    begin = place - len(stop)
    if not clean(case, text[:begin]):
        return False
    if stop == case.end and place == len(text):
        return True
    return any(
        text.startswith(tag.whole(), begin) and after_tag(case, text[begin + len(tag.whole()) :])
        for tag in case.tags
        if stop in case.triggers and tag.begin.startswith(stop)
    )


def after_tag(case: Case, text: str) -> bool:
    return text == case.end if case.stop_after_first else holds(case, text, start=False)


def strings(alphabet: str, longest: int) -> Iterator[str]:
    for length in range(longest + 1):
        yield from map("".join, itertools.product(alphabet, repeat=length))


def check(case: Case, longest: int = 7) -> None:
    compiled = mw.GrammarCompiler(INFO, cache_enabled=False).compile_structural_tag(case.to_dict())
    for text in strings("abc", longest):
        assert accepts(compiled, text) == holds(case, text), (case, text)


CASES = [
    Case(("ab",), (Tag("ab", "c", "b"),)),
    Case(("a",), (Tag("a", "", ""), Tag("ab", "c", "a"))),
    Case(("aa",), (Tag("aab", "", "c"),)),
    Case(("aab", "ba"), (Tag("aabc", "", "a"), Tag("ba", "a", ""))),
    Case(("ab", "b"), (Tag("abc", "", ""), Tag("b", "a", ""))),  # both end at the same place
    Case(("ab",), (Tag("ab", "b", "c"),), excludes=("cc",)),
    Case(("ab",), (Tag("ab", "b", "c"),), excludes=("a",)),
    Case(("ab",), (Tag("ab", "b", "c"),), excludes=("ca",)),  # may overlap a trigger, as it is not in the text
    Case(("abc", "ba"), (Tag("abc", "", ""), Tag("bac", "", "b"))),
    Case(("ab",), (Tag("ab", "c", ""),), at_least_one=True),
    Case(("ab",), (Tag("ab", "c", ""),), stop_after_first=True),
    Case(("ab",), (Tag("ab", "c", ""),), at_least_one=True, stop_after_first=True),
    Case(("ab",), (Tag("ab", "c", "b"),), end="cb"),
    Case(("ab",), (Tag("ab", "c", "b"),), end="ba"),
    Case(("ab",), (Tag("ab", "c", "b"),), end="cb", stop_after_first=True),
    Case(("ab",), (Tag("ab", "c", "b"),), end="cb", at_least_one=True, excludes=("b",)),
]


@pytest.fixture(params=["as they are", "those apart in one"])
def groups(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups of triggers as they are for few, and as they are for many."""
    if request.param != "as they are":
        monkeypatch.setattr(stops, "MAX_BEGINNINGS", 0)


@pytest.mark.usefixtures("groups")
@pytest.mark.parametrize("case", CASES)
def test_by_definition(case: Case) -> None:
    check(case)


@pytest.mark.usefixtures("groups")
def test_random_cases() -> None:
    rng = seeded("triggers")
    done = 0
    while done < scaled(60):
        triggers = tuple(dict.fromkeys(word(rng, 1, 3) for _ in range(rng.randint(1, 3))))
        tags = tuple(Tag(t + word(rng, 0, 2), rng.choice(("", "a", "bc")), rng.choice("abc")) for t in triggers)
        case = Case(triggers, tags, *random_options(rng))
        try:
            mw.Grammar.from_structural_tag(case.to_dict())
        except StructuralTagError:  # a trigger inside another
            continue
        check(case, 6)
        done += 1


def word(rng: random.Random, shortest: int, longest: int) -> str:
    return "".join(rng.choices("abc", k=rng.randint(shortest, longest)))


def random_options(rng: random.Random) -> tuple[Any, ...]:
    excludes = tuple(word(rng, 1, 2) for _ in range(rng.randint(0, 1)))
    return excludes, rng.random() < 0.2, rng.random() < 0.3, rng.choice(("", "", "cb", "b"))


@pytest.mark.usefixtures("groups")
@pytest.mark.parametrize("case", CASES[:: 1 if scaled(10) >= 10 else 3])
def test_masks(case: Case) -> None:
    vocab = vocabularies.of(*vocabularies.strings(b"abc", 2), "abc", "bca", special=(b"<x>",))
    ir = mw.Grammar.from_structural_tag(case.to_dict()).ir
    walk(compile_fresh(ir, vocab), Language(ir), vocab, seeded(repr(case)), scaled(6))


def test_dispatch() -> None:
    rules = [["ab", {"type": "const_string", "value": "c"}], ["b", {"type": "const_string", "value": "a"}]]
    data = {"format": {"type": "dispatch", "rules": rules, "excludes": ["cc"]}}
    compiled = mw.GrammarCompiler(INFO).compile_structural_tag(data)
    same = Case(("ab", "b"), (Tag("ab", "c", ""), Tag("b", "a", "")), excludes=("cc",))
    for text in strings("abc", 6):
        assert accepts(compiled, text) == holds(same, text), text
    data["format"]["loop"] = False
    compiled = mw.GrammarCompiler(INFO).compile_structural_tag(data)
    for text in strings("abc", 6):
        assert accepts(compiled, text) == holds(same._replace(stop_after_first=True), text), text


@pytest.mark.parametrize(
    ("triggers", "begin", "pointer"),
    [
        (["ab", "xb"], "abc", "/format/triggers/1"),
        (["x"], "abc", "/format/tags/0/begin"),
    ],
)
def test_idle_triggers_and_tags(triggers: list[str], begin: str, pointer: str) -> None:
    tag = {"begin": begin, "content": {"type": "any_text"}, "end": "e"}
    with pytest.raises(StructuralTagError) as caught:
        mw.Grammar.from_structural_tag({"format": {"type": "triggered_tags", "triggers": triggers, "tags": [tag]}})
    assert caught.value.pointer == pointer


def test_a_trigger_that_is_never_met() -> None:
    tags = [Tag("<ab>", "", "x").to_dict(), Tag("b", "", "x").to_dict()]
    with pytest.raises(StructuralTagError, match="'b' inside it matches first") as caught:
        mw.Grammar.from_structural_tag({"format": {"type": "triggered_tags", "triggers": ["<ab>", "b"], "tags": tags}})
    assert caught.value.pointer == "/format/tags/0"


def test_thousands_of_triggers() -> None:
    triggers = [f"<function={i:x}>" for i in range(4000)]
    tags = [Tag(trigger, "!", "</f>").to_dict() for trigger in triggers]
    data = {"format": {"type": "triggered_tags", "triggers": triggers, "tags": tags}}
    compiled = mw.GrammarCompiler(INFO).compile_structural_tag(data)
    assert accepts(compiled, "a < b <function= and <function=f9f>!</f> then <function=0>!</f>")
    assert not accepts(compiled, "<function=f9f>")
    assert not accepts(compiled, "<function=7>?</f>")


def test_thousands_of_triggers_that_begin_differently() -> None:
    triggers = [f"{chr(0x4E00 + i)}:" for i in range(4000)]
    tags = [Tag(trigger, f"{i}", "!").to_dict() for i, trigger in enumerate(triggers)]
    data = {"format": {"type": "triggered_tags", "triggers": triggers, "tags": tags}}
    compiled = mw.GrammarCompiler(INFO).compile_structural_tag(data)
    assert accepts(compiled, f"a {triggers[0][0]} b {triggers[0]}0! {triggers[3999]}3999!:")
    assert not accepts(compiled, f"{triggers[7]}8!")
    assert not accepts(compiled, f"a {triggers[7]} b")


def test_triggers_that_overlap_in_many_ways_are_refused() -> None:
    triggers = [f"{a}{b}" for a, b in zip(map(chr, range(0x100, 0x180)), map(chr, range(0x101, 0x181)), strict=True)]
    tags = [Tag(trigger, "1", "!").to_dict() for trigger in triggers]
    with pytest.raises(LimitError, match="overlap one another in more than 64 ways"):
        mw.Grammar.from_structural_tag({"format": {"type": "triggered_tags", "triggers": triggers, "tags": tags}})


def test_triggers_with_special_tokens() -> None:
    info = vocabulary(["<|a|>", "<|b|>"])
    compiler = mw.GrammarCompiler(info)
    tags = [Tag("<|a|>x", "1", "<|b|>").to_dict(), Tag("yy<|a|>", "2", "<|b|>").to_dict()]
    data = {"format": {"type": "triggered_tags", "triggers": ["<|a|>", "yy<|"], "tags": tags}}
    compiled = compiler.compile_structural_tag(data)
    for text in ("", "hello yy", "yy<|a|>2<|b|>yy", "yyy<|a|>2<|b|>", "<|a|>x1<|b|> <|a|>x1<|b|>"):
        assert accepts(compiled, text), text
    for text in ("<|a|>", "<|b|>", "<|a|>2<|b|>", "y<|a|>2<|b|>", "yy<|a|>x2<|b|>"):
        assert not accepts(compiled, text), text


def test_what_a_token_starts_once_ends_with_the_tag() -> None:
    rule = ["<|a|>", {"type": "any_text"}]
    inner = {"type": "token_dispatch", "rules": [rule], "loop": False}
    data = {"format": {"type": "tag", "begin": "{", "content": inner, "end": "}"}}
    compiled = mw.GrammarCompiler(vocabulary(["<|a|>"])).compile_structural_tag(data)
    assert all(accepts(compiled, text) for text in ("{x<|a|>yz}", "{x}"))
    assert not any(accepts(compiled, text) for text in ("{<|a|>y}z}", "{<|a|>y"))
