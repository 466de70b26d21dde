"""Subgrammars in the kernel: masks are those of the grammar spelled out, whatever was linked before or let go."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

import maskwright
from maskwright import LimitError
from maskwright.ir import (
    Expr,
    GrammarIR,
    Rule,
    alt,
    call,
    guard,
    plus,
    ref,
    repeat,
    seq,
    star,
    subgrammar,
    text,
    tokens,
)
from maskwright.ir import capture as captured
from maskwright.ir.parameters import compare, constant, increment
from oracle.comparing import check_state, mask_of, seeded
from oracle.model import Language, ModelMatcher
from oracle.vocabularies import Vocab

STOP = 256
AT_MOST_TWO = alt(text(";"), guard(compare("<", 2), seq(text("x"), call(0, increment()))))


def tokenizer() -> maskwright.TokenizerInfo:
    return maskwright.TokenizerInfo.from_vocab([*(bytes([b]) for b in range(256)), b"</s>"], stop_token_ids=[STOP])


def one(body: Expr) -> GrammarIR:
    return GrammarIR((Rule("root", body),), 0)


def leaf(*bodies: Expr) -> Expr:
    return subgrammar(GrammarIR(tuple(Rule(f"r{i}", body) for i, body in enumerate(bodies)), 0))


LEAVES = {
    "small": leaf(plus(text("a"))),
    "may be empty": leaf(star(text("ab"))),
    "recursive": leaf(alt(seq(text("("), ref(0), text(")")), text("x"))),
    "several rules": leaf(seq(text("<"), ref(1), text(">")), alt(ref(2), seq(ref(2), text(","), ref(1))), text("id")),
    "counts": leaf(repeat(alt(text("ab"), text("c")), 3, 40)),
    "a token": leaf(seq(text("t"), tokens([97, 98]))),
    "a parameter": leaf(
        seq(text("p"), call(1, increment())), alt(text(";"), guard(compare("<", 3), call(1, increment())))
    ),
    "parametric": leaf(AT_MOST_TWO),
    "nested": leaf(seq(text("["), leaf(plus(text("n"))), leaf(AT_MOST_TWO), text("]"))),
    "nothing": leaf(seq(text("z"), ref(1)), seq(text("z"), ref(1))),
}
PLACES: list[Callable[[Expr], Expr]] = [
    lambda e: e,
    lambda e: seq(text("b"), e, text("c")),
    lambda e: alt(seq(text("1"), e), seq(text("2"), e), text("3")),
    lambda e: seq(text("s"), star(seq(e, text(",")))),
]


def masks(compiler: maskwright.GrammarCompiler, source: maskwright.Grammar) -> list[set[int]]:
    """Masks along the shortest way that goes on where it can."""
    matcher = maskwright.GrammarMatcher(compiler.compile_grammar(source))
    out = []
    for step in range(12):
        out.append(mask_of(matcher, STOP + 1))
        allowed = sorted(out[-1] - {STOP})
        if not allowed:
            break
        assert matcher.accept_token(allowed[step % len(allowed)])
    return out


@pytest.mark.parametrize("name", LEAVES)
def test_the_same_as_spelled_out(name: str) -> None:
    shared = maskwright.GrammarCompiler(tokenizer(), cache_enabled=False)
    for _ in range(2):
        for place in PLACES:
            grammar = maskwright.Grammar(one(alt(place(LEAVES[name]), text("!"))))
            spelled = maskwright.Grammar(grammar.ir)
            fresh = maskwright.GrammarCompiler(tokenizer(), cache_enabled=False)
            assert masks(shared, grammar) == masks(fresh, spelled) == masks(fresh, grammar)


@pytest.mark.parametrize("name", [name for name in LEAVES if name != "a token"])
def test_against_the_oracle(name: str) -> None:
    texts = (*(bytes([b]) for b in b"abcnpstxz()<>[],;!123id"), b"ab", b"x)", b";]", b">,", b"</s>")
    vocab = Vocab(texts, (), (len(texts) - 1,), len(texts))
    shared = maskwright.GrammarCompiler(vocab.info(), cache_enabled=False)
    rng = seeded(name)
    for place in PLACES:
        grammar = maskwright.Grammar(one(alt(place(LEAVES[name]), text("!"))))
        model = ModelMatcher(Language(grammar.ir), vocab)
        matcher = maskwright.GrammarMatcher(shared.compile_grammar(grammar))
        for _ in range(6):
            check_state(matcher, model, rng)
            allowed = sorted(model.allowed())
            if not allowed:
                break
            token = rng.choice(allowed)
            assert matcher.accept_token(token)
            model.accept_token(token)
            if model.is_terminated:
                break


def test_nothing_satisfies_it() -> None:
    compiler = maskwright.GrammarCompiler(tokenizer(), cache_enabled=False)
    with pytest.raises(maskwright.UnsatisfiableError):
        compiler.compile_grammar(maskwright.Grammar(one(seq(text("a"), LEAVES["nothing"]))))


def test_what_is_known_is_not_linked_again() -> None:
    info = tokenizer()
    compiler = maskwright.GrammarCompiler(info, cache_enabled=False)
    before = info.kernel_vocabulary.num_rule_groups
    known = [leaf(plus(text(f"{i} "))) for i in range(50)]
    grammar = maskwright.Grammar(one(alt(*(seq(text("a"), each) for each in known))))
    first = masks(compiler, grammar)
    num_groups = info.kernel_vocabulary.num_rule_groups
    assert num_groups >= before + 50
    assert masks(compiler, grammar) == first
    assert info.kernel_vocabulary.num_rule_groups == num_groups


def test_instances_are_left_behind() -> None:
    """Past its budget, a grammar links its parametric rules again, those of subgrammars too."""
    counts = alt(text(";"), seq(text("x"), call(1, increment())))
    starts = alt(*(seq(text(str(i)), call(1, constant(10_000 * i))) for i in range(6)))
    grammar = maskwright.Grammar(one(seq(text("a"), leaf(seq(text("b"), leaf(starts, counts))))))
    compiler = maskwright.GrammarCompiler(tokenizer(), cache_enabled=False, grammar_limit_bytes=100_000)
    compiled = compiler.compile_grammar(grammar)
    for i in range(6):
        matcher = maskwright.GrammarMatcher(compiled)
        assert matcher.accept_bytes(b"ab%d" % i)
        for _ in range(500):
            assert mask_of(matcher, STOP + 1) == {ord("x"), ord(";")}
            assert matcher.accept_token(ord("x"))
    assert compiled.stats().num_flushes > 0
    assert compiled._native.num_instances < 2_000
    again = maskwright.GrammarMatcher(compiler.compile_grammar(grammar))
    assert again.accept_bytes(b"ab3xx;")
    assert again.is_completed()


def test_captures_are_another_matter() -> None:
    inner = leaf(captured("inner", plus(text("a"))))
    grammar = maskwright.Grammar(one(captured("outer", seq(text("("), inner, text(")")))))
    compiler = maskwright.GrammarCompiler(tokenizer(), cache_enabled=False)
    for _ in range(2):
        matcher = maskwright.GrammarMatcher(compiler.compile_grammar(grammar))
        assert matcher.accept_bytes(b"(aa)")
        assert matcher.get_captures() == [("outer", b"(aa)"), ("inner", b"aa")]


def test_threads() -> None:
    compiler = maskwright.GrammarCompiler(tokenizer(), cache_enabled=False)
    grammars = [maskwright.Grammar(one(seq(text(str(i % 7)), alt(*LEAVES.values())))) for i in range(64)]
    expected = [masks(maskwright.GrammarCompiler(tokenizer(), cache_enabled=False), each) for each in grammars]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda each: masks(compiler, each), grammars)) == expected


def test_shared_parts_are_read_once_and_depth_is_bounded() -> None:
    def doubled(levels: int) -> Expr:
        expr = plus(text("a"))
        for level in range(levels):
            expr = leaf(alt(seq(text(f"x{level}"), expr), seq(text(f"y{level}"), expr)))
        return expr

    compiler = maskwright.GrammarCompiler(tokenizer(), cache_enabled=False)
    assert masks(compiler, maskwright.Grammar(one(doubled(60))))[0] == {ord("x"), ord("y")}
    with pytest.raises(LimitError) as error:
        compiler.compile_grammar(maskwright.Grammar(one(doubled(100))))
    assert error.value.limit == "subgrammar_depth"
