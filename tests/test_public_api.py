"""The public names, pinned: a change here is a change for users, and belongs into CHANGELOG.md."""

from __future__ import annotations

import inspect
import pydoc
import re
from pathlib import Path
from typing import Any

import pytest

import maskwright
from maskwright import _kernel, errors

NAMES = {
    "BatchGrammarMatcher",
    "CompiledGrammar",
    "Explanation",
    "Grammar",
    "GrammarCompiler",
    "GrammarMatcher",
    "GrammarProblem",
    "GrammarReport",
    "Origin",
    "Rejection",
    "SchemaReport",
    "TokenizerInfo",
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "check",
    "lint",
}
ERRORS = {n for n, v in vars(errors).items() if isinstance(v, type) and issubclass(v, Exception)}
METHODS = {
    "TokenizerInfo": {
        "from_huggingface",
        "from_tiktoken",
        "from_sentencepiece",
        "from_mistral",
        "from_llama_cpp",
        "from_vocab",
    },
    "Grammar": {
        "from_regex",
        "from_ebnf",
        "from_json_schema",
        "from_choices",
        "from_lark",
        "from_structural_tag",
        "concat",
        "union",
    },
    "GrammarCompiler": {
        *(
            f"compile_{kind}{suffix}"
            for kind in ("json_schema", "regex", "grammar", "lark", "choices", "structural_tag")
            for suffix in ("", "_async")
        ),
        "stats",
    },
    "SchemaReport": {"verdict", "counts", "to_dict"},
    "CompiledGrammar": {"explain_rejection", "precompute", "stats", "memory_size_bytes"},
    "BatchGrammarMatcher": {
        "accept_token",
        "accept_tokens",
        "accept_string",
        "validate_tokens",
        "fill_next_token_bitmask",
        "fill_draft_bitmask",
        "rollback",
        "reset",
        "is_completed",
        "is_terminated",
    },
    "GrammarMatcher": {
        "expected",
        "explain",
        "fill_draft_bitmask",
        "traverse_draft_tree",
        "find_jump_forward_tokens",
        "forced_token",
        "precompute",
        "accept_token",
        "accept_tokens",
        "accept_string",
        "accept_bytes",
        "forced_bytes",
        "history",
        "text_may_follow",
        "validate_tokens",
        "fill_next_token_bitmask",
        "mask_is_known",
        "find_jump_forward_string",
        "rollback",
        "fork",
        "reset",
        "is_completed",
        "is_terminated",
        "num_accepted_tokens",
    },
}


def test_all() -> None:
    assert set(maskwright.__all__) == NAMES | ERRORS


def test_nothing_else_is_public() -> None:
    """Submodules aside, what the package holds is what `__all__` lists."""
    others = {n for n, v in vars(maskwright).items() if not n.startswith("_") and not inspect.ismodule(v)}
    assert others == set(maskwright.__all__)


def test_version() -> None:
    pyproject = (Path(__file__).parents[1] / "pyproject.toml").read_text()
    assert f'version = "{maskwright.__version__}"' in pyproject.splitlines()


@pytest.mark.parametrize("name", METHODS)
def test_methods(name: str) -> None:
    assert {m for m in METHODS[name] if not hasattr(getattr(maskwright, name), m)} == set()


@pytest.mark.parametrize("name", maskwright.__all__)
def test_every_public_name_is_documented(name: str) -> None:
    """The name, and all that a class has, wherever it comes from: a method, also of the kernel's class, by a docstring
    of its own; an attribute by one, or by its name in a docstring of the class.
    """
    value = getattr(maskwright, name)
    assert value.__doc__, name
    if not isinstance(value, type):
        return
    classes = [each for each in value.__mro__ if each.__module__.startswith("maskwright")]
    about = " ".join(each.__doc__ or "" for each in classes)
    for member in (m for m in dir(value) if not m.startswith("_")):
        found = [vars(each)[member] for each in classes if member in vars(each)]
        has_docstring = any(_unwrapped(each).__doc__ for each in found)
        is_attribute = not any(callable(_unwrapped(each)) for each in found)
        assert has_docstring or not found or (is_attribute and re.search(rf"\b{member}\b", about)), member


def _unwrapped(member: Any) -> Any:
    return getattr(member, "__func__", member)


def test_the_test_of_docstrings_finds_what_the_kernel_adds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_kernel.BatchMatcher, "bare", lambda self: None, raising=False)
    with pytest.raises(AssertionError, match="bare"):
        test_every_public_name_is_documented("BatchGrammarMatcher")


def test_shapes_are_in_what_help_shows() -> None:
    assert "bitmask: (batch, >= ceil(vocab_size / 32)) int32" in pydoc.render_doc(maskwright.GrammarMatcher)


def test_help_shows_the_signature_and_what_happens() -> None:
    shown = pydoc.render_doc(maskwright.GrammarMatcher.accept_token, renderer=pydoc.plaintext)
    assert "accept_token(self, token_id: typing.SupportsIndex) -> bool" in shown
    assert "False, and nothing changes, if it is not allowed" in shown


def test_the_package_says_that_it_is_typed() -> None:
    assert (Path(maskwright.__file__).parent / "py.typed").is_file()
