"""Token budgets of outputs with lists of distinct elements: every output is complete in time, and no mask allows more
than an enumeration of what may follow.

Such budgets go by bounds, so masks near their end may allow less, but always some token.
"""

from __future__ import annotations

import random
import re

import pytest

import maskwright
from exhaustive.test_distinct_texts import CHOSEN, COMMA, NAME, listed, random_body
from exhaustive.test_token_budgets import check_quick_walk
from maskwright import ir
from maskwright.ir import GrammarIR, alt, distinct, literal, plus, repeat, seq
from oracle.budget_model import EnumeratedLanguage
from oracle.comparing import mask_of, scaled, seeded
from oracle.grammars import AB, A, grammar
from oracle.recognizer import matches
from oracle.vocabularies import Vocab, of
from timing import SLOWER, processor_seconds

LONGER = ("[a", "a,", ",b", "a,b", "b]", "ab", "ba", "aa", ",ab]", "],[", "b,b", "abab", "a]")


def random_vocab(rng: random.Random) -> Vocab:
    return of(*"ab,[]", *rng.sample(LONGER, rng.randint(1, 4)), stop=(b"</s>",), padding=2)


def compare(g: GrammarIR, vocab: Vocab, max_tokens: int, rng: random.Random) -> tuple[int, int]:
    """Walk through outputs. Returns how many were begun, and how many masks allowed less than they might."""
    language = EnumeratedLanguage(g, vocab, max_tokens)
    try:
        compiled = maskwright.GrammarCompiler(vocab.info()).compile_grammar(maskwright.Grammar(g))
        maskwright.GrammarMatcher(compiled, max_tokens=max_tokens)
    except maskwright.UnsatisfiableError:
        assert not language.viable(()), (g.dump(), vocab, max_tokens)
        return 0, 0
    except maskwright.LimitError as error:
        enough = [int(number) for number in re.findall(r"(\d+) tokens are enough", str(error))]
        assert error.limit == "left_recursive_repetition" or enough[0] > max_tokens  # noqa: PT017
        return 0, 0
    assert language.viable(()), (g.dump(), vocab, max_tokens)
    return 2, sum(check_quick_walk(compiled, language, max_tokens, rng) for _ in range(2))


@pytest.mark.parametrize("g", CHOSEN, ids=lambda g: g.rules[0].body.dump()[:60])
def test_chosen_grammars(g: GrammarIR) -> None:
    rng = seeded(f"distinct budgets of {g.dump()}")
    for max_tokens in range(1, 6):
        compare(g, random_vocab(rng), max_tokens, rng)


def test_random_grammars() -> None:
    compared = less = 0
    for i in range(scaled(200)):
        rng = seeded(f"distinct budgets {i}")
        g = grammar(*(alt(random_body(rng, 2), literal(b"b" if rng.random() < 0.5 else b"[]")) for _ in range(2)))
        walked, fewer = compare(g, random_vocab(rng), rng.choice((4, 5, 6, 7)), rng)
        compared, less = compared + walked, less + fewer
    assert compared > scaled(200)
    assert less, "all exact: nothing was decided by bounds"


WORD = ir.bytes_in(bytes(range(ord("a"), ord("z") + 1)))
LETTERS = of(*(chr(c) for c in range(ord("a"), ord("z") + 1)), ",", "[", "]", "ab", ",a", "b]", stop=(b"</s>",))


def output(g: GrammarIR, max_tokens: int, rng: random.Random, vocab: Vocab = LETTERS) -> bytes:
    """A random one. Its masks are never empty."""
    info = vocab.info()
    compiled = maskwright.GrammarCompiler(info).compile_grammar(maskwright.Grammar(g))
    matcher, out = maskwright.GrammarMatcher(compiled, max_tokens=max_tokens), b""
    while not matcher.is_terminated():
        token = rng.choice(sorted(mask_of(matcher, vocab.vocab_size)))
        assert matcher.accept_token(token)
        out += vocab.token_bytes[token] if token not in info.stop_token_ids else b""
    assert matcher.num_accepted_tokens <= max_tokens + 1
    return out


