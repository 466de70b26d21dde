"""Captures: what parts of the output matched, at any time, whatever was rolled back; masks know nothing of them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest

import maskwright
from maskwright import ir
from maskwright.ir import (
    EMPTY,
    Expr,
    GrammarIR,
    alt,
    and_,
    byte_range,
    call,
    capture,
    guard,
    optional,
    plus,
    ref,
    repeat,
    seq,
    star,
    text,
    tokens,
)
from maskwright.ir.parameters import bit_clear, is_ones, set_bit
from oracle.comparing import compile_fresh, compile_ir, scaled, seeded, walk
from oracle.grammars import grammar, random_expr
from oracle.model import Language
from oracle.recognizer import matches
from oracle.vocabularies import BYTES, SMALL, of
from timing import processor_seconds

LETTER, DIGIT = byte_range(97, 122), byte_range(48, 57)
PAIRS = grammar(
    seq(capture("key", plus(LETTER)), text("="), capture("value", ref(1)), optional(seq(text(";"), ref(0)))),
    alt(plus(DIGIT), seq(text("["), capture("item", ref(1)), star(seq(text(","), capture("item", ref(1)))), text("]"))),
)


def matcher_of(g: GrammarIR, output: bytes = b"") -> maskwright.GrammarMatcher:
    matcher = maskwright.GrammarMatcher(compile_fresh(g, BYTES))
    assert not output or matcher.accept_string(output)
    return matcher


def captured(g: GrammarIR, output: bytes) -> list[tuple[str, bytes]]:
    """The captures of a whole output."""
    matcher = matcher_of(g, output)
    assert matcher.accept_token(BYTES.stop[0])
    return matcher.get_captures()


def test_captures_come_in_the_order_in_which_they_begin() -> None:
    assert captured(PAIRS, b"ab=12;c=[3,[4,5]];d=7") == [
        ("key", b"ab"),
        ("value", b"12"),
        ("key", b"c"),
        ("value", b"[3,[4,5]]"),
        ("item", b"3"),
        ("item", b"[4,5]"),
        ("item", b"4"),
        ("item", b"5"),
        ("key", b"d"),
        ("value", b"7"),
    ]


def test_open_captures_are_told_with_what_they_have() -> None:
    matcher = matcher_of(PAIRS, b"ab=[1,[2")
    assert matcher.get_open_captures() == [("value", b"[1,[2"), ("item", b"[2"), ("item", b"2")]
    assert matcher.get_captures() == [("key", b"ab"), ("item", b"1")]
    assert matcher.accept_string("]")
    assert matcher.get_open_captures() == [("value", b"[1,[2]")]
    assert matcher.get_captures() == [("key", b"ab"), ("item", b"1"), ("item", b"[2]"), ("item", b"2")]


def test_positions_and_the_order_of_completion() -> None:
    matcher = matcher_of(PAIRS, b"ab=[1,[2]];c=3")
    assert matcher.accept_token(BYTES.stop[0])
    assert matcher.get_capture_spans() == [
        ("key", b"ab", 0, 2),
        ("value", b"[1,[2]]", 3, 10),
        ("item", b"1", 4, 5),
        ("item", b"[2]", 6, 9),
        ("item", b"2", 7, 8),
        ("key", b"c", 11, 12),
        ("value", b"3", 13, 14),
    ]
    ended = matcher.get_capture_spans(order="end")
    assert [capture.data for capture in ended] == [b"ab", b"1", b"2", b"[2]", b"[1,[2]]", b"c", b"3"]
    assert ended[2] == ("item", b"2", 7, 8)
    with pytest.raises(maskwright.OptionError, match="unknown order"):
        matcher.get_capture_spans(order="last")  # type: ignore[arg-type]


def test_positions_count_the_bytes_of_the_output() -> None:
    """Special tokens add none, and an end that does not belong to the capture is not in it."""
    g = grammar(seq(tokens((BYTES.stop[0],)), text("é"), capture("x", plus(LETTER)), text("!")))
    matcher = maskwright.GrammarMatcher(compile_fresh(g, BYTES), override_stop_tokens=[0])
    assert matcher.accept_token(BYTES.stop[0])
    assert matcher.accept_string("éab!")
    assert matcher.get_capture_spans() == [("x", b"ab", 2, 4)]


def test_rollback_takes_captures_back() -> None:
    matcher, rng, pieces = matcher_of(PAIRS), random.Random(1), b"ab=12;c=[3,[4,5]];d=7;"
    for _ in range(300):
        done = matcher.num_accepted_tokens
        if rng.random() < 0.6 and done < len(pieces):
            assert matcher.accept_token(pieces[done])
        elif done:
            matcher.rollback(rng.randint(1, done))
        if rng.random() < 0.5:
            fresh = matcher_of(PAIRS, pieces[: matcher.num_accepted_tokens])
            assert matcher.get_captures() == fresh.get_captures()
            assert matcher.get_open_captures() == fresh.get_open_captures()


def test_another_branch_after_rollback() -> None:
    matcher = matcher_of(PAIRS, b"ab=")
    assert matcher.accept_string("12;")
    assert matcher.get_captures() == [("key", b"ab"), ("value", b"12")]
    matcher.rollback(1)
    assert matcher.accept_string("[9];")
    assert matcher.get_captures() == [("key", b"ab"), ("value", b"[9]"), ("item", b"9")]
    matcher.reset()
    assert matcher.get_captures() == []


def test_forks_have_their_own_captures() -> None:
    matcher = matcher_of(PAIRS, b"ab=")
    assert matcher.get_captures() == [("key", b"ab")]
    fork = matcher.fork()
    assert fork.accept_string("1;")
    assert matcher.accept_string("2;")
    assert fork.get_captures() == [("key", b"ab"), ("value", b"1")]
    assert matcher.get_captures() == [("key", b"ab"), ("value", b"2")]


def test_captures_end_in_the_middle_of_tokens() -> None:
    vocab = of("ab=1", "2;c", "=[3", ",4];d=", "5")
    matcher = maskwright.GrammarMatcher(compile_fresh(PAIRS, vocab))
    assert matcher.accept_tokens([0, 1, 2, 3, 4]) == 5
    assert matcher.get_open_captures() == [("value", b"5")]
    assert matcher.accept_token(vocab.stop[0])
    assert matcher.get_captures() == captured(PAIRS, b"ab=12;c=[3,4];d=5")
    matcher.rollback(4)
    assert matcher.get_captures() == [("key", b"ab"), ("value", b"12")]
    assert matcher.get_open_captures() == [("key", b"c")]


@pytest.mark.parametrize(
    ("body", "pattern"),
    [
        (seq(capture("x", star(LETTER)), capture("y", star(LETTER))), r"(?P<x>[a-z]*)(?P<y>[a-z]*)"),
        (seq(star(LETTER), capture("x", plus(DIGIT)), star(alt(LETTER, DIGIT))), r"[a-z]*(?P<x>[0-9]+)[a-z0-9]*"),
        (seq(star(capture("x", alt(text("a"), text("ab")))), star(text("b"))), None),
        (star(alt(capture("x", text("aa")), capture("y", text("a")))), None),
    ],
    ids=lambda value: value.dump() if isinstance(value, Expr) else "",
)
def test_ambiguity_is_leftmost_and_longest(body: Expr, pattern: str | None) -> None:
    for output in (b"aaa", b"ab", b"abab", b"a12b3", b"1", b"aabb"):
        matcher = matcher_of(grammar(body))
        if not (matcher.accept_string(output) and matcher.is_completed()):
            continue
        at_once = captured(grammar(body), output)
        if pattern is not None:
            found = re.fullmatch(pattern, output.decode())
            assert found is not None
            assert dict(at_once) == {k: v.encode() for k, v in found.groupdict().items() if v}
        by_byte = matcher_of(grammar(body))
        for b in (*output, BYTES.stop[0]):
            assert by_byte.accept_token(b)
            by_byte.get_captures()
        assert by_byte.get_captures() == at_once


def test_chosen_readings() -> None:
    assert captured(grammar(seq(star(capture("x", alt(text("a"), text("ab")))), star(text("b")))), b"ab") == [
        ("x", b"ab")
    ]
    either = grammar(star(alt(capture("x", text("aa")), capture("y", text("a")))))
    assert captured(either, b"aaa") == [("x", b"aa"), ("y", b"a")]
    with_end = capture("x", seq(plus(LETTER), text(">")), (b">",))
    assert captured(grammar(alt(seq(text("a"), text(">")), with_end)), b"a>") == [("x", b"a")]


def test_very_ambiguous_outputs_are_bounded() -> None:
    g = grammar(alt(capture("x", text("a")), seq(text("a"), ref(0), ref(0)), seq(text("a"), ref(0))))
    matcher = matcher_of(g, b"a" * 40)
    assert matcher.get_open_captures() or matcher.get_captures()
    x, y = capture("x", ref(0)), capture("y", ref(0))
    either = grammar(alt(text("a"), seq(text("a"), x, text("b")), seq(text("a"), y, text("c"))))
    with pytest.raises(maskwright.LimitError) as error:
        matcher_of(either, b"a" * 60).get_captures()
    assert error.value.limit == "capture_readings"
    matcher = matcher_of(either, b"aaa")
    assert matcher.accept_string(b"a" * 60)
    with pytest.raises(maskwright.LimitError):
        matcher.get_captures()
    matcher.rollback(1)
    assert matcher.get_open_captures() == matcher_of(either, b"aaa").get_open_captures() != []


def test_recursive_captures_nest() -> None:
    g = grammar(seq(text("("), optional(capture("inner", ref(0))), text(")")))
    assert captured(g, b"((()))") == [("inner", b"(())"), ("inner", b"()")]
    right = grammar(capture("rest", seq(LETTER, optional(ref(0)))))
    assert captured(right, b"abc")[:1] == [("rest", b"abc")]
    assert [data for _, data in captured(right, b"abc")] == [b"abc", b"bc", b"c"]


def test_captures_in_parametric_and_counted_rules() -> None:
    letters = [guard(bit_clear(i), seq(capture(c, text(c)), call(0, set_bit(i)))) for i, c in enumerate("abc")]
    assert captured(grammar(alt(guard(is_ones((0, 3)), EMPTY), *letters)), b"cab") == [
        ("c", b"c"),
        ("a", b"a"),
        ("b", b"b"),
    ]
    counted = grammar(seq(repeat(capture("n", DIGIT), 2, 40), text(".")))
    assert captured(counted, b"1234.") == [("n", bytes((b,))) for b in b"1234"]
    inside = grammar(seq(text('"'), capture("s", repeat(LETTER, 0, 100)), text('"')))
    assert captured(inside, b'"abc"') == [("s", b"abc")]


def test_special_tokens_add_no_bytes() -> None:
    special = SMALL.special[0]
    g = grammar(seq(capture("call", seq(tokens([special]), text("a"))), text("b")))
    matcher = maskwright.GrammarMatcher(compile_fresh(g, SMALL))
    assert matcher.accept_tokens([special, 0, 1]) == 3
    assert matcher.get_captures() == [("call", b"a")]


@pytest.mark.parametrize(
    ("body", "limit"),
    [
        (alt(text("a"), capture("x", seq(ref(0), text("b")))), "left_recursive_capture"),
        (and_(capture("x", star(LETTER)), plus(LETTER)), "regular_operands"),
    ],
)
def test_what_cannot_be_told_is_refused(body: Expr, limit: str) -> None:
    matcher = matcher_of(grammar(body), b"a")
    with pytest.raises(maskwright.LimitError) as error:
        matcher.get_captures()
    assert error.value.limit == limit
    assert matcher.num_accepted_tokens == 1


def with_captures(e: Expr, rng: random.Random) -> Expr:
    if e[0] in (ir.OP_AND, ir.OP_NOT):
        return e
    inner = Expr(with_captures(part, rng) if isinstance(part, Expr) else part for part in e)
    return capture(rng.choice("xy"), inner) if rng.random() < 0.3 else inner


def test_masks_are_those_of_the_bare_grammar() -> None:
    rng = seeded("captures")
    for _ in range(scaled(40)):
        g = grammar(*(with_captures(random_expr(rng, 3, 2, (3,)), rng) for _ in range(2)))
        language = Language(g)
        if language.viable(()):
            walk(compile_fresh(g, SMALL), language, SMALL, rng, steps=4)


def with_brackets(e: Expr) -> Expr:
    """The grammar with each capture's bounds spelled out, for those that match something."""
    if e[0] == ir.OP_CAPTURE:
        inner = with_brackets(e[1])
        return alt(seq(text(f"<{e[2]}"), inner, text(">")), EMPTY if matches(grammar(e[1], EMPTY), b"") else ir.never())
    return Expr(with_brackets(part) if isinstance(part, Expr) else part for part in e)


