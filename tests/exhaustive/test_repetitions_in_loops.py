"""Loops over counted repetitions: a text can be split among them in many ways, of which those that are covered by
another one are dropped."""

from __future__ import annotations

import itertools
import string

import pytest

from maskwright import Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo, ir
from oracle.comparing import compile_fresh, mask_of, scaled, seeded, walk
from oracle.grammars import grammar, random_expr
from oracle.model import Language
from oracle.vocabularies import of, strings

VOCAB = of(*strings(b"abc", 2), "aaa", "aab", "abab", "ccc", "aaaac", b"")
GRAMMARS = {
    "inline": 'root ::= ("a"{1,3} | "b")+ "c"',
    "named": 'root ::= (x | y)+ "c"\nx ::= [ab]{1,3}\ny ::= "c" x "c"',
    "perhaps none": 'root ::= (x | "b")+ "c"\nx ::= "a"{0,3}',
    "at least two": 'root ::= (x | "c")*\nx ::= [ab]{2,4}',
    "two sizes": 'root ::= (x | y)+ "c"\nx ::= "a"{2,3}\ny ::= "a"{3,5} "b"?',
    "in exact numbers": 'root ::= (x | "c")*\nx ::= [ab]{3}',
    "of a rule": 'root ::= (x "c"?)*\nx ::= y{2,4}\ny ::= "a" | "b" root "c"',
    "of repetitions": 'root ::= (x{1,2} | "c")*\nx ::= (y{1,2} "b"?){1,3}\ny ::= "a"{1,2}',
    "with an end of their own": 'root ::= (x | "b")+\nx ::= "a"{1,3} "c" | [ab]{2,3} "c"',
    "in two loops at once": 'root ::= (x | "b")* | (x | "c")*\nx ::= "a"{1,3}',
    "by recursion": 'root ::= x root? | "c"\nx ::= [ab]{1,3}',
    "with a temperature": 'root ::= (x | "c")+\nx[temperature=1] ::= [ab]{1,3}',
    "of a rule with other uses": 'root ::= (x | y)+ "c" x\nx ::= [ab]{1,2}\ny ::= "c" x "c"',
    "of a set that is a rule": 'root ::= x{2,}\nx ::= y{1,3}\ny ::= "a" | "bc"',
    "loops in loops": 'root ::= (("a"{1,2} | "b"){1,3} | x | "bc"{1,2})* "c"\nx ::= "c"{1,2}',
    "in a counted loop": 'root ::= (x | "c"){1,3}\nx ::= [ab]{1,2}',
    "in a loop with a temperature around": 'root ::= (x | "c")+\nx[temperature=1] ::= ("a"{1,2} | "b")+',
    "lengths of a product": 'root ::= (x | "c")+\nx ::= [ab]{1,4} & ~([ab]* "bb" [ab]*)',
}


@pytest.mark.parametrize("name", GRAMMARS)
def test_repetitions_in_loops(name: str) -> None:
    rng = seeded(name)
    language = Language(Grammar.from_ebnf(GRAMMARS[name]).ir)
    compiled = compile_fresh(language.grammar, VOCAB)
    for _ in range(scaled(3)):
        walk(compiled, language, VOCAB, rng, steps=8)


def test_random_repetitions_in_loops() -> None:
    for i in range(scaled(12)):
        rng = seeded(f"repetitions in loops {i}")
        parts = [
            ir.repeat(random_expr(rng, 1, 2, ()), least, least + rng.randint(0, 3))
            for least in rng.choices((0, 1, 2), k=2)
        ]
        loop = ir.repeat(ir.alt(*parts, ir.ref(1)), rng.randint(0, 2), ir.UNBOUNDED)
        language = Language(grammar(ir.seq(loop, ir.text("c")), ir.repeat(ir.bytes_in(b"ab"), 1, 3)))
        walk(compile_fresh(language.grammar, VOCAB), language, VOCAB, rng, steps=5)


def test_captures_of_what_is_not_counted() -> None:
    grammar = Grammar.from_ebnf('root ::= (x | y)+ "c"\nx ::= [ab]{1,3}\ny[capture="y"] ::= "c" x "c"')
    matcher = GrammarMatcher(compile_fresh(grammar.ir, VOCAB))
    assert matcher.accept_bytes(b"abbacabcac")
    assert matcher.is_completed()
    assert matcher.get_captures() == [("y", b"cabc")]


@pytest.mark.parametrize("least", [1, 3])
def test_a_long_text_in_short_pieces(least: int) -> None:
    """The work of a mask does not grow with the ways to split the text."""
    letters = string.ascii_lowercase
    words = ["".join(t) for n in (1, 2, 3) for t in itertools.product(letters, repeat=n)]
    texts = [*words, "<a>", "</a>", "<b>", "</b>"]
    info = TokenizerInfo.from_vocab([*(t.encode() for t in texts), b"</s>"], stop_token_ids=[len(texts)])
    rules = f'root ::= "<a>" (text | bold)+ "</a>"\ntext ::= [a-z]{{{least},3000}}\nbold ::= "<b>" text "</b>"'
    matcher = GrammarMatcher(GrammarCompiler(info).compile_grammar(rules))
    assert matcher.accept_token(texts.index("<a>"))
    for _ in range(400):
        allowed = mask_of(matcher, info.vocab_size)
        assert len(allowed) >= len(words)
        assert matcher.accept_token(texts.index("abc"))
    assert texts.index("</a>") in mask_of(matcher, info.vocab_size)
