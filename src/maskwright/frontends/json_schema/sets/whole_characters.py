"""Whether all texts of a grammar are UTF-8.

    root ::= Byte("c3") Byte("a9")     they are: é
    root ::= Byte("80-bf")             they are not

An expression may be a part of a character, so what there is to know of it is where its texts lead from each place in a
character: a relation of a few places, one of which is past a mistake. Relations of rules grow until nothing changes.
Intersections may seem to hold more texts than they do, and text that comes again is taken for whole characters.
Cost: the grammar is gone through a few times, what calls no rule once.
Tested by tests/frontends/json_schema/sets/test_whole_characters.py.
"""

from __future__ import annotations

from functools import lru_cache, reduce
from operator import or_
from typing import Final

from maskwright.ir import (
    ALL_BYTES,
    OP_ALT,
    OP_AND,
    OP_CALL,
    OP_DISTINCT,
    OP_EMPTY,
    OP_LITERAL,
    OP_NEVER,
    OP_NOT,
    OP_RECALL,
    OP_REF,
    OP_REPEAT,
    OP_SEQ,
    OP_SET,
    OP_SUBSTRINGS,
    UNBOUNDED,
    Expr,
    GrammarIR,
    operands,
    postorder,
)

Relation = tuple[int, ...]  # by where a text begins, as bits where it may end


def _bytes(first: int, last: int) -> int:
    return (1 << last + 1) - (1 << first)


_BETWEEN, _ONE_LEFT, _TWO_LEFT, _THREE_LEFT, _AFTER_E0, _AFTER_ED, _AFTER_F0, _AFTER_F4, _WRONG = range(9)
# RFC 3629: the bytes that go on from each place, and where they lead.
_STEPS: Final[tuple[tuple[tuple[int, int], ...], ...]] = (
    (
        (_bytes(0x00, 0x7F), _BETWEEN),
        (_bytes(0xC2, 0xDF), _ONE_LEFT),
        (1 << 0xE0, _AFTER_E0),
        (_bytes(0xE1, 0xEC) | _bytes(0xEE, 0xEF), _TWO_LEFT),
        (1 << 0xED, _AFTER_ED),
        (1 << 0xF0, _AFTER_F0),
        (_bytes(0xF1, 0xF3), _THREE_LEFT),
        (1 << 0xF4, _AFTER_F4),
    ),
    ((_bytes(0x80, 0xBF), _BETWEEN),),
    ((_bytes(0x80, 0xBF), _ONE_LEFT),),
    ((_bytes(0x80, 0xBF), _TWO_LEFT),),
    ((_bytes(0xA0, 0xBF), _ONE_LEFT),),
    ((_bytes(0x80, 0x9F), _ONE_LEFT),),
    ((_bytes(0x90, 0xBF), _TWO_LEFT),),
    ((_bytes(0x80, 0x8F), _TWO_LEFT),),
    (),
)
_NOTHING: Final[Relation] = (0,) * 9
_STAYS: Final[Relation] = tuple([1 << place for place in range(9)])
_WHOLE: Final[Relation] = (1, *[1 << place | 1 << _WRONG for place in range(1, 9)])


def are_whole(grammar: GrammarIR) -> bool:
    """Whether all texts of a grammar are UTF-8; it has no subgrammars and names no tokens."""
    orders = [postorder(rule.body) for rule in grammar.rules]
    known: dict[int, Relation] = {}  # of what calls no rule
    rules = [_NOTHING] * len(orders)
    changed = True
    while changed:
        changed = False
        for index in reversed(range(len(orders))):  # mostly, what is called comes behind its callers
            found = _relation(orders[index], rules, known)
            changed = changed or found != rules[index]
            rules[index] = found
    return rules[grammar.root][_BETWEEN] & ~(1 << _BETWEEN) == 0


def _relation(order: list[Expr], rules: list[Relation], known: dict[int, Relation]) -> Relation:
    found: dict[int, Relation] = {}
    for expr in order:
        if id(expr) in known:
            continue
        parts = operands(expr)
        relation = _of(expr, [known.get(id(part)) or found[id(part)] for part in parts], rules)
        is_fixed = expr[0] not in (OP_REF, OP_CALL) and all(id(part) in known for part in parts)
        (known if is_fixed else found)[id(expr)] = relation
    return known.get(id(order[-1])) or found[id(order[-1])]


def _of(expr: Expr, parts: list[Relation], rules: list[Relation]) -> Relation:
    op = expr[0]
    if op == OP_SET:
        return _of_set(expr[1])
    if op == OP_LITERAL:
        return _of_text(expr[1])
    if op == OP_SEQ:
        return reduce(_then, parts, _STAYS)
    if op == OP_ALT:
        return reduce(_either, parts)
    if op == OP_REPEAT:
        return _repeated(parts[0], expr[2], expr[3])
    if op in (OP_REF, OP_CALL):
        index: int = expr[1]
        return rules[index]
    if op in (OP_AND, OP_NOT):
        return _of_intersection(expr, parts)
    if op == OP_SUBSTRINGS:
        texts = reduce(_either, set(map(_of_text, expr[1])), _NOTHING)
        return _repeated(texts, 1, UNBOUNDED)
    if op == OP_DISTINCT:
        return _repeated(reduce(_either, parts), 1, UNBOUNDED)  # elements, separators and what closes them
    if op == OP_RECALL:
        return _WHOLE
    if op == OP_EMPTY:
        return _STAYS
    return parts[0] if op != OP_NEVER else _NOTHING


def _of_intersection(expr: Expr, parts: list[Relation]) -> Relation:
    """A complement that stands alone is held to whole characters; one beside others takes nothing away."""
    others = [part for part, inner in zip(parts, operands(expr), strict=True) if inner[0] != OP_NOT]
    if expr[0] == OP_NOT or not others:
        return _WHOLE
    return reduce(lambda a, b: tuple([x & y for x, y in zip(a, b, strict=True)]), others)


@lru_cache(maxsize=1024)
def _of_set(mask: int) -> Relation:
    return tuple([_step(place, mask) for place in range(9)])


def _step(place: int, mask: int) -> int:
    out, left = 0, mask & ALL_BYTES
    for taken, there in _STEPS[place]:
        if mask & taken:
            out |= 1 << there
        left &= ~taken
    return out | 1 << _WRONG if left else out


def _of_text(data: bytes) -> Relation:
    return reduce(_then, [_of_set(1 << byte) for byte in data], _STAYS) if not data.isascii() else _OF_ASCII


_OF_ASCII: Final = _of_set(_bytes(0x00, 0x7F))


def _either(a: Relation, b: Relation) -> Relation:
    return tuple(map(or_, a, b))


@lru_cache(maxsize=4096)
def _then(a: Relation, b: Relation) -> Relation:
    return tuple([reduce(or_, [b[place] for place in range(9) if ends >> place & 1], 0) for ends in a])


def _repeated(item: Relation, least: int, most: int) -> Relation:
    more = _either(_STAYS, item)
    return _then(_power(item, least), _power(more, 16 if most == UNBOUNDED else most - least))


def _power(relation: Relation, times: int) -> Relation:
    out = _STAYS
    while times > 0:
        if times & 1:
            out = _then(out, relation)
        relation = _then(relation, relation)
        times >>= 1
    return out
