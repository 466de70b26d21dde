"""Which patterns of `patternProperties` one name may match together, and the names that match just those.

    ^table , ^view , e$   →   {}, {^table }, {^view }, {e$}, {^table , e$}, {^view , e$}

Patterns that begin differently have no name in common, so that real schemas have about as many sets as patterns.
Whether two others have one is found out over an alphabet of their own, in which all characters that neither pattern
tells apart are one byte.
Cost: at most _MAX_SETS sets; whether two patterns overlap is found out once (derivatives.py).
Tested by tests/frontends/json_schema/emit/test_schema_objects.py and test_derivatives.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from maskwright.errors import LimitError
from maskwright.frontends.charset import ALL_CHARACTERS, partition, utf8
from maskwright.frontends.derivatives import overlap
from maskwright.frontends.json_schema.read.places import Path
from maskwright.frontends.json_schema.sets.strings import TEXT_CHARACTER, opening_of, pattern_text, pattern_tree
from maskwright.frontends.regex.algebra import Letters
from maskwright.frontends.regex.lower import lower
from maskwright.frontends.regex.plain import without
from maskwright.ir import OP_SEQ, Expr, alt, byte_set, star
from maskwright.support.memos import remembered

_MAX_SETS: Final = 64
_MAX_CLASSES: Final = 256  # of characters, as each is a byte
_ANYTHING: Final = star(utf8(ALL_CHARACTERS))


class OverlapError(Exception):
    """There are more than _MAX_SETS sets of patterns that a name may match."""


def sets_of_patterns(patterns: dict[str, Path]) -> tuple[frozenset[str], ...]:
    """Return sets of patterns such that each name matches just the patterns of one of them.

    Raises:
        OverlapError: They are too many.
    """
    if not patterns:
        return (frozenset(),)
    for pattern, path in patterns.items():
        pattern_text(pattern, path)  # says where it stands if it cannot be used
    return _overlaps(tuple(patterns))[0]


def matching_names(
    patterns: dict[str, Path],
    matched: frozenset[str],
    text_of: Callable[[str, Path], Expr] = pattern_text,
    character: Expr = TEXT_CHARACTER,
) -> list[Expr]:
    """Return expressions that all hold for names that match these patterns and no others.

    `text_of` gives the names in which a pattern is found, and `character` is any of their characters; by default as in
    JSON, inside the quotes.
    """
    if not patterns:
        return []
    _, overlapping = _overlaps(tuple(patterns))
    parts = [text_of(pattern, patterns[pattern]) for pattern in patterns if pattern in matched]
    others = [pattern for pattern in patterns if pattern not in matched and overlapping[pattern] >= matched]
    if not others:
        return parts
    return [*parts, without(alt(*[text_of(pattern, patterns[pattern]) for pattern in others]), character)]


@remembered(512)
def _overlaps(patterns: tuple[str, ...]) -> tuple[tuple[frozenset[str], ...], dict[str, frozenset[str]]]:
    """Return those sets; and for each pattern, the others that may match a name together with it.

    Raises:
        OverlapError: The sets are too many.
    """
    sets: list[frozenset[str]] = [frozenset()]
    found: dict[str, set[str]] = {}
    for pattern in patterns:
        others = {other for other in found if _may_overlap(other, pattern)}
        sets += [known | {pattern} for known in sets if others >= known]
        if len(sets) > _MAX_SETS:
            raise OverlapError
        for other in others:
            found[other].add(pattern)
        found[pattern] = others
    return tuple(sets), {pattern: frozenset(others) for pattern, others in found.items()}


@remembered(4096)
def _may_overlap(a: str, b: str) -> bool:
    """Whether two patterns may match the same name."""
    first, second = (pattern_text(pattern, None, in_json=False) for pattern in (a, b))
    begin, other_begin = opening_of(first), opening_of(second)
    if not (begin.startswith(other_begin) or other_begin.startswith(begin)):
        return False
    (starts, ends), (other_starts, other_ends) = _open_sides(first), _open_sides(second)
    if (ends and other_starts) or (starts and other_ends):
        return True  # a match of the one, and then one of the other
    texts = _over_one_alphabet(a, b)
    return texts is None or overlap(*texts)


def _open_sides(text: Expr) -> tuple[bool, bool]:
    """Whether any text may come before what is matched, and after it."""
    parts = text[1:] if text[0] == OP_SEQ else (text,)
    return parts[0] == _ANYTHING, parts[-1] == _ANYTHING


def _over_one_alphabet(*patterns: str) -> list[Expr] | None:
    """The names that each pattern matches, a byte standing for a class of characters; None if there are too many."""
    letters = Letters()
    try:
        texts = [lower(pattern_tree(pattern), letters.encode, pattern) for pattern in patterns]
        classes = partition(letters.sets, _MAX_CLASSES)
        if classes is None:
            return None
        return [letters.spell(text, lambda characters: byte_set(classes[characters])) for text in texts]
    except LimitError:
        return None
