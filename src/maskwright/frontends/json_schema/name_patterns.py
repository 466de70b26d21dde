"""Which patterns of `patternProperties` one name may match together, and the names that match just those.

    ^table , ^view , e$   →   {}, {^table }, {^view }, {e$}, {^table , e$}, {^view , e$}

Patterns that begin differently have no name in common, so that real schemas have about as many sets as patterns.
Cost: at most _MAX_SETS sets; whether two patterns overlap is decided once (derivatives.py).
Tested by tests/frontends/json_schema/test_schema_objects.py.
"""

from __future__ import annotations

from maskwright.frontends.json_schema.derivatives import overlap
from maskwright.frontends.json_schema.shape import Path
from maskwright.frontends.json_schema.strings import pattern_text
from maskwright.ir import Expr, alt, not_

_MAX_SETS = 64


class OverlapError(Exception):
    """There are more than _MAX_SETS sets of patterns that a name may match."""


def sets_of_patterns(patterns: dict[str, Path]) -> list[frozenset[str]]:
    """Return sets of patterns such that each name matches just the patterns of one of them.

    Raises:
        OverlapError: They are too many.
    """
    texts = {pattern: pattern_text(pattern, path) for pattern, path in patterns.items()}
    sets: list[frozenset[str]] = [frozenset()]
    for pattern, text in texts.items():
        sets += [known | {pattern} for known in sets if all(overlap(text, texts[other]) for other in known)]
        if len(sets) > _MAX_SETS:
            raise OverlapError
    return sets


def matching_names(patterns: dict[str, Path], matched: frozenset[str]) -> list[Expr]:
    """Return expressions, inside the quotes, that all hold for names that match these patterns and no others."""
    parts = [pattern_text(pattern, path) for pattern, path in patterns.items() if pattern in matched]
    others = [pattern_text(pattern, path) for pattern, path in patterns.items() if pattern not in matched]
    others = [other for other in others if all(overlap(other, part) for part in parts)]
    return [*parts, not_(alt(*others))] if others else parts
