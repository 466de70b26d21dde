"""Which version of SGLang is supported, and the error for others, whose interface for grammar backends is another one.

Tested by tests/engines/test_sglang.py.
"""

from __future__ import annotations

from importlib import import_module
from typing import Final

from maskwright.errors import OptionError

SUPPORTED: Final = "0.5.23"


def another_interface(difference: str) -> OptionError:
    """Make the error for a version of SGLang that differs in this."""
    version = import_module("sglang.version").__version__
    return OptionError(
        f"SGLang {version} has a different interface for grammar backends: {difference}",
        option="grammar_backend",
        hint=f"use SGLang {SUPPORTED}, for which this backend was written",
    )
