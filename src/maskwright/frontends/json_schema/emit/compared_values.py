"""Arrays and objects that must differ in what they say, in any spelling and any order of their members.

    {"items": {"type": "object"}, "uniqueItems": true}   →   "[" distinct([], ",", "{" members?, "}")+ "]"

Their texts go without the last bracket, so that where a value that was there before may not end, no byte leads to the
bracket alone. The kernel allows all that may follow but such an end (`ir.distinct`), so another value must be possible
wherever one may go on:

    open objects      by a member of another name
    arrays            by another item, if any number of items is possible
    closed objects    if the last member that is declared may be any string, or such an object or array; the members
                      come in their order

All others raise `TooManyError`, as do most items that may contain themselves: the list is one component with what
leads back to it, so this must be no rule with a parameter, such as those of members in any order.
Tested by tests/frontends/json_schema/emit/test_schema_unique_objects.py.
"""

from __future__ import annotations

import re
from typing import Any, Final, TypeAlias

from maskwright.frontends.json_schema.emit.counting import TooManyError
from maskwright.frontends.json_schema.emit.layout import CLOSE_ARRAY, CLOSE_OBJECT, Style
from maskwright.frontends.json_schema.emit.listed_items import listed_items
from maskwright.frontends.json_schema.emit.objects import conj_of_extras, object_of_shape
from maskwright.frontends.json_schema.emit.one_text import is_declared, members_in_order
from maskwright.frontends.json_schema.emit.schema_rules import SchemaRules
from maskwright.frontends.json_schema.read.places import ANYTHING, NOTHING, Conj, Path, identity_of
from maskwright.frontends.json_schema.sets.intersect import is_nothing
from maskwright.frontends.json_schema.sets.shape import (
    ALL_TYPES,
    ARRAY,
    FREE_OBJECTS,
    OBJECT,
    STRING,
    ArrayShape,
    ObjectShape,
    Shape,
    StringShape,
)
from maskwright.frontends.json_schema.sets.strings import name_spellings
from maskwright.ir import EMPTY, OP_ALT, OP_LITERAL, OP_NEVER, OP_SEQ, UNBOUNDED, Expr, alt, literal, seq, text

Compared: TypeAlias = "tuple[Expr, Expr]"  # values without the last bracket, and that
_MAX_PLACES: Final = 5_000
_BEGINS_WITH_A_LETTER: Final = re.compile(r"\^[A-Za-z0-9_](?![*?{])[^|]*", re.DOTALL)
_IS_A_BEGINNING: Final = re.compile(r"\^[A-Za-z0-9_-]+")
_BRACKETS: Final = (ord("]"), ord("}"))


def compared_arrays(rules: SchemaRules, shape: Shape, depth: int) -> list[Compared]:
    """Return the arrays of a shape, inside containers of this depth.

    Raises:
        TooManyError: They cannot be told apart.
    """
    style = _without_trail(rules, depth)
    found: list[Compared] = []
    for part in shape.arrays:
        if not _goes_on_with_items(rules, part, depth):
            raise TooManyError
        found.append(_closed(rules, _array(rules, part, style), depth, CLOSE_ARRAY))
    return found


def compared_objects(rules: SchemaRules, shape: Shape, depth: int) -> list[Compared]:
    """Return the objects of a shape, inside containers of this depth.

    Raises:
        TooManyError: They cannot be told apart.
    """
    style = _without_trail(rules, depth)
    closed = _is_strict(rules, shape)
    found: list[Compared] = []
    for part in shape.objects:
        if _goes_on_with_members(rules, part, depth, closed):
            value = object_of_shape(rules, part, depth, closed, style)
        else:
            value = _closed_object(rules, part, style, closed)
        found.append(_closed(rules, value, depth, CLOSE_OBJECT))
    return found


def _array(rules: SchemaRules, shape: ArrayShape, style: Style) -> Expr:
    prefix = [rules.place(conj, style.inner) for conj in shape.prefix]
    items = listed_items(rules, prefix, rules.place(shape.rest, style.inner), shape.min_items, UNBOUNDED, style)
    return style.array_of(items, may_be_empty=shape.min_items == 0)


def may_contain(rules: SchemaRules, item: Conj, unique: Path) -> bool:
    """Return whether values at a place may contain arrays whose items differ by this keyword, or very many others."""
    seen: set[Any] = set()
    waiting = [item]
    while waiting and len(seen) < _MAX_PLACES:
        conj = waiting.pop()
        key = identity_of(conj)
        if key in seen or not conj:
            continue
        seen.add(key)
        inside = rules.inside.get(key)
        if inside is None:
            inside = rules.inside[key] = _inside(rules.norm.shape_of(conj))
        lists, places = inside
        if unique in lists:
            return True
        waiting += places
    return bool(waiting)


