"""Token budgets of rules and of whole outputs: every mask bit against the oracle, in every kind of state.

Grammars are random: budgets nest, recur, are entered in several ways at once, and are too small to be kept by some
tokens or by all. Vocabularies are tiny and lack what random chance leaves out, single bytes included.
"""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

import maskwright
from maskwright import ir
from maskwright.frontends.selections import Selection, permutation
from maskwright.ir import Expr, GrammarIR
from oracle import vocabularies
from oracle.budget_model import BudgetModel, TokenLanguage
from oracle.comparing import mask_of, scaled, seeded
from oracle.grammars import AB, A, grammar, random_expr
from oracle.vocabularies import Vocab

TIGHT = 2_000  # bytes: an engine is past this at once


def random_vocab(rng: random.Random) -> Vocab:
    single = rng.choice(([], [b"a", b"b"], [b"a", b"b"]))
    texts = rng.sample(vocabularies.strings(b"ab", 3), rng.randint(2, 7))
    parts = rng.sample((b"\xc3\xa9", b"b\xc3", b"\xa9a", b"\xc3"), rng.randint(0, 2))
    return vocabularies.of(*single, *texts, *parts, stop=(b"</s>",), padding=rng.choice((0, 2)))


def random_budgeted(rng: random.Random, vocab: Vocab) -> GrammarIR:
    count = rng.randint(1, 3)
    token_ids = (0, 1, len(vocab.token_bytes) - 1) if rng.random() < 0.3 else ()

    def within_budget(e: Expr) -> Expr:
        return ir.span(e, max_tokens=rng.choice((1, 2, 2, 3, 4, 6)))

    bodies = []
    for _ in range(count):
        body = random_expr(rng, 2, count, token_ids)
        if rng.random() < 0.7:
            body = within_budget(body)
        if rng.random() < 0.4:
            body = ir.seq(body, within_budget(random_expr(rng, 1, count, token_ids)))
        bodies.append(body)
    return grammar(*bodies)


def check_state(matcher: maskwright.GrammarMatcher, model: BudgetModel, rng: random.Random) -> None:
    vocab, allowed = model.vocab, model.allowed()
    context = (model.language.grammar.dump(), vocab, model.tokens)
    for _ in range(2):  # filling changes nothing
        assert mask_of(matcher, vocab.vocab_size) == allowed, context
    for token in range(-1, vocab.vocab_size + 1):
        fork = matcher.fork()
        assert fork.accept_token(token) == (token in allowed), (context, token)
    assert mask_of(matcher, vocab.vocab_size) == allowed, (context, "after forks")
    assert matcher.is_completed() == model.is_completed, context
    assert matcher.is_terminated() == model.is_terminated, context
    forced = matcher.forced_bytes()
    for token in allowed - set(vocab.special):
        data = vocab.token_bytes[token]
        assert data.startswith(forced) or forced.startswith(data), (context, token, forced)
    check_draft(matcher, model, [rng.choice([*allowed, rng.randrange(vocab.vocab_size)]) for _ in range(3)])


def check_draft(matcher: maskwright.GrammarMatcher, model: BudgetModel, draft: list[int]) -> None:
    """The rows of a draft, one alone and in a batch, are the masks that accepting would lead to."""
    judge, size = model.fork(), model.vocab.vocab_size
    rows = [judge.allowed()]
    for token in draft:
        if not judge.accept_token(token):
            break
        rows.append(judge.allowed())
    good = len(rows) - 1
    rows += [set()] * (len(draft) - good)
    assert matcher.validate_tokens(draft) == good
    bitmask = maskwright.allocate_token_bitmask(2 * len(rows), size)
    assert matcher.fill_draft_bitmask(draft, bitmask) == good
    batch = maskwright.BatchGrammarMatcher([matcher, matcher.fork()])
    assert batch.validate_tokens([draft, draft]) == [good, good]
    bits = np.unpackbits(bitmask.view(np.uint8), axis=1, bitorder="little")
    assert [set(np.flatnonzero(row[:size]).tolist()) for row in bits[: len(rows)]] == rows, model.tokens
    assert batch.fill_draft_bitmask([draft, draft], bitmask) == [good, good]
    bits = np.unpackbits(bitmask.view(np.uint8), axis=1, bitorder="little")
    assert [set(np.flatnonzero(row[:size]).tolist()) for row in bits] == rows + rows, model.tokens