def test_vocabularies_that_lack_bytes() -> None:
    """What begins is complete in time and in the language, where a budget is not refused."""
    begun = 0
    for i in range(scaled(200)):
        rng = seeded(f"distinct budgets without a byte {i}")
        g = grammar(*(alt(random_body(rng, 2), literal(b"b" if rng.random() < 0.5 else b"[]")) for _ in range(2)))
        single = ["a", "b", ",", "[", "]"]
        single.remove(rng.choice(single))
        vocab = of(*single, *rng.sample(LONGER, rng.randint(1, 4)), stop=(b"</s>",), padding=2)
        try:
            text = output(g, rng.randint(4, 9), rng, vocab)
        except (maskwright.LimitError, maskwright.UnsatisfiableError):
            continue
        begun += 1
        assert matches(g, text), (g.dump(), text)
    assert begun > scaled(100)


@pytest.mark.parametrize("minimum", [1, 3, 30, 60])
def test_many_elements_fit(minimum: int) -> None:
    """From the least budget on that is not refused, random outputs end in time."""
    rng = seeded(f"many elements {minimum}")
    g = grammar(listed(plus(WORD), minimum))
    shortest = 2 * minimum + 1 + max(minimum - 26, 0)  # 26 elements have one letter
    for more in (0, 1, 2, 5, 20):
        elements = output(g, shortest + more, rng).strip(b"[]").split(b",")
        assert len(set(elements)) == len(elements) >= minimum


def test_few_texts() -> None:
    """Two bits differ in four ways: after three elements, the fourth is forced, letter by letter."""
    rng = seeded("few texts")
    g = grammar(listed(repeat(AB, 2, 2), 4))
    for _ in range(scaled(20)):
        assert len(set(output(g, 13, rng).strip(b"[]").split(b","))) == 4


def test_what_is_too_little() -> None:
    compiled = maskwright.GrammarCompiler(LETTERS.info()).compile_grammar(maskwright.Grammar(grammar(listed(NAME, 4))))
    with pytest.raises(maskwright.UnsatisfiableError, match="at least 5 tokens, but max_tokens is 3; 11 tokens are"):
        maskwright.GrammarMatcher(compiled, max_tokens=3)
    with pytest.raises(maskwright.LimitError, match="at least 5 tokens; 11 tokens are enough") as caught:
        maskwright.GrammarMatcher(compiled, max_tokens=9)
    assert caught.value.limit == "remembered_text_budget"
    assert maskwright.GrammarMatcher(compiled, max_tokens=11).accept_string("[")


def test_a_rule_has_no_budget_beside_a_list() -> None:
    compiler = maskwright.GrammarCompiler(LETTERS.info())
    with pytest.raises(maskwright.LimitError, match="give the budget to the whole output") as caught:
        compiler.compile_grammar('root ::= Distinct(name, ",") tail\nname ::= [a-z]+\ntail[max_tokens=9] ::= "]" name')
    assert caught.value.limit == "remembered_text_budget"


def test_a_long_list() -> None:
    """Far from the end, a token takes no walk of the vocabulary, which would be a millisecond or more for each."""
    letters = [chr(c) for c in range(ord("a"), ord("z") + 1)]
    vocab = of(*letters, ",", "[", "]", *(f"{x}{y}{z}" for x in letters for y in letters for z in letters))
    compiled = maskwright.GrammarCompiler(vocab.info()).compile_grammar(maskwright.Grammar(grammar(listed(plus(WORD)))))
    matcher = maskwright.GrammarMatcher(compiled, max_tokens=20_000)
    bitmask = maskwright.allocate_token_bitmask(1, vocab.vocab_size)
    rng = seeded("a long list")
    text = b"[" + b",".join(bytes(rng.choices(b"abcdefghijklmnopqrstuvwxyz", k=6)) for _ in range(500))
    ids = [vocab.token_bytes.index(bytes([byte])) for byte in text]

    def write() -> None:
        for token in ids:
            matcher.fill_next_token_bitmask(bitmask)
            assert matcher.accept_token(token)

    assert processor_seconds(write) < 0.5 * SLOWER


def test_names_with_values() -> None:
    """Between two names stands what is no element, and lists of its own."""
    rng = seeded("names with values")
    value = alt(A, listed(AB, 2))
    g = grammar(seq(literal(b"["), distinct(NAME, seq(literal(b"]"), value, COMMA), 2, 4), literal(b"]"), value))
    for max_tokens in range(12, 30):
        assert output(g, max_tokens, rng)
