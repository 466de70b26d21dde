"""Numbers that must be multiples: every mask bit and every answer, against the oracle and against `Decimal`."""

from __future__ import annotations

import random
from decimal import Decimal

import pytest

import maskwright
from exhaustive.test_token_budgets import compare as compare_budgets
from maskwright import ir
from maskwright.frontends.json_schema.sets.ranges import integer_range, number_range
from maskwright.ir import (
    EMPTY,
    Expr,
    GrammarIR,
    alt,
    and_,
    bytes_in,
    capture,
    literal,
    multiple,
    not_,
    optional,
    plus,
    ref,
    repeat,
    seq,
    span,
    star,
)
from oracle.comparing import compare_with_oracle, compile_fresh, scaled, seeded
from oracle.grammars import grammar
from oracle.recognizer import matches
from oracle.vocabularies import of, strings

DIGIT, POINT, COMMA = bytes_in(b"0123456789"), literal(b"."), literal(b",")
WHOLE = alt(literal(b"0"), seq(bytes_in(b"123456789"), star(DIGIT)))
NUMBER = seq(optional(literal(b"-")), WHOLE, optional(seq(POINT, plus(DIGIT))))
NUMBERS = of(
    *strings(b"0123456789.,-", 1), "12", "00", "07", "14,", "5,7", "-1", ".5", ".25", "0.", "100", "999", ",,", "3.0",
    "0.07", "21,", "49", stop=(b"</s>",), padding=3,
)  # fmt: skip
FEW = of("0", "1", "7", "35", "0.", ".", "-", "5,", ",", stop=(b"</s>",), padding=3)  # no number ends in a 2

LISTED = seq(multiple(NUMBER, 7), star(seq(COMMA, multiple(NUMBER, 25, 1))))
CHOSEN = [
    grammar(multiple(NUMBER, 1)),
    grammar(multiple(NUMBER, 3)),
    grammar(multiple(NUMBER, 7, 2)),
    grammar(multiple(NUMBER, 1_000_003)),
    grammar(multiple(WHOLE, 12)),
    grammar(multiple(repeat(DIGIT, 3, 3), 37)),
    grammar(multiple(repeat(DIGIT, 1, 3), 499)),
    grammar(multiple(repeat(DIGIT, 2, 2), 101)),
    grammar(multiple(integer_range(100, 130, minus_zero=False), 13)),
    grammar(multiple(integer_range(-25, 25, minus_zero=True), 11)),
    grammar(multiple(integer_range(1, 12, minus_zero=False), 13)),
    grammar(multiple(number_range(Decimal("0.5"), False, Decimal("2.4"), True), 35, 2)),
    grammar(multiple(number_range(Decimal("-1.1"), True, Decimal("0.3"), False), 3, 1)),
    grammar(multiple(and_(NUMBER, not_(seq(star(DIGIT), literal(b"7"), star(DIGIT)))), 7)),
    grammar(multiple(optional(DIGIT), 4)),
    grammar(multiple(EMPTY, 4)),
    grammar(multiple(alt(literal(b"1.0.0"), literal(b"2,4"), literal(b"32")), 8)),
    grammar(LISTED),
    grammar(seq(star(seq(multiple(DIGIT, 3), COMMA)), multiple(NUMBER, 9))),
    grammar(alt(seq(multiple(NUMBER, 6), COMMA), seq(multiple(NUMBER, 4), POINT), NUMBER)),
    grammar(seq(multiple(NUMBER, 7), NUMBER)),
    grammar(seq(ref(1), star(seq(COMMA, ref(1)))), multiple(NUMBER, 11, 1)),
    grammar(alt(seq(literal(b"-"), ref(0), literal(b"-")), multiple(WHOLE, 21))),
]


@pytest.mark.parametrize("g", CHOSEN[:3] + CHOSEN[4:], ids=lambda g: g.rules[0].body.dump()[:60])
def test_chosen_grammars(g: GrammarIR) -> None:
    rng = seeded(g.dump())
    compare_with_oracle(g, NUMBERS, rng, steps=10, walks=3)


def test_the_oracle_by_arithmetic() -> None:
    """Of all short texts, the multiples are those that are written as a number and are one by `Decimal`."""
    g, numbers = grammar(multiple(NUMBER, 35, 1)), grammar(NUMBER)
    for text in strings(b"0357.-", 5):
        is_multiple = matches(numbers, text) and Decimal(text.decode()) % Decimal("3.5") == 0
        assert matches(g, text) == is_multiple, text


def test_what_the_vocabulary_cannot_end() -> None:
    """A remainder that only digits can bring to 0 which no token has: masks are exact by bytes, not by tokens."""
    compare_with_oracle(grammar(seq(multiple(WHOLE, 12), COMMA)), FEW, seeded("few"), steps=6, walks=3)


def random_numbers(rng: random.Random) -> Expr:
    low, high = sorted(rng.randint(-300, 3000) for _ in range(2))
    kind = rng.random()
    if kind < 0.3:
        return integer_range(low if rng.random() < 0.8 else None, high, minus_zero=rng.random() < 0.5)
    if kind < 0.6:
        bounds = [Decimal(f"{value}e-{rng.randint(0, 2)}") for value in (low, high)]
        return number_range(min(bounds), rng.random() < 0.5, max(bounds), rng.random() < 0.5)
    if kind < 0.7:
        return repeat(DIGIT, rng.randint(0, 2), rng.randint(2, 4))
    if kind < 0.8:
        return and_(NUMBER, not_(seq(star(DIGIT), literal(str(rng.randint(0, 9)).encode()))))
    return rng.choice((NUMBER, WHOLE, seq(DIGIT, POINT, DIGIT, DIGIT)))