def walk(
    compiled: maskwright.CompiledGrammar, language: TokenLanguage, max_tokens: int | None, rng: random.Random
) -> None:
    """A random walk through states, each compared with the model."""
    matcher, model = maskwright.GrammarMatcher(compiled, max_tokens=max_tokens, budget="exact"), BudgetModel(language)
    check_state(matcher, model, rng)
    for _ in range(6):
        action, allowed = rng.random(), sorted(model.allowed())
        if allowed and action < 0.65:
            token = rng.choice(allowed)
            assert matcher.accept_token(token)
            assert model.accept_token(token)
        elif action < 0.8 and model.tokens:
            count = rng.randint(1, len(model.tokens))
            matcher.rollback(count)
            model.rollback(count)
        elif action < 0.9:
            matcher = maskwright.GrammarMatcher(compiled, max_tokens=max_tokens, budget="exact")
            assert matcher.accept_tokens(model.tokens) == len(model.tokens)
        else:
            matcher.reset()
            model = BudgetModel(language)
        check_state(matcher, model, rng)


def compare(
    g: GrammarIR, vocab: Vocab, max_tokens: int | None, rng: random.Random, memory: int | None = None
) -> int | None:
    """Walk twice over the same compiled grammar. Returns how often it was flushed; None if there is nothing to see."""
    language = TokenLanguage(g, vocab, max_tokens)
    options = {} if memory is None else {"grammar_limit_bytes": memory}
    compiler = maskwright.GrammarCompiler(vocab.info(), **options)
    try:
        compiled = compiler.compile_grammar(maskwright.Grammar(g))
        maskwright.GrammarMatcher(compiled, max_tokens=max_tokens, budget="exact")
    except maskwright.LimitError:  # a rule with a budget begins with itself
        return None
    except maskwright.UnsatisfiableError:
        assert not language.viable(())
        return None
    assert language.viable(())
    walk(compiled, language, max_tokens, rng)
    walk(compiled, language, max_tokens, rng)
    return compiled.stats().num_flushes


@pytest.mark.parametrize("memory", [None, TIGHT], ids=["roomy", "flushing"])
def test_budgets_of_rules(memory: int | None) -> None:
    flushes = []
    for i in range(scaled(80)):
        rng = seeded(f"budgets of rules {i} {memory}")
        vocab = random_vocab(rng)
        g = random_budgeted(rng, vocab)
        if "max_tokens" in g.dump():
            flushes.append(compare(g, vocab, None, rng, memory))
    compared = [count for count in flushes if count is not None]
    assert len(compared) > scaled(8)
    assert any(compared) == (memory is not None)


def test_budgets_of_outputs() -> None:
    compared = 0
    for i in range(scaled(80)):
        rng = seeded(f"budgets of outputs {i}")
        vocab = random_vocab(rng)
        g = random_budgeted(rng, vocab) if rng.random() < 0.5 else grammar(random_expr(rng, 2, 1, ()))
        compared += compare(g, vocab, rng.choice((1, 2, 3, 4, 6)), rng) is not None
    assert compared > scaled(15)


