"""Captures in grammars that remember text, or whose elements differ: they are what some reading matched."""

from __future__ import annotations

import random

import pytest

import maskwright
from exhaustive.test_remembered_text import random_memory
from maskwright import ir
from maskwright.ir import EMPTY, Expr, GrammarIR, alt, capture, distinct, literal, plus, recall, ref, remembering, seq
from oracle.comparing import compile_fresh, scaled, seeded
from oracle.grammars import AB, A, B, grammar
from oracle.model import Language
from oracle.recognizer import matches
from oracle.vocabularies import BYTES

NAME = plus(AB)
LIST = distinct(plus(AB), literal(b"/"), 0, ir.UNBOUNDED)
ELEMENT = grammar(
    seq(
        literal(b"<"),
        remembering(
            capture("name", NAME),
            9,
            seq(literal(b">"), capture("content", ir.star(alt(AB, ref(0)))), literal(b"</"), recall(9), literal(b">")),
        ),
    )
)


def matcher_after(g: GrammarIR, output: bytes) -> maskwright.GrammarMatcher:
    matcher = maskwright.GrammarMatcher(compile_fresh(g, BYTES))
    for byte in output:  # each is a token
        assert matcher.accept_token(byte)
    return matcher


def test_names_and_contents_of_elements() -> None:
    matcher = matcher_after(ELEMENT, b"<ab>a<b></b>")
    assert matcher.get_captures() == [("name", b"ab"), ("name", b"b")]
    assert matcher.get_open_captures() == [("content", b"a<b></b>")]
    assert matcher.accept_string(b"</ab>")
    assert matcher.get_captures() == [("name", b"ab"), ("content", b"a<b></b>"), ("name", b"b")]
    matcher.rollback(1)
    assert matcher.get_open_captures() == [("content", b"a<b></b>")]


def test_where_a_name_could_end_is_told_by_where_it_comes_again() -> None:
    g = grammar(remembering(capture("x", NAME), 9, seq(capture("y", plus(B)), literal(b"/"), recall(9))))
    assert matcher_after(g, b"abb/ab").get_captures() == [("x", b"ab"), ("y", b"b")]
    assert matcher_after(g, b"abb/a").get_open_captures() == []
    assert matcher_after(g, b"abb/a").get_captures() == [("x", b"ab"), ("y", b"b")]


def test_elements_that_differ() -> None:
    g = grammar(seq(capture("list", LIST), literal(b">")))
    assert matcher_after(g, b"ab/a/b>").get_captures() == [("list", b"ab/a/b")]
    g = grammar(seq(LIST, capture("rest", alt(EMPTY, seq(literal(b"/"), plus(AB))))))
    assert matcher_after(g, b"a/b/a").get_open_captures() == [("rest", b"/a")]
    assert matcher_after(g, b"a/b/a").get_captures() == []


def with_captures(e: Expr, rng: random.Random) -> Expr:
    """Captures around what needs no text from outside: others cannot be read."""
    if e[0] == ir.OP_REMEMBER:
        return ir.remember(capture(rng.choice("xy"), e[1]), e[2]) if rng.random() < 0.5 else e
    if e[0] in (ir.OP_AND, ir.OP_NOT, ir.OP_DISTINCT):
        return e
    inner = Expr(with_captures(part, rng) if isinstance(part, Expr) else part for part in e)
    is_whole = e[0] != ir.OP_RECALL and not ir.recalled(e) and not any_remembered(e)
    return capture(rng.choice("xy"), inner) if is_whole and rng.random() < 0.3 else inner


def any_remembered(e: Expr) -> bool:
    """Whether what stands behind it may recall a text of it."""
    parts = [part for part in e if isinstance(part, Expr)]
    return e[0] == ir.OP_REMEMBER or (e[0] != ir.OP_SCOPE and any(map(any_remembered, parts)))


def with_brackets(e: Expr) -> Expr:
    """The grammar with each capture's bounds spelled out, for those that match something."""
    if e[0] == ir.OP_CAPTURE:
        inner = seq(literal(b"(" + e[2].encode()), with_brackets(e[1]), literal(b")"))
        return alt(inner, EMPTY) if matches(grammar(e[1], EMPTY), b"") else inner
    parts: list[object] = []
    for part in e:
        if isinstance(part, Expr) and part[0] == ir.OP_REMEMBER and part[1][0] == ir.OP_CAPTURE:
            name = part[1][2].encode()
            parts += [literal(b"(" + name), ir.remember(part[1][1], part[2]), literal(b")")]
        else:
            parts.append(with_brackets(part) if isinstance(part, Expr) else part)
    return Expr(parts)


def bracketing(output: bytes, matcher: maskwright.GrammarMatcher) -> bytes:
    """The output with each capture in brackets. None is empty, so what ends at a place ends before another begins."""
    begun, ended = matcher.get_capture_spans(), matcher.get_capture_spans(order="end")
    out = b""
    for at in range(len(output) + 1):
        out += b"".join(b")" for c in ended if c.end == at)
        out += b"".join(b"(" + c.name.encode() for c in begun if c.start == at)
        out += output[at : at + 1]
    return out


def outputs(compiled: maskwright.CompiledGrammar, rng: random.Random) -> list[bytes]:
    """Some whole outputs, written along the masks."""
    found = []
    bitmask = maskwright.allocate_token_bitmask(1, BYTES.vocab_size)
    for _ in range(8):
        matcher, output = maskwright.GrammarMatcher(compiled), b""
        for _ in range(12):
            if matcher.is_completed():
                found.append(output)
            matcher.fill_next_token_bitmask(bitmask)
            allowed = [t for t in range(256) if int(bitmask[0][t // 32]) >> (t % 32) & 1]
            if not allowed:
                break
            token = rng.choice(allowed)
            assert matcher.accept_token(token)
            output += bytes([token])
    return sorted(set(found))


@pytest.mark.parametrize("list_at_end", [False, True])
def test_captures_are_those_of_a_reading(list_at_end: bool) -> None:
    checked = 0
    for i in range(scaled(120)):
        rng = seeded(f"captures {i} {list_at_end}")
        body = with_captures(random_memory(rng, 4, 9, (), 1), rng)
        if ir.references(body):
            continue
        if list_at_end:
            body = seq(body, capture("z", seq(alt(A, EMPTY), LIST)))
        g, bracketed = grammar(body), grammar(with_brackets(body))
        if not Language(g).viable(()):
            continue
        compiled = compile_fresh(g, BYTES)
        for output in outputs(compiled, rng)[:6]:
            matcher = matcher_after(g, output)
            again = matcher.fork()
            assert matcher.accept_token(BYTES.stop[0])
            assert matches(bracketed, bracketing(output, matcher)), (g.dump(), output, matcher.get_capture_spans())
            back = rng.randint(0, len(output))
            again.get_captures()
            again.rollback(back)
            assert again.get_captures() == matcher_after(g, output[: len(output) - back]).get_captures()
            checked += 1
    assert checked > scaled(60)
