r"""Texts: any characters, without certain strings, up to certain strings, so long, no longer than needed.

    text_without((b"ab",))                any text without "ab"
    text_until((b"</a>",), ())            any text that ends with the first "</a>" in it
    shortest(text("a"))                   "a" & ~("a" [^]+)

All are regular if their arguments are: intersections and complements, which the kernel determinises lazily as products.
A product with "none of these strings before" is the automaton of Aho and Corasick: a state is the longest suffix of the
text that begins some string.

Source: Aho and Corasick, Efficient string matching: an aid to bibliographic search, 1975.
Cost: linear in the length of all strings.
Tested by tests/frontends/test_texts.py and, against the oracle, tests/structural_tag/.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from maskwright.errors import LimitError
from maskwright.frontends.charset import ALL_CHARACTERS, utf8
from maskwright.ir import (
    ALL_BYTES,
    ANY_BYTE,
    OP_AND,
    OP_NOT,
    UNBOUNDED,
    Expr,
    alt,
    and_,
    byte_range,
    byte_set,
    literal,
    never,
    not_,
    plus,
    repeat,
    seq,
    star,
)

MAX_OVERLAPS: Final = 64

ANY_CHARACTER: Final = utf8(ALL_CHARACTERS)
ANY_TEXT: Final = star(ANY_CHARACTER)
_BEGUN: Final = seq(byte_set(ALL_BYTES & ~(2**0xC0 - 2**0x80)), star(byte_range(0x80, 0xBF)))  # in texts, a character
ANY_BYTES: Final = star(ANY_BYTE)

Length: TypeAlias = "tuple[int, int | None]"  # in characters: at least, and at most if it is bounded
ANY_LENGTH: Final[Length] = (0, None)


def text_of_length(min_chars: int, max_chars: int | None, body: Expr = ANY_TEXT) -> Expr:
    """The texts of `body` of so many characters; without upper bound if it is None."""
    counted = repeat(ANY_CHARACTER, min_chars, UNBOUNDED if max_chars is None else max_chars)
    return counted if body is ANY_TEXT else and_(counted, body)


def complement(body: Expr, texts: Expr = ANY_TEXT) -> Expr:
    """All texts, in valid UTF-8 if nothing else is said, that the body does not match."""
    return and_(texts, not_(body))


def shortest(body: Expr) -> Expr:
    """Those of the texts of which no proper prefix is one: where a text could end, it ends."""
    return and_(body, not_(seq(body, plus(ANY_BYTE))))


def text_before(body: Expr, end: Sequence[Expr]) -> Expr:
    """Those of the texts after which an end comes for the first time: where it could end the text, it does.

    One followed by the end is then `shortest(seq(body, *end))`, but the two parts are apart.

    Args:
        body: The texts.
        end: The end's bytes, or its characters in upper and lower case: any two of them are equal, or differ always.

    Raises:
        LimitError: The end ends in its own beginning in too many ways.
    """
    # The end may also come earlier and overlap with its last occurrence, as "aa" does in "aaa".
    overlaps = borders(end)
    if len(overlaps) > MAX_OVERLAPS:
        hint = "use an end text without repeated parts"
        raise LimitError("the end text overlaps with itself too often", limit="overlaps", hint=hint)
    earlier = [not_(seq(body, *end[:-size])) for size in overlaps]
    return and_(body, not_(seq(body, *end, ANY_BYTES)), *earlier)


def text_without(strings: Sequence[bytes], body: Expr = ANY_TEXT) -> Expr:
    """The texts of `body` in which none of the strings occurs."""
    if b"" in strings:
        return never()
    return and_(body, not_(holding(strings, ANY_BYTES))) if strings else body


def text_until(
    ends: Sequence[bytes], excluded: Sequence[bytes], body: Expr = ANY_TEXT, length: Length = ANY_LENGTH
) -> Expr:
    """The texts of `body`, so long, in which nothing excluded occurs, then one of `ends` where such first occurs.

    The end's characters are counted as well: then one count will do, although an end may begin at every character.
    """
    if length == ANY_LENGTH:
        return _until(ends, ends, excluded, body)
    by_length: dict[int, list[bytes]] = {}
    for end in ends:
        by_length.setdefault(len(end.decode()), []).append(end)
    least, most = length
    return alt(
        *[
            and_(
                repeat(_BEGUN, least + n, UNBOUNDED if most is None else most + n),
                _until(alike, ends, excluded, body),
            )
            for n, alike in by_length.items()
        ]
    )


def _until(some: Sequence[bytes], ends: Sequence[bytes], excluded: Sequence[bytes], body: Expr) -> Expr:
    """`text_until` for some of the ends, of which all stop the text.

    All complements are one, and the end goes into it: automata are small where they end with the rest.
    """
    end = any_of(some)
    operands = body[1:] if body[0] == OP_AND else (body,)
    texts = [seq(operand, end) for operand in operands if operand[0] != OP_NOT]
    others = [seq(operand[1], end) for operand in operands if operand[0] == OP_NOT]
    return and_(*texts, not_(alt(*others, stopped_early(ends, excluded, some))))


def text_leading_to(end: bytes, ends: Sequence[bytes], excluded: Sequence[bytes], body: Expr = ANY_TEXT) -> Expr:
    """What stands before `end`, one of `ends`, in the texts of `text_until` that end with no longer one."""
    overlaps = [stop[:-size] for stop in ends for size in shared_edges(stop, end) if size < len(end)]
    if len(overlaps) > MAX_OVERLAPS:
        hint = "use an end text without repeated parts"
        raise LimitError("the end text overlaps with itself too often", limit="overlaps", hint=hint)
    early = _ending_otherwise(overlaps)  # else a stop ends within `end`
    longer = _ending_otherwise([each[: -len(end)] for each in _longer([end], ends)[end]])
    return and_(text_without((*ends, *excluded), body), *early, *longer)


def borders(data: Sequence[object]) -> list[int]:
    """The lengths of the proper, nonempty prefixes that are suffixes as well, in ascending order.

    >>> borders(b"abcabcab")
    [2, 5]
    """
    found, longest = [], _longest_borders(data)
    size = longest[-1] if data else 0
    while size:
        found.append(size)
        size = longest[size - 1]
    return found[::-1]


def shared_edges(first: bytes, second: bytes) -> list[int]:
    """The lengths of the nonempty suffixes of one string that are prefixes of another one, in ascending order.

    >>> shared_edges(b"</a><", b"<</b>")
    [1]
    """
    size = min(len(first), len(second))
    if first[-1:] not in second[:size]:
        return []
    suffix, prefix = first[len(first) - size :], second[:size]
    whole = [size] if size and suffix == prefix else []
    return [n for n in borders(prefix + suffix) if n < size] + whole


def _longest_borders(data: Sequence[object]) -> list[int]:
    """For each prefix, the length of its longest border (Knuth, Morris and Pratt, 1977)."""
    longest = [0] * len(data)
    size = 0
    for i in range(1, len(data)):
        while size and data[i] != data[size]:
            size = longest[size - 1]
        size += data[i] == data[size]
        longest[i] = size
    return longest


def texts_up_to(endings: Sequence[bytes], others: Iterable[bytes] = ()) -> list[Expr]:
    """For each of these strings, any text that ends with it, in which none of them, nor of the others, ends earlier.

    Nor does it end with a string that is longer.
    """
    marks = list(dict.fromkeys((*endings, *others)))
    no_early = not_(holding(marks, plus(ANY_BYTE)))
    longer = _longer(endings, marks)
    return [and_(seq(ANY_TEXT, literal(ending)), no_early, *_ending_otherwise(longer[ending])) for ending in endings]


def _longer(endings: Sequence[bytes], marks: Sequence[bytes]) -> dict[bytes, list[bytes]]:
    """For each of the endings, the longer ones of the marks that end with it."""
    longer: dict[bytes, list[bytes]] = {ending: [] for ending in endings}
    sizes = sorted({len(ending) for ending in longer})
    for mark in marks:
        for size in sizes[: bisect_left(sizes, len(mark))]:
            longer.get(mark[len(mark) - size :], []).append(mark)
    return longer


def _ending_otherwise(marks: Sequence[bytes]) -> list[Expr]:
    """For each of the marks, the strings that do not end with it."""
    return [not_(seq(ANY_BYTES, literal(mark))) for mark in marks]


def stopped_early(stops: Sequence[bytes], excluded: Sequence[bytes], ends: Sequence[bytes]) -> Expr:
    """Strings in which a stop ends before the last byte, or something excluded occurs before the longest final end.

    May hold others too that do not end so. What cannot share a byte with an end counts wherever it occurs, and what the
    ends end with wherever it does so earlier: the automaton is at its end there, and has less to remember.
    """
    anywhere, earlier, before_end = [], list(stops), []
    for string in excluded:
        if not any(_shares(string, end) for end in ends):
            anywhere.append(string)
        elif all(end.endswith(string) and not _shares(string, end[:-1]) for end in ends):
            earlier.append(string)
        else:
            before_end.append(string)
    return alt(
        holding(earlier, plus(ANY_BYTE)),
        holding(anywhere, ANY_BYTES),
        *_before_end(before_end, ends),
    )


def _before_end(strings: Sequence[bytes], ends: Sequence[bytes]) -> list[Expr]:
    """What ends with one of `ends`, before the longest of which one of the strings occurs."""
    longer = _longer(ends, ends)
    outermost = [end for end in ends if not longer[end]]
    return [
        holding(strings, seq(ANY_BYTES, any_of(outermost))),
        *[
            and_(holding(strings, seq(ANY_BYTES, literal(end))), *_ending_otherwise(marks))
            for end, marks in longer.items()
            if marks
        ],
    ]


def _shares(string: bytes, end: bytes) -> bool:
    """Whether the string can occur so that its last byte is one of an end's."""
    return string in end or any(string.endswith(end[:size]) for size in range(1, len(end) + 1))


def holding(strings: Iterable[bytes], rest: Expr) -> Expr:
    """Anything, then one of the strings, then `rest`."""
    return seq(ANY_BYTES, any_of(strings), rest)


def any_of(strings: Iterable[bytes]) -> Expr:
    """One of the strings."""
    return alt(*map(literal, strings))