def check_quick_walk(
    compiled: maskwright.CompiledGrammar, language: TokenLanguage, max_tokens: int, rng: random.Random
) -> int:
    """A random output under a quick budget: exact masks or less, never none. Returns how many masks were less.

    A reading that needs more bytes than there are tokens left may be lost, and with it, that the output is complete. It
    is not where even single bytes would have done.
    """
    matcher, model = maskwright.GrammarMatcher(compiled, max_tokens=max_tokens, budget="quick"), BudgetModel(language)
    less, text = 0, language.grammar.dump()
    has_budgets, names_tokens = text.count("max_tokens") > 1, re.search(r"<\[\d", text)
    while not matcher.is_terminated():
        allowed, context = mask_of(matcher, model.vocab.vocab_size), (text, model.tokens)
        assert allowed, context
        assert allowed <= model.allowed(), context
        less += allowed != model.allowed()
        for token in range(model.vocab.vocab_size):
            assert matcher.fork().accept_token(token) == (token in allowed), (context, token)
        assert matcher.is_completed() <= model.is_completed, context
        if not names_tokens:
            assert matcher.is_completed() == (model.vocab.stop[0] in allowed), context
        num_bytes = sum(len(model.vocab.token_bytes[token]) for token in model.tokens)
        if num_bytes <= max_tokens and not has_budgets:
            assert matcher.is_completed() == model.is_completed, context
        token = rng.choice(sorted(allowed))
        assert matcher.validate_tokens([token]) == 1
        assert matcher.accept_token(token)
        if rng.random() < 0.3:  # neither way back leads elsewhere
            matcher.rollback(1)
            assert mask_of(matcher, model.vocab.vocab_size) == allowed, context
            matcher = matcher.fork()
            assert matcher.accept_token(token)
        assert model.accept_token(token)
    assert len(model.tokens) <= max_tokens + 1
    return less


@pytest.mark.parametrize("memory", [None, TIGHT], ids=["roomy", "flushing"])
@pytest.mark.long
def test_quick_budgets_complete_every_output(memory: int | None) -> None:
    less, compared, flushes = 0, 0, 0
    options = {} if memory is None else {"grammar_limit_bytes": memory}
    for i in range(max(scaled(300), 300)):  # fewer may all be exact
        rng = seeded(f"quick budgets {i}")
        longer = rng.sample((b"ab", b"ba", b"aa", b"aab", b"bab", b"\xc3\xa9", b"b\xc3", b"\xa9a"), 4)
        vocab = vocabularies.of(b"a", b"b", b"\xc3", b"\xa9", *longer, stop=(b"</s>",))
        g = random_budgeted(rng, vocab) if rng.random() < 0.5 else grammar(random_expr(rng, 3, 1, ()))
        if rng.random() < 0.5:
            word = ir.text("".join(rng.choices("ab", k=rng.randint(4, 9))))
            g = grammar(
                ir.seq(random_expr(rng, 2, 1, ()), word, ir.repeat(ir.text("ab"), 2, rng.choice((3, ir.UNBOUNDED))))
            )
        max_tokens = rng.randint(2, 12)
        language = TokenLanguage(g, vocab, max_tokens)
        try:
            compiled = maskwright.GrammarCompiler(vocab.info(), **options).compile_grammar(maskwright.Grammar(g))
            maskwright.GrammarMatcher(compiled, max_tokens=max_tokens, budget="quick")
        except (maskwright.LimitError, maskwright.UnsatisfiableError):
            continue
        compared += 1
        for _ in range(3):
            less += check_quick_walk(compiled, language, max_tokens, rng)
        flushes += compiled.stats().num_flushes
    assert compared > scaled(100)
    assert (flushes > 0) == (memory is not None)
    assert less, "all exact: nothing was decided by bounds"


def in_any_order(rng: random.Random) -> GrammarIR:
    """Four or six items of a letter or two, of which some are required: few enough to be searched, and too many."""
    builder, count = ir.IRBuilder(), rng.choice((4, 6))
    texts = rng.sample(("a", "b", "ab", "ba", "aab", "bab", "bb"), count)
    items = [ir.seq(ir.text(text), ir.optional(ir.text("a")) if rng.random() < 0.3 else ir.EMPTY) for text in texts]
    required = rng.sample(range(count), rng.randint(2, count))
    extra = ir.text("bbb") if rng.random() < 0.3 else None
    body = permutation(builder, "p", Selection(items, required, ir.text("a"), extra))
    return builder.build(ir.seq(body, ir.text("b")) if rng.random() < 0.5 else body)


