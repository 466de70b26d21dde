"""Sets of characters, and their spellings as byte expressions.

A `CodePointSet` is an immutable set of Unicode scalar values, kept as sorted, disjoint, non-adjacent ranges. Surrogates
are not scalar values, so no set ever holds one. An *encoding* turns a set into the expression for "one of these
characters":

    >>> digits = CodePointSet.from_ranges([(0x30, 0x39)])
    >>> print(utf8(digits).dump())
    [0-9]
    >>> print(utf8(CodePointSet.from_string("é€")).dump())
    "\\xc3\\xa9" | "\\xe2\\x82\\xac"
    >>> print(json_string_chars(CodePointSet.from_string("\\n")).dump())
    "\\\\" ("u000" [Aa] | "n")

Both encodings are exact and prefix-free, and the union of two sets has the union of their spellings. Each is a trie
over digits in mixed radix (six bits for UTF-8, four for hex escapes), made from whole ranges, with lead digits of
equal tails merged; its cost grows with the number of ranges, not of characters. Results are cached by set.
Sources: RFC 3629 section 4 (UTF-8), RFC 8259 section 7 (strings).
Tested by tests/frontends/test_charset.py.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, wraps
from operator import itemgetter
from typing import Final, TypeAlias

from maskwright.ir import EMPTY, Expr, alt, byte_set, bytes_in, literal, never, seq
from maskwright.support.interruption import interrupt_checkpoint
from maskwright.support.untracked import acyclic

MAX_CODE_POINT: Final = 0x10FFFF
_SURROGATES: Final = (0xD800, 0xDFFF)

Range: TypeAlias = "tuple[int, int]"


class CodePointSet:
    """An immutable set of Unicode scalar values."""

    __slots__ = ("_hash", "ranges")

    ranges: tuple[Range, ...]
    _hash: int

    def __init__(self, ranges: tuple[Range, ...]) -> None:
        """Take ranges that are canonical already; `from_ranges` takes any."""
        self.ranges = ranges
        self._hash = hash(ranges)

    @classmethod
    def from_ranges(cls, ranges: Iterable[Range]) -> CodePointSet:
        """Make a set of inclusive ranges in any order. Surrogates among them are left out."""
        return cls(_without_surrogates(_normalize(sorted(ranges))))

    @classmethod
    def from_string(cls, characters: Iterable[str]) -> CodePointSet:
        """Make a set of the characters of a string."""
        return cls.from_ranges((ord(c), ord(c)) for c in characters)

    @classmethod
    def from_code_points(cls, code_points: Iterable[int]) -> CodePointSet:
        """Make a set of single code points."""
        return cls.from_ranges((c, c) for c in code_points)

    def __contains__(self, code_point: int | str) -> bool:
        value = ord(code_point) if isinstance(code_point, str) else code_point
        at = bisect_right(self.ranges, (value, MAX_CODE_POINT + 1)) - 1
        return at >= 0 and self.ranges[at][0] <= value <= self.ranges[at][1]

    def __iter__(self) -> Iterator[int]:
        for first, last in self.ranges:
            yield from range(first, last + 1)

    def __len__(self) -> int:
        return sum(last - first + 1 for first, last in self.ranges)

    def __bool__(self) -> bool:
        return bool(self.ranges)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CodePointSet) and self.ranges == other.ranges

    def __hash__(self) -> int:
        return self._hash

    def __or__(self, other: CodePointSet) -> CodePointSet:
        if not other.ranges:
            return self
        if not self.ranges:
            return other
        # Joining may glue U+D7FF to U+E000 only if a surrogate stood between them, and there is none.
        return CodePointSet(_normalize(sorted(self.ranges + other.ranges)))

    def __and__(self, other: CodePointSet) -> CodePointSet:
        out: list[Range] = []
        a, b, i, j = self.ranges, other.ranges, 0, 0
        while i < len(a) and j < len(b):
            first, last = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
            if first <= last:
                out.append((first, last))
            if a[i][1] < b[j][1]:
                i += 1
            else:
                j += 1
        return CodePointSet(tuple(out))

    def __sub__(self, other: CodePointSet) -> CodePointSet:
        return self & ~other

    def __invert__(self) -> CodePointSet:
        out: list[Range] = []
        start = 0
        for first, last in self.ranges:
            if start < first:
                out.append((start, first - 1))
            start = last + 1
        if start <= MAX_CODE_POINT:
            out.append((start, MAX_CODE_POINT))
        return CodePointSet(_without_surrogates(tuple(out)))

    def isdisjoint(self, other: CodePointSet) -> bool:
        """Whether no character is in both."""
        few, many = sorted((self.ranges, other.ranges), key=len)
        for first, last in few:
            at = bisect_right(many, (last, MAX_CODE_POINT + 1)) - 1
            if at >= 0 and many[at][1] >= first:
                return False
        return True

    def issubset(self, other: CodePointSet) -> bool:
        """Whether all characters of this set are in the other."""
        for first, last in self.ranges:
            at = bisect_right(other.ranges, (first, MAX_CODE_POINT + 1)) - 1
            if at < 0 or other.ranges[at][1] < last:
                return False
        return True

    def __repr__(self) -> str:
        shown = ", ".join(f"{a:X}" if a == b else f"{a:X}-{b:X}" for a, b in self.ranges[:8])
        return f"CodePointSet({shown}{', …' if len(self.ranges) > 8 else ''})"


Encoding: TypeAlias = Callable[[CodePointSet], Expr]


def _normalize(ranges: list[Range]) -> tuple[Range, ...]:
    """Merge sorted ranges that overlap or touch."""
    out: list[Range] = []
    end = -2
    for first, last in ranges:
        if first > last:
            continue
        if first > end + 1:
            out.append((first, last))
            end = last
        elif last > end:
            out[-1] = (out[-1][0], last)
            end = last
    return tuple(out)


def _without_surrogates(ranges: tuple[Range, ...]) -> tuple[Range, ...]:
    low, high = _SURROGATES
    # Ranges i to j - 1 reach into the surrogates.
    i, j = bisect_left(ranges, low, key=itemgetter(1)), bisect_right(ranges, high, key=itemgetter(0))
    if i >= j:
        return ranges
    kept = []
    if ranges[i][0] < low:
        kept.append((ranges[i][0], low - 1))
    if ranges[j - 1][1] > high:
        kept.append((high + 1, ranges[j - 1][1]))
    return (*ranges[:i], *kept, *ranges[j:])


acyclic(CodePointSet)

NO_CHARACTERS: Final = CodePointSet(())
ALL_CHARACTERS: Final = ~NO_CHARACTERS


def partition(sets: Iterable[CodePointSet], most: int) -> dict[CodePointSet, int] | None:
    """Return which classes of characters each set is made of, as bits: characters of one class are in the same sets.

    None if there are more than `most` classes.

    >>> vowels, letters = CodePointSet.from_string("aeiou"), CodePointSet.from_ranges([(0x61, 0x7A)])
    >>> partition([vowels, letters], 256) == {vowels: 0b01, letters: 0b11}
    True
    """
    members = dict.fromkeys(sets, 0)
    changes: dict[int, list[CodePointSet]] = {}
    for one in members:
        for first, last in one.ranges:
            changes.setdefault(first, []).append(one)
            changes.setdefault(last + 1, []).append(one)
    around: set[CodePointSet] = set()
    classes: dict[frozenset[CodePointSet], int] = {}
    for start in sorted(changes):
        interrupt_checkpoint()
        around.symmetric_difference_update(changes[start])
        bit = classes.setdefault(frozenset(around), 1 << len(classes)) if around else 0
        if len(classes) > most:
            return None
        for one in around:
            members[one] |= bit
    return members


class _Digit:
    """One digit of a spelling: `masks[d]` holds the bytes that spell digit d, after a fixed prefix."""

    def __init__(self, masks: list[int], prefix: Expr = EMPTY) -> None:
        self.radix = len(masks)
        self.prefix = prefix
        self._up_to = [0]
        for mask in masks:
            self._up_to.append(self._up_to[-1] | mask)

    def mask(self, first: int, last: int) -> int:
        """The bytes of digits from `first` to `last`. Digits have disjoint bytes."""
        return self._up_to[last + 1] ^ self._up_to[first]


def _offset_digit(radix: int, base: int) -> _Digit:
    return _Digit([1 << (base + d) for d in range(radix)])


_CONTINUATION: Final = _offset_digit(64, 0x80)
_UTF8_FORMS: Final = (
    (0x80, 0x7FF, (_offset_digit(32, 0xC0), _CONTINUATION)),
    (0x800, 0xFFFF, (_offset_digit(16, 0xE0), _CONTINUATION, _CONTINUATION)),
    (0x10000, MAX_CODE_POINT, (_offset_digit(8, 0xF0), _CONTINUATION, _CONTINUATION, _CONTINUATION)),
)

_HEX_MASKS: Final = [(1 << ord(f"{d:x}")) | (1 << ord(f"{d:X}")) for d in range(16)]
_HEX: Final = _Digit(_HEX_MASKS)
_ANY_CASE_D: Final = bytes_in(b"dD")
_ESCAPE_BMP: Final = (_HEX, _HEX, _HEX, _HEX)
# A code point above U+FFFF, less 0x10000, has 20 bits: 2, 4 and 4 of them in the pair's first half, and the same again.
_ESCAPE_PAIR: Final = (
    _Digit(_HEX_MASKS[8:12]),
    _HEX,
    _HEX,
    _Digit(_HEX_MASKS[12:16], prefix=seq(literal(b"\\u"), _ANY_CASE_D)),
    _HEX,
    _HEX,
)
_SHORT_ESCAPES: Final = {
    0x22: b'"',
    0x5C: b"\\",
    0x2F: b"/",
    0x08: b"b",
    0x0C: b"f",
    0x0A: b"n",
    0x0D: b"r",
    0x09: b"t",
}
_RAW_IN_JSON: Final = ~CodePointSet.from_ranges([(0, 0x1F), (0x22, 0x22), (0x5C, 0x5C)])


def _spell(ranges: tuple[Range, ...], digits: tuple[_Digit, ...], at: int = 0) -> Expr:
    """The numbers in `ranges`, each written with the digits from `at` on; numbers are relative to that place."""
    digit = digits[at]
    if at == len(digits) - 1:
        mask = 0
        for first, last in ranges:
            mask |= digit.mask(first, last)
        return seq(digit.prefix, byte_set(mask))
    unit = 1
    for lower in digits[at + 1 :]:
        unit *= lower.radix
    masks: dict[tuple[Range, ...], int] = {}
    for leads, tail in _by_lead(ranges, unit):
        masks[tail] = masks.get(tail, 0) | digit.mask(*leads)
    branches = (seq(byte_set(mask), _spell_tail(tail, digits, at + 1)) for tail, mask in masks.items())
    return seq(digit.prefix, alt(*branches))


def _spell_tail(ranges: tuple[Range, ...], digits: tuple[_Digit, ...], at: int) -> Expr:
    return _spell(ranges, digits, at) if len(ranges) > 1 else _spell_range(ranges, digits, at)


@lru_cache(maxsize=4096)
def _spell_range(ranges: tuple[Range, ...], digits: tuple[_Digit, ...], at: int) -> Expr:
    """One range: large sets of characters have the same ones behind most of their lead bytes."""
    return _spell(ranges, digits, at)


def _by_lead(ranges: tuple[Range, ...], unit: int) -> list[tuple[Range, tuple[Range, ...]]]:
    """Split numbers into (range of leading digits, the numbers that may follow each)."""
    out: list[tuple[Range, tuple[Range, ...]]] = []
    tail: list[Range] = []
    lead = -1
    for first, last in ranges:
        first_lead, last_lead = first // unit, last // unit
        if first_lead != lead:
            if tail:
                out.append(((lead, lead), tuple(tail)))
            lead, tail = first_lead, []
        if last_lead == first_lead:
            tail.append((first - lead * unit, last - lead * unit))
            continue
        tail.append((first - lead * unit, unit - 1))
        out.append(((lead, lead), tuple(tail)))
        if last_lead > first_lead + 1:
            out.append(((first_lead + 1, last_lead - 1), ((0, unit - 1),)))
        lead, tail = last_lead, [(0, last - last_lead * unit)]
    if tail:
        out.append(((lead, lead), tuple(tail)))
    return out


def _clip(ranges: tuple[Range, ...], low: int, high: int, base: int = 0) -> tuple[Range, ...]:
    return tuple((max(a, low) - base, min(b, high) - base) for a, b in ranges if a <= high and b >= low)


def _cached(encode: Encoding) -> Encoding:
    """Keep results, within some 50 MB: many of small sets, a few of large ones, none of enormous ones."""
    small, large = lru_cache(maxsize=1024)(encode), lru_cache(maxsize=32)(encode)

    @wraps(encode)
    def lookup(characters: CodePointSet) -> Expr:
        num_ranges = len(characters.ranges)
        if num_ranges <= 16:
            return small(characters)
        return large(characters) if num_ranges <= 2000 else encode(characters)

    return lookup


@_cached
def utf8(characters: CodePointSet) -> Expr:
    """One character of a set, in UTF-8: shortest forms only, no surrogates.

    >>> print(utf8(ALL_CHARACTERS - CodePointSet.from_string("a")).dump())  # doctest: +ELLIPSIS
    [\\xc2-\\xdf] [\\x80-\\xbf] | ...
    """
    ranges = characters.ranges
    if not ranges:
        return never()
    mask = 0
    for first, last in ranges:
        if first > 0x7F:
            break
        mask |= (2 << min(last, 0x7F)) - (1 << first)
    if ranges[-1][1] <= 0x7F:
        return byte_set(mask)
    branches = [byte_set(mask)]
    for low, high, digits in _UTF8_FORMS:
        clipped = _clip(ranges, low, high)
        if clipped:
            branches.append(_spell(clipped, digits))
    return alt(*branches)


@_cached
def json_string_chars(characters: CodePointSet) -> Expr:
    r"""One character of a set, inside a JSON string, in each of its spellings.

    A character is spelled raw in UTF-8 (not below U+0020, not `"`, not `\`), by a short escape
    (`\" \\ \/ \b \f \n \r \t`), by `\uXXXX` in any case, or, above U+FFFF, by a pair of those. A lone surrogate is no
    character.
    """
    ranges = characters.ranges
    if not ranges:
        return never()
    short = bytes_in(b"".join(spelling for c, spelling in _SHORT_ESCAPES.items() if c in characters))
    numeric = never()
    bmp = _clip(ranges, 0, 0xFFFF)
    if bmp:
        numeric = _spell(bmp, _ESCAPE_BMP)
    astral = _clip(ranges, 0x10000, MAX_CODE_POINT, base=0x10000)
    if astral:
        numeric = alt(numeric, seq(_ANY_CASE_D, _spell(astral, _ESCAPE_PAIR)))
    escapes = alt(short, seq(literal(b"u"), numeric))
    return alt(utf8(characters & _RAW_IN_JSON), seq(literal(b"\\"), escapes))
