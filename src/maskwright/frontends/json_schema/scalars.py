"""Emit scalars: the spellings of a shape's strings, numbers, booleans and null.

    STRING | NULL, strings (at most 2 characters)   →   "\\"" character{0,2} "\\"" | "null"

These depend on the shape alone, so that an expression made once serves every schema (leaves.py).
Tested by tests/frontends/json_schema/test_schema_emit.py.
"""

from __future__ import annotations

from collections.abc import Callable

from maskwright.frontends.json_schema.numerals import multiple_text, number_text, values_text
from maskwright.frontends.json_schema.shape import (
    FALSE,
    FREE_INTEGERS,
    FREE_NUMBERS,
    FREE_STRINGS,
    NULL,
    TRUE,
    NumberShape,
    Refusal,
    Shape,
)
from maskwright.frontends.json_schema.strings import string_text
from maskwright.ir import Expr, alt, and_, literal, ref

# Every layout opens its grammar with these rules.
STRING_RULE, INTEGER_RULE, NUMBER_RULE = ref(0), ref(1), ref(2)
NULL_TEXT, FALSE_TEXT, TRUE_TEXT = literal(b"null"), literal(b"false"), literal(b"true")


def scalar_texts(shape: Shape, refuse: Callable[[Refusal], None]) -> list[Expr]:
    """Return expressions for a shape's values that are neither arrays nor objects.

    `refuse` is told what cannot be enforced; if it returns, that is left out.
    """
    texts: list[Expr] = []
    if shape.strings is FREE_STRINGS:
        texts.append(STRING_RULE)
    else:
        for string in shape.strings:
            for refusal in string.refusals:
                refuse(refusal)
            texts.append(string_text(string))
    if shape.numbers is FREE_NUMBERS:
        texts.append(NUMBER_RULE)
    elif shape.numbers is FREE_INTEGERS:
        texts.append(INTEGER_RULE)
    else:
        texts += [_number_text(part, refuse) for part in shape.numbers]
    if shape.mask & TRUE:
        texts.append(TRUE_TEXT)
    if shape.mask & FALSE:
        texts.append(FALSE_TEXT)
    if shape.mask & NULL:
        texts.append(NULL_TEXT)
    return texts


def _number_text(part: NumberShape, refuse: Callable[[Refusal], None]) -> Expr:
    for refusal in part.refusals:
        refuse(refusal)
    if part.values is not None:
        return values_text(part)
    text = number_text(part)
    for multiple, path in part.multiple_of:
        allowed = multiple_text(multiple)
        if allowed is None:
            refuse(Refusal("multipleOf", path, "only divisors and powers of a power of ten are regular here"))
        else:
            text = and_(text, allowed)
    return text


def one_of(texts: list[Expr]) -> Expr:
    """Return what any of the expressions matches."""
    return texts[0] if len(texts) == 1 else alt(*texts)