def random_multiple(rng: random.Random) -> Expr:
    modulus = rng.choice((rng.randint(1, 12), rng.randint(1, 40), rng.randint(40, 160)))
    return multiple(random_numbers(rng), modulus, rng.choice((0, 0, 1, 2)))


def random_body(rng: random.Random) -> Expr:
    parts = [random_multiple(rng) for _ in range(2)]
    return rng.choice(
        (
            seq(parts[0], COMMA, parts[1]),
            alt(*parts),
            seq(capture("x", parts[0]), optional(seq(COMMA, parts[1]))),
            star(seq(parts[0], COMMA)),
        )
    )


def test_random_grammars() -> None:
    for i in range(scaled(150)):
        rng = seeded(f"multiple {i}")
        try:
            compare_with_oracle(grammar(random_body(rng)), NUMBERS, rng, steps=6, walks=3)
        except maskwright.LimitError as error:  # of numbers that may not end in some digit, there are too many ranges
            assert error.limit == "multiples"  # noqa: PT017


def test_within_budgets() -> None:
    for i in range(scaled(40)):
        rng = seeded(f"budget {i}")
        numbers = multiple(random_numbers(rng), rng.randint(2, 40), rng.choice((0, 0, 1)))
        vocab = of(*rng.sample(strings(b"0123456789.,-", 1), 9), "12", "07", "5,", ".5", stop=(b"</s>",))
        if rng.random() < 0.5:
            compare_budgets(grammar(seq(numbers, COMMA, optional(numbers))), vocab, rng.randint(1, 6), rng)
        else:
            compare_budgets(grammar(seq(span(numbers, rng.randint(1, 4)), star(COMMA))), vocab, None, rng)


@pytest.mark.parametrize(
    ("modulus", "scale"), [(123_456_789, 9), (86_400, 0), (10**9 + 7, 0), (99_999_999_999_999_997, 0), (7, 30)]
)
def test_large_moduli_by_arithmetic(modulus: int, scale: int) -> None:
    """Random tokens, to the end: the number is a multiple. The end is allowed just where it is one."""
    unit = Decimal(f"{modulus}e-{scale}")
    texts = (
        integer_range(None, None, minus_zero=False),
        number_range(Decimal(-5), True, Decimal(f"{7 * 10**18}"), True),
    )
    for text in texts:
        compiled = compile_fresh(grammar(seq(multiple(text, modulus, scale), COMMA)), NUMBERS)
        for i in range(scaled(40)):
            rng = seeded(f"large {i}")
            matcher, out = maskwright.GrammarMatcher(compiled), ""
            while not matcher.is_completed():
                allowed = [t for t in range(len(NUMBERS.token_bytes)) if matcher.fork().accept_token(t)]
                end = NUMBERS.token_bytes.index(b",")
                assert (end in allowed) == is_multiple(out, unit), out
                assert allowed, out
                ends = [t for t in allowed if b"," in NUMBERS.token_bytes[t]]
                choice = rng.choice(ends if ends and len(out) > 12 else allowed)
                assert matcher.accept_token(choice)
                out += NUMBERS.token_bytes[choice].decode()
                if len(out) > 60:
                    break
            if matcher.is_completed():
                assert is_multiple(out[: out.index(",")], unit)


def is_multiple(text: str, unit: Decimal) -> bool:
    """By exact integers: `Decimal` rounds."""
    if not text or text[-1] in "-.":
        return False
    number = Decimal(text).as_tuple()
    whole = int("".join(map(str, number.digits)))
    scale = max(-int(number.exponent), -int(unit.as_tuple().exponent), 0)
    unit_digits = int("".join(map(str, unit.as_tuple().digits))) * 10 ** (scale + int(unit.as_tuple().exponent))
    return whole * 10 ** (scale + int(number.exponent)) % unit_digits == 0


def test_bytes_keep_multiples() -> None:
    compiled = compile_fresh(grammar(LISTED), NUMBERS)
    compiler = maskwright.GrammarCompiler(NUMBERS.info())
    again = compiler.compile_grammar(maskwright.Grammar.deserialize(maskwright.Grammar(grammar(LISTED)).serialize()))
    assert maskwright.GrammarMatcher(again).accept_string("21,2.5")
    assert not maskwright.GrammarMatcher(again).accept_string("21,2.4,")
    assert maskwright.GrammarMatcher(compiled).accept_string("21,2.5")


def test_what_is_out_of_range() -> None:
    for modulus, scale in ((0, 0), (ir.MAX_MODULUS + 1, 0), (7, -1), (7, ir.MAX_SCALE + 1)):
        with pytest.raises(ValueError, match="out of range"):
            multiple(NUMBER, modulus, scale)


def test_numbers_that_are_not_regular() -> None:
    with pytest.raises(maskwright.LimitError, match="must be regular"):
        compile_fresh(grammar(multiple(ref(1), 3), DIGIT), NUMBERS)
