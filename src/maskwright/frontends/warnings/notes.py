"""What a front-end notes of a grammar beside its rules, for the warnings.

    Notes({3: "%json"}, {5: "<end>"}, [])    rule 3 stands for an embedded schema, rule 5 ends with the stop text <end>

Tested by tests/frontends/warnings/test_shadowing.py, tests/frontends/warnings/test_misread.py.
"""

from __future__ import annotations

from typing import NamedTuple

from maskwright.errors import Span


class Misread(NamedTuple):
    """What a part of a grammar does not mean, though it was surely meant to."""

    message: str
    hint: str


class MisreadAt(NamedTuple):
    """The same with its place: in which rule, and where in the text."""

    rule: str | None
    span: Span
    misread: Misread


class Notes(NamedTuple):
    """Filled while a grammar is read; the keys are indices of rules."""

    embedded: dict[int, str]  # grammars within the grammar, and how these are written
    stops: dict[int, str]  # the text of the option `stop`
    misread: list[MisreadAt]


def no_notes() -> Notes:
    """Return notes to be filled."""
    return Notes({}, {}, [])
