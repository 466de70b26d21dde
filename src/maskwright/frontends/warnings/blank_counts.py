"""Counts of regular expressions with a blank in them, which are plain characters, so that other texts match in silence.

    blank_count("[0-9]{1, 3}")    BlankCount("{1, 3}", "{1,3}"): this is a digit and the characters "{1, 3}"
    blank_count("f{1, 3}")        None: the text may be meant

Tested by tests/frontends/warnings/test_blank_counts.py.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_BEHIND_A_SET: Final = re.compile(r"(?:(?<!\\)[\])]|(?<!\\)\\[dwsDWS])(\{[0-9 ]*(?:,[0-9 ]*)?\})")
_COUNT: Final = re.compile(r"\{[0-9]+(?:,[0-9]*)?\}|\{,[0-9]+\}")


class BlankCount(NamedTuple):
    """A count as it is written, and without blanks."""

    text: str
    meant: str

    @property
    def message(self) -> str:
        """What is wrong."""
        return f"{self.text} stands for these characters, since a count has no blanks"

    @property
    def hint(self) -> str:
        """What to do."""
        return f"write {self.meant}"


def blank_count(pattern: str) -> BlankCount | None:
    """Return the first count with a blank in it behind a class, a group or a shorthand; None if there is none."""
    for found in _BEHIND_A_SET.finditer(pattern):
        text, meant = found[1], found[1].replace(" ", "")
        is_in_class = pattern.rfind("[", 0, found.start()) > pattern.rfind("]", 0, found.start(1))
        if text != meant and not is_in_class and _COUNT.fullmatch(meant):
            return BlankCount(text, meant)
    return None
