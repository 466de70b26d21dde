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
EXTRAS = {
    "maskwright.integrations.transformers": "transformers",
    **dict.fromkeys((f"maskwright.bitmask.{name}" for name in ("expressions", "sampling", "torch_op")), "torch"),
    **dict.fromkeys((f"maskwright.bitmask.triton_{name}" for name in ("apply", "sampling")), "triton"),
    "maskwright.bitmask.jax": "jax",
    "maskwright.bitmask.mlx": "mlx",
}


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    for package, extra in EXTRAS.items():
        if name == package or name.startswith(f"{package}."):
            pytest.importorskip(extra, reason="an optional dependency")
    assert doctest.testmod(importlib.import_module(name)).failed == 0