@pytest.mark.parametrize("memory", [None, TIGHT], ids=["roomy", "flushing"])
@pytest.mark.parametrize("budget", ["quick", "exact"])
def test_items_in_any_order_within_a_budget(budget: str, memory: int | None) -> None:
    """Every output is complete, and exact budgets leave every token out that no output has."""
    compared = 0
    options = {} if memory is None else {"grammar_limit_bytes": memory}
    for i in range(scaled(12)):
        rng = seeded(f"items in any order {budget} {i}")
        vocab = vocabularies.of(b"a", b"b", *rng.sample((b"ab", b"ba", b"aa", b"aab", b"bab"), 2), stop=(b"</s>",))
        g, max_tokens = in_any_order(rng), rng.randint(6, 20)
        compiled = maskwright.GrammarCompiler(vocab.info(), **options).compile_grammar(maskwright.Grammar(g))
        try:
            matcher = maskwright.GrammarMatcher(compiled, max_tokens=max_tokens, budget=budget)
        except maskwright.UnsatisfiableError:
            continue
        compared += 1
        for _ in range(3):
            matcher.reset()
            follow_to_the_end(
                matcher, maskwright.GrammarMatcher(compiled, max_tokens=max_tokens, budget="exact"), rng, max_tokens
            )
    assert compared > scaled(4)


def follow_to_the_end(
    matcher: maskwright.GrammarMatcher, exact: maskwright.GrammarMatcher, rng: random.Random, max_tokens: int
) -> None:
    tokens: list[int] = []
    size = matcher.compiled_grammar.tokenizer_info.vocab_size
    while not matcher.is_terminated():
        allowed, all_allowed = mask_of(matcher, size), mask_of(exact, size)
        assert allowed, tokens
        assert allowed <= all_allowed, tokens
        for token in range(size):
            assert matcher.fork().accept_token(token) == (token in allowed), (tokens, token)
        token = rng.choice(sorted(allowed))
        assert matcher.accept_token(token)
        assert exact.accept_token(token)
        if rng.random() < 0.3:
            matcher.rollback(1)
            assert mask_of(matcher, size) == allowed, tokens
            assert matcher.accept_token(token)
        tokens.append(token)
    assert len(tokens) <= max_tokens + 1


def test_a_budget_within_a_budget_and_much_to_come() -> None:
    """What follows a rule whose budget is nearly spent may take all that the output's leaves."""
    compared = 0
    for i in range(scaled(100)):
        rng = seeded(f"budgets within budgets {i}")
        longer = rng.sample((b"ab", b"ba", b"aa", b"aab", b"bab", b"\xc3\xa9", b"b\xc3", b"\xa9a"), 4)
        vocab = vocabularies.of(b"a", b"b", *longer, stop=(b"</s>",))
        begin = ir.span(random_expr(rng, 2, 1, ()), max_tokens=rng.choice((1, 2, 2, 3)))
        tail = ir.text("".join(rng.choices("ab", k=rng.randint(5, 9))))
        if rng.random() < 0.5:
            tail = ir.seq(ir.optional(ir.span(ir.star(ir.text("a")), max_tokens=2)), tail)
        compared += compare(grammar(ir.seq(begin, tail)), vocab, rng.randint(6, 11), rng) is not None
    assert compared > scaled(15)


def kept(e: Expr) -> Expr:
    """A rule of its own, with more tokens than it ever needs."""
    return ir.span(e, max_tokens=50)


