"""The examples in docstrings are run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import maskwright

MODULES = [
    *(m.name for m in pkgutil.walk_packages(maskwright.__path__, "maskwright.") if not m.name.endswith("__main__")),
    "oracle.derivatives",
    "oracle.recognizer",
]
OPTIONAL = {
    "jax",
    "llama_cpp",
    "mlx",
    "onnxruntime_genai",
    "pydantic",
    "sglang",
    "torch",
    "transformers",
    "triton",
    "vllm",
}


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if (missing.name or "").split(".")[0] not in OPTIONAL:
            raise
        pytest.skip(f"{missing.name} is not installed: an optional dependency")
    assert doctest.testmod(module).failed == 0
