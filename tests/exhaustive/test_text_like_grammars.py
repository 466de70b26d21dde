"""Random grammars of text (words, classes, counts, strings with escapes, complements) on thousands of tokens.

Tiny vocabularies never take the ways that large ones do: subtrees taken whole, dense masks, masks derived from others,
characters counted per token. Here every mask bit is compared with `accept_token`, which steps bytes and knows nothing
of that, and some bits with the oracle.
"""

from __future__ import annotations

import itertools
import random
import string

import maskwright
from maskwright.ir import (
    ALL_BYTES,
    ANY_BYTE,
    EMPTY,
    Expr,
    GrammarIR,
    alt,
    and_,
    byte_range,
    byte_set,
    bytes_in,
    not_,
    optional,
    plus,
    ref,
    repeat,
    seq,
    star,
    text,
)
from oracle import vocabularies
from oracle.comparing import compile_ir, mask_of, scaled, seeded
from oracle.grammars import grammar
from oracle.model import Language

LETTERS = string.ascii_letters + string.digits + " _-.,:/"
WORDS = ("name", "names", "true", "null", "ab", "aab", "12", "é", "日本", "</think>")
ENDS = ('"', '",', '"}', '":', '": "', "\\n", '\\"', "\\u00", "\\u0061", "\\", "\n", "}", "]", ">")
TAIL = byte_range(0x80, 0xBF)
NON_ASCII = alt(
    seq(byte_range(0xC2, 0xDF), TAIL),
    seq(byte_range(0xE1, 0xEC), TAIL, TAIL),
    seq(byte_range(0xF1, 0xF3), TAIL, TAIL, TAIL),
)
PLAIN = byte_set(sum(1 << b for b in range(0x20, 0x7F) if chr(b) not in '"\\'))
CHARACTER = alt(PLAIN, NON_ASCII, seq(text("\\"), alt(bytes_in(b'"\\/bfnrt'), seq(text("u"), repeat(PLAIN, 4, 4)))))
CLASSES = (
    CHARACTER,
    alt(byte_range(0, 0x7F), NON_ASCII),
    byte_range(ord("a"), ord("z")),
    byte_range(ord("0"), ord("9")),
    bytes_in(b"abn"),
    byte_set(ALL_BYTES & ~(1 << ord("\n"))),
    byte_set(ALL_BYTES & ~(1 << ord('"'))),
    alt(byte_set((1 << 128) - 1 & ~(1 << ord("<"))), NON_ASCII),
)
BOUNDS = ((0, -1), (1, -1), (0, 1), (0, 3), (2, 2), (5, 9), (0, 20), (5, 90), (66, 66), (70, -1), (3, 65536))


def vocabulary(rng: random.Random) -> vocabularies.Vocab:
    """Some 4,000 tokens: all bytes, pairs, words, what ends or escapes a string, half characters."""
    pairs = ["".join(p) for p in itertools.product(LETTERS[:40], repeat=2)]
    words = ["".join(rng.choices(LETTERS + "éß日本🎉", k=rng.randint(3, 12))) for _ in range(1_500)]
    inner = [w[i:j] for w in WORDS for i in range(len(w)) for j in range(i + 1, len(w) + 1)]
    ends = ["".join(rng.choices(LETTERS, k=rng.randint(0, 4))) + end for end in ENDS for _ in range(20)]
    runs = [c * n for c in "x1 n" for n in (3, 4, 8, 16, 40, 70)]
    halves = [w.encode()[:cut] for w in ("é", "日", "🎉", "a日", '日"', "xx🎉") for cut in range(1, len(w.encode()))]
    broken = [b"\xc3(", b"\xed\xa0\x80", b"\xf8", b"a\xff", b"\x80a", b"\xa9\xc3"]
    singles = [bytes((b,)) for b in range(256)]
    return vocabularies.of(*singles, *pairs, *words, *inner, *ends, *runs, *halves, *broken, special=(b"<s>",))


