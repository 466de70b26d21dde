"""Grammars as bytes, as a small reader here sees them; web/tests has the kernel's, which reads all of the corpus."""

from __future__ import annotations

import zlib

import pytest

from maskwright import Grammar, LimitError
from maskwright.ir import GrammarIR, Rule, repeat, seq, span, star, text
from maskwright.ir.portable import to_bytes


def body(grammar: GrammarIR) -> bytes:
    data = to_bytes(grammar)
    assert data[:5] == b"\x89MWG\x04"
    assert int.from_bytes(data[5:9], "little") == zlib.crc32(data[9:])
    assert data[9] == 0  # no notes
    return data[10:]


def test_notes_come_first() -> None:
    grammar = single(text("a"))
    assert to_bytes(grammar, notes=b"x" * 300)[9:] == b"\xac\x02" + b"x" * 300 + body(grammar)


def single(expr: object) -> GrammarIR:
    return GrammarIR((Rule("root", expr),), 0)  # type: ignore[arg-type]


def test_shared_expressions_are_written_once() -> None:
    part = seq(text("x"), star(text("long enough to show")))
    once, twice = body(single(part)), body(single(seq(part, text("-"), star(part))))
    assert twice.count(b"long enough to show") == 1
    assert len(twice) < len(once) + 30


def test_large_numbers() -> None:
    assert bytes((0x80 | 300 & 0x7F, 300 >> 7)) in body(single(repeat(text("a"), 300, 2**62)))


def test_subgrammars_are_written_out() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "format": "date"}}}
    compact = Grammar.from_json_schema(schema).compact_ir
    assert to_bytes(compact) == to_bytes(Grammar.from_json_schema(schema).ir)


def test_token_sets_keep_their_names() -> None:
    data = body(Grammar.from_ebnf('root ::= <think> "a" <[^3,5-7]>').ir)
    assert data.endswith(b"\x02\x01\x00\x01\x07<think>\x00\x02\x01\x00\x02\x03\x03\x05\x07")


def test_spans() -> None:
    assert b"\x0f\x01\x05" + bytes.fromhex("000000000000f0bf") in body(single(span(star(text("a")), 5)))


def test_too_large() -> None:
    grammar = single(seq(star(text("a")), text("b")))
    with pytest.raises(LimitError, match="more than 2 expressions"):
        to_bytes(grammar, max_nodes=2)
    assert to_bytes(grammar, max_nodes=4) == to_bytes(grammar)
