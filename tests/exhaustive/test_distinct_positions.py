"""Values that differ from those before them wherever they stand in a scope: every mask bit, against the oracle."""

from __future__ import annotations

import json

import pytest

import maskwright
from maskwright.ir import Expr, GrammarIR, alt, capture, literal, new_value, optional, plus, ref, scope, seq, star
from oracle.comparing import compare_with_oracle, compile_fresh, scaled, seeded
from oracle.grammars import grammar
from oracle.recognizer import matches
from oracle.vocabularies import of, strings

COMMA, OPEN, CLOSE, QUOTE = literal(b","), literal(b"["), literal(b"]"), literal(b'"')
TOKENS = of(
    *strings(b'a,[]{}":1', 1), '{"', '"a', 'a"', '":1', "},", "},{", "}]", "[{", "{}", "{},{", "1,", "1,1", '1,"', '",',
    '",1', 'a","', 'a"]', "]]", "],", "[1", "[[", '{}]', '"a":1}', "11", "11,1", stop=(b"</s>",), padding=3,
)  # fmt: skip


def by_text(texts: Expr) -> Expr:
    return new_value(texts, by_text=True)


def after(value: Expr) -> Expr:
    return seq(COMMA, value)


def listed(body: Expr) -> Expr:
    return seq(OPEN, scope(seq(body, CLOSE)))


STRING = by_text(seq(QUOTE, star(literal(b"a")), QUOTE))
ONES = by_text(plus(literal(b"1")))
ODD = by_text(seq(literal(b"1"), star(literal(b"11"))))
OBJECT = seq(new_value(seq(literal(b"{"), optional(seq(ref(1), star(seq(COMMA, ref(1))))))), literal(b"}"))
ARRAY = seq(new_value(seq(OPEN, optional(seq(ref(1), star(after(ref(1))))))), CLOSE)
MEMBER = seq(QUOTE, star(literal(b"a")), literal(b'":1'))
ONE = literal(b"1")

CHOSEN = [
    grammar(listed(seq(STRING, star(after(STRING))))),
    grammar(listed(seq(STRING, after(ONES), star(after(STRING))))),
    # A part of what one kind may be, and the whole; texts of one that another has had.
    grammar(listed(seq(ONES, after(ODD), star(after(ONES))))),
    grammar(listed(seq(ODD, star(after(ONES)), after(ODD)))),
    grammar(listed(seq(star(seq(alt(ONES, STRING), COMMA)), ODD, star(after(alt(STRING, ONES)))))),
    grammar(listed(seq(OBJECT, star(after(OBJECT)))), MEMBER),
    grammar(listed(seq(ONES, after(OBJECT), optional(after(ODD)), star(after(alt(OBJECT, STRING))))), MEMBER),
    grammar(listed(seq(ARRAY, after(ONES), star(after(alt(ARRAY, ONES))))), ONE),
    # What is not compared may stand between.
    grammar(listed(seq(alt(ONE, STRING), after(alt(seq(QUOTE, QUOTE), ONES)), star(after(ONES))))),
    # Lists in lists, and one after another: each is compared on its own.
    grammar(seq(listed(seq(ONES, star(after(ODD)))), star(after(listed(seq(ODD, star(after(ONES)))))))),
    grammar(listed(seq(ONES, star(after(alt(listed(seq(ONES, after(ONES))), ODD)))))),
    grammar(
        listed(seq(OBJECT, star(after(OBJECT)))),
        seq(QUOTE, star(literal(b"a")), literal(b'":'), alt(ONE, listed(seq(ODD, after(ONES))))),
    ),
    # The last byte of a text that may be a list's last, too.
    grammar(listed(alt(seq(ONES, after(ONES)), seq(by_text(alt(seq(ONE, ONE), seq(QUOTE, plus(literal(b"a")), QUOTE))),
            after(ODD), after(ODD))))),
]  # fmt: skip


@pytest.mark.parametrize("g", CHOSEN, ids=lambda g: g.rules[0].body.dump()[:60])
def test_chosen_grammars(g: GrammarIR) -> None:
    compare_with_oracle(g, TOKENS, seeded(g.dump()), steps=7, walks=scaled(6))


def test_the_oracle_by_enumeration() -> None:
    """Of all short texts, a list takes those that are JSON, have the right type in each place, and nothing twice."""
    g = grammar(listed(seq(ONES, star(after(alt(ONES, STRING))))))
    seen = 0
    for text in strings(b'1"a,', 7):
        whole = b"[" + text + b"]"
        try:
            value = json.loads(whole)
        except ValueError:
            assert not matches(g, whole)
            continue
        fits = [set(item) <= {"a"} if isinstance(item, str) else isinstance(item, int) for item in value]
        is_valid = bool(value) and all(fits) and isinstance(value[0], int)
        is_valid = is_valid and len(set(value)) == len(value)
        assert matches(g, whole) == is_valid, text
        seen += is_valid
    assert seen > 20


def test_captures_in_a_list() -> None:
    named = [by_text(capture(name, plus(ONE))) for name in ("first", "more")]
    matcher = maskwright.GrammarMatcher(compile_fresh(grammar(listed(seq(named[0], star(after(named[1]))))), TOKENS))
    assert not matcher.accept_string("[1,11,1]")
    assert matcher.accept_string("[1,11,111]")
    assert matcher.get_captures() == [("first", b"1"), ("more", b"11"), ("more", b"111")]


def test_saved_and_read_again() -> None:
    for g in CHOSEN:
        saved = maskwright.Grammar(g).serialize()
        assert maskwright.Grammar.deserialize(saved).ir == g
