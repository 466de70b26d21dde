"""Values and conditions on a rule's parameter: canonical, and equal to what they stand for."""

from __future__ import annotations

import itertools

import pytest

import maskwright
from maskwright.ir import GrammarIR, Rule, alt, call, guard, literal, parameters
from maskwright.ir.parameters import (
    ALL_BITS,
    FALSE,
    SELF,
    TRUE,
    Condition,
    Value,
    bit_clear,
    bit_set,
    both,
    clear_bit,
    compare,
    compare_count,
    constant,
    contains,
    decrement,
    either,
    increment,
    is_ones,
    is_zeros,
    masked,
    negated,
    set_bit,
)
from oracle.comparing import compile_fresh
from oracle.vocabularies import SMALL

SAMPLES = (0, 1, 2, 5, 7, 8, 0xFF, 1 << 62, 1 << 63, ALL_BITS - 1, ALL_BITS)
VALUES = (
    SELF,
    constant(0),
    constant(ALL_BITS),
    set_bit(0),
    set_bit(63),
    clear_bit(63),
    masked(0xF0, 0x3),
    increment(),
    decrement(),
    increment((1, 3)),
    decrement((62, 64)),
    increment((63, 64)),
)


def reference(relation: str, number: int, other: int) -> bool:
    return bool(eval(f"{number} {relation} {other}"))


@pytest.mark.parametrize("value", VALUES, ids=Value.dump)
def test_values(value: Value) -> None:
    for v in SAMPLES:
        assert 0 <= value.of(v) <= ALL_BITS
    assert increment().of(ALL_BITS) == ALL_BITS
    assert decrement().of(0) == 0
    assert increment((1, 3)).of(0b111) == 0b111
    assert increment((1, 3)).of(0b1001) == 0b1011
    assert decrement((62, 64)).of(1 << 62 | 1) == 1


@pytest.mark.parametrize(("first", "second"), list(itertools.product(VALUES, VALUES)), ids=lambda value: value.dump())
def test_one_value_after_another(first: Value, second: Value) -> None:
    joined = first.then(second)
    assert [joined.of(v) for v in SAMPLES] == [second.of(first.of(v)) for v in SAMPLES]


def test_values_are_canonical() -> None:
    assert set_bit(1).then(set_bit(0)) == masked(ALL_BITS, 3)
    assert set_bit(1).then(clear_bit(1)) == clear_bit(1)
    assert masked(ALL_BITS, 0) == SELF
    assert increment().then(constant(4)) == constant(4)
    assert constant(4).then(increment()) == constant(5)
    assert masked(0xF, 0xF).then(masked(0xF0, 0)) == constant(0)
    assert call(1, constant(0)) == maskwright.ir.ref(1)


@pytest.mark.parametrize("relation", ["==", "!=", "<", "<=", ">", ">="])
@pytest.mark.parametrize("bits", [(0, 64), (0, 3), (1, 2), (61, 64)])
def test_comparisons(relation: parameters.Relation, bits: parameters.Bits) -> None:
    for number in (0, 1, 2, 7, 8, ALL_BITS):
        by_number, by_count = compare(relation, number, bits), compare_count(relation, number, bits)
        for v in SAMPLES:
            field = v >> bits[0] & ((1 << bits[1] - bits[0]) - 1)
            assert by_number.holds(v) == reference(relation, field, number)
            assert by_count.holds(v) == reference(relation, field.bit_count(), number)
            assert negated(by_number).holds(v) != by_number.holds(v)


def test_conditions_are_canonical() -> None:
    a, b, c = bit_set(0), bit_clear(1), compare("<", 3, (2, 5))
    assert both() == TRUE
    assert either() == FALSE
    assert both(a, TRUE) == a
    assert both(a, FALSE) == FALSE
    assert either(a, both(b)) == either(a, b, a)
    assert both(both(a, b), c) == both(a, both(b, c))
    assert negated(both(a, b)) == either(bit_clear(0), bit_set(1))
    assert negated(negated(c)) == c
    assert compare(">=", 0) == TRUE
    assert compare("<", 0) == FALSE
    assert is_zeros((0, 1)) == bit_clear(0)
    assert contains(0b1011) == both(is_ones((0, 2)), bit_set(3))
    assert contains(0) == TRUE


CONDITIONS = (
    TRUE,
    FALSE,
    compare("!=", 5, (0, 3)),
    both(bit_set(0), either(bit_clear(1), compare_count(">", 2)), bit_clear(63)),
    either(both(bit_set(0), bit_set(1)), both(bit_set(2), either(bit_set(3), is_ones((60, 64))))),
    negated(both(compare(">", 1, (0, 4)), either(bit_clear(5), compare_count("==", 3)))),
)


@pytest.mark.parametrize("condition", CONDITIONS, ids=Condition.dump)
def test_the_kernel_decides_conditions_alike(condition: Condition) -> None:
    for v in SAMPLES:
        body = alt(guard(condition, literal(b"a")), literal(b"b"))
        g = GrammarIR((Rule("r", call(1, constant(v))), Rule("s", body)), 0)
        assert maskwright.GrammarMatcher(compile_fresh(g, SMALL)).accept_string("a") == condition.holds(v), v


@pytest.mark.parametrize("value", VALUES, ids=Value.dump)
def test_the_kernel_makes_values_alike(value: Value) -> None:
    for v in SAMPLES:
        body = alt(guard(compare("==", value.of(v)), literal(b"a")), literal(b"b"))
        rules = (Rule("r", call(1, constant(v))), Rule("s", guard(TRUE, call(2, value))), Rule("t", body))
        assert maskwright.GrammarMatcher(compile_fresh(GrammarIR(rules, 0), SMALL)).accept_string("a"), v


def test_what_has_no_meaning_is_refused() -> None:
    for make in (
        lambda: set_bit(64),
        lambda: bit_clear(-1),
        lambda: increment((3, 3)),
        lambda: compare("==", 0, (0, 65)),
        lambda: constant(1 << 64),
        lambda: contains(-1),
    ):
        with pytest.raises(ValueError, match="64"):
            make()


@pytest.mark.parametrize(
    "body",
    [
        (maskwright.ir.OP_GUARD, literal(b"a"), (9, 0, 1, 0, 0)),
        (maskwright.ir.OP_GUARD, literal(b"a"), (0, 0, 65, 0, 0)),
        (maskwright.ir.OP_GUARD, literal(b"a"), (0, 0, 1)),
        (maskwright.ir.OP_GUARD, literal(b"a"), 7),
        (maskwright.ir.OP_CALL, 0, ((5, 0, 0),)),
        (maskwright.ir.OP_CALL, 0, ((1, 4, 4),)),
        (maskwright.ir.OP_CALL, 1, ()),
        (maskwright.ir.OP_CALL, 0),
    ],
)
def test_tuples_of_the_wrong_form_are_type_errors(body: tuple[object, ...]) -> None:
    with pytest.raises((TypeError, IndexError)):
        compile_fresh(GrammarIR((Rule("r", maskwright.ir.Expr(body)),), 0), SMALL)
