"""The terms of parametric rules: what follows `name::` and `%if`, read as a tree of calls and then understood.

    >>> term, end = parse_term("and(bit_clear(3), lt([0:2], 2)) | x", 0)
    >>> condition_of(term, malformed).dump(), end
    ('bit_clear(3) and [0:2] <= 1', 31)

A number is written in decimal or after 0x, a range of bits as `[low:high]` without `high`, the rule's own value as `_`,
which is also the range of all its bits. A value is a number, `_`, or a change of the rule's own value; a condition is
made of comparisons. What they mean is said in maskwright.ir.parameters.
Source: llguidance's documentation of parametric grammars.
Tested by tests/frontends/test_lark_parameters.py, tests/corpus/lark.toml.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias

from maskwright.errors import LarkSyntaxError, Span
from maskwright.frontends.lark.ast import Call
from maskwright.ir import parameters
from maskwright.ir.parameters import ALL_BITS, SELF, TRUE, WHOLE, Bits, Condition, Relation, Value

MAX_DEPTH: Final = 20

Refuse: TypeAlias = Callable[[str, Span, str], LarkSyntaxError]

_TOKEN: Final = re.compile(
    r"\s*(?:(0[xX][0-9a-fA-F]+|[0-9]+|_(?!\w))|([A-Za-z_][A-Za-z0-9_]*)(\()?|(\[\s*[0-9]+\s*:\s*[0-9]+\s*\])|([,)]))"
)
_NO_BLANK: Final = re.compile(r"\S|\Z")
_HINT: Final = "write a number, _, a range of bits [0:4], or a function such as bit_clear(3)"

_RELATIONS: Final[dict[str, Relation]] = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def malformed(message: str, span: Span, hint: str, source: str = "") -> LarkSyntaxError:
    """The error for a term, at its place."""
    return LarkSyntaxError(message, source=source, span=span, hint=hint)


def parse_term(source: str, start: int) -> tuple[Call, int]:
    """Read one term, which begins at `start`; return where it ends, too.

    Raises:
        LarkSyntaxError: It is malformed or nests too deep.
    """
    open_calls: list[tuple[str, int, list[Call]]] = []
    at, awaits_term = start, True
    while True:
        token = _TOKEN.match(source, at)
        if token is None:
            at = _NO_BLANK.search(source, at).start()  # type: ignore[union-attr]
            raise malformed("malformed parameter", Span(at, at + 1), _HINT, source)
        at = token.end()
        atom, word, opening, bits, mark = token.groups()
        begin = token.start(token.lastindex or 0) if not opening else token.start(2)
        if opening:
            is_misplaced = not awaits_term or len(open_calls) >= MAX_DEPTH
        elif mark == ")":
            is_misplaced = not open_calls or (awaits_term and bool(open_calls[-1][2]))
        else:
            is_misplaced = awaits_term == (mark == ",")
        if is_misplaced:
            raise malformed("malformed parameter", Span(begin, at), _HINT, source)
        if opening:
            open_calls.append((word, begin, []))
            continue
        if mark == ",":
            awaits_term = True
            continue
        if mark == ")":
            function, begin, arguments = open_calls.pop()
            term = Call(Span(begin, at), function, tuple(arguments))
        else:
            term = Call(Span(begin, at), (atom or word or bits).replace(" ", ""))
        if not open_calls:
            return term, at
        open_calls[-1][2].append(term)
        awaits_term = False


def value_of(term: Call, refuse: Refuse) -> Value:
    """What a call passes on.

    Raises:
        LarkSyntaxError: It is not a value; `refuse` makes the error.
    """
    name, arguments = term.function, term.arguments
    if name == "_":
        return SELF
    if name[0].isdigit():
        return parameters.constant(_number(term, ALL_BITS, refuse))
    if name in ("set_bit", "clear_bit") and len(arguments) == 1:
        bit = _number(arguments[0], 63, refuse)
        return parameters.set_bit(bit) if name == "set_bit" else parameters.clear_bit(bit)
    if name in ("bit_and", "bit_or") and len(arguments) == 1:
        mask = _number(arguments[0], ALL_BITS, refuse)
        return parameters.masked(mask, 0) if name == "bit_and" else parameters.masked(ALL_BITS, mask)
    if name in ("incr", "decr") and len(arguments) == 1:
        bits = _bits(arguments[0], refuse)
        return parameters.increment(bits) if name == "incr" else parameters.decrement(bits)
    hint = "write a number, _, set_bit(3), clear_bit(3), bit_and(0xf), bit_or(0xf), incr([0:4]) or decr([0:4])"
    raise refuse("this is not a valid parameter value", term.span, hint)


def condition_of(term: Call, refuse: Refuse) -> Condition:
    """Where a branch holds.

    Raises:
        LarkSyntaxError: It is not a condition; `refuse` makes the error.
    """
    name, arguments = term.function, term.arguments
    if name == "true" and not arguments:
        return TRUE
    if name == "not" and len(arguments) == 1:
        return parameters.negated(condition_of(arguments[0], refuse))
    if name in ("and", "or") and len(arguments) > 1:
        join = parameters.both if name == "and" else parameters.either
        return join(*(condition_of(argument, refuse) for argument in arguments))
    if name in ("bit_set", "bit_clear") and len(arguments) == 1:
        bit = _number(arguments[0], 63, refuse)
        return parameters.bit_set(bit) if name == "bit_set" else parameters.bit_clear(bit)
    if name in ("is_ones", "is_zeros") and len(arguments) == 1:
        bits = _bits(arguments[0], refuse)
        return parameters.is_ones(bits) if name == "is_ones" else parameters.is_zeros(bits)
    relation = _RELATIONS.get(name.removeprefix("bit_count_"))
    if relation and len(arguments) == 2:
        compare = parameters.compare_count if name.startswith("bit_count_") else parameters.compare
        return compare(relation, _number(arguments[1], ALL_BITS, refuse), _bits(arguments[0], refuse))
    hint = "write bit_set(3), bit_clear(3), is_ones([0:4]), eq(_, 5), bit_count_lt(_, 3), and(…, …), not(…), true, …"
    raise refuse("this is not a valid condition", term.span, hint)


def _number(term: Call, most: int, refuse: Refuse) -> int:
    if term.arguments or not term.function[0].isdigit():
        raise refuse("expected a number", term.span, "write it in decimal or after 0x")
    base = 16 if term.function[:2] in ("0x", "0X") else 10
    is_long = len(term.function) > 100  # longer than any number that fits; Python refuses to read very long ones
    number = most + 1 if is_long else int(term.function, base)
    if number > most:
        message = "there is no such bit: the last is 63" if most == 63 else f"a parameter is at most {most}"
        raise refuse(message, term.span, "a parameter has 64 bits")
    return number


def _bits(term: Call, refuse: Refuse) -> Bits:
    if term.function == "_" and not term.arguments:
        return WHOLE
    if term.function.startswith("["):
        low, high = (digits[:5] for digits in term.function[1:-1].split(":"))
        if int(low) < int(high) <= WHOLE[1]:
            return int(low), int(high)
    raise refuse("expected a range of bits", term.span, "write _ or [low:high], with low < high <= 64")