DIGITS, WORD = ir.bytes_in(b"0123456789"), ir.bytes_in(b"0123456789abcdefghijklmnopqrstuvwxyz")
CHARACTER = ir.alt(
    ir.bytes_in(bytes(range(128))), ir.seq(ir.bytes_in(bytes(range(0xC2, 0xE0))), ir.bytes_in(bytes(range(128, 192))))
)
DIRECTED = {
    # Letters end the one reading, which alone ends soon.
    "loops on different characters": (
        grammar(
            ir.alt(ir.ref(1), ir.ref(2)),
            kept(ir.seq(ir.star(DIGITS), ir.literal(b";"))),
            kept(ir.seq(ir.star(WORD), ir.literal(b"!!!!"))),
        ),
        vocabularies.of(b"0", b"a", b"a0", b"0a", b";", b"!"),
        (3, 4),
        [b"0"],
    ),
    # The rule may end behind the first byte of a character, over which it loops.
    "an end inside a character": (
        grammar(ir.seq(ir.ref(1), ir.literal(b"\xa9")), kept(ir.seq(ir.star(CHARACTER), ir.literal(b"\xc3")))),
        vocabularies.of(b"a", "\u00e9", "a\u00e9", "\u00e9a", b"a\xc3"),
        (1, 2, 3),
        [b"a"],
    ),
    # Another reading has ended where a loop begins: behind more of the loop, nothing has.
    "an end beside a loop": (
        grammar(
            ir.alt(ir.seq(ir.literal(b"x"), ir.ref(1), ir.literal(b";")), ir.literal(b"y;")),
            ir.alt(ir.ref(2), ir.ref(3)),
            kept(A),
            kept(ir.seq(A, ir.star(WORD), ir.literal(b"!"))),
        ),
        vocabularies.of(b"x", b"y", b"ab", b";", b"!", b"ab;"),
        (2, 3, 4),
        [b"x"],
    ),
    # Behind the first byte, an operand alone decides.
    "an intersection that goes on as an operand": (
        grammar(
            ir.seq(
                kept(ir.and_(ir.not_(ir.bytes_in(bytes(set(range(256)) - {97}))), ir.repeat(AB, 2, 3))),
                ir.text("babab"),
            )
        ),
        vocabularies.of(b"a", b"b", b"ab", b"aab", b"ba", b"bab"),
        (4, 5),
        [b"ba"],
    ),
    # What is around the inner budget takes longer than the inner one lasts.
    "a wide budget around a narrow one": (
        grammar(
            ir.star(ir.seq(ir.ref(1), ir.literal(b",;"))),
            ir.span(ir.seq(ir.literal(b'"'), ir.star(ir.bytes_in(b",ab")), ir.literal(b'"')), max_tokens=3),
        ),
        vocabularies.of(b'"', b'"a', b"a", b"b", b"ab", b",;"),
        (3, 4, 5),
        [b'"a', b"a"],
    ),
    # One of two callers has run out of tokens: the token may not return to it.
    "one of two callers has run out": (
        grammar(
            ir.seq(ir.optional(ir.ref(1)), ir.span(ir.ref(1), max_tokens=2)),
            ir.alt(
                ir.seq(ir.ref(2), ir.ref(0)),
                ir.span(ir.ref(2), max_tokens=2),
                ir.seq(ir.literal(b'"'), ir.optional(ir.ref(1)), ir.byte_set(((1 << 256) - 1) & ~(1 << ord("}")))),
            ),
            ir.span(ir.literal(b"a"), max_tokens=3),
        ),
        vocabularies.of(b'a""', b'a"', b"{a{{"),
        (3,),
        [b'a""', b'a"'],
    ),
    # Behind the first token, what follows the loop cannot begin with a token; within the next one, it can.
    "a loop that may end within the last token alone": (
        grammar(ir.seq(ir.span(ir.star(ir.bytes_in(bytes(range(256)))), max_tokens=2), A)),
        vocabularies.of(b"abb", b"baa"),
        (None,),
        [b"abb", b"baa"],
    ),
    # The second of the two may begin where the first one goes on, and has all the time that there is.
    "one of two callers has a budget": (
        grammar(
            ir.seq(ir.ref(1), ir.ref(1), ir.literal(b"b")), ir.seq(A, ir.span(ir.optional(ir.ref(1)), max_tokens=2))
        ),
        vocabularies.of(b"a", b"b"),
        (None,),
        [b"a"] * 6,
    ),
    "one of two callers has a budget, and its tokens are long": (
        grammar(
            ir.seq(ir.ref(2), ir.ref(2), ir.literal(b"b")),
            ir.span(ir.literal(b"aa"), max_tokens=3),
            ir.seq(ir.ref(1), ir.span(ir.alt(ir.ref(1), ir.ref(2)), max_tokens=3)),
        ),
        vocabularies.of(b"a", b"b", b"aa"),
        (None,),
        [b"aa"] * 4 + [b"a"] * 4,
    ),
    # What follows the repetition begins as an item does, but one item must come first.
    "an item is needed before what begins alike": (
        grammar(ir.seq(ir.repeat(ir.alt(ir.text("abbbbbbbbb"), ir.text("c")), 1, 3), ir.text("aa!"))),
        vocabularies.of(b"a", b"b", b"c", b"!"),
        (4, 5, 12, 13),
        [b"a"],
    ),
}


