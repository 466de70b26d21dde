"""Numbers that must be multiples, read byte by byte, as the oracle judges them.

    >>> from maskwright.ir import bytes_in, multiple, plus
    >>> number = Number.of(multiple(plus(bytes_in(b"0123456789.")), 7, 2))
    >>> [number.after_all(text).is_multiple() for text in (b"1.4", b"1.41", b"14")]
    [True, False, True]

What a number may become depends on the remainder of its digits alone, so a search comes to an end.
Tested by tests/exhaustive/test_multiples.py, against `Decimal`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from maskwright.ir import Expr
from oracle.derivatives import byte_groups, derivative, is_empty, is_nullable

_DIGITS = b"0123456789"
_POINT = b"."
_SIGN = b"-"


class Number(NamedTuple):
    """What may follow, the remainder of the digits so far, and how many of them stand behind the point, if it came."""

    rest: Expr
    remainder: int
    places: int | None
    modulus: int
    scale: int

    @classmethod
    def of(cls, e: Expr) -> Number:
        """Nothing of it has been read."""
        return cls(e[1], 0, None, *e[2:])

    def after(self, byte: int) -> Number | None:
        """The number with one more byte; None if it cannot be a multiple then."""
        number = self._replace(rest=derivative(self.rest, byte))
        if byte in _POINT:
            return number._replace(places=0) if self.places is None else None
        if byte not in _DIGITS:
            return number if byte in _SIGN else None
        if self.places == self.scale:
            return number if byte == _DIGITS[0] else None
        return number._replace(
            remainder=(10 * self.remainder + byte - _DIGITS[0]) % self.modulus,
            places=None if self.places is None else self.places + 1,
        )

    def after_all(self, text: bytes) -> Number:
        """The number with these bytes more, after each of which it can still be a multiple."""
        number = self
        for byte in text:
            after = number.after(byte)
            assert after is not None
            number = after
        return number

    def is_multiple(self) -> bool:
        """Is the number right as it is?"""
        return is_nullable(self.rest) and self.remainder * 10 ** (self.scale - (self.places or 0)) % self.modulus == 0

    def following(self) -> list[Number]:
        """The numbers with one more byte, those that are alike once."""
        bytes_ = [
            byte
            for group in byte_groups(self.rest)
            for byte in {group[0], *set(group).intersection(_DIGITS + _POINT + _SIGN)}
        ]
        found = dict.fromkeys(number for byte in bytes_ if (number := self.after(byte)))
        return [number for number in found if not is_empty(number.rest)]

    @lru_cache(maxsize=1 << 16)  # noqa: B019
    def can_become_multiple(self) -> bool:
        """Can it become right?"""
        seen, todo = {self}, [self]
        while todo:
            number = todo.pop()
            if number.is_multiple():
                return True
            new = set(number.following()) - seen
            seen |= new
            todo.extend(new)
        return False
