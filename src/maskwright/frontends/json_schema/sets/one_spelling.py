r"""Strings in the one spelling that `json.dumps` gives them, so that equal texts are equal strings.

    any_string(ensure_ascii=False)   →   "é", "\n", "a/b"              and not "\u00e9", "\u000a", "a\/b"
    any_string(ensure_ascii=True)    →   "\u00e9", "\ud83d\ude00"      and not "\u00E9", "é"

Invariant: with `ensure_ascii`, each set of bytes is ASCII, as grammars rewritten to ASCII keep nothing else of a set.
Tested by tests/frontends/json_schema/emit/test_schema_unique_items.py and test_schema_distinct_names.py.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from maskwright.frontends.charset import ALL_CHARACTERS, CodePointSet, utf8
from maskwright.frontends.json_schema.sets.quotes import QUOTE
from maskwright.ir import Expr, alt, bytes_in, literal, never, seq, star

SHORT_ESCAPES: Final = {8: "b", 9: "t", 10: "n", 12: "f", 13: "r", 0x22: '"', 0x5C: "\\"}
_ESCAPED: Final = CodePointSet.from_ranges([(0, 0x1F), (0x22, 0x22), (0x5C, 0x5C)])
_ESCAPES: Final = {
    point: literal(f"\\{SHORT_ESCAPES[point]}".encode() if point in SHORT_ESCAPES else b"\\u%04x" % point)
    for point in (*range(0x20), 0x22, 0x5C)
}
_ESCAPE: Final = alt(*_ESCAPES.values())
_HEX: Final = bytes_in(b"0123456789abcdef")
BEYOND_ASCII: Final = alt(  # and the last character of ASCII, which `json.dumps` escapes too
    literal(b"\\u007f"),
    seq(literal(b"\\u00"), bytes_in(b"89abcdef"), _HEX),
    seq(literal(b"\\u0"), bytes_in(b"123456789abcdef"), _HEX, _HEX),
    seq(literal(b"\\u"), bytes_in(b"123456789abcef"), _HEX, _HEX, _HEX),
    seq(literal(b"\\ud"), bytes_in(b"01234567"), _HEX, _HEX),
    seq(literal(b"\\ud"), bytes_in(b"89ab"), _HEX, _HEX, literal(b"\\ud"), bytes_in(b"cdef"), _HEX, _HEX),
)
_CHARACTER: Final = alt(utf8(ALL_CHARACTERS - _ESCAPED), _ESCAPE)
_IN_ASCII: Final = alt(utf8(CodePointSet.from_ranges([(0x20, 0x7E)]) - _ESCAPED), _ESCAPE, BEYOND_ASCII)


@lru_cache(maxsize=1024)
def one_of(characters: CodePointSet) -> Expr:
    """One of these characters, without `ensure_ascii`."""
    escapes = [_ESCAPES[point] for point in characters & _ESCAPED]
    return alt(utf8(characters - _ESCAPED), *escapes) if characters else never()


def any_character(*, ensure_ascii: bool) -> Expr:
    return _IN_ASCII if ensure_ascii else _CHARACTER


def any_string(*, ensure_ascii: bool) -> Expr:
    """All strings, with their quotes."""
    return seq(QUOTE, star(any_character(ensure_ascii=ensure_ascii)), QUOTE)