def test_captures_are_those_of_a_reading() -> None:
    """The output with its captures in brackets belongs to the grammar with the brackets spelled out."""
    rng, checked = seeded("brackets"), 0
    for _ in range(scaled(150)):
        body = with_captures(random_expr(rng, 4, 1, ()), rng)
        if ir.references(body):
            continue
        g, bracketed = grammar(body, EMPTY), grammar(with_brackets(body), EMPTY)
        if not Language(g).viable(()):
            continue
        matcher = maskwright.GrammarMatcher(compile_fresh(g, BYTES))
        for _ in range(6):
            output = bytes(rng.choice(b"aab") for _ in range(rng.randint(1, 6)))
            matcher.reset()
            if not (matcher.accept_string(output) and matcher.accept_token(BYTES.stop[0])):
                continue
            assert not matcher.get_open_captures()
            assert matches(bracketed, bracketing(output, matcher)), (g.dump(), output, matcher.get_capture_spans())
            checked += 1
    assert checked > scaled(30)


def bracketing(output: bytes, matcher: maskwright.GrammarMatcher) -> bytes:
    """The output with each capture in brackets. None is empty, so what ends at a place ends before another begins."""
    begun, ended = matcher.get_capture_spans(), matcher.get_capture_spans(order="end")
    assert sorted(begun) == sorted(ended)
    assert [(c.name, output[c.start : c.end]) for c in begun] == matcher.get_captures()
    out = b""
    for at in range(len(output) + 1):
        out += b"".join(b">" for c in ended if c.end == at)
        out += b"".join(f"<{c.name}".encode() for c in begun if c.start == at)
        out += output[at : at + 1]
    return out


