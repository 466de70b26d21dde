"""Vocabularies for tests of structural tags: all bytes and some pieces; and one with special tokens."""

from __future__ import annotations

from collections.abc import Iterable

import maskwright as mw


def vocabulary(special: Iterable[str] = (), pieces: Iterable[str] = ()) -> mw.TokenizerInfo:
    """All single bytes, some pieces, special tokens, and a stop token."""
    plain = [bytes((b,)) for b in range(256)] + [piece.encode() for piece in pieces]
    names = [name.encode() for name in special]
    first = len(plain)
    ids = range(first, first + len(names) + 1)
    return mw.TokenizerInfo.from_vocab([*plain, *names, b"<stop>"], special_token_ids=ids, stop_token_ids=[ids[-1]])


def tokenize(info: mw.TokenizerInfo, text: str) -> list[int]:
    """Split by special tokens first, then by the longest token that matches."""
    special = {info.token_bytes[i]: i for i in info.special_token_ids}
    plain = {t: i for i, t in enumerate(info.token_bytes) if t not in special}
    longest = max(map(len, (*plain, *special)))
    data, out, at = text.encode(), [], 0
    while at < len(data):
        for table in (special, plain):
            size = next((n for n in range(longest, 0, -1) if data[at : at + n] in table and at + n <= len(data)), 0)
            if size:
                out.append(table[data[at : at + size]])
                at += size
                break
    return out


def accepts(compiled: mw.CompiledGrammar, text: str) -> bool:
    """Whether the text is a whole output, token by token."""
    matcher = mw.GrammarMatcher(compiled)
    tokens = tokenize(compiled.tokenizer_info, text)
    return matcher.accept_tokens(tokens) == len(tokens) and matcher.is_completed()
