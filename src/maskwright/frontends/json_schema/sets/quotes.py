"""The quotes around strings.

    closed("a"* & ~"aa")   →   ("a"* "\\"") & ~("aa" "\\"")

Tested by tests/frontends/json_schema/sets/test_schema_strings.py.
"""

from __future__ import annotations

from typing import Final

from maskwright.frontends.regex.plain import is_open_ended
from maskwright.ir import OP_ALT, OP_AND, OP_NOT, Expr, alt, and_, literal, not_, seq

QUOTE: Final = literal(b'"')


def closed(body: Expr) -> Expr:
    """The body and the closing quote.

    The quote goes into intersections and complements, so that their rules end at a quote and nowhere else: a rule that
    may end after any character leaves every token open to what follows it.
    """
    if body[0] == OP_ALT:
        return alt(*map(closed, body[1:]))
    if body[0] == OP_AND:
        return and_(*map(_closed_operand, body[1:]))
    return seq(body, QUOTE)


def _closed_operand(body: Expr) -> Expr:
    if body[0] != OP_NOT:
        return seq(body, QUOTE)
    excluded = body[1][1:] if body[1][0] == OP_ALT else (body[1],)
    return not_(alt(*[each if is_open_ended(each) else seq(each, QUOTE) for each in excluded]))
