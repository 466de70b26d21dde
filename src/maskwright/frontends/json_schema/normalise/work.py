"""How much work the algebra of shapes may do: alternatives multiply, and looks into members open more members.

    work.spend(4)                   counts; a `LimitError` past MAX_WORK
    if work.begin_look(1000): …     a look into members, within 1000 more units of work, up to `end_look`

Tested by tests/frontends/json_schema/normalise/test_schema_one_of.py and tests/contract/test_hostile.py.
"""

from __future__ import annotations

from typing import Final

from maskwright.errors import LimitError
from maskwright.support.interruption import interrupt_checkpoint

MAX_WORK: Final = 20_000  # units: 1 to compare two alternatives, 4 to intersect them
MAX_LOOKS: Final = 4  # one inside another
_CHECKPOINT_EVERY: Final = 0x20  # units of work, a power of two


class Work:
    """Counts the work for one document."""

    def __init__(self) -> None:
        self._done = 0
        self._limit = MAX_WORK
        self._limits_outside: list[int] = []  # of looks

    def spend(self, units: int) -> None:
        """Count work.

        Raises:
            LimitError: There was too much.
        """
        before = self._done
        self._done += units
        if (before ^ self._done) & -_CHECKPOINT_EVERY:
            interrupt_checkpoint()
        if self._done > self._limit:
            raise LimitError(
                "anyOf, oneOf, not and if combine to too many alternatives",
                limit="MAX_WORK",
                hint="write the alternatives out, or nest fewer of these keywords",
            )

    def begin_look(self, most: int = MAX_WORK) -> bool:
        """Begin a look into members, within so many units of work; False inside too many others."""
        if len(self._limits_outside) >= MAX_LOOKS:
            return False
        self._limits_outside.append(self._limit)
        self._limit = min(self._limit, self._done + most)
        return True

    def end_look(self) -> None:
        """End the last look that was begun."""
        self._limit = self._limits_outside.pop()
