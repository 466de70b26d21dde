"""Text that comes again, as EBNF and Lark write it: a name for the text of an item, and `$name` for that text.

    {#9=[a-c]+ ">" #9}   →   (text9=[a-c]+ ">" $text9)

Tested by tests/frontends/test_printing.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from maskwright.frontends.charset import CodePointSet
from maskwright.frontends.notation.printer import ATOM, REPEAT, SEQ, Printer, Shown
from maskwright.ir import OP_RECALL, OP_REMEMBER, OP_SCOPE, OP_SEQ, Expr


class RememberingPrinter(Printer):
    """A printer of a notation that has such names."""

    def _join(self, node: Expr, parts: list[Shown]) -> Shown:
        if node[0] == OP_SEQ:
            parts = self._with_groups(self._parts_of[id(node)], parts)
        return super()._join(node, parts)

    def _with_groups(self, parts: Sequence[Expr | str | CodePointSet], shown: list[Shown]) -> list[Shown]:
        """A name holds to the end of its group, so one ends where a text takes the place of an earlier one."""
        out: list[Shown] = []
        held: list[tuple[int, int]] = []  # numbers, and where they are remembered
        for part, text in zip(parts, shown, strict=True):
            if isinstance(part, Expr) and part[0] == OP_REMEMBER:
                while held and held[-1][0] <= part[2]:
                    begin = held.pop()[1]
                    out[begin:] = [Shown(self.group(self._joined(out[begin:], SEQ, self.blank).text), ATOM)]
                held.append((part[2], len(out)))
            out.append(text)
        return out

    def remembered(self, node: Expr, parts: list[Shown]) -> Shown:
        if node[0] == OP_RECALL:
            return Shown(f"$text{node[1]}", ATOM)
        if node[0] == OP_SCOPE:
            return Shown(self.group(parts[0].text), ATOM)
        return Shown(f"text{node[2]}={self._inside(parts[0], REPEAT)}", REPEAT)
