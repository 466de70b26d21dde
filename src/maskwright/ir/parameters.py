"""What a rule does with its parameter: the values it passes on, and the conditions under which its branches hold.

A parameter is a number of 64 bits. A `Value` is a function from the parameter to the value that a call passes; a
`Condition` is a predicate on the parameter. A bit range is written as half-open, `bits=(0, 4)` being the lowest four.

    >>> set_bit(3).of(0b0001), increment((0, 2)).of(0b0111)
    (9, 7)
    >>> both(bit_clear(3), compare("<", 5, (0, 8))).holds(0b0100)
    True
    >>> negated(both(bit_clear(3), compare("<", 5, (0, 3)))).dump()
    'bit_set(3) or [0:3] >= 5'

Both are tuples in canonical form, which the kernel reads. A value is a chain of steps, each `(v & a) | b` or one up or
down within a bit range; neighbouring masks are one. A condition is made of ranges, "the number in these bits, or how
many of them are set, lies between a and b", by `both` and `either`: a negation is another such condition.
Counting saturates: the largest number that its bits can hold counts up to itself, and zero counts down to itself.
Tested by tests/test_parameters.py.
"""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

# The kernel reads these numbers: cpp/kernel/grammar/parameter.h lists the same.
STEP_MASK = 0  # (op, a, b)             v -> (v & a) | b
STEP_INCREMENT = 1  # (op, first, last) one up within bits [first, last)
STEP_DECREMENT = 2  # (op, first, last)
COND_NUMBER = 0  # (op, first, last, minimum, maximum)  the number in bits [first, last) is between these
COND_COUNT = 1  # (op, first, last, minimum, maximum)   so many of the bits are set
COND_ALL = 2  # (op, condition, ...)
COND_ANY = 3  # (op, condition, ...)

ALL_BITS = (1 << 64) - 1
WHOLE = (0, 64)

Bits: TypeAlias = tuple[int, int]
Relation: TypeAlias = Literal["==", "!=", "<", "<=", ">", ">="]


class Value(tuple[Any, ...]):
    """A function from a rule's parameter to a value: a tuple of steps, applied in order. () is the parameter itself."""

    __slots__ = ()

    def of(self, parameter: int) -> int:
        """The value for this parameter."""
        for op, a, b in self:
            if op == STEP_MASK:
                parameter = parameter & a | b
                continue
            ones = (1 << (b - a)) - 1
            number = parameter >> a & ones
            number = min(number + 1, ones) if op == STEP_INCREMENT else max(number - 1, 0)
            parameter = parameter & ~(ones << a) | number << a
        return parameter

    def then(self, other: Value) -> Value:
        """First this, then the other."""
        if not other:
            return self
        steps = list(self)
        for step in other:
            if step[0] == STEP_MASK:
                _, keep, add = step
                if steps and steps[-1][0] == STEP_MASK:
                    _, a, b = steps.pop()
                    keep, add = a & keep, b & keep | add
                step = (STEP_MASK, keep & ~add, add)
            if step != (STEP_MASK, ALL_BITS, 0):
                steps.append(step)
        out = Value(steps)
        fixed = next((i for i, step in enumerate(out) if step[0] == STEP_MASK and step[1] == 0), None)
        return out if fixed is None else constant(Value(out[fixed:]).of(0))

    @property
    def constant(self) -> int | None:
        """The value, if it is the same for every parameter."""
        return self[0][2] if self and self[0][0] == STEP_MASK and self[0][1] == 0 else None

    def dump(self) -> str:
        """Show it for people and for tests."""
        if self.constant is not None:
            return hex(self.constant)
        return ".".join(_dump_step(*step) for step in self) or "_"


SELF = Value()
# Made once, as is _CLEAR: an object in any order sets and tests a bit for each of its members.
_SETTING: Final = tuple([Value(((STEP_MASK, ALL_BITS & ~(1 << bit), 1 << bit),)) for bit in range(64)])


def constant(value: int) -> Value:
    """This value, whatever the parameter."""
    return Value(((STEP_MASK, 0, _word(value)),))


def masked(keep: int, add: int) -> Value:
    """The parameter's bits in `keep`, and those in `add`."""
    return SELF.then(Value(((STEP_MASK, _word(keep), _word(add)),)))


def set_bit(bit: int) -> Value:
    """The parameter with this bit set."""
    return _SETTING[_bit(bit)]


def clear_bit(bit: int) -> Value:
    """The parameter with this bit cleared."""
    return masked(ALL_BITS & ~(1 << _bit(bit)), 0)


def increment(bits: Bits = WHOLE) -> Value:
    """The parameter with the number in these bits one up; the largest stays."""
    return Value(((STEP_INCREMENT, *_bits(bits)),))


def decrement(bits: Bits = WHOLE) -> Value:
    """The parameter with the number in these bits one down; zero stays."""
    return Value(((STEP_DECREMENT, *_bits(bits)),))


class Condition(tuple[Any, ...]):
    """A predicate on a rule's parameter: see the COND_ constants for its shapes."""

    __slots__ = ()

    def holds(self, parameter: int) -> bool:
        """Whether it holds for this parameter."""
        if self[0] == COND_ALL:
            return all(part.holds(parameter) for part in self[1:])
        if self[0] == COND_ANY:
            return any(part.holds(parameter) for part in self[1:])
        op, first, last, minimum, maximum = self
        number = parameter >> first & ((1 << (last - first)) - 1)
        return bool(minimum <= (number if op == COND_NUMBER else number.bit_count()) <= maximum)

    def dump(self) -> str:
        """Show it for people and for tests."""
        return _dump_condition(self, 0)


TRUE = Condition((COND_ALL,))
FALSE = Condition((COND_ANY,))
_CLEAR: Final = tuple([Condition((COND_NUMBER, bit, bit + 1, 0, 0)) for bit in range(64)])


