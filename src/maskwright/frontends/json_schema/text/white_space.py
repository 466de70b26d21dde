r"""The white space that a pattern of the caller's allows between tokens.

    white_space(r"( |\n {2,4})?")    nothing, a space, or a line break and an indent
    white_space(r"\s?")              refused: it may match U+000B, which is not white space in JSON

Every match has to be white space, or the output would be no JSON. That is read off the bytes that the expression is
made of: exactly, but for assertions by which some of these bytes occur in no match.
Cost: linear in the pattern. Tested by tests/frontends/json_schema/text/test_schema_white_space.py.
"""

from __future__ import annotations

from functools import reduce
from operator import iand, or_
from typing import Final

from maskwright.errors import LimitError, OptionError, RegexSyntaxError
from maskwright.frontends.charset import MAX_CODE_POINT, CodePointSet, utf8
from maskwright.frontends.regex import regex_to_expr
from maskwright.ir import (
    ALL_BYTES,
    OP_AND,
    OP_LITERAL,
    OP_NEVER,
    OP_NOT,
    OP_SET,
    Expr,
    bytes_in,
    operands,
    postorder,
)
from maskwright.ir.rule_facts import is_nullable, least
from maskwright.support.memos import remembered

JSON_SPACE: Final = b" \t\n\r"
_BEYOND_ASCII: Final = CodePointSet.from_ranges([(0x80, MAX_CODE_POINT)])
_OTHER_BYTES: Final = ALL_BYTES & ~bytes_in(JSON_SPACE)[1]


@remembered(256)
def white_space(pattern: str) -> Expr:
    """Return the expression of the white space that a pattern matches, in the syntax of `Grammar.from_regex`.

    Raises:
        OptionError: It is not a valid regular expression, matches something else than white space, or nothing.
    """
    sets: list[CodePointSet] = []

    def encode(characters: CodePointSet) -> Expr:
        sets.append(characters)
        return utf8(characters)

    try:
        expr = regex_to_expr(pattern, encode=encode)
    except (RegexSyntaxError, LimitError) as error:
        raise _refused(f"cannot be used: {error.message_with_place}", error.hint) from error
    if expr[0] == OP_NEVER:
        raise _refused("matches no text at all", "the empty pattern stands for no white space")
    others = _bytes_of(expr) & _OTHER_BYTES
    if others:
        raise _refused(
            f"may match U+{_lowest(others, sets):04X}, which is not white space in JSON",
            r"JSON has four white space characters: write [ \t\n\r] or fewer of them, also instead of \s",
        )
    return expr


def matches_for_sure(pattern: str) -> bool:
    """Return whether a look at this pattern shows that it matches some text; False where only a search would tell.

    Raises:
        OptionError: As of `white_space`.
    """
    return all(part[0] not in (OP_AND, OP_NOT) for part in postorder(white_space(pattern)))


@remembered(256)
def may_be_nothing(pattern: str) -> bool:
    """Return whether the empty text matches a pattern of `white_space`."""
    return least([postorder(white_space(pattern))], is_nullable, ())[0]


def _bytes_of(expr: Expr) -> int:
    """The bytes that matches consist of, as bits; with intersections maybe some more."""
    found: dict[int, int] = {}
    for part in postorder(expr):
        op, inner = part[0], [found[id(operand)] for operand in operands(part)]
        if op == OP_SET:
            found[id(part)] = part[1]
        elif op == OP_LITERAL:
            found[id(part)] = reduce(or_, (1 << byte for byte in part[1]), 0)
        elif op == OP_NOT:
            found[id(part)] = ALL_BYTES
        else:
            found[id(part)] = reduce(iand, inner) if op == OP_AND else reduce(or_, inner, 0)
    return found[id(expr)]


def _lowest(others: int, sets: list[CodePointSet]) -> int:
    """The lowest character among these bytes; beyond ASCII, among the sets that the pattern speaks of."""
    byte = (others & -others).bit_length() - 1
    if byte < 0x80:
        return byte
    return min((one & _BEYOND_ASCII).ranges[0][0] for one in sets if one & _BEYOND_ASCII)


def _refused(what: str, hint: str | None) -> OptionError:
    return OptionError(f"whitespace_pattern {what}", option="whitespace_pattern", hint=hint)
