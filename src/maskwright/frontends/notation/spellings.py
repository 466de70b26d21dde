r"""Characters, sets of them and counts, as printed grammars spell them.

    >>> print(escaped("\n", ""), char_class(CodePointSet(((0x61, 0x7A),)), "]"), count(2, UNBOUNDED))
    \n [a-z] {2,}

Tested by tests/frontends/test_printing.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from maskwright.frontends.charset import CodePointSet
from maskwright.ir import UNBOUNDED

REGEX_SPECIAL: Final = ".^$*+?{}[]\\|()/"
REGEX_CLASS: Final = "[]^-\\/&~"  # special in a class
_SHORT_COUNTS: Final = {(0, UNBOUNDED): "*", (1, UNBOUNDED): "+", (0, 1): "?"}


def escaped(c: str, special: str) -> str:
    if c in special:
        return "\\" + c
    short = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(c)
    if short:
        return short
    if c.isprintable():
        return c
    return f"\\x{ord(c):02x}" if c <= "\xff" else f"\\u{ord(c):04x}" if c <= "\uffff" else f"\\U{ord(c):08x}"


def char_class(chars: CodePointSet, special: str) -> str:
    negated = 0x10FFFF in chars
    ranges = (~chars).ranges if negated else chars.ranges
    if negated and not ranges:
        return "[\\x00-\\U0010ffff]"
    inside = "".join(
        escaped(chr(a), special) if a == b else f"{escaped(chr(a), special)}-{escaped(chr(b), special)}"
        for a, b in ranges
    )
    return f"[{'^' if negated else ''}{inside}]"


def count(minimum: int, maximum: int) -> str:
    short = _SHORT_COUNTS.get((minimum, maximum))
    if short:
        return short
    if minimum == maximum:
        return f"{{{minimum}}}"
    return f"{{{minimum},}}" if maximum == UNBOUNDED else f"{{{minimum},{maximum}}}"


def ranges_of(ids: Iterable[int]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for token in ids:
        if out and out[-1][1] == token - 1:
            out[-1] = (out[-1][0], token)
        else:
            out.append((token, token))
    return out
