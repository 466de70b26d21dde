"""Saved grammars that anybody may have written: a grammar or a `MaskwrightError`, soon, from Python's reader and the
kernel's, which refuse the same bytes; and a grammar that comes of them works as every grammar does.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

import pytest
from saved_bytes import HEADER, INFO, sealed
from test_grammars import COMPILER, SCHEMAS, TAG

import maskwright as mw
from maskwright.ir import GrammarIR, Rule, alt, call, capture, guard, not_, ref, repeat, seq, span, star, text
from maskwright.ir.expressions import recall, remember, scope
from maskwright.ir.parameters import compare, increment
from maskwright.ir.portable import to_bytes
from maskwright.ir.portable_reading import from_bytes
from oracle.comparing import mask_of, scaled, seeded
from timing import processor_seconds

SECONDS = 2
SMALL = mw.TokenizerInfo.from_vocab(
    [*(bytes((b,)) for b in b'abc12<>{}[]":,x '), b"</s>", b"<think>", b"ab"],
    special_token_ids=[16, 17],
    stop_token_ids=[16],
)
ANY = mw.Grammar.from_regex("a")


def seeds() -> list[bytes]:
    """Grammars with all that the format has."""
    counted = GrammarIR(
        (
            Rule("root", call(1, increment((0, 4)))),
            Rule("up", alt(guard(compare("<", 9), seq(text("a"), call(1, increment((0, 4))))), text("b"))),
        ),
        0,
    )
    remembered = scope(seq(remember(alt(text("a"), text("bc")), 3), text("x"), recall(3)))
    others = seq(span(star(text("a")), 5, 0.5), capture("c", ref(0), (b"]",)), not_(text("b")), repeat(text("1"), 2, 9))
    grammars = [
        mw.Grammar(counted),
        mw.Grammar(GrammarIR((Rule("root", remembered),), 0)),
        mw.Grammar(GrammarIR((Rule("root", alt(text("c"), seq(text("["), others, text("]")))),), 0)),
        mw.Grammar.from_ebnf('root ::= <think> "a" | <[^16,3-5]> root | <[1-2]>'),
        mw.Grammar.from_regex(r"(?=a.b)[abc]{1,3}|1{2,}(?<!12)"),
        mw.Grammar.from_lark('start: %regex { "substring_chunks": ["ab", "c", "12"] }'),
        mw.Grammar.from_structural_tag({"format": TAG}),
        *[mw.Grammar.from_json_schema(schema, any_order=True) for schema in SCHEMAS[:3]],
    ]
    compiled = [COMPILER.compile_structural_tag({"format": TAG}), COMPILER.compile_regex("[ab]+1")]
    return [grammar.serialize() for grammar in (*grammars, *compiled)]


SEEDS = seeds()


def outcome(read: Callable[[], object]) -> object:
    """What comes of it, or the error, within the time."""
    made: list[object] = []

    def attempt() -> None:
        try:
            made.append(read())
        except mw.MaskwrightError as error:
            made.append(error)

    assert processor_seconds(attempt) < SECONDS
    return made[0]


def by_kernel(data: bytes) -> object:
    """What the kernel makes of the bytes, whatever they say in their notes."""
    return outcome(lambda: mw.CompiledGrammar(ANY, SMALL, memory_budget_bytes=1 << 20, saved=data))


def is_refused(result: object) -> bool:
    return isinstance(result, mw.GrammarError) and "saved grammar" in result.message


def follow(compiled: mw.CompiledGrammar, rng: random.Random) -> None:
    """Go along an output: what the mask allows is accepted, and nothing else."""
    matcher = mw.GrammarMatcher(compiled)
    for _ in range(5):
        allowed = sorted(mask_of(matcher, SMALL.vocab_size))
        for token in range(SMALL.vocab_size):
            assert matcher.fork().accept_token(token) == (token in allowed)
        if not allowed:
            return
        matcher.accept_token(rng.choice(allowed))


def both(data: bytes, rng: random.Random) -> bool:
    """Whether the kernel makes a grammar of the bytes, which Python reads too; or both say what is wrong with them."""
    in_kernel, in_python = by_kernel(data), outcome(lambda: from_bytes(data))
    if isinstance(in_kernel, mw.CompiledGrammar):
        assert isinstance(in_python, GrammarIR)
        outcome(lambda: follow(in_kernel, rng))
        return True
    if is_refused(in_python):
        assert isinstance(in_kernel, mw.MaskwrightError)
    if is_refused(in_kernel):
        assert isinstance(in_python, mw.MaskwrightError)
    return False


@pytest.mark.parametrize("part", range(8))
def test_bodies_changed_at_random(part: int) -> None:
    rng = seeded(f"bodies {part}")
    accepted = refused = 0
    for _ in range(scaled(1_500)):
        plain = to_bytes(from_bytes(rng.choice(SEEDS)))  # without notes
        data = bytearray(plain)
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(HEADER, len(data))
            data[at] = rng.choice((data[at] ^ 1 << rng.randrange(8), rng.randrange(256), 0xFF))
        if rng.random() < 0.1:
            del data[rng.randrange(HEADER, len(data)) :]
        if both(sealed(bytes(data)), rng):
            accepted += 1
        else:
            refused += 1
    assert accepted
    assert refused


def test_notes_changed_at_random() -> None:
    rng = seeded("notes")
    refused = 0
    for _ in range(scaled(3_000)):
        data = bytearray(rng.choice(SEEDS))
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(HEADER, min(len(data), HEADER + 500))
            data[at] = rng.choice((data[at] ^ 1 << rng.randrange(8), rng.choice(b'{}[]",:\\0')))
        given = sealed(bytes(data))
        grammar = outcome(lambda given=given: mw.Grammar.deserialize(given))  # type: ignore[misc]
        refused += not isinstance(grammar, mw.Grammar)
        compiled = outcome(lambda given=given: mw.CompiledGrammar.deserialize(given, INFO))  # type: ignore[misc]
        if isinstance(compiled, mw.CompiledGrammar):
            outcome(partial(compiled.explain_rejection, "zz"))
            outcome(partial(mw.GrammarMatcher, compiled))
            outcome(lambda compiled=compiled: compiled.grammar.dump())  # type: ignore[misc]
    assert refused


def test_damage_is_seen() -> None:
    rng = seeded("damage")
    for _ in range(scaled(2_000)):
        data = bytearray(rng.choice(SEEDS))
        for _ in range(rng.randint(1, 4)):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        if rng.random() < 0.5:
            del data[rng.randrange(len(data)) :]
        given = bytes(data)
        if given in SEEDS:
            continue
        for read in (mw.Grammar.deserialize, by_kernel, partial(mw.CompiledGrammar.deserialize, tokenizer_info=INFO)):
            assert isinstance(outcome(partial(read, given)), mw.GrammarError)


def test_random_bytes() -> None:
    rng = seeded("random bytes")
    for _ in range(scaled(3_000)):
        data = rng.randbytes(rng.randrange(200))
        assert isinstance(outcome(lambda data=data: mw.Grammar.deserialize(data)), mw.GrammarError)  # type: ignore[misc]
        behind_header = sealed(SEEDS[0][:5] + bytes(4) + b"\0" + data)
        both(behind_header, rng)


def number(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))


def of_nodes(nodes: list[bytes], rules: bytes = b"\x01\0", token_sets: bytes = b"\0") -> bytes:
    """A file with these expressions; by default one rule, the first expression."""
    body = b"\0" + number(len(nodes)) + b"".join(nodes) + rules + b"\0" + token_sets
    return sealed(SEEDS[0][:5] + bytes(4) + body)


A = b"\x02\x01a"
TOWER = [A, *[b"\x04\x02\x01\x01"] * 200]  # twice what is below, two hundred times
HOSTILE = {
    "two equal towers of shared expressions as alternatives": of_nodes(
        [*TOWER, *TOWER, b"\x05\x02\x01" + number(202)], b"\x01" + number(402)
    ),
    "a chain": of_nodes([A, *[b"\x06\x01\x00\x02"] * 300_000], b"\x01" + number(300_000)),
    "a chain of complements": of_nodes([A, *[b"\x0a\x01"] * 100_000], b"\x01" + number(100_000)),
    "rules without end": of_nodes(
        [b"\x07" + number(i) for i in range(50_000)], number(50_000) + b"".join(map(number, range(50_000)))
    ),
    "many rules of one expression": of_nodes([A], number(500_000) + bytes(500_000)),
    "more expressions than there are bytes": sealed(SEEDS[0][:5] + bytes(5) + number(3_999_999)),
    "more expressions than are allowed": sealed(SEEDS[0][:5] + bytes(5) + number(2**63)),
    "conditions in each other": of_nodes([A, b"\x0b\x01" + b"\x02\x01" * 10_000 + b"\x02\0"]),
    "wide conditions": of_nodes([A, b"\x0b\x01\x03" + number(200_000) + b"\x02\0" * 200_000], b"\x01\x01"),
    "a count of many": of_nodes([A, b"\x06\x01" + number(2**62) + number(2**63 - 1)], b"\x01\x01"),
    "counts in counts": of_nodes([A, *[b"\x06\x01" + number(1000) + number(2000)] * 60], b"\x01" + number(60)),
    "token sets of everything": of_nodes(
        [A], token_sets=number(1_000) + (b"\0\0\0" + number(400) + (b"\0" + number(2**31 - 1)) * 400) * 1_000
    ),
    "many names of tokens": of_nodes([A], token_sets=b"\x01\0\0" + number(300_000) + b"\x02ab" * 300_000 + b"\0"),
    "many ranges of tokens": of_nodes([A], token_sets=b"\x01\0\0\0" + number(300_000) + b"\0\x11" * 300_000),
    "many tokens of none": of_nodes([b"\x08\0" + number(400_000) + b"\x01" * 400_000]),
    "long notes": sealed(
        SEEDS[0][:5] + bytes(4) + number(1 << 20) + b'"' * (1 << 20) + to_bytes(from_bytes(SEEDS[0]))[HEADER + 1 :]
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile(name: str) -> None:
    data, rng = HOSTILE[name], random.Random(1)
    both(data, rng)
    outcome(lambda: mw.Grammar.deserialize(data))


NAMES = [b"ab", "é€\U0001f600".encode(), b"\xed\xa0\x80", b"\xf4\x8f\xbf\xbf"]
NO_NAMES = [
    *(b"\xff", b"a\x80", b"\xc1\x81", b"\xe0\x80\x80", b"\xf0\x80\x80\x80", b"\xf4\x90\x80\x80"),
    *(b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\xf5\x80\x80\x80"),
]


@pytest.mark.parametrize("name", [*NAMES, *NO_NAMES])
def test_names_are_texts(name: bytes) -> None:
    data = of_nodes([A, b"\x0d\x01" + number(len(name)) + name + b"\0"], b"\x01\x01")
    assert both(data, random.Random(1)) == (name in NAMES)


def test_what_is_read_works() -> None:
    for data in SEEDS:
        compiled = by_kernel(data)
        if isinstance(compiled, mw.CompiledGrammar):
            follow(compiled, random.Random(2))
    assert mask_of(mw.GrammarMatcher(mw.CompiledGrammar.deserialize(SEEDS[-1], INFO)), INFO.vocab_size) == {*b"ab", 259}
