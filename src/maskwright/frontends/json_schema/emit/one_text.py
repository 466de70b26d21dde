"""The one text that each value of an element of a distinct list has, so that equal texts are equal values.

    {"properties": {"a": A, "b": B}, "required": ["a"], "additionalProperties": false}
                                                                      →   "{\"a\": " A (", \"b\": " B)? "}"

A string is spelled as `json.dumps` does (sets/one_spelling.py), a number in decimals, with no exponent, no sign of zero
and no zeros at the end of the fraction. Arrays and objects are laid out as by `json.dumps`, or by the options where
these leave no choice, and members come in the order in which the schema declares them. Where alternatives declare the
same names in different orders, the order in which they first occur holds for all objects at that place.

What has no such text raises `TooManyError`: objects with undeclared members, which could come in any order; values that
contain themselves, as the kernel reads such an element by an automaton. Many of them can be compared all the same
(compared_values.py).
Cost: linear in the places of the element, with references replaced by what they refer to, up to `_MAX_PLACES`; of
objects without required members, quadratic in these.
Tested by tests/frontends/json_schema/emit/test_schema_unique_items.py and test_schema_unique_objects.py.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final, TypeAlias

from maskwright.frontends.json_schema.emit.counting import TooManyError
from maskwright.frontends.json_schema.emit.layout import Style, layout_of
from maskwright.frontends.json_schema.emit.schema_rules import SchemaRules
from maskwright.frontends.json_schema.options import JsonSchemaOptions
from maskwright.frontends.json_schema.read.places import Conj, identity_of
from maskwright.frontends.json_schema.sets.decimals import digits_of
from maskwright.frontends.json_schema.sets.intersect import is_closed
from maskwright.frontends.json_schema.sets.numerals import admitted_values
from maskwright.frontends.json_schema.sets.one_spelling import any_character, any_string
from maskwright.frontends.json_schema.sets.quotes import QUOTE
from maskwright.frontends.json_schema.sets.ranges import DIGITS, MINUS, NATURAL, NONZERO, POINT
from maskwright.frontends.json_schema.sets.scalars import scalar_texts
from maskwright.frontends.json_schema.sets.shape import (
    ALL_TYPES,
    FALSE,
    FREE_OBJECTS,
    NULL,
    NUMBER,
    TRUE,
    WRITTEN_FRACTION,
    WRITTEN_INTEGER,
    ArrayShape,
    Exact,
    NumberShape,
    ObjectShape,
    Shape,
    StringShape,
)
from maskwright.frontends.json_schema.sets.strings import name_spellings, string_text
from maskwright.frontends.regular import spelled_out
from maskwright.ir import (
    EMPTY,
    OP_EMPTY,
    OP_LITERAL,
    OP_NEVER,
    UNBOUNDED,
    Expr,
    alt,
    and_,
    literal,
    never,
    not_,
    optional,
    repeat,
    seq,
)

_MAX_PLACES: Final = 500
_MAX_LEVELS: Final = 16
_MAX_MEMBERS: Final = 64  # of an object; without required ones, its text is quadratic in them

_At: TypeAlias = "tuple[str | None, ...]"  # the members that lead from an element to a place in it; None for items

_NUMBER: Final = and_(
    seq(optional(MINUS), NATURAL, optional(seq(POINT, DIGITS, NONZERO))),
    not_(literal(b"-0")),
)


class OneText:
    """Makes the texts of one element, whose names have one order at each place."""

    def __init__(self, rules: SchemaRules) -> None:
        self._rules = rules
        self._styles = _fixed(rules.layout.options)
        self._names: dict[_At, dict[str, int]] = {}
        self._places = 0
        self._is_large = False

    def element(self, conj: Conj, depth: int) -> Expr:
        """Return a regular expression of the values at a place, each by one text.

        Raises:
            TooManyError: They have no such texts.
        """
        return self._value(conj, depth, ())

    def _value(self, conj: Conj, depth: int, at: _At) -> Expr:
        self._places += 1
        if self._places > _MAX_PLACES or len(at) > _MAX_LEVELS:
            self._is_large = True
            raise TooManyError
        self._check(conj, depth)
        shape = self._rules.norm.shape_of(conj)
        try:
            return alt(self._objects(shape, depth, at), self._arrays(shape, depth, at), self.scalars(shape))
        except TooManyError:
            if not self._is_large:
                self._rules.without_text.add((identity_of(conj), depth))
            raise

    def _check(self, conj: Conj, depth: int) -> None:
        """Raise a `TooManyError` where the values at a place are known to have no such texts."""
        if (identity_of(conj), depth) in self._rules.without_text:
            raise TooManyError

    def objects(self, shape: Shape, depth: int) -> Expr:
        """Return the same of the objects of a shape."""
        return self._objects(shape, depth, ())

    def arrays(self, shape: Shape, depth: int) -> Expr:
        """Return the same of the arrays of a shape."""
        return self._arrays(shape, depth, ())

    def _objects(self, shape: Shape, depth: int, at: _At) -> Expr:
        closed = self._rules.strict and not (shape.objects is FREE_OBJECTS and shape.mask == ALL_TYPES)
        return alt(*[self._object(part, depth, at, closed) for part in shape.objects])

    def _arrays(self, shape: Shape, depth: int, at: _At) -> Expr:
        return alt(*[self._array(part, depth, at) for part in shape.arrays])

    def scalars(self, shape: Shape) -> Expr:
        """Return the same of all other values of a shape."""
        texts = [_string_text(part, self._rules.layout.options.ensure_ascii) for part in shape.strings]
        texts += [_number_text(self._rules, part) for part in shape.numbers]
        literals = Shape(shape.mask & (NULL | FALSE | TRUE))
        texts += scalar_texts(literals, self._rules.norm.options.numbers, self._rules.refuse, self._rules.builder)
        return alt(*texts)

    def _array(self, shape: ArrayShape, depth: int, at: _At) -> Expr:
        longest = UNBOUNDED if shape.max_items is None else shape.max_items
        if shape.contains or (shape.unique is not None and not 0 <= longest <= 1):
            raise TooManyError
        style = self._style(depth)
        prefix = shape.prefix if longest == UNBOUNDED else shape.prefix[:longest]
        items = [self._value(conj, style.inner, (*at, None)) for conj in prefix]
        rest = never()
        is_closed_prefix = self._rules.strict and shape.prefix and not shape.rest
        if longest != len(items) and not is_closed_prefix:
            rest = self._value(shape.rest, style.inner, (*at, None))
        if len(items) > _MAX_MEMBERS:
            raise TooManyError
        return _listed(items, rest, shape.min_items, longest, style)

    def _object(self, shape: ObjectShape, depth: int, at: _At, closed: bool) -> Expr:
        if not is_declared(shape, closed):
            raise TooManyError
        style = self._style(depth)
        members = self._declared(shape, style, at)
        return never() if members is None else members_in_order(shape, members, style)

    def _declared(self, shape: ObjectShape, style: Style, at: _At) -> list[tuple[Expr, bool]] | None:
        """The declared members, and whether each is required; None if a required one has no value."""
        for conj in shape.properties.values():
            self._check(conj, style.inner)
        order = self._names.setdefault(at, {})
        for name in shape.properties:
            order.setdefault(name, len(order))
        members: list[tuple[Expr, bool]] = []
        for name in sorted(shape.properties, key=order.__getitem__):
            value = self._value(shape.properties[name], style.inner, (*at, name))
            is_required = name in shape.required
            if value[0] != OP_NEVER:
                members.append((seq(name_spellings(name)[0], style.colon, value), is_required))
            elif is_required:
                return None
        return members

    def _style(self, depth: int) -> Style:
        """How containers are laid out at this depth, if that leaves no choice."""
        style = self._styles[depth]
        parts = (style.open_array, style.open_object, style.lead, style.colon, style.comma, style.trail)
        if any(part[0] not in (OP_LITERAL, OP_EMPTY) for part in parts):
            raise TooManyError
        return style


@lru_cache(maxsize=32)
def _fixed(options: JsonSchemaOptions) -> tuple[Style, ...]:
    if not options.any_whitespace or options.whitespace_pattern is not None:
        return layout_of(options).styles
    item, colon = (",", ":") if options.max_whitespace_cnt == 0 else (", ", ": ")
    return layout_of(replace(options, any_whitespace=False, max_whitespace_cnt=None, separators=(item, colon))).styles


def is_declared(shape: ObjectShape, closed: bool) -> bool:
    """Return whether members are declared by name, and nothing else is said of them. `closed`: as in `object_text`."""
    if shape.witnesses or shape.names or not shape.required.keys() <= shape.properties.keys():
        return False
    says_nothing = all(not extras.patterns and not extras.additional for extras in shape.extras)
    return is_closed(shape) or (closed and says_nothing)


def _listed(items: list[Expr], rest: Expr, least: int, longest: int, style: Style) -> Expr:
    """Arrays of these items, then of any number of others; those from `least` on may be missing."""
    if not items and longest != 0:
        items = [rest]
    most = UNBOUNDED if longest == UNBOUNDED else longest - len(items)
    tail = repeat(seq(style.comma, rest), max(least - len(items), 0), most) if most else EMPTY
    for i in range(len(items) - 1, 0, -1):
        tail = seq(style.comma, items[i], tail)
        if i >= least:
            tail = optional(tail)
    filled = seq(items[0], tail) if items and longest != 0 else never()
    return style.array_of(filled, may_be_empty=least == 0)


def members_in_order(shape: ObjectShape, members: list[tuple[Expr, bool]], style: Style) -> Expr:
    """Return the objects of these members, of which some are required, in this order.

    Raises:
        TooManyError: As many members as the shape asks for cannot be told by their order.
    """
    least, most = shape.min_properties, shape.max_properties
    if least > len(members):
        return never()
    if least == len(members):
        members = [(member, True) for member, _ in members]
    num_required = sum(is_required for _, is_required in members)
    if len(members) > _MAX_MEMBERS or least > max(num_required, 1) or (most is not None and most < len(members)):
        raise TooManyError
    if num_required:
        return style.object_of(_from(members, style), may_be_empty=False)
    ways = [_from([(member, True), *members[i + 1 :]], style) for i, (member, _) in enumerate(members)]
    return style.object_of(alt(*ways), may_be_empty=least == 0)


def _from(members: list[tuple[Expr, bool]], style: Style) -> Expr:
    """Members of which one is required: commas follow those before the first such, and precede those after it."""
    parts: list[Expr] = []
    is_first = True
    for member, is_required in members:
        if not is_first:
            part = seq(style.comma, member)
        elif is_required:
            part = member
        else:
            part = seq(member, style.comma)
        parts.append(part if is_required else optional(part))
        is_first = is_first and not is_required
    return seq(*parts)


def _string_text(shape: StringShape, ensure_ascii: bool) -> Expr:
    if shape.values is not None:
        return string_text(shape)
    if shape.is_restricted():
        text = string_text(shape)
        return and_(text, any_string(ensure_ascii=ensure_ascii)) if text[0] != OP_NEVER else text
    most = UNBOUNDED if shape.max_length is None else shape.max_length
    return seq(QUOTE, repeat(any_character(ensure_ascii=ensure_ascii), shape.min_length, most), QUOTE)


def _number_text(rules: SchemaRules, shape: NumberShape) -> Expr:
    if shape.kind in (WRITTEN_INTEGER, WRITTEN_FRACTION):  # told apart by their texts
        raise TooManyError
    if shape.values is not None:
        return alt(*[literal(_decimal(value).encode()) for value in admitted_values(shape)])
    numbers = Shape(NUMBER, numbers=(shape,))
    texts = scalar_texts(numbers, rules.norm.options.numbers, rules.refuse, rules.builder)
    shared = rules.layout.prelude
    text = spelled_out(alt(*texts), lambda rule: shared[rule].body if rule < len(shared) else None, rules.spelled_rules)
    if text is None:  # remainders are computed by rules
        raise TooManyError
    return and_(text, _NUMBER) if text[0] != OP_NEVER else text


def _decimal(value: Exact) -> str:
    negative, whole, fraction = digits_of(value)
    return f"{'-' if negative else ''}{whole}{'.' if fraction else ''}{fraction}"
