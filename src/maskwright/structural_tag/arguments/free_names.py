"""Names of members that a schema does not declare: what patterns and `propertyNames` ask, in a style's spelling.

    {"patternProperties": {"^x_": …}}   →   <parameter=x_…>        in the styles that write names as they are
    {"propertyNames": {"pattern": "&"}} →   name="a&amp;b"         in those that escape

Characters that could end a name are never written; with escapes, those that have one are.
Tested by tests/structural_tag/arguments/test_xml_names.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final, TypeAlias

from maskwright.frontends.charset import ALL_CHARACTERS, CodePointSet, utf8
from maskwright.frontends.json_schema.read.places import Path
from maskwright.frontends.json_schema.sets.formats import format_text
from maskwright.frontends.json_schema.sets.shape import StringShape
from maskwright.frontends.json_schema.sets.strings import pattern_text, pattern_tree
from maskwright.frontends.json_schema.sets.text_grammars import refused
from maskwright.frontends.regex import lower
from maskwright.ir import Expr, alt, and_, not_, plus, repeat, seq, star, text

# Writes one of some characters; those that a name cannot hold are left out.
Spelling: TypeAlias = Callable[[CodePointSet], Expr]

# White space of Unicode is none, either: readers strip it off.
_SPACES: Final = ((0, 0x20), (0x2000, 0x200A), (0x2028, 0x2029))
_ENDS: Final = '"<>=/:,{}[]\x85\xa0\u1680\u202f\u205f\u3000'
_PLAIN: Final = ~CodePointSet.from_ranges([*_SPACES, *((ord(c), ord(c)) for c in _ENDS)])


@lru_cache(maxsize=16)
def spelling_of(escapes: tuple[tuple[str, str], ...]) -> Spelling:
    """Return how a style with these escapes writes characters of names."""
    escaped = CodePointSet.from_string("".join(character for character, _ in escapes))
    plain = _PLAIN & ~escaped

    def spell(characters: CodePointSet) -> Expr:
        entities = [text(entity) for c, entity in escapes if CodePointSet.from_string(c).issubset(characters)]
        return alt(utf8(characters & plain), *entities)

    return spell


@lru_cache(maxsize=16)
def any_name(escapes: tuple[tuple[str, str], ...]) -> Expr:
    """Any name in the style with these escapes."""
    return plus(spelling_of(escapes)(ALL_CHARACTERS))


def matching_pattern(pattern: str, path: Path, spell: Spelling) -> Expr:
    """Return the names in which a pattern is found.

    Raises:
        UnsupportedSchemaError: It is not a valid regular expression, or not a regular one.
    """
    pattern_text(pattern, path)
    return lower(pattern_tree(pattern), spell, pattern)


def names_of(shape: StringShape, spell: Spelling) -> Expr:
    """Return the names that are strings of a shape."""
    if shape.values is not None:
        return alt(*[seq(*[spell(CodePointSet.from_string(c)) for c in value]) for value in shape.values])
    parts = [matching_pattern(pattern, path, spell) for pattern, path in shape.patterns]
    parts += [format_text(name, spell) for name in shape.formats]
    parts += [not_(names_of(each, spell)) for each in shape.excluded]
    for grammar in shape.grammars:
        raise refused(grammar, "in this style, names of members have no quotes", "use a pattern")
    any_of = spell(ALL_CHARACTERS)
    longest = -1 if shape.max_length is None else shape.max_length
    return and_(repeat(any_of, shape.min_length, longest) if shape.min_length or longest >= 0 else star(any_of), *parts)
