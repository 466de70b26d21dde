"""Text that comes again, in the IR and in EBNF: what it becomes, what is refused, and where."""

from __future__ import annotations

import pytest

import maskwright
from maskwright.frontends.ebnf import ebnf_to_ir
from maskwright.ir import ANY_BYTE, EMPTY, alt, and_, bytes_in, literal, plus, recall, recalled, remembering, seq, star
from oracle.vocabularies import BYTES

A, B = literal(b"a"), literal(b"b")
NAME = plus(bytes_in(b"ab"))


def test_a_scope_ends_where_no_text_from_outside_is_used() -> None:
    inner = remembering(NAME, 8, seq(B, recall(8)))
    assert inner.dump() == '{#8=[a-b]+ "b" #8}'
    assert remembering(A, 9, seq(inner, recall(9))).dump() == '{#9="a" {#8=[a-b]+ "b" #8} #9}'
    both = remembering(NAME, 8, seq(recall(8), recall(9)))
    assert recalled(both) == {9}
    assert remembering(A, 9, both).dump() == '{#9="a" {#8=[a-b]+ #8} #9}'
    across = remembering(NAME, 8, seq(recall(9), recall(8)))
    assert remembering(A, 9, across).dump() == '{#9="a" #8=[a-b]+ #9 #8}'
    assert (
        remembering(A, 9, remembering(NAME, 8, seq(recall(9), recall(8), B))).dump() == '{#9="a" #8=[a-b]+ #9 #8} "b"'
    )


def test_a_scope_holds_all_that_recalls_what_is_remembered_in_it() -> None:
    inner = remembering(NAME, 8, seq(recall(9), B, recall(8)))
    assert remembering(A, 9, inner).dump() == '{#9="a" #8=[a-b]+ #9 "b" #8}'


def test_what_is_not_recalled_is_not_remembered() -> None:
    assert remembering(NAME, 9, A) == seq(NAME, A)


def test_an_empty_text_is_an_alternative() -> None:
    made = remembering(star(A), 9, seq(B, recall(9)))
    assert made == alt(remembering(plus(A), 9, seq(B, recall(9))), B)
    assert remembering(EMPTY, 9, seq(B, recall(9), B)).dump() == '"bb"'
    both = remembering(seq(star(A), star(B)), 9, recall(9))
    assert both == alt(remembering(and_(seq(star(A), star(B)), plus(ANY_BYTE)), 9, recall(9)), EMPTY)
    within = remembering(plus(A), 9, remembering(star(B), 8, seq(recall(9), recall(8))))
    assert within.dump() == '{#9="a"+ (#8="b"+ #9 #8 | #9)}'


@pytest.mark.parametrize(
    ("source", "dumped"),
    [
        ("root ::= x=[a-b]{2,3} $x", "{#250=[a-b]{2,3} #250}"),
        ('root ::= x=y $x\ny ::= "q" z\nz ::= [a-c]*', '{#250=("q" [a-c]*) #250}'),
        ('root ::= x=[a-b] ("c" y=[d-e] $y $x)* $x', '{#250=[a-b] ("c" {#249=[d-e] #249} #250)* #250}'),
        ("root ::= (x=[a-b] $x) (x=[c-d] $x)", "{#250=[a-b] #250} {#250=[c-d] #250}"),
        ("root ::= x=[a-b] $x | x=[c-d] $x{2}", "{#250=[a-b] #250} | {#250=[c-d] #250{2}}"),
        ("root ::= x=[a-b]", "[a-b]"),
        ('root ::= (x=[a-b])+ | "c"', '[a-b]+ | "c"'),
        ('root ::= x=y $x\ny ::= z=[a-b] "c"', '{#250=([a-b] "c") #250}'),
        ("root ::= x=[a-b] & [b-c]", "[a-b] & [b-c]"),
        ('root ::= x=(y=[a-b] "c") $x', '{#250=([a-b] "c") #250}'),
        ("root ::= x=[a-b]* $x", '{#250=[a-b]+ #250} | ""'),
        ('root ::= x=[a-b] ($x){0} "c"', '[a-b] "c"'),
        (
            "root ::= x=[a] (y=[b-c] $x $y) (z=[d-e] $x $z)",
            '{#250="a" #249=[b-c] #250 #249 #249=[d-e] #250 #249}',
        ),
        ('root ::= "a"\n  x=[a-b] $x', '"a" {#250=[a-b] #250}'),
    ],
)
def test_ebnf(source: str, dumped: str) -> None:
    grammar = ebnf_to_ir(source)
    assert grammar.rules[grammar.root].body.dump(tuple(rule.name for rule in grammar.rules)) == dumped
    written = maskwright.Grammar(grammar).to_ebnf()
    assert maskwright.Grammar.from_ebnf(written).to_ebnf() == written