def compare(relation: Relation, number: int, bits: Bits = WHOLE) -> Condition:
    """Compare the number in these bits with another."""
    first, last = _bits(bits)
    return _compare(COND_NUMBER, first, last, relation, number, (1 << (last - first)) - 1)


def compare_count(relation: Relation, number: int, bits: Bits = WHOLE) -> Condition:
    """Compare how many of these bits are set with a number."""
    first, last = _bits(bits)
    return _compare(COND_COUNT, first, last, relation, number, last - first)


def bit_set(bit: int) -> Condition:
    """Whether this bit is set."""
    return compare("==", 1, (_bit(bit), bit + 1))


def bit_clear(bit: int) -> Condition:
    """Whether this bit is clear."""
    return _CLEAR[_bit(bit)]


def is_zeros(bits: Bits = WHOLE) -> Condition:
    """Whether all these bits are clear."""
    return compare("==", 0, bits)


def is_ones(bits: Bits = WHOLE) -> Condition:
    """Whether all these bits are set."""
    return compare("==", (1 << (bits[1] - bits[0])) - 1, bits)


def contains(required: int) -> Condition:
    """Whether all bits of `required` are set."""
    parts, bit = [], 0
    while _word(required) >> bit:
        if not required >> bit & 1:
            bit += 1
            continue
        first = bit
        while required >> bit & 1:
            bit += 1
        parts.append(is_ones((first, bit)))
    return both(*parts)


def both(*conditions: Condition) -> Condition:
    """All of these."""
    return _join(COND_ALL, TRUE, FALSE, conditions)


def either(*conditions: Condition) -> Condition:
    """Any of these."""
    return _join(COND_ANY, FALSE, TRUE, conditions)


def negated(condition: Condition) -> Condition:
    """The opposite."""
    if condition[0] == COND_ALL:
        return either(*map(negated, condition[1:]))
    if condition[0] == COND_ANY:
        return both(*map(negated, condition[1:]))
    op, first, last, minimum, maximum = condition
    most = _most(op, first, last)
    return either(_range(op, first, last, 0, minimum - 1, most), _range(op, first, last, maximum + 1, most, most))


def _compare(op: int, first: int, last: int, relation: Relation, number: int, most: int) -> Condition:
    if relation == "!=":
        return negated(_range(op, first, last, number, number, most))
    minimum = {"==": number, ">": number + 1, ">=": number}.get(relation, 0)
    maximum = {"==": number, "<": number - 1, "<=": number}.get(relation, most)
    return _range(op, first, last, minimum, maximum, most)


def _range(op: int, first: int, last: int, minimum: int, maximum: int, most: int) -> Condition:
    minimum, maximum = max(minimum, 0), min(maximum, most)
    if minimum > maximum:
        return FALSE
    return TRUE if (minimum, maximum) == (0, most) else Condition((op, first, last, minimum, maximum))


def _most(op: int, first: int, last: int) -> int:
    return (1 << (last - first)) - 1 if op == COND_NUMBER else last - first


def _join(op: int, neutral: Condition, absorbing: Condition, conditions: tuple[Condition, ...]) -> Condition:
    out: dict[Condition, None] = {}
    for condition in conditions:
        for part in condition[1:] if condition[0] == op else (condition,):
            if part == absorbing:
                return absorbing
            out[part] = None
    if len(out) == 1:
        return next(iter(out))
    return Condition((op, *out)) if out else neutral


def _bits(bits: Bits) -> Bits:
    first, last = bits
    if not 0 <= first < last <= 64:
        raise ValueError(f"[{first}:{last}] is not a valid range of bits: bits count from 0 to 64")
    return first, last


def _bit(bit: int) -> int:
    if not 0 <= bit < 64:
        raise ValueError(f"there is no bit {bit}: a parameter has 64 bits, counted from 0")
    return bit


def _word(value: int) -> int:
    if not 0 <= value <= ALL_BITS:
        raise ValueError(f"{value} is not a 64-bit number")
    return value


def _dump_step(op: int, a: int, b: int) -> str:
    if op != STEP_MASK:
        return f"{'incr' if op == STEP_INCREMENT else 'decr'}({_dump_bits(a, b)})"
    cleared = ALL_BITS & ~(a | b)
    if b == 0:
        return f"clear_bit({cleared.bit_length() - 1})" if cleared.bit_count() == 1 else f"bit_and({a:#x})"
    if cleared == 0:
        return f"set_bit({b.bit_length() - 1})" if b.bit_count() == 1 else f"bit_or({b:#x})"
    return f"bit_and({a | b:#x}).bit_or({b:#x})"


def _dump_condition(condition: Condition, outer: int) -> str:
    op = condition[0]
    if condition in (TRUE, FALSE):
        return "true" if condition == TRUE else "false"
    if op in (COND_ALL, COND_ANY):
        shown = (" and " if op == COND_ALL else " or ").join(_dump_condition(c, 1) for c in condition[1:])
        return f"({shown})" if outer else shown
    _, first, last, minimum, maximum = condition
    if op == COND_NUMBER and last == first + 1:
        return f"bit_{'set' if minimum else 'clear'}({first})"
    subject = _dump_bits(first, last) if op == COND_NUMBER else f"bit_count({_dump_bits(first, last)})"
    if minimum == maximum:
        return f"{subject} == {minimum}"
    most = _most(op, first, last)
    if minimum == 0:
        return f"{subject} <= {maximum}"
    return f"{subject} >= {minimum}" if maximum == most else f"{minimum} <= {subject} <= {maximum}"


def _dump_bits(first: int, last: int) -> str:
    return "_" if (first, last) == WHOLE else f"[{first}:{last}]"