def counted_items(rng: random.Random) -> Expr:
    """So many items of one to four characters; their tokens begin with others than the first of each class."""
    item = ir.seq(*rng.choices((DIGITS, DIGITS, WORD, ir.literal(b"-")), k=rng.randint(1, 4)))
    least = rng.randint(1, 4)
    items = ir.repeat(ir.seq(item, ir.literal(b";")), least, least + rng.choice((0, 0, 1, 2)))
    return ir.seq(rng.choice((ir.EMPTY, DIGITS)), items, rng.choice((ir.EMPTY, WORD)))


def test_quick_budgets_of_counted_items() -> None:
    """What is left after some items, the last one included, is never farther than it seemed before."""
    singles = [bytes((byte,)) for byte in b"0123456789abcdefghijklmnopqrstuvwxyz-;"]
    walked, longer = 0, 0
    for i in range(scaled(80)):
        rng = seeded(f"counted items {i}")
        words = ["".join(rng.choices("12xy-", k=rng.randint(1, 4))) + rng.choice((";", "")) for _ in range(12)]
        vocab = vocabularies.of(*singles, *{word.encode() for word in words if len(word) > 1}, stop=(b"</s>",))
        compiled = maskwright.GrammarCompiler(vocab.info()).compile_grammar(
            maskwright.Grammar(grammar(counted_items(rng)))
        )
        for max_tokens in range(1, 12):
            try:
                matcher = maskwright.GrammarMatcher(compiled, max_tokens=max_tokens)
            except maskwright.UnsatisfiableError:
                continue
            while not matcher.is_terminated():
                allowed = mask_of(matcher, vocab.vocab_size)
                assert allowed, (str(compiled.grammar), vocab, max_tokens)
                long = [token for token in allowed if len(vocab.token_bytes[token]) > 1 and token not in vocab.stop]
                longer += bool(long)
                assert matcher.accept_token(rng.choice(sorted(long or allowed)))
            walked += 1
    assert walked > scaled(200)
    assert longer > scaled(200)


@pytest.mark.parametrize("name", DIRECTED)
def test_directed(name: str) -> None:
    g, vocab, budgets, output = DIRECTED[name]
    for max_tokens in budgets:
        language = TokenLanguage(g, vocab, max_tokens)
        compiled = maskwright.GrammarCompiler(vocab.info()).compile_grammar(maskwright.Grammar(g))
        try:
            matcher = maskwright.GrammarMatcher(compiled, max_tokens=max_tokens, budget="exact")
        except maskwright.UnsatisfiableError:
            assert not language.viable(())
            continue
        model = BudgetModel(language)
        assert mask_of(matcher, vocab.vocab_size) == model.allowed()
        for text in output:
            token = vocab.token_bytes.index(text)
            if not model.accept_token(token):
                break
            assert matcher.accept_token(token)
            assert mask_of(matcher, vocab.vocab_size) == model.allowed(), (max_tokens, text)


@pytest.mark.parametrize("text", [b"a", b"aa"])
def test_what_takes_billions_of_tokens(text: bytes) -> None:
    """Each rule is twice the next one: in bytes or tokens, more than any number holds that is counted with."""
    vocab = vocabularies.of(text, b"b")
    for levels in (31, 32, 33):
        bodies = [ir.seq(ir.ref(i + 1), ir.ref(i + 1)) for i in range(levels)]
        g = grammar(*bodies, ir.alt(ir.literal(b"aa"), ir.literal(b"aabaa")))
        compiled = maskwright.GrammarCompiler(vocab.info()).compile_grammar(maskwright.Grammar(g))
        with pytest.raises(maskwright.UnsatisfiableError):
            maskwright.GrammarMatcher(compiled, max_tokens=100)
