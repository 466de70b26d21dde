"""The IR's constructors keep expressions canonical and keep their meaning."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskwright import ir
from maskwright.ir import (
    ALL_BYTES,
    ANY_BYTE,
    EMPTY,
    UNBOUNDED,
    Expr,
    GrammarIR,
    IRBuilder,
    Rule,
    alt,
    and_,
    byte_range,
    byte_set,
    bytes_in,
    literal,
    never,
    not_,
    optional,
    plus,
    ref,
    repeat,
    seq,
    star,
    text,
    tokens,
)
from oracle.recognizer import matches

A, B = literal(b"a"), literal(b"b")


@pytest.mark.parametrize(
    ("built", "canonical"),
    [
        (literal(b""), EMPTY),
        (text("é"), literal(b"\xc3\xa9")),
        (byte_set(0), never()),
        (byte_set(1 << 97), A),
        (bytes_in(b"a"), A),
        (bytes_in(b"ba"), byte_range(97, 98)),
        (byte_range(0, 255), ANY_BYTE),
        (byte_range(98, 97), never()),
        (seq(), EMPTY),
        (seq(A), A),
        (seq(A, EMPTY, B), literal(b"ab")),
        (seq(seq(A, star(A)), B, A), Expr((ir.OP_SEQ, A, star(A), literal(b"ba")))),
        (seq(A, never(), B), never()),
        (alt(), never()),
        (alt(A), A),
        (alt(A, A), A),
        (alt(A, B), bytes_in(b"ab")),
        (alt(A, never(), B, bytes_in(b"cd")), bytes_in(b"abcd")),
        (alt(alt(star(A), EMPTY), star(A)), Expr((ir.OP_ALT, star(A), EMPTY))),
        (repeat(EMPTY, 3, 7), EMPTY),
        (repeat(never(), 0, 7), EMPTY),
        (repeat(never(), 1, 7), never()),
        (repeat(A, 0, 0), EMPTY),
        (repeat(A, 1, 1), A),
        (repeat(A, 3, 2), never()),
        (star(star(A)), star(A)),
        (plus(plus(A)), plus(A)),
        (star(plus(A)), star(A)),
        (plus(star(A)), star(A)),
        (optional(plus(A)), star(A)),
        (tokens([]), never()),
        (tokens([3, 1, 3]), Expr((ir.OP_TOKENS, (1, 3), False))),
        (and_(), star(ANY_BYTE)),
        (and_(A, A), A),
        (and_(A, never()), never()),
        (and_(and_(star(A), plus(A)), star(A)), Expr((ir.OP_AND, star(A), plus(A)))),
        (not_(not_(A)), A),
    ],
)
def test_canonical_form(built: Expr, canonical: Expr) -> None:
    assert built == canonical
    assert hash(built) == hash(canonical)


@pytest.mark.parametrize(
    ("expr", "shown"),
    [
        (EMPTY, '""'),
        (never(), "[]"),
        (literal(b'a"\\\n\x00\xff'), '"a\\"\\\\\\n\\x00\\xff"'),
        (bytes_in(b"abcx"), "[a-cx]"),
        (bytes_in(b"]^-\\"), "[\\-\\\\-\\^]"),
        (byte_set(ALL_BYTES & ~(1 << 10)), "[^\\n]"),
        (ANY_BYTE, "[^]"),
        (seq(A, star(B)), '"a" "b"*'),
        (star(seq(A, star(B))), '("a" "b"*)*'),
        (seq(alt(star(A), EMPTY), B), '("a"* | "") "b"'),
        (repeat(A, 2, 2), '"a"{2}'),
        (repeat(A, 2, 5), '"a"{2,5}'),
        (repeat(A, 2), '"a"{2,}'),
        (repeat(optional(A), 2, 3), '"a"?{2,3}'),
        (and_(star(A), not_(seq(A, star(B)))), '"a"* & ~("a" "b"*)'),
        (alt(and_(star(A), plus(A)), EMPTY), '"a"* & "a"+ | ""'),
        (tokens([7, 8]), "<[7,8]>"),
        (ref(4), "$4"),
    ],
)
def test_dump(expr: Expr, shown: str) -> None:
    assert expr.dump() == shown
    assert repr(expr) == f"Expr({shown})"


def test_grammar_dump_shows_the_root_first() -> None:
    grammar = GrammarIR((Rule("item", A), Rule("list", seq(ref(0), star(ref(1))))), 1)
    assert grammar.dump() == 'list ::= item list*\nitem ::= "a"'


def test_builder() -> None:
    b = IRBuilder()
    first, second = b.declare("x"), b.declare("x")
    b.define(first, seq(A, optional(second)))
    b.define(second, first)
    grammar = b.build(first)
    assert grammar.dump() == 'x ::= "a" x_2?\nx_2 ::= x'


def test_builder_makes_a_root_of_any_expression() -> None:
    b = IRBuilder()
    item = b.add("item", A)
    assert b.build(plus(item)).dump() == 'root ::= item+\nitem ::= "a"'


def test_builder_wants_all_rules_defined() -> None:
    b = IRBuilder()
    with pytest.raises(AssertionError, match="declared but never defined"):
        b.build(b.declare("x"))


STRINGS = [bytes(s) for n in range(5) for s in itertools.product(b"abc", repeat=n)]


def language(expr: Expr) -> frozenset[bytes]:
    """The members of STRINGS that an expression without rules matches."""
    return frozenset(s for s in STRINGS if matches(GrammarIR((Rule("r", expr),), 0), s))


EXPRS = st.recursive(
    st.sampled_from([A, B, EMPTY, never(), bytes_in(b"ab"), literal(b"ab"), ANY_BYTE]),
    lambda inner: st.one_of(
        st.builds(seq, inner, inner),
        st.builds(alt, inner, inner),
        st.builds(and_, inner, inner),
        st.builds(not_, inner),
        st.builds(repeat, inner, st.integers(0, 2), st.integers(2, 3) | st.just(UNBOUNDED)),
    ),
    max_leaves=4,
)


@given(EXPRS, EXPRS)
def test_constructors_keep_the_meaning(x: Expr, y: Expr) -> None:
    """Each constructor, however it simplifies, gives the language that its name says."""
    lx, ly, whole = language(x), language(y), frozenset(STRINGS)
    assert language(alt(x, y)) == lx | ly
    assert language(and_(x, y)) == lx & ly
    assert language(not_(x)) == whole - lx
    assert language(seq(x, y)) == {s for s in STRINGS for i in range(len(s) + 1) if s[:i] in lx and s[i:] in ly}


@given(EXPRS, st.integers(0, 3), st.integers(0, 3) | st.just(UNBOUNDED))
def test_repeat_keeps_the_meaning(x: Expr, minimum: int, maximum: int) -> None:
    lx = language(x)
    powers, last = [frozenset({b""})], 9 if maximum == UNBOUNDED else maximum
    for _ in range(last):
        powers.append(frozenset(p + s for p in powers[-1] for s in lx if len(p + s) < 5))
    assert language(repeat(x, minimum, maximum)) == frozenset().union(*powers[minimum : last + 1])


def test_references_in_order_of_appearance() -> None:
    first, second = ref(1), ref(2)
    assert ir.references(seq(star(seq(first, second)), ref(3), first)) == [1, 2, 3]


def test_references_of_what_is_shared_are_found_once() -> None:
    body = ref(1)
    for _ in range(200):  # as a tree it has 2^200 leaves
        body = alt(seq(body, text("b")), seq(body, text("c")))
    assert ir.references(body) == [1]


def test_grammars_that_begin_alike_share_what_they_begin_with() -> None:
    ws, pair = star(literal(b" ")), seq(ref(0), ref(1))
    first = GrammarIR((Rule("ws", ws), Rule("item", pair), Rule("root", seq(literal(b"a"), ref(1)))), 2)
    second = GrammarIR((Rule("ws", ws), Rule("item", pair), Rule("other", seq(literal(b"b"), ref(0)))), 2)
    third = GrammarIR((Rule("ws", ws), Rule("item", pair)), 1)
    ahead = GrammarIR((Rule("ws", ws), Rule("x", ref(2)), Rule("y", literal(b"c"))), 1)
    fourth = GrammarIR((Rule("ws", ws), ahead.rules[1], Rule("y", literal(b"d"))), 1)
    builder = IRBuilder()
    roots = [builder.include(each) for each in (first, second, third, ahead, fourth)]
    assert builder.build(seq(*roots)).dump() == "\n".join(
        (
            "root_2 ::= root other item_2 x x_2",
            'root ::= "a" item',
            'other ::= "b" ws',
            "item_2 ::= item",
            "x ::= y",
            "x_2 ::= y_2",
            "item ::= ws item",
            'ws ::= " "*',
            'y ::= "c"',
            'y_2 ::= "d"',
        )
    )


def test_expressions_of_many_parts_are_made_a_part_at_a_time() -> None:
    """And are the same."""
    parts = [text("a"), ref(0), text("b")] * 1000
    assert seq(*parts) == Expr((ir.OP_SEQ, text("a"), *[ref(0), text("ba")] * 999, ref(0), text("b")))
    words = [text(f"word {i}") for i in range(3000)]
    assert alt(text("x"), *words, text("y"), *words) == Expr((ir.OP_ALT, *words, byte_set(1 << 120 | 1 << 121)))


def test_an_operation_rebuilt_on_its_own_parts_is_the_same() -> None:
    a, b = ir.text("a"), ir.text("b")
    spread = ir.span(a, 3, 0.5)
    for expr in (
        ir.seq(ir.star(a), b),
        ir.alt(a, ir.text("bc")),
        ir.and_(ir.star(a), ir.plus(b)),
        ir.repeat(a, 2, 5),
        ir.not_(a),
        ir.guard(ir.parameters.compare("<", 2), a),
        ir.capture("x", a, (b"b",)),
        spread,
        *(a, ir.ref(0), ir.never(), ir.EMPTY, ir.tokens([3]), ir.substrings([b"a", b"b"])),
    ):
        assert ir.rebuilt(expr, ir.operands(expr)) == expr
    assert ir.rebuilt(ir.seq(ir.ref(0), a), [a, b]) == ir.text("ab")
    assert ir.rebuilt(ir.alt(a, ir.text("bc")), [ir.never(), b]) == b


def test_parts_are_changed_but_in_complements() -> None:
    a, other = ir.text("a"), ir.text("z")
    shared = ir.capture("x", ir.seq(ir.ref(0), a))
    whole = ir.alt(ir.seq(shared, ir.ref(1)), ir.seq(shared, ir.ref(2)), ir.and_(ir.star(a), ir.not_(a)))
    known: dict[int, Expr] = {}
    made = ir.changed(whole, lambda part: other if part == a else None, known)
    assert made.dump() == whole.dump().replace('"a"', '"z"').replace('~"z"', '~"a"')
    assert made[1][1] is made[2][1]
    assert ir.changed(ir.seq(shared, ir.ref(3)), lambda part: None, known)[1] is made[1][1]
    assert ir.changed(whole, lambda part: None, {}) == whole
