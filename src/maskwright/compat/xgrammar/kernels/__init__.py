"""The implementations of `apply_token_bitmask_inplace`, by the names that XGrammar gives them.

Each is a module with a function of its name, which is imported when it is first asked for.
Tested by tests/compat/test_xgrammar_objects.py.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

from maskwright.errors import OptionError

_MODULES: Final = {
    "cpu": "apply_token_bitmask_inplace_cpu",
    "cuda": "apply_token_bitmask_inplace_cuda",
    "triton": "apply_token_bitmask_inplace_triton",
    "torch_compile": "apply_token_bitmask_inplace_torch_compile",
    "torch_native": "apply_token_bitmask_inplace_torch",
}


def implementation(backend: Any) -> Callable[..., None]:
    """Return the implementation of a backend.

    Raises:
        OptionError: There is no such backend.
    """
    module = _MODULES.get(backend) if isinstance(backend, str) else None
    if module is None:
        hint = f"use one of {', '.join(('auto', *_MODULES))}"
        raise OptionError(f"unknown backend {backend!r:.60}", option="backend", hint=hint)
    found: Callable[..., None] = getattr(import_module(f"{__name__}.{module}"), module)
    return found
