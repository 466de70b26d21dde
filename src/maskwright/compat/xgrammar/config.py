"""Limits and versions that hold for the whole process.

The recursion depth is kept and returned, as code for XGrammar sets it, but limits nothing here: no part of the engine
recurses as deep as an output or a grammar nests, and what it does limit, it refuses by name.
Tested by tests/compat/test_xgrammar_objects.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from maskwright.compat.xgrammar.exception import as_xgrammar_errors
from maskwright.errors import OptionError
from maskwright.support.arguments import as_integer

_MOST: Final = 1_000_000
SERIALIZATION_VERSION: Final = "maskwright-1"
_depth = 10_000


def get_max_recursion_depth() -> int:
    """Return what was set last; 10,000 at first."""
    return _depth


@as_xgrammar_errors()
def set_max_recursion_depth(max_recursion_depth: int) -> None:
    """Set the recursion depth that `get_max_recursion_depth` returns.

    Raises:
        OptionError: It is not from 1 to 1,000,000.
    """
    global _depth
    depth = as_integer("max_recursion_depth", max_recursion_depth, at_least=1)
    if depth > _MOST:
        raise OptionError(f"max_recursion_depth must be <= {_MOST:,}, not {depth}", option="max_recursion_depth")
    _depth = depth


@contextmanager
def max_recursion_depth(temp_depth: int) -> Iterator[None]:
    """Set the recursion depth for a `with` block."""
    before = get_max_recursion_depth()
    set_max_recursion_depth(temp_depth)
    try:
        yield
    finally:
        set_max_recursion_depth(before)


def get_serialization_version() -> str:
    """Return the version that serialized objects carry. It is not one of XGrammar's: the two cannot be mixed."""
    return SERIALIZATION_VERSION
