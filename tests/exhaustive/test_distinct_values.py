"""Lists in which no JSON value may come twice, however it is spelled: every mask bit, against the oracle."""

from __future__ import annotations

import json
import random
from decimal import Decimal
from typing import Any

import pytest

import maskwright
from maskwright.frontends.json_schema import JsonSchemaOptions, schema_to_ir
from maskwright.ir import UNBOUNDED, Expr, GrammarIR, alt, capture, distinct, literal, never, optional, ref, seq, star
from oracle.comparing import compare_with_oracle, compile_fresh, scaled, seeded
from oracle.grammars import grammar
from oracle.json_values import identity
from oracle.recognizer import matches
from oracle.vocabularies import of, strings

COMMA, OPEN, CLOSE = literal(b","), literal(b"["), literal(b"]")
BRACE, UNBRACE = literal(b"{"), literal(b"}")
NAME = seq(literal(b'"'), star(literal(b"a")), literal(b'":'))
ONE = alt(literal(b"1"), literal(b"1e0"))
TOKENS = of(
    *strings(b'a,[]{}":1e0', 1), '{"', '":1', '":', "},", "},{", "}]", "[{", "{}", "{},{", "[{}", "1,", "1}", '1,"',
    "]]", "],", "],[", "[1", "[1,", "[[", '{}]', '"a":1}', '{"a":1},{"', '[{},{}]', "1]},{", stop=(b"</s>",), padding=3,
)  # fmt: skip


NONE = never()


def listed(*values: tuple[Expr, Expr], element: Expr = NONE, minimum: int = 1, maximum: int = UNBOUNDED) -> Expr:
    return seq(OPEN, distinct(element, COMMA, minimum, maximum, values), CLOSE)


def joined(item: Expr) -> Expr:
    return seq(item, star(seq(COMMA, item)))


OBJECTS = (seq(BRACE, optional(joined(ref(1)))), UNBRACE)  # of the members that rule 1 is
ARRAYS = (seq(OPEN, optional(joined(ref(1)))), CLOSE)
MEMBER = seq(NAME, ONE)

CHOSEN = [
    grammar(listed(OBJECTS), MEMBER),
    grammar(listed(OBJECTS, minimum=2, maximum=3), MEMBER),
    grammar(listed(OBJECTS, element=ONE), MEMBER),
    grammar(listed(OBJECTS, element=alt(ONE, literal(b"e"))), seq(NAME, alt(ONE, literal(b"[]")))),
    grammar(listed(ARRAYS), ONE),
    grammar(listed(ARRAYS, (seq(BRACE, optional(joined(MEMBER))), UNBRACE)), ONE),
    grammar(seq(OPEN, star(seq(listed(OBJECTS), COMMA)), CLOSE), MEMBER),
    # Lists in lists: those inside are remembered on their own, and the whole is compared as well.
    grammar(listed(OBJECTS), seq(NAME, alt(ONE, listed((seq(BRACE, optional(joined(MEMBER))), UNBRACE))))),
    grammar(ref(1), listed((seq(BRACE, optional(joined(seq(NAME, alt(ONE, ref(1)))))), UNBRACE))),
    # The last value of an object that is closed may go on, where its bracket may not follow.
    grammar(
        listed((seq(BRACE, optional(seq(literal(b'"1":1,"1e":['), joined(ref(1)), CLOSE))), UNBRACE), element=ONE), ONE
    ),
    grammar(listed((seq(BRACE, literal(b'"e":"'), star(literal(b"a")), literal(b'"')), UNBRACE)), ONE),
    # One list is of values, another is not.
    grammar(alt(listed(OBJECTS), seq(OPEN, joined(seq(BRACE, ref(1), UNBRACE)), CLOSE, CLOSE)), MEMBER),
    grammar(alt(listed(OBJECTS), listed(element=alt(ONE, literal(b"{}")))), MEMBER),
]  # fmt: skip


@pytest.mark.parametrize("g", CHOSEN, ids=lambda g: g.rules[0].body.dump()[:60])
def test_chosen_grammars(g: GrammarIR) -> None:
    compare_with_oracle(g, TOKENS, seeded(g.dump()), steps=6, walks=scaled(5))


def test_the_oracle_by_enumeration() -> None:
    """Of all short texts, a list of objects takes just those that are JSON and hold no value twice."""
    g = grammar(listed(OBJECTS), seq(literal(b'""'), literal(b":"), literal(b"1")))
    for text in strings(b'{}"":1,', 6):
        whole = b"[" + text + b"]"
        try:
            value = json.loads(whole)
        except ValueError:
            assert not matches(g, whole)
            continue
        is_list = all(item in ({}, {"": 1}) for item in value) and value.count({}) <= 1 >= value.count({"": 1})
        assert matches(g, whole) == (is_list and bool(value)), text


