"""Emit objects: declared members in their order, then all others.

With commas between members that may be missing, the first member that is there decides where commas go. If some member
is required, the first such is the pivot, and one flat sequence says it all; nothing is written twice:

    a?, b, c?   →   "{" (a ,)? b (, c)? "}"

If none is required, what follows a member's name becomes a rule, so that each way to get there costs a name and a
reference:

    a?, b?      →   "{" ("a" : A (, "b" b)? | "b" b)? "}"     b ::= : B

From one member the names of the next _BLOCK are listed, then a rule goes on: size stays linear.

Members that are not declared follow the declared ones. Their names are any string that spells no declared name, in
whatever spelling, sorted by the patterns of `patternProperties` that they match.
Tested by tests/frontends/json_schema/emit/test_schema_objects.py.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from maskwright.errors import LimitError
from maskwright.frontends.json_schema.emit.counted_objects import Member, Others, counted_object
from maskwright.frontends.json_schema.emit.counting import TooManyError, apart_from_empty
from maskwright.frontends.json_schema.emit.distinct_names import DistinctNames
from maskwright.frontends.json_schema.emit.layout import Style
from maskwright.frontends.json_schema.emit.name_patterns import OverlapError, matching_names, sets_of_patterns
from maskwright.frontends.json_schema.emit.schema_rules import SchemaRules
from maskwright.frontends.json_schema.normalise.witnesses import WitnessError, choices
from maskwright.frontends.json_schema.read.places import ANYTHING, Conj, Path, Refusal, identity_of
from maskwright.frontends.json_schema.sets.intersect import is_nothing, join, undeclared
from maskwright.frontends.json_schema.sets.quotes import QUOTE, closed
from maskwright.frontends.json_schema.sets.scalars import STRING_RULE
from maskwright.frontends.json_schema.sets.shape import Extras, ObjectShape, Witness
from maskwright.frontends.json_schema.sets.strings import (
    ANY_NAME,
    admits_string,
    any_of_names,
    name_spellings,
    other_name,
    string_body,
)
from maskwright.frontends.selections import Selection, permutation
from maskwright.ir import (
    OP_NEVER,
    UNBOUNDED,
    Expr,
    alt,
    alt_of_distinct,
    and_,
    capture,
    never,
    not_,
    optional,
    seq,
    star,
)

Region: TypeAlias = "tuple[Expr | None, Conj]"  # names of further members, None for all, and what their values satisfy

_BLOCK: Final = 8
_MOST_IN_ANY_ORDER: Final = 8  # declared members before others that are counted: there is a state for each set of them
_NOT_COUNTED: Final = "there are too many optional members to count"
_MAY_BE_ONE: Final = "the names of undeclared members cannot be compared here"


def object_text(emitter: SchemaRules, shape: ObjectShape, depth: int, closed: bool) -> Expr:
    """Return the spellings of a shape's objects, inside containers of this depth.

    Where they are `closed`, they have no members of which the schema says nothing.
    """
    if not shape.witnesses:
        return _object(emitter, shape, (), depth, closed)
    try:
        ways = choices(shape, emitter.norm)
    except WitnessError:
        path = shape.witnesses[-1].path
        keyword = str(path[1]) if path is not None and path[1] in ("oneOf", "if") else "not"
        emitter.refuse(Refusal(keyword, path, "the negation of this schema cannot be expressed exactly"))
        ways = [(shape, ())]
    return alt(*[_object(emitter, part, witnesses, depth, closed) for part, witnesses in ways])


def object_of_shape(emitter: SchemaRules, shape: ObjectShape, depth: int, closed: bool, style: Style) -> Expr:
    """Return the objects of a shape without witnesses, with this punctuation."""
    return _object(emitter, shape, (), depth, closed, style)


def _object(
    emitter: SchemaRules,
    shape: ObjectShape,
    witnesses: tuple[Witness, ...],
    depth: int,
    closed: bool,
    style: Style | None = None,
) -> Expr:
    """Objects with some further members that are these witnesses; those of the shape are taken care of."""
    declared, required = shape.properties, shape.required
    if not required.keys() <= declared.keys():
        declared = dict(declared)
        for name in required:
            if name not in declared:
                declared[name] = undeclared(shape, name, emitter.norm)
    style = style or emitter.layout.styles[depth]
    inner = style.inner
    members: list[Member] = []
    free, captured = emitter.layout.styles[inner].free, emitter.captures_members
    for name, conj in declared.items():
        if shape.names and not _admits_name(emitter, shape, name):
            value = never()
        else:
            value = free.get(id(conj)) or emitter.place(conj, inner)
        if value[0] == OP_NEVER:
            if name in required:
                return never()
        elif captured:
            members.append((capture("key", name_spellings(name)[0]), capture("value", value), name in required))
        else:
            members.append((name_spellings(name)[0], value, name in required))
    regions = _regions(emitter, shape, (), declared, closed)
    extra = _any_member(emitter, regions, style, inner)
    if not witnesses:
        return _counted(emitter, shape, members, extra, {}, style, regions, [])
    others: Others = {}
    witnessed: list[Region] = []
    for bits in range(1, 1 << len(witnesses)):
        chosen = tuple([witness for i, witness in enumerate(witnesses) if bits >> i & 1])
        is_last = any(witness.value for witness in chosen)
        witnessed = _regions(emitter, shape, chosen, declared, closed)
        others[bits] = _any_member(emitter, witnessed, style, inner), is_last
    return _counted(emitter, shape, members, extra, others, style, regions, witnessed)


def _counted(
    emitter: SchemaRules,
    shape: ObjectShape,
    members: list[Member],
    extra: Expr,
    others: Others,
    style: Style,
    regions: list[Region],
    witnessed: list[Region],
) -> Expr:
    """The object, with as many members as `minProperties` and `maxProperties` ask, and with its witnesses.

    `regions` are those of members that are not declared, `witnessed` of such that are all witnesses.
    """
    num_required = len(shape.required)
    least, most = shape.min_properties, shape.max_properties
    closed = extra[0] == OP_NEVER and not others
    if closed and least > len(members):
        return never()
    if closed and least == len(members):
        members, num_required = [(name, value, True) for name, value, _ in members], least
    if most is not None and num_required > most:
        return never()
    if emitter.layout.options.any_order and len(members) + (not closed) > 1 and (closed or least <= num_required + 1):
        try:
            if others:
                return counted_object(emitter, members, extra, shape, others, style, any_order=True)
            return _permuted(emitter, shape, members, extra, style)
        except (TooManyError, LimitError):
            pass
    if others or (most is not None and not (closed and len(members) <= most)) or least > max(num_required, 1):
        # Members that are not declared might all have one name, and then they are one member: see _MAY_BE_ONE.
        if closed or least <= num_required + 1:
            try:
                return counted_object(emitter, members, extra, shape, others, style)
            except TooManyError:
                pass
        if shape.min_path is not None and not closed and least > num_required + 1:
            distinct = None
            if not others:
                distinct = _with_distinct_names(emitter, shape, members, regions, style)
            elif len(others) == len(witnessed) == 1 and not others[1][1] and not members:
                both = [*witnessed, *regions]
                distinct = _with_distinct_names(emitter, shape, members, both, style, needs_first=True)
            if distinct is not None:
                return distinct
            emitter.refuse(Refusal(str(shape.min_path[1]), shape.min_path, _MAY_BE_ONE))
            rest = shape.copy()
            rest.min_properties, rest.min_path = 0, None
            return _counted(emitter, rest, members, extra, others, style, regions, witnessed)
        for path in (shape.max_path, shape.min_path):
            if path is not None:
                emitter.refuse(Refusal(str(path[1]), path, _NOT_COUNTED))
    if num_required:
        return style.object_of(*_around_pivot(members, extra, style), may_be_empty=False)
    return style.object_of(_any_of(emitter, members, extra, style), may_be_empty=least == 0)


def _with_distinct_names(
    emitter: SchemaRules,
    shape: ObjectShape,
    members: list[Member],
    regions: list[Region],
    style: Style,
    *,
    needs_first: bool = False,
) -> Expr | None:
    """The object with its declared members first, and then others of distinct names; None if that cannot be said.

    With `needs_first`, one of these is of the first region, which others may overlap.
    """
    if emitter.captures_members:
        return None
    try:
        kinds = [(names, emitter.place(conj, style.inner)) for names, conj in regions]
        last = DistinctNames(emitter, kinds, shape, style, needs_first=needs_first)
        if emitter.layout.options.any_order and len(members) <= _MOST_IN_ANY_ORDER:
            return counted_object(emitter, members, last, shape, {}, style, any_order=True)
        return counted_object(emitter, members, last, shape, {}, style)
    except TooManyError:
        return None


def _permuted(emitter: SchemaRules, shape: ObjectShape, members: list[Member], extra: Expr, style: Style) -> Expr:
    """The object with its members in any order (very many in groups), each declared one at most once.

    Raises:
        LimitError: There are too many members.
    """
    items = [emitter.as_rule("member", seq(name, style.colon, value)) for name, value, _ in members]
    selection = Selection(
        items,
        required=[i for i, (_, _, required) in enumerate(members) if required],
        separator=style.comma,
        extra=extra if extra[0] == OP_NEVER else emitter.as_rule("member", extra),
        minimum=shape.min_properties,
        maximum=UNBOUNDED if shape.max_properties is None else shape.max_properties,
    )
    body = permutation(emitter.builder, "members", selection, may_group=True)
    filled, may_be_empty = apart_from_empty(body)
    return style.object_of(filled, may_be_empty=may_be_empty)


def _around_pivot(members: list[Member], extra: Expr, style: Style) -> list[Expr]:
    comma, colon = style.comma, style.colon
    parts: list[Expr] = []
    pivot_seen = False
    for name, value, required in members:
        if not pivot_seen:
            if required:
                parts += (name, colon, value)
                pivot_seen = True
            else:
                parts.append(optional(seq(name, colon, value, comma)))
        elif required:
            parts += (comma, name, colon, value)
        else:
            parts.append(optional(seq(comma, name, colon, value)))
    if extra[0] != OP_NEVER:
        parts.append(star(seq(comma, extra)))
    return parts


def _any_of(emitter: SchemaRules, members: list[Member], extra: Expr, style: Style) -> Expr:
    """One or more of the members in their order, then any number of extra ones."""
    rest = never()
    if extra[0] != OP_NEVER:
        extra = emitter.as_rule("member", extra)
        rest = seq(extra, star(seq(style.comma, extra)))
        if members:
            rest = emitter.as_rule("members", rest)
    colon, comma, add = style.colon, style.comma, emitter.builder.add
    following: list[Expr] = []  # the members of this block after the current one, the nearest last
    for i in range(len(members) - 1, -1, -1):
        name, value, _ = members[i]
        tail = seq(colon, value, optional(seq(comma, _choice(following, rest))))
        following.append(seq(name, add("member", tail) if i else tail))
        if i and i % _BLOCK == 0:
            rest, following = add("members", _choice(following, rest)), []
    return _choice(following, rest)


def _choice(members: list[Expr], rest: Expr) -> Expr:
    """One of these members, or what `rest` matches. Names differ, and so do the members."""
    if rest[0] == OP_NEVER:
        return alt_of_distinct(members) if members else rest
    return alt_of_distinct([*members, rest]) if members else rest


def _admits_name(emitter: SchemaRules, shape: ObjectShape, name: str) -> bool:
    return any(admits_string(strings, name) for strings in emitter.norm.shape_of(shape.names).strings)


def _any_member(emitter: SchemaRules, regions: list[Region], style: Style, inner: int) -> Expr:
    """One member that is not declared."""
    return alt(*[_member(emitter, names, conj, style, inner) for names, conj in regions])


def _regions(
    emitter: SchemaRules,
    shape: ObjectShape,
    witnesses: tuple[Witness, ...],
    declared: dict[str, Conj],
    closed: bool,
) -> list[Region]:
    """The members that are not declared, and are all of these witnesses. No name is in two regions."""
    patterns: dict[str, Path] = {pattern: path for extras in shape.extras for pattern, path, _ in extras.patterns}
    if not (witnesses or patterns or shape.names):
        conj = conj_of_extras(shape.extras, frozenset()) if shape.extras else ANYTHING
        if is_nothing(conj) or (closed and not conj):
            return []
        return [(other_name(tuple(declared)) if declared else None, conj)]
    asked: dict[str, bool] = {}
    wanted = shape.names
    for witness in witnesses:
        for pattern, path, is_matched in witness.patterns:
            patterns[pattern] = path
            if asked.setdefault(pattern, is_matched) != is_matched:
                return []
        declared = {**declared, **dict.fromkeys(sorted(witness.excluded), ANYTHING)}
        wanted = join(wanted, witness.names)
    try:
        matches = sets_of_patterns(patterns)
    except OverlapError:
        return [_region_of_any_match(emitter, shape, patterns, declared)]
    regions: list[Region] = []
    for matched in matches:
        if any((pattern in matched) != is_matched for pattern, is_matched in asked.items()):
            continue
        conj = conj_of_extras(shape.extras, matched)
        if is_nothing(conj) or (closed and not conj):
            continue
        for witness in witnesses:
            conj = join(conj, witness.value)
        regions.append((_names(emitter, wanted, declared, patterns, matched), conj))
    return regions


def _region_of_any_match(
    emitter: SchemaRules, shape: ObjectShape, patterns: dict[str, Path], declared: dict[str, Conj]
) -> Region:
    """Refuse patterns that overlap too much; if the caller wants them left out, return the members without them.

    `additionalProperties` next to them goes too: of the names that it is about, the patterns tell.
    """
    for path in dict.fromkeys(map(_keyword_of, patterns.values())):
        assert path is not None
        emitter.refuse(Refusal(str(path[1]), path, "too many of its patterns may match the same name"))
        if path[1] == "patternProperties":
            beside = (path[0], "additionalProperties")
            emitter.refuse(Refusal("additionalProperties", beside, "the patterns next to it are left out"))
    conj = conj_of_extras(tuple([extras for extras in shape.extras if not extras.patterns]), frozenset())
    return _names(emitter, shape.names, declared, {}, frozenset()), conj


def _keyword_of(path: Path) -> Path:
    """The place of the keyword that a pattern stands under."""
    assert path is not None
    above = path[0]
    return above if above is not None and above[1] == "patternProperties" else path


def conj_of_extras(all_extras: tuple[Extras, ...], matched: frozenset[str]) -> Conj:
    """What the values of members satisfy whose names match just these patterns."""
    conj = ANYTHING
    for extras in all_extras:
        found = [c for pattern, _, c in extras.patterns if pattern in matched]
        for part in found or (extras.additional,):
            conj = join(conj, part)
    return conj


def _member(emitter: SchemaRules, names: Expr | None, conj: Conj, style: Style, inner: int) -> Expr:
    if names is None and not conj and not emitter.captures_members:
        return style.member
    return _pair(emitter, STRING_RULE if names is None else names, emitter.place(conj, inner), style)


def _pair(emitter: SchemaRules, name: Expr, value: Expr, style: Style) -> Expr:
    if emitter.captures_members:
        name, value = capture("key", name), capture("value", value)
    return seq(name, style.colon, value)


def _names(
    emitter: SchemaRules, wanted: Conj, declared: dict[str, Conj], patterns: dict[str, Path], matched: frozenset[str]
) -> Expr | None:
    """The names of extra members that match just these patterns; None for all names."""
    if not (patterns or wanted or declared):
        return None
    # The alternatives of an object ask for the same names again and again.
    key = (identity_of(wanted), tuple(declared), tuple(patterns), matched)
    known = emitter.names.get(key)
    if known is None:
        parts = matching_names(patterns, matched)
        if wanted:
            strings = emitter.norm.shape_of(wanted).strings
            parts.append(alt(*[string_body(part) for part in strings]))
        if declared:
            parts.append(not_(any_of_names(declared)))
        known = emitter.names[key] = emitter.as_rule("name", seq(QUOTE, closed(and_(ANY_NAME, *parts))))
    return known
