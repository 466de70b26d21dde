"""`GrammarCompiler(cache_dir=…)`: what a later process finds there is what it would compile."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from saved_bytes import INFO, TOKENS, masks, sealed
from test_grammars import REGISTRY, SCHEMA_TEXTS, SCHEMAS, TAG, TOOLS

import maskwright as mw
from maskwright import structural_tag
from maskwright.compiling import disk_cache, task_compiler
from maskwright.compiling.kept_grammars import KeptGrammars

Compile = Callable[[mw.GrammarCompiler], mw.CompiledGrammar]


@pytest.fixture(autouse=True)
def all_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_compiler, "_WORTH_KEEPING_S", 0.0)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    return tmp_path / "cache"


def compiled(folder: Path, compile_: Compile, info: mw.TokenizerInfo = INFO) -> tuple[mw.CompiledGrammar, bool]:
    """What a new compiler makes, and whether it was on disk."""
    made = mw.GrammarCompiler(info, cache_dir=folder, max_threads=1)
    result = compile_(made)
    written = threading.Event()
    made._workers.run(written.set)  # its one thread writes first
    assert written.wait(60)
    stats = made.stats()
    assert stats.disk_hits + stats.disk_misses <= 1
    return result, stats.disk_hits == 1


def lark(source: str, **more: Any) -> Compile:
    return lambda each: each.compile_lark(source, **more)


def schema(data: Any, **options: Any) -> Compile:
    return lambda each: each.compile_json_schema(data, **options)


KEPT: list[Compile] = [
    *[schema(each, any_order=True) for each in SCHEMAS],
    lambda each: each.compile_regex("(ab|12)+", flags="i"),
    lambda each: each.compile_grammar("root ::= item+\nitem ::= [a-c] | <think>"),
    lambda each: each.compile_choices(["ab", b"12"]),
    lambda each: each.compile_structural_tag({"format": TAG}),
    lark('start: "a" x\nx: %json {"type": "integer", "titel": 1}'),
]


@pytest.mark.parametrize("compile_", KEPT, ids=range(len(KEPT)))
def test_the_same_comes_back(compile_: Compile, folder: Path) -> None:
    first, was_there = compiled(folder, compile_)
    assert not was_there
    second, was_there = compiled(folder, compile_)
    assert was_there
    for text in (*SCHEMA_TEXTS, b"ab12", b"a7"):
        assert masks(second, text) == masks(first, text)
        assert str(second.explain_rejection(text + b"\xff")) == str(first.explain_rejection(text + b"\xff"))
    assert second.grammar == first.grammar
    assert second.grammar.source == first.grammar.source
    assert second.grammar.report == first.grammar.report
    assert second.has_captures == first.has_captures
    assert second.capture_program is not None


NOT_KEPT: list[Compile] = [
    lambda each: each.compile_grammar(mw.Grammar.from_regex("a+")),
    schema({"$ref": "urn:x"}, registry=REGISTRY),
    lark("start: @g", grammars={"g": mw.Grammar.from_regex("a+")}),
    lambda each: each.compile_structural_tag(structural_tag.get_model_structural_tag("hermes", tools=TOOLS)),
]


@pytest.mark.parametrize("compile_", NOT_KEPT, ids=range(len(NOT_KEPT)))
def test_not_kept(compile_: Compile, folder: Path) -> None:
    compiled(folder, compile_)
    assert list(folder.iterdir()) == []
    assert not compiled(folder, compile_)[1]


def test_quick_ones_are_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_compiler, "_WORTH_KEEPING_S", 60.0)
    compiled(folder, schema(SCHEMAS[0]))
    assert list(folder.iterdir()) == []


def test_whatever_matters_is_in_the_key(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    def key(structure: Any, info: mw.TokenizerInfo = INFO) -> str | None:
        return KeptGrammars(folder, 1_000, info).key(structure)

    options = mw.frontends.json_schema.read_options  # type: ignore[attr-defined]
    structures = [
        ("regex", "ab", ""),
        ("regex", "ab", "i"),
        ("regex", b"ab", ""),
        ("regex", "a", "b"),
        ("regex", ("ab", "")),
        ("ebnf", "ab", ""),
        *[("x", value) for value in (1, 1.0, True, "1", b"1", None, "None", ())],
        ("json_schema", "{}", None),
        ("json_schema", "{}", options({})),
        ("json_schema", "{}", options({"any_order": True})),
        ("json_schema", "{}", options({"separators": (",", ":"), "any_whitespace": False})),
    ]
    keys = [key(each) for each in structures]
    assert len({*keys, None}) == len(structures) + 1
    assert keys == [key(each) for each in structures]
    assert key(("x", object())) is None
    assert key(("x", [1])) is None
    others = [
        mw.TokenizerInfo(tuple(TOKENS), len(TOKENS), INFO.special_token_ids, (1,)),
        mw.TokenizerInfo(tuple(TOKENS[::-1]), len(TOKENS), (), (1,)),
    ]
    assert len({key(structures[0], info) for info in (INFO, *others)}) == 3
    monkeypatch.setattr("maskwright.compiling.kept_grammars.code_digest", lambda: b"another front-end")
    assert key(structures[0]) not in keys


def test_the_code_is_in_the_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    before = disk_cache.code_digest()
    disk_cache.code_digest.cache_clear()
    monkeypatch.setattr(mw, "__version__", "0.0.0")
    try:
        assert disk_cache.code_digest() != before
    finally:
        disk_cache.code_digest.cache_clear()


def only_file(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[:50],
        lambda data: b"",
        lambda data: b"x" * 100,
        lambda data: data[:-1] + bytes((data[-1] ^ 1,)),
        lambda data: sealed(data[:-1]),
        lambda data: sealed(data.replace(b'"captures":false', b'"captures":77777')),
        lambda data: mw.Grammar.from_regex("a").serialize(),
        lambda data: mw.GrammarCompiler(INFO).compile_regex("a").serialize(),
    ],
)
def test_a_file_that_is_no_good_is_replaced(change: Callable[[bytes], bytes], folder: Path) -> None:
    compile_ = KEPT[0]
    first, _ = compiled(folder, compile_)
    path = only_file(folder)
    good = path.read_bytes()
    path.write_bytes(change(good))
    second, was_there = compiled(folder, compile_)
    assert not was_there
    assert masks(second, SCHEMA_TEXTS[0]) == masks(first, SCHEMA_TEXTS[0])
    assert only_file(folder).read_bytes() == good
    assert compiled(folder, compile_)[1]


def test_a_file_under_another_name_is_not_used(folder: Path) -> None:
    compiled(folder, KEPT[0])
    first = only_file(folder)
    compiled(folder, KEPT[1])
    (second,) = set(folder.iterdir()) - {first}
    second.write_bytes(first.read_bytes())
    assert not compiled(folder, KEPT[1])[1]


def test_warnings_are_issued_again(folder: Path) -> None:
    source = 'root ::= text | call\ntext ::= [^]*\ncall ::= "<tool>" [a-z]* "</tool>"'
    for _ in range(2):
        with pytest.warns(mw.GrammarWarning) as found:
            made, _ = compiled(folder, lambda each: each.compile_grammar(source))
        assert [str(w) for w in made.grammar.warnings] == [str(w.message) for w in found]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert compiled(folder, lambda each: each.compile_grammar(source))[1]


def test_unsatisfiable_ones_say_why_each_time(folder: Path) -> None:
    for _ in range(2):
        with pytest.raises(mw.UnsatisfiableError) as info:
            mw.GrammarCompiler(INFO, cache_dir=folder).compile_json_schema({"type": "string", "enum": [1]})
        assert info.value.pointers


def test_arguments(tmp_path: Path) -> None:
    with pytest.raises(mw.ArgumentError, match="cache_dir must be a path, not int"):
        mw.GrammarCompiler(INFO, cache_dir=3)  # type: ignore[arg-type]
    with pytest.raises(mw.OptionError, match="cache_dir_limit_bytes must be >= 0"):
        mw.GrammarCompiler(INFO, cache_dir=tmp_path, cache_dir_limit_bytes=-1)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(mw.OptionError, match="cache_dir cannot be made"):
        mw.GrammarCompiler(INFO, cache_dir=tmp_path / "file")


def test_async_compiling_uses_it_too(folder: Path) -> None:
    compiled(folder, lambda each: each.compile_json_schema_async(SCHEMAS[0]).result(60))
    assert compiled(folder, lambda each: each.compile_json_schema_async(SCHEMAS[0]).result(60))[1]


PROGRAM = """
import sys
import maskwright as mw
from maskwright.compiling import task_compiler
sys.path[:0] = sys.argv[2:]
from saved_bytes import INFO
task_compiler._WORTH_KEEPING_S = 0.0
made = mw.GrammarCompiler(INFO, cache_dir=sys.argv[1])
for i in range(20):
    made.compile_json_schema({"properties": {f"a{i % 5}": {"format": "date"}}, "minItems": i % 5})
print(made.stats().disk_hits)
"""


def test_processes_share_it(folder: Path) -> None:
    here = Path(__file__).parent
    command = [sys.executable, "-c", PROGRAM, str(folder), str(here), str(here.parent)]
    first = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert first.stdout == "0\n"  # written by the end of the process
    several = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [each.communicate(timeout=120)[0] for each in several] == ["5\n"] * 3
    assert len(list(folder.iterdir())) == 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_child_uses_it(folder: Path) -> None:
    made = mw.GrammarCompiler(INFO, cache_dir=folder)
    made.compile_regex("[ab]+")
    child = os.fork()
    if child == 0:
        try:
            made.compile_regex("[ab]*1")
            made._workers._executor.shutdown()  # type: ignore[union-attr]
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    assert compiled(folder, lambda each: each.compile_regex("[ab]*1"))[1]
