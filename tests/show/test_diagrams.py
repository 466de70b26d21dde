"""Railroad diagrams: every form of EBNF is drawn, what is too long is a box, and the rest is left out."""

from __future__ import annotations

import html

import pytest
from hostile import HOSTILE

import maskwright as mw

pytest.importorskip("railroad", reason="needs railroad-diagrams, of the extra `show`")
from maskwright.show.diagrams import MOST_RULES, diagrams


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ('"a" [0-9]+ | other?', ['"a"', "[0-9]", "other"]),
        ('("a" | "b"){2,3} ()', ['"a"', "2 to 3 times"]),
        ('"x"{2}', ["2 times"]),
        ('"x"{0,5}', ["0 to 5 times"]),
        ('"x"{2,}', ["2 or more times"]),
        ('tag=[a-z]+ ">" $tag', ["tag", "[a-z]", "$tag"]),
        ('"a\\"|b)" "c"', ['a\\"|b)']),
        ('Byte("80-bf") <[5-7]>', ['Byte("80-bf")', "<[5-7]>"]),
        ('[a-z] & ~"b"', ["[a-z] & ~"]),
        ("(" * 9 + '"deep"' + ")" * 9, ["((((((((("]),
        ('"' + "long" * 300 + '"', ["longlong"]),
    ],
)
def test_a_body(body: str, shown: list[str]) -> None:
    (drawn,) = diagrams(f"root ::= {body}")
    assert drawn.rule == "root"
    assert drawn.svg.startswith("<svg")
    assert [text for text in shown if text not in html.unescape(drawn.svg)] == []


def test_a_remembered_text_is_all_that_its_name_stands_before() -> None:
    inside, outside = (diagrams(f"root ::= {body}")[0].svg for body in ("t=[a-z]+", "(t=[a-z])+"))
    assert inside.index("group-box") < inside.index("[a-z]")
    assert inside != outside


def test_rules_lead_to_each_other() -> None:
    first, second = diagrams('root[capture="x"] ::= item missing\nitem ::= "a"')
    assert (first.rule, second.rule) == ("root", "item")
    assert 'xlink:href="#rule-item"' in first.svg
    assert "#rule-missing" not in first.svg


def test_many_rules_are_cut() -> None:
    assert len(diagrams("\n".join(f'r{i} ::= "a"' for i in range(1000)))) == MOST_RULES


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_texts(text: str) -> None:
    grammar = mw.Grammar.from_choices([text, "x"])
    svg = diagrams(grammar.to_ebnf())[0].svg
    assert "<script" not in svg
    assert "<img" not in svg


def test_what_is_printed_is_drawn() -> None:
    grammar = mw.Grammar.from_json_schema({"type": "object", "properties": {"a": {"type": "number"}}})
    assert len(diagrams(grammar.to_ebnf())) > 3