def _inside(shape: Shape) -> tuple[list[Path | None], list[Conj]]:
    """The keywords by which the items of arrays differ, and the places in arrays and objects."""
    places: list[Conj] = []
    for array in shape.arrays:
        places += (*array.prefix, array.rest, *[contains.place for contains in array.contains])
    for part in shape.objects:
        places += part.properties.values()
        for extras in part.extras:
            places += (extras.additional, *[conj for _, _, conj in extras.patterns])
    return [array.unique for array in shape.arrays], places


def leads_back_plainly(rules: SchemaRules, shape: Shape, unique: Path) -> bool:
    """Return whether items contain the list that they are in only as a member of objects with one order."""
    if shape.mask != OBJECT:
        return False
    for part in shape.objects:
        if not is_declared(part, _is_strict(rules, shape)):
            return False
        for conj in part.properties.values():
            value = rules.norm.shape_of(conj)
            is_list = value.mask == ARRAY and all(array.unique == unique for array in value.arrays)
            if not is_list and may_contain(rules, conj, unique):
                return False
    return True


def _is_strict(rules: SchemaRules, shape: Shape) -> bool:
    return rules.strict and not (shape.objects is FREE_OBJECTS and shape.mask == ALL_TYPES)


def _without_trail(rules: SchemaRules, depth: int) -> Style:
    """The style in which what stands before the last bracket is left to what closes the value."""
    style = rules.layout.styles[depth]
    if rules.layout.depth_matters:  # what comes before the bracket of an empty container is something else
        raise TooManyError
    return style._replace(open_array=text("["), open_object=text("{"), lead=style.trail, trail=EMPTY, lists={})


def _closed(rules: SchemaRules, value: Expr, depth: int, bracket: Expr) -> Compared:
    return _without_bracket(value), seq(rules.layout.styles[depth].trail, bracket)


def _without_bracket(value: Expr) -> Expr:
    """The same texts without their last byte, a bracket."""
    op = value[0]
    if op == OP_NEVER:
        return value
    if op == OP_ALT:
        return alt(*[_without_bracket(branch) for branch in value[1:]])
    if op == OP_SEQ:
        return seq(*value[1:-1], _without_bracket(value[-1]))
    if op == OP_LITERAL and value[1][-1] in _BRACKETS:
        return literal(value[1][:-1])
    raise TooManyError


def _closed_object(rules: SchemaRules, shape: ObjectShape, style: Style, closed: bool) -> Expr:
    if not is_declared(shape, closed):
        raise TooManyError
    members: list[tuple[Expr, bool]] = []
    last: Conj = ANYTHING
    for name, conj in shape.properties.items():
        value, is_required = rules.place(conj, style.inner), name in shape.required
        if value[0] != OP_NEVER:
            members.append((seq(name_spellings(name)[0], style.colon, value), is_required))
            last = conj
        elif is_required:
            return value
    if not members or not _goes_on(rules, last, style.inner):
        raise TooManyError
    return members_in_order(shape, members, style)


def _goes_on(rules: SchemaRules, conj: Conj, depth: int) -> bool:
    """Whether each value that has begun at a place can become infinitely many."""
    shape = rules.norm.shape_of(conj)
    closed = _is_strict(rules, shape)
    return (
        not shape.mask & ~(STRING | ARRAY | OBJECT)
        and all(_goes_on_with_characters(part) for part in shape.strings)
        and all(_goes_on_with_items(rules, part, depth) for part in shape.arrays)
        and all(_goes_on_with_members(rules, part, depth, closed) for part in shape.objects)
    )


def _goes_on_with_characters(shape: StringShape) -> bool:
    return shape.values is None and shape.max_length is None and not shape.is_restricted()


def _goes_on_with_items(rules: SchemaRules, shape: ArrayShape, depth: int) -> bool:
    if shape.max_items is not None or shape.contains or shape.unique is not None:
        return False
    if rules.strict and shape.prefix and not shape.rest:
        return False
    inner = rules.layout.styles[depth].inner
    return all(rules.place(conj, inner)[0] != OP_NEVER for conj in (*shape.prefix, shape.rest))


def _goes_on_with_members(rules: SchemaRules, shape: ObjectShape, depth: int, closed: bool) -> bool:
    if shape.max_properties is not None or shape.witnesses or shape.names:
        return False
    conj = _values_of_endless_names(shape)
    if is_nothing(conj) or (closed and not conj):
        return False
    return bool(rules.place(conj, rules.layout.styles[depth].inner)[0] != OP_NEVER)


def _values_of_endless_names(shape: ObjectShape) -> Conj:
    """What members satisfy that have names of which there are plainly infinitely many; nothing if it is not plain."""
    patterns = {pattern for extras in shape.extras for pattern, _, _ in extras.patterns}
    if not all(map(_BEGINS_WITH_A_LETTER.fullmatch, patterns)):
        return NOTHING
    others = conj_of_extras(shape.extras, frozenset())  # which begin with other letters
    if is_nothing(others) and len(patterns) == 1 and all(map(_IS_A_BEGINNING.fullmatch, patterns)):
        return conj_of_extras(shape.extras, frozenset(patterns))
    return others
