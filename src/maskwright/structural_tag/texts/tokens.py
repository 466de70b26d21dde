"""Tokens in structural tags: ids, texts, and the special tokens that are written out in strings.

Where a tokenizer is given, a special token's text inside a string stands for that token: a model writes `<|channel|>`
as one token, and special tokens never match by their text.

    >>> info = TokenizerInfo.from_vocab([b"a", b"<|x|>", b"</s>"], special_token_ids=[1, 2], stop_token_ids=[2])
    >>> Tokens(info).pieces("aa<|x|>a")
    ('aa', 1, 'a')
    >>> Tokens(None).pieces("aa<|x|>a")
    ('aa<|x|>a',)

Without a tokenizer, tokens given by text and sets of all tokens but some are left to the one who compiles the grammar:
they are `TokenSet`s of its IR. `Grammar.bound_to` lowers the whole tag again then, so that strings count as well.
Of special tokens whose texts overlap, the first and then the longest counts.
Cost: making one takes about a microsecond a special token; it is made once for a tokenizer and kept.
Tested by tests/structural_tag/texts/test_tokens.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cached_property
from typing import Final, TypeAlias
from weakref import finalize

from maskwright.errors import StructuralTagError
from maskwright.ir import Expr, seq, text, tokens
from maskwright.support.arguments import instance
from maskwright.support.numbering import Numbering
from maskwright.tokenizer import TokenizerInfo

# A token by its id, or, where there is no tokenizer, the rule that stands for its name.
Token: TypeAlias = "int | Expr"
Pieces: TypeAlias = "tuple[str | Token, ...]"  # texts and tokens by turns; no text is empty

_numbers = Numbering()


class Tokens:
    """What structural tags need to know of a tokenizer, which may be None."""

    def __init__(self, info: TokenizerInfo | None) -> None:
        self.is_known = info is not None
        self.number = _numbers.take()  # never used again
        self._texts: tuple[bytes, ...] = ()
        self._vocab_size = 0
        self._special_ids: frozenset[int] = frozenset()
        self._stop_ids: frozenset[int] = frozenset()
        self._special: dict[str, int] = {}
        self._pattern: re.Pattern[str] | None = None
        self.styles: dict[str, object] = {}  # of arguments, by name, as these tokens spell them
        if info is not None:  # which is not kept itself: see `tokens_of`
            self._texts, self._vocab_size = info.token_bytes, info.vocab_size
            self._special_ids, self._stop_ids = frozenset(info.special_token_ids), frozenset(info.stop_token_ids)
            for token_id in (*info.special_token_ids, *info.stop_token_ids):
                name = info.token_bytes[token_id].decode("utf-8", "replace")
                if name:
                    self._special.setdefault(name, token_id)
        if self._special:
            longest_first = sorted(self._special, key=len, reverse=True)
            self._pattern = re.compile("(" + "|".join(map(re.escape, longest_first)) + ")")

    def pieces(self, string: str) -> Pieces:
        """Split a string at special tokens."""
        if self._pattern is None or self._pattern.search(string) is None:
            return (string,) if string else ()
        parts = self._pattern.split(string)
        return tuple(self._special[part] if i % 2 else part for i, part in enumerate(parts) if part)

    def spell(self, string: str) -> Expr:
        """Return the expression for exactly this string."""
        return spelled(self.pieces(string))

    def id_of(self, token: int | str, pointer: str) -> int:
        """Return the id of a token that is given by id or, with a tokenizer, by text.

        Raises:
            StructuralTagError: The tokenizer has no such token.
        """
        if isinstance(token, int):
            if token < 0 or (self.is_known and token >= self._vocab_size):
                raise StructuralTagError(f"there is no token with id {token}", pointer=pointer)
            return token
        assert self.is_known
        found = self._special.get(token)
        if found is None:
            found = self._ordinary.get(token.encode("utf-8", "replace"))
        if found is None:
            near = get_close_matches(token[:200], list(self._special)[:2000], 1)
            hint = f"did you mean {near[0]!r}?" if near else "write the token's whole text, or its id"
            raise StructuralTagError(f"the tokenizer has no token {token[:60]!r}", pointer=pointer, hint=hint)
        return found

    def all_but(self, excluded: frozenset[Token]) -> Expr:
        """Return one token of the vocabulary, stop tokens aside, that is not excluded."""
        assert self.is_known
        return tokens([i for i in self._all if i not in excluded], by_exclusion=True)

    @cached_property
    def _ordinary(self) -> dict[bytes, int]:
        return {text: i for i, text in reversed(list(enumerate(self._texts))) if text}

    @cached_property
    def _all(self) -> tuple[int, ...]:
        texts = enumerate(self._texts)
        return tuple(i for i, text in texts if (text or i in self._special_ids) and i not in self._stop_ids)


def joined(pieces: Iterable[str | Token]) -> Pieces:
    """Join texts that are adjacent."""
    out: list[str | Token] = []
    for piece in pieces:
        if isinstance(piece, str) and out and isinstance(out[-1], str):
            out[-1] += piece
        else:
            out.append(piece)
    return tuple(out)


def spelled(pieces: Pieces) -> Expr:
    """Return the expression for these texts and tokens in sequence."""
    return seq(*[text(piece) if isinstance(piece, str) else one_token(piece) for piece in pieces])


def one_token(token: Token) -> Expr:
    """Return the expression for exactly this token."""
    return tokens((token,)) if isinstance(token, int) else token


_NO_TOKENIZER: Final = Tokens(None)
_KNOWN: Final[dict[int, Tokens]] = {}  # by identity: comparing tokenizers by content takes longer than all else here


def tokens_of(info: TokenizerInfo | None) -> Tokens:
    """Return the `Tokens` of a tokenizer, which are kept as long as it is."""
    if info is None:
        return _NO_TOKENIZER
    found = _KNOWN.get(id(info))
    if found is None:
        hint = "make one with TokenizerInfo.from_huggingface or another from_ method"
        found = _KNOWN[id(info)] = Tokens(instance("tokenizer_info", info, TokenizerInfo, hint))
        finalize(info, _KNOWN.pop, id(info), None)
    return found
