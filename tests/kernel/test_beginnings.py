"""Grammars that begin with the same rules have these read once (cpp/bindings/read_ir.cpp): it must never show."""

from __future__ import annotations

import maskwright
from maskwright.ir import GrammarIR, Rule, alt, and_, bytes_in, not_, plus, ref, repeat, seq, text
from oracle.comparing import mask_of

A = (Rule("a", text("a")), Rule("as", plus(ref(0))))
B = (Rule("a", text("b")), Rule("as", plus(ref(0))))


def tokenizer() -> maskwright.TokenizerInfo:
    return maskwright.TokenizerInfo.from_vocab([*(bytes([b]) for b in range(256)), b"</s>"], stop_token_ids=[256])


def grammar(beginning: tuple[Rule, ...], own: str) -> maskwright.Grammar:
    rule = Rule("root", seq(ref(len(beginning) - 1), text(own)))
    return maskwright.Grammar(GrammarIR((*beginning, rule), len(beginning)))


def masks(info: maskwright.TokenizerInfo, source: maskwright.Grammar, output: bytes) -> list[set[int]]:
    compiler = maskwright.GrammarCompiler(info, cache_enabled=False)
    matcher = maskwright.GrammarMatcher(compiler.compile_grammar(source))
    out = [mask_of(matcher, info.vocab_size)]
    for byte in output:
        assert matcher.accept_bytes(bytes((byte,)))
        out.append(mask_of(matcher, info.vocab_size))
    return out


def test_whatever_came_before() -> None:
    shared = tokenizer()
    for beginning, own in [
        (A, "x"),
        (A, "y"),
        (A, "c"),
        (B, "x"),
        (A[:1], "x"),
        (B, "c"),
        (B, "y"),
        (A, "x"),
        (A, "b"),
    ]:
        source = grammar(beginning, own)
        output = beginning[0].body[1] + own.encode()
        assert masks(shared, source, output) == masks(tokenizer(), source, output)


def test_the_same_grammar_again() -> None:
    shared, source = tokenizer(), grammar(A, "b")
    first = masks(shared, source, b"aab")
    assert all(masks(shared, source, b"aab") == first for _ in range(4))


def test_a_beginning_that_refers_to_what_differs() -> None:
    """The same rules mean something else where what they refer to is another rule."""
    shared = tokenizer()
    beginning = (Rule("closed", plus(text("a"))), Rule("open", seq(text("b"), ref(3))), Rule("via", plus(ref(1))))
    for own in ("x", "y", "xy", "y", "x"):
        root = Rule("root", seq(ref(0), ref(2), text(".")))
        source = maskwright.Grammar(GrammarIR((*beginning, Rule("own", plus(text(own))), root), 4))
        output = f"aab{own}{own}b{own}.".encode()
        assert masks(shared, source, output) == masks(tokenizer(), source, output)


def test_a_beginning_whose_rules_are_used_one_by_one() -> None:
    """What was linked once is recalled, with and without what is inlined into it."""
    shared = tokenizer()
    beginning = (
        Rule("small", text("s")),
        Rule("loop", plus(seq(ref(0), text("l")))),
        Rule("nested", seq(text("["), alt(ref(3), ref(1)), text("]"))),
        Rule("value", alt(ref(2), ref(1))),
        Rule("unused", plus(text("u"))),
    )
    for used, output in [(1, b"sl"), (3, b"[[sl]]"), (0, b"s"), (2, b"[sl]"), (4, b"uu"), (3, b"[slsl]"), (0, b"s")]:
        root = Rule("root", seq(ref(used), ref(0), text("!")))
        source = maskwright.Grammar(GrammarIR((*beginning, root), 5))
        assert masks(shared, source, output + b"s!") == masks(tokenizer(), source, output + b"s!")


def test_expressions_of_the_beginning_as_operands_and_items() -> None:
    """What a product or a counter calls is recalled too, wherever it stands, if it means the same there."""
    shared = tokenizer()
    word, item = plus(bytes_in(b"abc")), seq(bytes_in(b"xyz"), plus(bytes_in(b"uvw")))
    opens = seq(text("<"), ref(4))  # means something else in each grammar
    beginning = (Rule("word", word), Rule("item", item), Rule("open", opens), Rule("spare", plus(text("s"))))
    for own, excluded in [("!", b"ab"), ("?", b"c"), ("!", b"ab"), ("!?", b"abc"), ("?", b"b")]:
        body = seq(
            and_(seq(word, text(";")), not_(seq(text(excluded.decode()), text(";")))), and_(word, not_(text("a")))
        )
        counted = seq(repeat(item, 20, 30), repeat(opens, 18, 40), text("."))
        rules = (*beginning, Rule("own", text(own)), Rule("root", seq(body, counted)))
        source = maskwright.Grammar(GrammarIR(rules, 5))
        output = b"acb;cc" + b"xuv" * 21 + (b"<" + own.encode()) * 19 + b"."
        assert masks(shared, source, output) == masks(tokenizer(), source, output)


def test_loops_over_counted_repetitions() -> None:
    """Such loops are written anew, with other numbers for all expressions, wherever they and what they repeat stand."""
    counted, plain = repeat(text("a"), 1, 30), text("a")
    beginnings = {
        "in it": (Rule("run", counted), Rule("loop", plus(ref(0)))),
        "after it": (Rule("run", counted), Rule("loop", seq(ref(0), text("a")))),
        "over what follows": (Rule("run", plain), Rule("loop", plus(ref(2)))),
    }
    for beginning in beginnings.values():
        shared = tokenizer()
        for run, own in [(counted, "x"), (plain, "y"), (counted, "z"), (plain, "x"), (counted, "y")]:
            rules = (*beginning, Rule("own", run), Rule("root", seq(ref(1), plus(ref(0)), plus(ref(2)), text(own))))
            source = maskwright.Grammar(GrammarIR(rules, 3))
            output = b"a" * 70 + own.encode()
            assert masks(shared, source, output) == masks(tokenizer(), source, output)
