r"""The classes of characters, and of the edge of the text, that no boundary of a pattern tells apart on one side.

`\b` has two on either side: word characters, and all else with the edge. A set of classes is an int whose bit i stands
for class i.
Tested by tests/frontends/regex/test_regex.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from maskwright.errors import LimitError
from maskwright.frontends.charset import CodePointSet
from maskwright.frontends.regex.ast import ANYTHING, Side

MAX_CLASSES: Final = 12


class SideClasses:
    """The classes of one side: a partition of all characters and the edge."""

    def __init__(self, sides: Iterator[Side]) -> None:
        parts = [ANYTHING]
        for side in dict.fromkeys(sides):
            other = side.complement()
            cut = [Side(p.chars & s.chars, p.edge and s.edge) for p in parts for s in (side, other)]
            parts = [part for part in cut if part.chars or part.edge]
            if len(parts) > MAX_CLASSES:
                raise too_much("the assertions of the regular expression distinguish too many kinds of characters")
        self.parts = parts
        self.unions: dict[int, CodePointSet] = {}
        self.edge = next(i for i, part in enumerate(parts) if part.edge)
        self.all = sum(1 << i for i, part in enumerate(parts) if part.chars)

    def mask(self, side: Side) -> int:
        """The classes within a side. A side is a union of classes."""
        mask = 0
        for i, part in enumerate(self.parts):
            if side.edge if part.edge else not part.chars.isdisjoint(side.chars):
                mask |= 1 << i
        return mask

    def chars(self, mask: int) -> CodePointSet:
        """The characters of a set of classes."""
        out = self.unions.get(mask)
        if out is None:
            out = self.unions[mask] = CodePointSet.from_ranges(
                r for i in bits(mask) for r in self.parts[i].chars.ranges
            )
        return out


def bits(mask: int) -> Iterator[int]:
    """The numbers of the classes in a set, in order."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def too_much(message: str) -> LimitError:
    """The error for assertions that cost too much."""
    return LimitError(message, limit="regex assertions", hint="use fewer anchors, word boundaries and lookarounds")
