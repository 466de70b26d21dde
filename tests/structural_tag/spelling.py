"""Vocabularies for tests of structural tags: all bytes and some pieces; and one with special tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

import maskwright as mw


def vocabulary(special: Iterable[str] = (), pieces: Iterable[str] = ()) -> mw.TokenizerInfo:
    """All single bytes, some pieces, special tokens, and a stop token."""
    plain = [bytes((b,)) for b in range(256)] + [piece.encode() for piece in pieces]
    names = [name.encode() for name in special]
    first = len(plain)
    ids = range(first, first + len(names) + 1)
    return mw.TokenizerInfo.from_vocab([*plain, *names, b"<stop>"], special_token_ids=ids, stop_token_ids=[ids[-1]])


def tokenize(info: mw.TokenizerInfo, text: str) -> list[int]:
    """Split at special tokens, then by the longest token that matches."""
    special, _, _ = _tables(info)
    names = "|".join(map(re.escape, sorted(special, key=len, reverse=True)))
    out = []
    for i, part in enumerate(re.split(f"({names})", text)):
        if i % 2:
            out.append(special[part])
            continue
        out += plain_tokens(info, part.encode())
    return out


def plain_tokens(info: mw.TokenizerInfo, data: bytes) -> list[int]:
    """Text by the longest token that matches."""
    _, plain, longest = _tables(info)
    out, at = [], 0
    while at < len(data):
        size = next(n for n in range(longest, 0, -1) if data[at : at + n] in plain)
        out.append(plain[data[at : at + size]])
        at += len(data[at : at + size])
    return out


@lru_cache(maxsize=4)
def _tables(info: mw.TokenizerInfo) -> tuple[dict[str, int], dict[bytes, int], int]:
    special = {info.token_bytes[i].decode(): i for i in info.special_token_ids}
    plain = {t: i for i, t in enumerate(info.token_bytes) if i not in info.special_token_ids}
    return special, plain, max(map(len, plain))


def accepts(compiled: mw.CompiledGrammar, text: str) -> bool:
    """Whether the text is a whole output, token by token."""
    matcher = mw.GrammarMatcher(compiled)
    tokens = tokenize(compiled.tokenizer_info, text)
    return matcher.accept_tokens(tokens) == len(tokens) and matcher.is_completed()
