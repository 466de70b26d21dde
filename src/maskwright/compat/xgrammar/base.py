"""The common base of the classes that stand for objects of the engine.

As in XGrammar, they are compared by identity and cannot be put into sets or used as keys. They do not change, so their
copies are they themselves; only a matcher's copy is another matcher, in the same state.
Tested by tests/compat/test_xgrammar_objects.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self


class XGRObject:
    """The base of `Grammar`, `CompiledGrammar`, `TokenizerInfo` and the rest."""

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = None  # type: ignore[assignment]

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self
