"""What is kept for long is off the list of Python's garbage collector, and is freed as ever."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from maskwright import CompiledGrammar, GrammarCompiler, GrammarMatcher, TokenizerInfo, _kernel
from maskwright.structural_tag import get_model_structural_tag
from maskwright.structural_tag.formats.kept import KEPT
from maskwright.support.untracked import untrack

FAMILIES = ("hermes", "llama", "gemma_4", "qwen_3_coder", "harmony", "kimi_k3")


class Kept:
    def __init__(self, value: Any) -> None:
        self.value = value


def test_only_what_is_acyclic_is_taken() -> None:
    inner = [1]
    kept = ({"a": (inner, {}), "b": Kept((inner,))}, Kept([2]))
    untrack(kept, Kept)
    assert not gc.is_tracked(kept)
    assert not gc.is_tracked(kept[0])
    assert not gc.is_tracked(kept[0]["a"])
    assert not gc.is_tracked(kept[0]["b"])
    assert not gc.is_tracked(kept[0]["b"].value)
    assert gc.is_tracked(inner)
    assert gc.is_tracked(kept[1].value)


def test_objects_of_other_classes_stay() -> None:
    kept = (Kept(([],)),)
    untrack(kept)
    assert not gc.is_tracked(kept)
    assert gc.is_tracked(kept[0])


def test_a_dict_with_something_new_comes_back() -> None:
    kept: dict[int, object] = {1: ([],)}
    untrack(kept)
    kept[2] = ([],)
    if gc.is_tracked(kept):  # as Python sees fit
        untrack(kept)
    assert not gc.is_tracked(kept)


def test_it_is_freed_and_keeps_what_it_refers_to() -> None:
    kept: Any = tuple({"i": Kept((i, [i]))} for i in range(100))
    untrack(kept, Kept)
    gc.collect()
    assert [each["i"].value for each in kept] == [(i, [i]) for i in range(100)]
    before = sum(type(x) is list for x in gc.get_objects())
    del kept
    assert sum(type(x) is list for x in gc.get_objects()) <= before - 100


def test_it_says_what_is_new() -> None:
    known = (b"x" * 1000, ("y" * 500, {"z": (1, [2])}))
    texts = 1000 + 500
    first = untrack(known)
    assert texts < first < texts + 600
    own = [known, known[1], known[1][1], known[1][1]["z"], known[0], known[1][0], "z"]
    assert first == pytest.approx(sum(map(sys.getsizeof, own)), rel=0.15)
    assert untrack(known) == 0
    assert untrack((known, "v" * 2000)) == pytest.approx(2000, rel=0.1)
    assert untrack(("w" * 100,) * 50) < 100 + 600  # one text


def test_kinds_are_classes() -> None:
    with pytest.raises(TypeError):
        _kernel.untrack((), (1,))  # type: ignore[arg-type]


def vocabulary() -> TokenizerInfo:
    return TokenizerInfo.from_vocab([*(bytes((b,)) for b in range(256)), b"</s>"], stop_token_ids=[256])


INFO = vocabulary()


def schema(i: int) -> Any:
    return {"type": "object", "properties": {f"a{i}": {"type": "integer"}}, "required": [f"a{i}"]}


def num_tracked_after(compile_one: Callable[[int], Any], first: int) -> int:
    for i in range(first, first + 60):
        GrammarMatcher(compile_one(i))
    gc.collect()
    return len(gc.get_objects())


@pytest.mark.parametrize("cache_limit_bytes", [0, 1 << 28])
@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_kept_of_tools(family: str, cache_limit_bytes: int) -> None:
    """The collector gets next to nothing to look at when tools are added that stay known, and grammars with them."""
    compiler = GrammarCompiler(INFO, cache_limit_bytes=cache_limit_bytes)

    def compile_one(i: int) -> CompiledGrammar:
        tools = [{"type": "function", "function": {"name": f"f{i}_{family}", "parameters": schema(i)}}]
        return compiler.compile_structural_tag(get_model_structural_tag(family, tools=tools))

    KEPT.clear()
    before = num_tracked_after(compile_one, 0)
    known = KEPT.statistics().entries
    added = num_tracked_after(compile_one, 1000) - before
    assert KEPT.statistics().entries >= known + 4 * 60
    assert compiler.stats().num_grammars == (120 if cache_limit_bytes else 0)
    assert added < 60  # of some fifty a tool


@pytest.mark.parametrize(
    "compile_one",
    [
        lambda compiler, i: compiler.compile_json_schema(schema(i)),
        lambda compiler, i: compiler.compile_json_schema(json.dumps(schema(i))),
        lambda compiler, i: compiler.compile_regex(f"a{i}[0-9]*|b"),
        lambda compiler, i: compiler.compile_grammar(f'root ::= "a{i}" item*\nitem ::= "b" | "c" root'),
        lambda compiler, i: compiler.compile_choices([f"a{i}", "b"]),
    ],
)
def test_what_is_kept_of_grammars(compile_one: Callable[[GrammarCompiler, int], Any]) -> None:
    compiler = GrammarCompiler(INFO)
    before = num_tracked_after(partial(compile_one, compiler), 0)
    added = num_tracked_after(partial(compile_one, compiler), 1000) - before
    assert compiler.stats().num_grammars == 120
    assert added < 60  # of some thirteen a grammar


def test_grammars_are_freed() -> None:
    compiler = GrammarCompiler(vocabulary())
    grammars = [compiler.compile_regex(f"a{i}+(bc)*") for i in range(20)]
    compiler.clear_cache()
    assert not any(map(gc.is_tracked, grammars))
    assert compiler.stats().num_rule_groups >= 20
    grammars.clear()
    compiler.clear_cache()
    assert compiler.stats().num_rule_groups < 3