TEXTS = [
    ('{"a":1,"b":[true,null]', '{ "b" : [ true , null ] , "a" : 1.00 }'),
    ('{"a":1,"a":2', '{"a":2}'),
    ('{"\\u0061\\n":"\\ud83d\\ude00', '{"a\\u000A":"😀"}'),
    ("[1200,0,-0.0,1e-2", "[12e2,-0,0e7,0.010]"),
    ('["\\/\\u0022\\u005c', '["/\\"\\\\"]'),
    ("[[[],{}]", "[ [[ ] , { } ] ]"),
]


@pytest.mark.parametrize(("cut", "whole"), TEXTS)
def test_equal_values(cut: str, whole: str) -> None:
    cut += '"' * (cut.count('"') % 2)
    assert identity(cut.encode()) == identity(whole.encode())
    compiled = whole_values()
    matcher = maskwright.GrammarMatcher(compiled)
    assert not matcher.accept_string(f"[{whole},{cut}") or not matcher.accept_string(whole[-1])


def whole_values() -> maskwright.CompiledGrammar:
    options = JsonSchemaOptions(any_order=True, any_whitespace=True, numbers="any")
    return compile_fresh(schema_to_ir({"type": "array", "uniqueItems": True}, options), BYTES)


BYTES = of(*[bytes([byte]) for byte in range(256)], "},", "},{", '{"a":1}', "[1]", "]]", '"}', "{},{}", stop=(b"</s>",))


def spelled(value: Any, rng: random.Random) -> str:
    """A random spelling."""
    space = rng.choice(("", "", " "))
    if isinstance(value, dict):
        members = [f"{spelled(name, rng)}:{space}{spelled(member, rng)}" for name, member in value.items()]
        rng.shuffle(members)
        return "{" + space + f",{space}".join(members) + "}"
    if isinstance(value, list):
        return "[" + space + f"{space},".join(spelled(item, rng) for item in value) + "]"
    if isinstance(value, str):
        return '"' + "".join(rng.choice((c, f"\\u{ord(c):04x}")) for c in value) + '"'
    if isinstance(value, int) and not isinstance(value, bool):
        return rng.choice((str(value), f"{value}.0", f"{value}e0", f"{Decimal(value) / 10}e1"))
    return json.dumps(value)


def random_value(rng: random.Random, depth: int) -> Any:
    kind = rng.randrange(5) if depth else rng.randrange(3)
    if kind == 3:
        return [random_value(rng, depth - 1) for _ in range(rng.randrange(3))]
    if kind == 4:
        return {name: random_value(rng, depth - 1) for name in rng.sample("abc", rng.randrange(3))}
    return rng.choice((1, 2, True, None, "a", ""))


def test_random_spellings() -> None:
    compiled, rng = whole_values(), seeded("spellings")
    for _ in range(scaled(2000)):
        items = [random_value(rng, 2) for _ in range(rng.randrange(5))]
        items += [item for item in items if isinstance(item, (list, dict)) and rng.random() < 0.2]
        rng.shuffle(items)
        parts = [spelled(item, rng) if isinstance(item, (list, dict)) else json.dumps(item) for item in items]
        said = [identity(part.encode()) for part in parts]
        matcher = maskwright.GrammarMatcher(compiled)
        text = "[" + ", ".join(parts) + "]"
        assert (matcher.accept_string(text) and matcher.is_completed()) == (len(set(said)) == len(said)), text


def test_captures() -> None:
    """An output is read again with its lists: one that has a value twice is no reading of it."""
    objects = seq(BRACE, optional(joined(MEMBER)))
    lists = capture("list", listed((objects, UNBRACE)))
    others = capture("others", seq(OPEN, joined(seq(objects, UNBRACE)), CLOSE))
    for body, text, name in (
        (lists, '[{"a":1},{}]', "list"),
        (alt(lists, others), '[{"a":1},{"a":1e0}]', "others"),
    ):
        matcher = maskwright.GrammarMatcher(compile_fresh(grammar(body), TOKENS))
        assert matcher.accept_string(text)
        assert matcher.get_captures() == [(name, text.encode())]


def test_long_lists_of_deep_values() -> None:
    matcher = maskwright.GrammarMatcher(whole_values())
    deep = "[" * 500 + "]" * 500
    assert matcher.accept_string("[" + ",".join(f'{{"n": [{n}]}}' for n in range(200)) + "," + deep + ",")
    assert not matcher.accept_string(deep)
    assert not matcher.accept_string('{"n": [199.0]}')
    assert matcher.accept_string("[" + deep + "]]")
    assert matcher.is_completed()
