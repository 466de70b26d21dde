r"""The white space that a pattern of the caller's allows between tokens.

    white_space(r"( |\n {2,4})?")    nothing, a space, or a line break and an indent
    white_space(r"\s?")              refused: it matches U+000B, which is no white space in JSON

Every match has to be white space, or the output would be no JSON. That is read off the bytes of the expression; where
it has assertions, so that some of these occur in no match, its derivatives tell.
Tested by tests/frontends/json_schema/test_schema_white_space.py.
"""

from __future__ import annotations

from functools import lru_cache

from maskwright.errors import LimitError, OptionError, RegexSyntaxError
from maskwright.frontends.charset import CodePointSet, utf8
from maskwright.frontends.json_schema.derivatives import overlap
from maskwright.frontends.regex import regex_to_expr
from maskwright.ir import (
    ALL_BYTES,
    ANY_BYTE,
    OP_LITERAL,
    OP_NEVER,
    OP_NOT,
    OP_SET,
    Expr,
    bytes_in,
    postorder,
    seq,
    star,
)

JSON_SPACE = b" \t\n\r"
_SPACES = CodePointSet.from_string(JSON_SPACE.decode())
_RUN = star(bytes_in(JSON_SPACE))
_OTHER_BYTES = ALL_BYTES & ~bytes_in(JSON_SPACE)[1]


@lru_cache(maxsize=256)
def white_space(pattern: str) -> Expr:
    """Return the expression of the white space that a pattern matches, in the syntax of `Grammar.from_regex`.

    Raises:
        OptionError: It is no regular expression, matches something else than white space, or matches nothing.
    """
    sets: list[CodePointSet] = []

    def encode(characters: CodePointSet) -> Expr:
        sets.append(characters)
        return utf8(characters)

    try:
        expr = regex_to_expr(pattern, encode=encode)
    except (RegexSyntaxError, LimitError) as error:
        raise _refused(f"cannot be used: {error.message}", error.hint) from error
    if _bytes_of(expr) & _OTHER_BYTES and overlap(expr, _with(utf8(~_SPACES))):
        others = sorted((one - _SPACES).ranges[0][0] for one in sets if not one.issubset(_SPACES))
        shown = next((f"U+{c:04X}" for c in others if overlap(expr, _with(utf8(_only(c))))), "something")
        raise _refused(
            f"matches {shown}, which is no white space in JSON",
            r"JSON has four white space characters: write [ \t\n\r] or fewer of them, also instead of \s",
        )
    if expr[0] == OP_NEVER or not overlap(expr, _RUN):
        raise _refused("matches no text at all", "the empty pattern stands for no white space")
    return expr


def _bytes_of(expr: Expr) -> int:
    """The bytes that matches consist of, as bits, and maybe some more."""
    out = 0
    for part in postorder(expr):
        if part[0] == OP_LITERAL:
            for byte in part[1]:
                out |= 1 << byte
        elif part[0] == OP_SET:
            out |= part[1]
        elif part[0] == OP_NOT:
            return ALL_BYTES
    return out


def _with(other: Expr) -> Expr:
    """White space, then this, then anything."""
    return seq(_RUN, other, star(ANY_BYTE))


def _only(code_point: int) -> CodePointSet:
    return CodePointSet(((code_point, code_point),))


def _refused(what: str, hint: str | None) -> OptionError:
    return OptionError(f"whitespace_pattern {what}", option="whitespace_pattern", hint=hint)
