r"""Back from bytes to characters: which expressions spell characters in UTF-8, and which ones.

    >>> from maskwright.frontends.charset import utf8
    >>> from maskwright.ir import seq, text
    >>> [str(piece) for piece in pieces(seq(text("aé"), utf8(CodePointSet.from_ranges([(0xE0, 0x17F)]))))]
    ['aé', 'CodePointSet(E0-17F)']

`pieces` reads a sequence from left to right: runs of single characters become strings, other spelled sets become
`CodePointSet`s, and what is not a whole character stays an expression. Sets are found in the forms in which
`charset.utf8` writes them, whatever they were joined with since. Cost: linear but for sets, which are spelled out.
Tested by tests/frontends/test_printing.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from maskwright.frontends.charset import CodePointSet
from maskwright.ir import OP_ALT, OP_LITERAL, OP_SEQ, OP_SET, Expr, byte_set, seq

Piece: TypeAlias = "str | CodePointSet | Expr"

_MAX_SPELLINGS: Final = 4096
_ASCII: Final = (1 << 0x80) - 1
_CONTINUATION: Final = ((1 << 0xC0) - 1) ^ ((1 << 0x80) - 1)
# The bytes that begin a character of 2, 3 and 4 bytes, and the bits that they hold of it.
_LEADS: Final = ((0xC2, 0xDF, 2, 0x1F), (0xE0, 0xEF, 3, 0x0F), (0xF0, 0xF4, 4, 0x07))


def pieces(expr: Expr) -> list[Piece]:
    """What a sequence, or anything else, consists of."""
    parts = list(expr[1:]) if expr[0] == OP_SEQ else [expr]
    out: list[Piece] = []
    while parts:
        part = parts.pop(0)
        if part[0] == OP_LITERAL:
            head, rest = _whole_characters(part[1])
            if head:
                out.append(head)
            if not rest:
                continue
            part, parts = Expr((OP_LITERAL, rest[:1])), _with_literal(rest[1:], parts)
        found, parts = _character(part, parts)
        out.append(found)
    return out


def branches(expr: Expr) -> tuple[CodePointSet, list[Expr]]:
    """The branches of an alternative: those that are one character, together, and the others."""
    characters, others = CodePointSet(()), []
    for branch in expr[1:]:
        found = pieces(branch) if branch[0] in (OP_SEQ, OP_SET, OP_LITERAL) else [branch]
        if len(found) == 1 and isinstance(found[0], CodePointSet):
            characters |= found[0]
        elif len(found) == 1 and isinstance(found[0], str) and len(found[0]) == 1:
            characters |= CodePointSet.from_string(found[0])
        elif branch[0] == OP_SET and branch[1] & _ASCII:
            characters |= _ascii(branch[1] & _ASCII)
            others.append(byte_set(branch[1] & ~_ASCII))
        else:
            others.append(branch)
    return characters, others


def _whole_characters(data: bytes) -> tuple[str, bytes]:
    """The text that bytes begin with, and the rest."""
    try:
        return data.decode(), b""
    except UnicodeDecodeError as error:
        return data[: error.start].decode(), data[error.start :]


def _with_literal(data: bytes, parts: list[Expr]) -> list[Expr]:
    return [Expr((OP_LITERAL, data)), *parts] if data else parts


def _character(part: Expr, following: list[Expr]) -> tuple[Piece, list[Expr]]:
    """The set of characters that `part` begins, and what follows it; or `part` itself."""
    if part[0] == OP_SET and not part[1] & ~_ASCII:
        return _ascii(part[1]), following
    if part[0] == OP_ALT:
        characters, others = branches(part)
        return (characters if characters and not others else part), following
    if part[0] not in (OP_SET, OP_LITERAL):
        return part, following
    mask = part[1] if part[0] == OP_SET else 1 << part[1][0]
    length = _length(mask)
    taken, rest = _take(following, length - 1)
    spellings = _spellings(seq(part, *taken)) if length and taken else None
    if spellings is None or any(len(spelling) != length for spelling in spellings):
        return part, following
    ranges: list[tuple[int, int]] = []
    for spelling in spellings:
        found = _code_points(spelling, length)
        if found is None:
            return part, following
        ranges += found
    return CodePointSet.from_ranges(ranges), rest


def _take(parts: list[Expr], count: int) -> tuple[list[Expr], list[Expr]]:
    """The parts that hold the next `count` bytes, and the rest; none if they do not come apart there."""
    taken, rest = [], list(parts)
    while count > 0 and rest:
        part = rest.pop(0)
        if part[0] == OP_LITERAL and len(part[1]) > count:
            rest = _with_literal(part[1][count:], rest)
            part = Expr((OP_LITERAL, part[1][:count]))
        if part[0] == OP_LITERAL:
            count -= len(part[1])
        elif part[0] == OP_SET:
            count -= 1
        elif part[0] == OP_ALT:
            count = 0  # it has to hold all the rest
        else:
            return [], parts
        taken.append(part)
    return (taken, rest) if count == 0 else ([], parts)


def _spellings(expr: Expr) -> list[tuple[int, ...]] | None:
    """An expression as sequences of sets of bytes; None if there are too many, or other operators in it."""
    if expr[0] == OP_LITERAL:
        return [tuple(1 << b for b in expr[1])] if len(expr[1]) <= 4 else None
    if expr[0] == OP_SET:
        return [(expr[1],)]
    if expr[0] not in (OP_SEQ, OP_ALT) or len(expr) > _MAX_SPELLINGS:
        return None
    parts = [_spellings(part) for part in expr[1:]]
    found: list[tuple[int, ...]] = [()] if expr[0] == OP_SEQ else []
    for part in parts:
        if part is None or len(found) * len(part) > _MAX_SPELLINGS:
            return None
        found = [head + tail for head in found for tail in part] if expr[0] == OP_SEQ else found + part
        if any(len(spelling) > 4 for spelling in found):
            return None
    return found


def _length(lead: int) -> int:
    """How many bytes a character has that begins with any of these; 0 if they differ or begin none."""
    for first, last, length, _ in _LEADS:
        if not lead & ~((1 << (last + 1)) - (1 << first)):
            return length
    return 0


def _code_points(spelling: tuple[int, ...], length: int) -> list[tuple[int, int]] | None:
    """The characters of a sequence of sets of bytes, if all that it spells is valid."""
    if any(mask & ~_CONTINUATION for mask in spelling[1:]):
        return None
    bits = next(bits for _, _, n, bits in _LEADS if n == length)
    ranges = [(low & bits, high & bits) for low, high in _runs(spelling[0])]
    for mask in spelling[1:]:
        runs = [(low & 0x3F, high & 0x3F) for low, high in _runs(mask)]
        if runs == [(0, 0x3F)]:
            ranges = [(low << 6, high << 6 | 0x3F) for low, high in ranges]
        else:
            points = [value for low, high in ranges for value in range(low, high + 1)]
            if len(points) * len(runs) > _MAX_SPELLINGS:
                return None
            ranges = [(value << 6 | low, value << 6 | high) for value in points for low, high in runs]
    least = {2: 0x80, 3: 0x800, 4: 0x10000}[length]
    for low, high in ranges:
        if low < least or high > 0x10FFFF or (low <= 0xDFFF and high >= 0xD800):
            return None
    return ranges


def _ascii(mask: int) -> CodePointSet:
    return CodePointSet.from_ranges(_runs(mask))


def _runs(mask: int) -> Iterator[tuple[int, int]]:
    """The ranges of a set of bytes."""
    start = 0
    while mask >> start:
        start += ((mask >> start) & -(mask >> start)).bit_length() - 1
        run = mask >> start
        length = (~run & (run + 1)).bit_length() - 1
        yield start, start + length - 1
        start += length
