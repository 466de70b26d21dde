"""What regular expressions begin with, and rules spelled out in them."""

from __future__ import annotations

import itertools

from ir_matcher import matches

from maskwright.frontends.regular import first_bytes, is_regular, spelled_out
from maskwright.ir import EMPTY, alt, and_, byte_range, never, not_, ref, repeat, seq, star, text, tokens

TEXTS = ["".join(t) for n in range(4) for t in itertools.product("ab", repeat=n)]


def test_first_bytes() -> None:
    for body in (
        text("ab"),
        alt(text("a"), EMPTY),
        seq(star(text("a")), text("b")),
        and_(text("a"), not_(text("b"))),
        never(),
    ):
        possible = {t[0] for t in TEXTS if t and matches(body, t)}
        assert all(first_bytes(body) >> ord(c) & 1 for c in possible)
    assert first_bytes(seq(repeat(text("a"), 0, 3), byte_range(0x62, 0x63))) == 0b1110 << 96


def test_spelling_out() -> None:
    bodies = {0: text("x"), 1: seq(ref(0), star(ref(0))), 2: alt(ref(2), EMPTY), 3: tokens([1])}
    spelled = spelled_out(seq(ref(1), text("y"), ref(1)), bodies.get)
    assert spelled is not None
    assert is_regular(spelled)
    assert matches(spelled, "xxyx")
    for recursive in (ref(2), ref(3), ref(7), seq(ref(1), ref(2))):
        assert spelled_out(recursive, bodies.get) is None