def regular(rng: random.Random, depth: int) -> Expr:
    kind = rng.randrange(7) if depth else rng.randrange(3)
    if kind == 0:
        return text(rng.choice(WORDS))
    if kind <= 2:
        return repeat(rng.choice(CLASSES), *rng.choice(BOUNDS))
    if kind == 3:
        return seq(text('"'), repeat(CHARACTER, *rng.choice(BOUNDS)), text('"'))
    if kind == 4:
        return repeat(regular(rng, depth - 1), *rng.choice(BOUNDS))
    return (seq, alt)[kind % 2](*(regular(rng, depth - 1) for _ in range(rng.choice((2, 3)))))


def boolean(rng: random.Random) -> Expr:
    """An intersection or complement as front-ends make them: text without something in it, text in two forms."""
    word, line = text(rng.choice(WORDS)), star(byte_set(ALL_BYTES & ~(1 << ord("\n"))))
    return rng.choice(
        (
            and_(line, not_(seq(star(ANY_BYTE), word, star(ANY_BYTE)))),
            and_(plus(rng.choice(CLASSES)), not_(word)),
            and_(repeat(rng.choice(CLASSES), 2, 12), seq(line, rng.choice(CLASSES), line)),
        )
    )


def expression(rng: random.Random, depth: int, refs: int) -> Expr:
    kind = rng.randrange(8) if depth else rng.randrange(3)
    if kind == 0:
        return ref(rng.randrange(refs))
    if kind <= 2:
        return regular(rng, min(depth, 2))
    if kind == 3:
        return boolean(rng)
    if kind == 4:
        return optional(expression(rng, depth - 1, refs))
    if kind == 5:
        return repeat(expression(rng, depth - 1, refs), *rng.choice(BOUNDS))
    return (seq, alt)[kind % 2](*(expression(rng, depth - 1, refs) for _ in range(rng.choice((2, 3)))))


def text_grammar(rng: random.Random) -> GrammarIR:
    refs = rng.randint(1, 4)
    ends = [text(rng.choice((*WORDS, *ENDS))) for _ in range(refs)]
    return grammar(*(alt(seq(expression(rng, rng.randint(1, 3), refs), e), rng.choice((e, EMPTY))) for e in ends))


def allowed_by_accept(matcher: maskwright.GrammarMatcher, vocab_size: int) -> set[int]:
    probe, allowed = matcher.fork(), set()
    for token in range(vocab_size):
        if probe.accept_token(token):
            allowed.add(token)
            probe.rollback(1)
    return allowed


def test_masks_of_text_like_grammars() -> None:
    rng = seeded("text")
    vocab = vocabulary(rng)
    compiler = maskwright.GrammarCompiler(vocab.info())
    limited = 0
    for _ in range(scaled(60)):
        language = Language(text_grammar(rng))
        try:
            compiled = compile_ir(language.grammar, compiler)
        except maskwright.UnsatisfiableError:
            assert not language.viable(())
            continue
        except maskwright.LimitError:
            limited += 1
            continue
        matcher, output = maskwright.GrammarMatcher(compiled), b""
        for _ in range(6):
            mask = mask_of(matcher, vocab.vocab_size)
            context = (language.grammar.dump(), output)
            wrong = mask ^ allowed_by_accept(matcher, vocab.vocab_size)
            assert not wrong, (context, [(vocab.token_bytes[t], t in mask) for t in sorted(wrong)[:5]])
            plain = sorted(mask - set(vocab.special))
            for token in rng.sample(range(256), 2) + (rng.sample(plain, 1) if plain and len(output) < 40 else []):
                viable = language.viable((*output, *vocab.token_bytes[token]))
                assert viable == (token in mask), (context, vocab.token_bytes[token])
            if not plain:
                break
            token = rng.choice(plain)
            assert matcher.accept_token(token)
            output += vocab.token_bytes[token]
    assert limited <= scaled(60) / 10
