"""Which patterns of `patternProperties` one name may match together, and the names that match just those.

    ^table , ^view , e$   →   {}, {^table }, {^view }, {e$}, {^table , e$}, {^view , e$}

Patterns that begin differently have no name in common, so that real schemas have about as many sets as patterns.
Whether two have one is found out over an alphabet of their own, in which all characters that no pattern tells apart are
one byte.
Cost: at most _MAX_SETS sets; the overlaps of a list of patterns are found once (derivatives.py).
Tested by tests/frontends/json_schema/test_schema_objects.py and test_schema_derivatives.py.
"""

from __future__ import annotations

from functools import lru_cache

from maskwright.errors import LimitError
from maskwright.frontends.charset import told_apart
from maskwright.frontends.json_schema.derivatives import overlap
from maskwright.frontends.json_schema.shape import Path
from maskwright.frontends.json_schema.strings import pattern_text, pattern_tree
from maskwright.frontends.regex import lower
from maskwright.frontends.regex.algebra import Letters
from maskwright.ir import Expr, alt, byte_set, not_

_MAX_SETS = 64
_MAX_CLASSES = 256  # of characters, as each is a byte


class OverlapError(Exception):
    """There are more than _MAX_SETS sets of patterns that a name may match."""


def sets_of_patterns(patterns: dict[str, Path]) -> list[frozenset[str]]:
    """Return sets of patterns such that each name matches just the patterns of one of them.

    Raises:
        OverlapError: They are too many.
    """
    if not patterns:
        return [frozenset()]
    for pattern, path in patterns.items():
        pattern_text(pattern, path)  # says where it stands if it cannot be used
    overlapping = _overlapping(tuple(patterns))
    sets: list[frozenset[str]] = [frozenset()]
    for pattern in patterns:
        sets += [known | {pattern} for known in sets if overlapping[pattern] >= known]
        if len(sets) > _MAX_SETS:
            raise OverlapError
    return sets


def matching_names(patterns: dict[str, Path], matched: frozenset[str]) -> list[Expr]:
    """Return expressions, inside the quotes, that all hold for names that match these patterns and no others."""
    if not patterns:
        return []
    overlapping = _overlapping(tuple(patterns))
    parts = [pattern_text(pattern, patterns[pattern]) for pattern in patterns if pattern in matched]
    others = [pattern for pattern in patterns if pattern not in matched and overlapping[pattern] >= matched]
    if not others:
        return parts
    return [*parts, not_(alt(*[pattern_text(pattern, patterns[pattern]) for pattern in others]))]


@lru_cache(maxsize=512)
def _overlapping(patterns: tuple[str, ...]) -> dict[str, frozenset[str]]:
    """For each pattern, the others that may match a name together with it."""
    found: dict[str, set[str]] = {pattern: set() for pattern in patterns}
    texts = _over_one_alphabet(patterns)
    for i, a in enumerate(patterns):
        for j, b in enumerate(patterns[:i]):
            if texts is None or overlap(texts[i], texts[j]):
                found[a].add(b)
                found[b].add(a)
    return {pattern: frozenset(others) for pattern, others in found.items()}


def _over_one_alphabet(patterns: tuple[str, ...]) -> list[Expr] | None:
    """The names that each pattern matches, a byte standing for a class of characters; None if there are too many."""
    letters = Letters()
    try:
        texts = [lower(pattern_tree(pattern), letters.encode, pattern) for pattern in patterns]
        classes = told_apart(letters.sets, _MAX_CLASSES)
        if classes is None:
            return None
        return [letters.spell(text, lambda characters: byte_set(classes[characters])) for text in texts]
    except LimitError:
        return None
