"""Tiny vocabularies that have everything a real one has: specials, stops, duplicates, empty tokens, padding."""

from __future__ import annotations

import itertools
import random
from typing import NamedTuple

import maskwright


class Vocab(NamedTuple):
    """Token texts by id; ids from `len(token_bytes)` up to `vocab_size` are padding."""

    token_bytes: tuple[bytes, ...]
    special: tuple[int, ...]
    stop: tuple[int, ...]
    vocab_size: int

    def info(self) -> maskwright.TokenizerInfo:
        return maskwright.TokenizerInfo.from_vocab(
            list(self.token_bytes),
            special_token_ids=self.special,
            stop_token_ids=self.stop,
            vocab_size=self.vocab_size,
        )


def of(
    *texts: bytes | str, special: tuple[bytes, ...] = (), stop: tuple[bytes, ...] = (b"</s>",), padding: int = 3
) -> Vocab:
    """A vocabulary of these texts, then the special ones, then the stop tokens, then padding."""
    plain = [t.encode() if isinstance(t, str) else t for t in texts]
    token_bytes = (*plain, *special, *stop)
    first_stop = len(plain) + len(special)
    return Vocab(
        token_bytes,
        special=tuple(range(len(plain), len(token_bytes))),
        stop=tuple(range(first_stop, len(token_bytes))),
        vocab_size=len(token_bytes) + padding,
    )


def strings(alphabet: bytes, longest: int) -> list[bytes]:
    """All strings of 1 to `longest` bytes."""
    return [bytes(s) for n in range(1, longest + 1) for s in itertools.product(alphabet, repeat=n)]


SMALL = of(*strings(b"ab", 3), b"c", b"", b"ab", special=(b"<x>", b"a"), stop=(b"</s>", b"<eot>"), padding=13)
"""All strings up to length 3 over {a, b}, one more byte, empty, duplicate and special tokens; more than one word."""


def random_vocab(rng: random.Random) -> Vocab:
    """Random tokens over a, b and the bytes of é and ê, long ones and repeated ones too; single bytes not always."""
    alphabet = b"ab\xc3\xa9\xaa"
    texts = [
        bytes(rng.choices(alphabet, (6, 6, 2, 2, 1), k=rng.choice((0, 1, 1, 1, 2, 2, 3, 5))))
        for _ in range(rng.randint(4, 30))
    ]
    count = rng.randint(1, 3)
    return of(*texts, special=(b"<x>", b"ab"), stop=(b"</s>", b"a", b"<eot>")[:count], padding=rng.choice((0, 1, 40)))


def with_stops(vocab: Vocab, *stops: int) -> Vocab:
    """The same with these stop tokens besides, which stay text if they are."""
    return vocab._replace(stop=(*vocab.stop, *stops))


BYTES = of(*(bytes((b,)) for b in range(256)), '{"', '":', '", "', '"}', "true", "12", "  ", "é", "日", b"\x97\xa5")
"""All single bytes, so that any string can be spelled, and some JSON pieces."""
