"""What a front-end notes of a grammar beside its rules, for the warnings: by the index of a rule, things that it was.

    Notes({3: "%json"}, {5: "<end>"}, [])    rule 3 stands for an embedded schema, rule 5 ends with the stop text <end>

Tested by tests/frontends/test_shadowing.py.
"""

from __future__ import annotations

from typing import NamedTuple

from maskwright.frontends.warnings.lost_escapes import LostAt


class Notes(NamedTuple):
    """Filled while a grammar is read."""

    embedded: dict[int, str]  # grammars within the grammar, and how these are written
    stops: dict[int, str]  # the text of the option `stop`
    lost: list[LostAt]  # escapes of regular expressions that mean something else where they stand


def no_notes() -> Notes:
    """Return notes to be filled."""
    return Notes({}, {}, [])
