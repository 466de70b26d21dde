"""The common base of the classes that stand for objects of the engine.

As in XGrammar, they are compared by identity and cannot be put into sets or used as keys.
Tested by tests/compat/test_xgrammar_objects.py.
"""

from __future__ import annotations


class XGRObject:
    """The base of `Grammar`, `CompiledGrammar`, `TokenizerInfo` and the rest."""

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = None  # type: ignore[assignment]
