"""The implementations of `apply_token_bitmask_inplace`, by the names that XGrammar gives them.

Each is a module with a function of its name, which is imported when it is first asked for.
Tested by tests/compat/test_xgrammar_objects.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, Final

_MODULES: Final = {
    "cpu": "apply_token_bitmask_inplace_cpu",
    "cuda": "apply_token_bitmask_inplace_cuda",
    "triton": "apply_token_bitmask_inplace_triton",
    "torch_compile": "apply_token_bitmask_inplace_torch_compile",
    "torch_native": "apply_token_bitmask_inplace_torch",
}


def by_backend() -> dict[str, Callable[..., None]]:
    """Return the implementations by the names of backends."""
    return {backend: partial(_call, module) for backend, module in _MODULES.items()}


def _call(module: str, *args: Any) -> None:
    getattr(import_module(f"{__name__}.{module}"), module)(*args)