@pytest.mark.parametrize(
    ("source", "message", "column"),
    [
        ('root ::= "a" $x', "no text is named 'x' here", 14),
        ("root ::= x=($x) $x", "no text is named 'x' here", 13),
        ("root ::= x=[a] $x | $x", "no text is named 'x' here", 21),
        ("root ::= (x=[a]) $x", "no text is named 'x' here", 18),
        ("root ::= x=[a] x=[b]", "'x' names a text already", 16),
        ("root ::= x=(root) $x", "what is remembered must be regular", 10),
        ("root ::= x=<tok> $x", "what is remembered must be regular", 10),
        ("root ::= x=(y=[a] $y) $x", "what is remembered must be regular", 10),
        ("root ::= x=[a] $x & [a-z]", "the operands of & and ~ must be regular", 19),
        ("root ::= x=[a] & $x", "no text is named 'x' here", 18),
        ("root ::= x=a $x\na ::= y=[a] $y", "what is remembered must be regular", 10),
        ("root ::= (x=#c\n)", "nothing to remember", 11),
    ],
)
def test_ebnf_errors(source: str, message: str, column: int) -> None:
    with pytest.raises(maskwright.EbnfSyntaxError) as caught:
        ebnf_to_ir(source)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"1:{column}:")


def test_many_texts_that_may_be_empty_are_a_limit() -> None:
    def source(count: int) -> str:
        remembered = " ".join(f't{i}="x"*' for i in range(count))
        return f"root ::= {remembered} {' '.join(f'$t{i}' for i in range(count))}"

    assert ebnf_to_ir(source(3)).dump() == (
        'root ::= {#250="x"+ (#249="x"+ (#248="x"+ #250 #249 #248 | #250 #249) | #248="x"+ #250 #248 | #250)}'
        ' | {#249="x"+ (#248="x"+ #249 #248 | #249)} | {#248="x"+ #248} | ""'
    )
    with pytest.raises(maskwright.LimitError) as caught:
        ebnf_to_ir(source(30))
    assert caught.value.limit == "remembered_text_cases"
    one_by_one = "root ::= " + " ".join(f't{i}="x"* $t{i}' for i in range(30))
    assert ebnf_to_ir(one_by_one).dump().count("{") == 30


def test_too_many_texts_at_once() -> None:
    texts = [f"t{i}=[a-b]" for i in range(251)]
    assert ebnf_to_ir(f"root ::= {' '.join(texts[:250])} $t0").dump().startswith("root ::= {#250=[a-b] [a-b] ")
    with pytest.raises(maskwright.LimitError) as caught:
        ebnf_to_ir(f"root ::= {' '.join(texts)}")
    assert caught.value.limit == "remembered_texts"


@pytest.mark.parametrize(
    "source",
    [
        f"root ::= {'(x=[a-b] $x) ' * 20_000}",
        f"root ::= x=[a-b] {'(y=[c-d] $x $y) ' * 20_000}",
        f"root ::= x=[a-b] $x {'[c] y ' * 50_000}\ny ::= [a-b]",
        f"big ::= {'[a-b] ' * 10_000}\nroot ::= {'x=(big) $x | ' * 2_000} x=[c-d] $x",
    ],
    ids=["one after the other", "within one", "what follows", "one rule often"],
)
def test_long_grammars(source: str) -> None:
    """Each would take hours if every text were looked for in all that follows it, or every rule were copied."""
    assert ebnf_to_ir(source).rules


def test_a_regex_cannot_write_it() -> None:
    grammar = maskwright.Grammar.from_ebnf("root ::= x=[a-b] $x")
    with pytest.raises(maskwright.GrammarError):
        grammar.to_regex()


def test_what_is_refused_at_run_time() -> None:
    info = BYTES.info()
    compiler = maskwright.GrammarCompiler(info)
    compiled = compiler.compile_json_schema({"type": "array", "uniqueItems": True, "minItems": 2})
    with pytest.raises(maskwright.LimitError, match=r"max_tokens, 5, is not known.* 10 tokens are enough") as caught:
        maskwright.GrammarMatcher(compiled, max_tokens=5)
    assert caught.value.limit == "remembered_text_budget"
    assert maskwright.GrammarMatcher(compiled, max_tokens=10).accept_string("[")
    captured = compiler.compile_grammar(maskwright.Grammar.from_ebnf('root ::= x=[a-b]+ r $x\nr[capture] ::= "c"'))
    matcher = maskwright.GrammarMatcher(captured)
    assert matcher.accept_string("abc")
    assert matcher.get_captures() == [("r", b"c")]
