"""Emit scalars: the spellings of a shape's strings, numbers, booleans and null.

    STRING | NULL, strings (at most 2 characters)   →   "\\"" character{0,2} "\\"" | "null"

Strings that match a pattern or a format are a grammar of their own, made once and linked once by each tokenizer, in
whatever schema they stand: linking a date takes 100 µs. Remainders are computed by rules.
Tested by tests/frontends/json_schema/emit/test_schema_emit.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from maskwright.frontends.json_schema.read.places import Path, Refusal
from maskwright.frontends.json_schema.sets.decimals import digits_of, is_integral
from maskwright.frontends.json_schema.sets.doubles import mentions_more_than_doubles
from maskwright.frontends.json_schema.sets.last_digits import multiple_text
from maskwright.frontends.json_schema.sets.multiples import (
    TooManyStatesError,
    multiples_in_register,
    multiples_rule,
)
from maskwright.frontends.json_schema.sets.numerals import (
    INTEGER_RULE,
    NUMBER_RULE,
    Numbers,
    decimals_text,
    finite_multiples,
    has_no_multiple,
    integers_text,
    is_long,
    number_text,
    values_text,
)
from maskwright.frontends.json_schema.sets.repeating_patterns import repeating_text
from maskwright.frontends.json_schema.sets.shape import (
    ANY_KIND,
    FALSE,
    FRACTION,
    FREE_INTEGERS,
    FREE_NUMBERS,
    FREE_STRINGS,
    INTEGERS,
    NULL,
    TRUE,
    Exact,
    NumberShape,
    Shape,
    StringShape,
)
from maskwright.frontends.json_schema.sets.strings import pattern_text, string_text
from maskwright.frontends.json_schema.sets.text_grammars import quoted_text
from maskwright.ir import Expr, GrammarIR, IRBuilder, Rule, alt, and_, literal, never, ref, subgrammar
from maskwright.support.memos import remembered

# Every layout opens its grammar with this rule, and those of numerals.py.
STRING_RULE: Final = ref(0)
NULL_TEXT: Final = literal(b"null")
FALSE_TEXT: Final = literal(b"false")
TRUE_TEXT: Final = literal(b"true")
_MAX_BOUND_DIGITS: Final = 60  # of numbers that are multiples


def scalar_texts(shape: Shape, numbers: Numbers, refuse: Callable[[Refusal], None], builder: IRBuilder) -> list[Expr]:
    """Return expressions for a shape's values that are neither arrays nor objects.

    `refuse` gets what cannot be enforced; if it returns, that is left out.
    """
    texts: list[Expr] = []
    if shape.strings is FREE_STRINGS:
        texts.append(STRING_RULE)
    else:
        texts += [_string_text(part, builder) for part in shape.strings]
    if shape.numbers is FREE_NUMBERS:
        texts.append(NUMBER_RULE)
    elif shape.numbers is FREE_INTEGERS:
        texts.append(INTEGER_RULE)
    else:
        texts += [_number_text(part, numbers, refuse, builder) for part in _without_contained(shape.numbers)]
    if shape.mask & TRUE:
        texts.append(TRUE_TEXT)
    if shape.mask & FALSE:
        texts.append(FALSE_TEXT)
    if shape.mask & NULL:
        texts.append(NULL_TEXT)
    return texts


def _string_text(part: StringShape, builder: IRBuilder) -> Expr:
    """Patterns and formats are rules of their own, which keep their masks, whatever object or array they stand in."""
    if part.grammars and part.values is None:
        return quoted_text(part.grammars[0]) if part.is_grammar() else _as_rule(string_text(part), builder)
    if part.values is not None or not (part.patterns or part.formats):
        return string_text(part)
    if (repeating := repeating_text(part)) is not None:
        return builder.add("string", repeating)
    if part.excluded:
        return _as_rule(string_text(part), builder)
    for pattern, path in part.patterns:
        pattern_text(pattern, path)  # says where it stands if it cannot be used
    patterns = tuple([pattern for pattern, _ in part.patterns])
    return _known_string_text(patterns, part.formats, part.min_length, part.max_length)


def _as_rule(text: Expr, builder: IRBuilder) -> Expr:
    return text if text is never() else builder.add("string", text)


@remembered(4096)
def _known_string_text(
    patterns: tuple[str, ...], formats: tuple[str, ...], min_length: int, max_length: int | None
) -> Expr:
    part = StringShape()
    part.patterns = tuple([(pattern, None) for pattern in patterns])
    part.formats, part.min_length, part.max_length = formats, min_length, max_length
    return subgrammar(GrammarIR((Rule("string", string_text(part)),), 0))


def _without_contained(parts: tuple[NumberShape, ...]) -> list[NumberShape]:
    within_bounds: dict[object, list[NumberShape]] = {}
    for part in parts:
        alike = within_bounds.setdefault((part.kind, part.low, part.low_open, part.high, part.high_open), [])
        if not any(_within(part, other) for other in alike):
            alike[:] = [*(other for other in alike if not _within(other, part)), part]
    kept = {id(part) for alike in within_bounds.values() for part in alike}
    return [part for part in parts if id(part) in kept]


def _within(inner: NumberShape, outer: NumberShape) -> bool:
    """Whether an alternative is plainly contained in one of equal bounds that says less, as complements have many."""
    return (
        bool(outer.multiple_of or outer.not_multiple_of)
        and outer.values is None
        and _divisors(outer.multiple_of) <= _divisors(inner.multiple_of)
        and _divisors(outer.not_multiple_of) <= _divisors(inner.not_multiple_of)
    )


def _divisors(asked: tuple[tuple[Exact, Path], ...]) -> set[Exact]:
    return {divisor for divisor, _ in asked}


def _number_text(part: NumberShape, numbers: Numbers, refuse: Callable[[Refusal], None], builder: IRBuilder) -> Expr:
    if part.values is not None:
        return values_text(part, numbers)
    if has_no_multiple(part):
        return never()
    if part.kind == FRACTION and any(is_integral(divisor) for divisor, _ in part.multiple_of):
        return never()
    by_digits = [multiple_text(divisor) for divisor, _ in part.multiple_of]
    if not part.not_multiple_of and None not in by_digits:
        text = number_text(part, numbers, as_operand=bool(by_digits))
        return and_(text, *[allowed for allowed in by_digits if allowed is not None])
    try:
        return _multiples_text(part, numbers, builder, in_register=False)
    except TooManyStatesError:
        finite = finite_multiples(part)
        if finite is not None:
            return values_text(finite, numbers)
    try:
        if _has_short_bounds(part):
            return _multiples_text(part, numbers, builder, in_register=True)
    except TooManyStatesError:
        pass
    _, path = (part.multiple_of + part.not_multiple_of)[0]
    refuse(Refusal("multipleOf", path, "computing remainders takes too many states"))
    return number_text(part, numbers)


def _multiples_text(part: NumberShape, numbers: Numbers, builder: IRBuilder, *, in_register: bool) -> Expr:
    """Numbers that are multiples of some and not of others, by one of the two ways to make rules for them."""
    make = multiples_in_register if in_register else multiples_rule
    divisors, others = [d for d, _ in part.multiple_of], [d for d, _ in part.not_multiple_of]
    if numbers == "plain" and not mentions_more_than_doubles(part):
        return make(decimals_text(part), divisors, others, builder, counts_digits=is_long(part))
    if numbers == "plain" and part.kind not in INTEGERS:
        short = make(decimals_text(part), divisors, others, builder, counts_digits=True)
        if part.kind != ANY_KIND:
            return short
        return alt(short, make(integers_text(part), divisors, others, builder))
    return make(number_text(part, numbers, as_operand=True), divisors, others, builder)


def _has_short_bounds(part: NumberShape) -> bool:
    bounds = [digits_of(bound) for bound in (part.low, part.high) if bound is not None]
    return all(len(whole + fraction) <= _MAX_BOUND_DIGITS for _, whole, fraction in bounds)


def one_of(texts: list[Expr]) -> Expr:
    """Return what any of the expressions matches."""
    return texts[0] if len(texts) == 1 else alt(*texts)