def test_captures_cost_the_masks_nothing() -> None:
    compiler = maskwright.GrammarCompiler(SMALL.info())
    compile_ir(grammar(seq(star(LETTER), text("=")), EMPTY), compiler)
    groups = compiler.tokenizer_info.kernel_vocabulary.num_rule_groups
    compile_ir(grammar(seq(capture("x", star(LETTER)), text("=")), EMPTY), compiler)
    assert compiler.tokenizer_info.kernel_vocabulary.num_rule_groups == groups


def least_time(ask: Callable[[], object]) -> float:
    return processor_seconds(ask, runs=3)


def test_cost_is_linear_in_the_output() -> None:
    def matcher_after(num_pairs: int) -> maskwright.GrammarMatcher:
        matcher = matcher_of(PAIRS, b";".join(b"key=[1234567,[89,0]]" for _ in range(num_pairs)))
        assert len(matcher.fork().get_captures()) == 6 * num_pairs
        return matcher

    short, long = matcher_after(1_000), matcher_after(8_000)
    # Eight times as much; were each capture to look at the whole output, it would be 64.
    assert least_time(lambda: long.fork().get_captures()) < 24 * least_time(lambda: short.fork().get_captures())


def test_asking_often_reads_on_from_before() -> None:
    def write(length: int) -> None:
        matcher = matcher_of(grammar(seq(text('"'), capture("s", star(LETTER)), text('"'))), b'"')
        for _ in range(length):
            assert matcher.accept_token(97)
            matcher.get_captures()

    # Eight times as much; were the output read from its beginning each time, it would be 64.
    assert least_time(lambda: write(4_000)) < 24 * least_time(lambda: write(500))
