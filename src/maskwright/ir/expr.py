"""The node of every grammar.

Tested by tests/test_ir.py.
"""

from __future__ import annotations

from typing import Any

from maskwright.ir.notation import notation


class Expr(tuple[Any, ...]):
    """A node of the grammar: ops.py lists its shapes. Make one with the constructors in expressions.py."""

    __slots__ = ()

    @property
    def op(self) -> int:
        return self[0]  # type: ignore[no-any-return]

    def dump(self, rule_names: tuple[str, ...] | None = None) -> str:
        """Show the expression in an EBNF-like notation, for people and for tests."""
        return notation(self, rule_names)

    def __repr__(self) -> str:
        return f"Expr({self.dump()})"
