"""What ends a format: strings of text, and strings that hold special tokens.

    Ends.of([("</a>",), (7,)])      "</a>" or the token 7

`NO_ENDS` stands for an end that is not known: what follows is another's business.
Tested by tests/structural_tag/lowering/test_lower.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from maskwright.frontends.texts import (
    ANY_LENGTH,
    ANY_TEXT,
    Length,
    text_leading_to,
    text_of_length,
    text_until,
    text_without,
)
from maskwright.ir import EMPTY, Expr, alt, capture, literal, seq, span
from maskwright.structural_tag.texts.tokens import Pieces, Token, spelled


class Ends:
    """See the module's header.

    Attributes:
        absent: texts that would have been an end before: they do not occur in free text, either.
        absent_tokens: the same for tokens.
        tokens: those that begin with a token: these tokens, and those that are absent.
        alone: any of the ends; nothing where none is known.
        encoded: those that are text.
        as_bytes: all of them, as the bytes that they add to the output; special tokens add none.
    """

    __slots__ = ("absent", "absent_tokens", "alone", "as_bytes", "encoded", "others", "texts", "tokens")

    def __init__(
        self,
        texts: tuple[str, ...] = (),
        others: tuple[Pieces, ...] = (),
        absent: tuple[bytes, ...] = (),
        absent_tokens: tuple[Token, ...] = (),
    ) -> None:
        self.texts, self.others = texts, others
        self.absent, self.absent_tokens = absent, absent_tokens
        every = (*[(text,) for text in texts], *others)
        tokens = [p[0] for p in others if not isinstance(p[0], str)]
        self.tokens: tuple[Token, ...] = (*tokens, *absent_tokens)
        self.alone = alt(*map(spelled, every)) if every else EMPTY
        self.encoded: tuple[bytes, ...] = tuple(text.encode() for text in texts)
        spellings = ("".join(piece for piece in pieces if isinstance(piece, str)) for pieces in others)
        self.as_bytes = (*self.encoded, *(spelling.encode() for spelling in spellings if spelling))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ends) and self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content)

    @property
    def _content(self) -> tuple[object, ...]:
        return self.texts, self.others, self.absent, self.absent_tokens

    @classmethod
    def of(cls, ends: Iterable[Pieces]) -> Ends:
        """Sort ends into those of text and others; `NO_ENDS` if there are none."""
        texts, others = [], []
        for pieces in ends:
            if len(pieces) == 1 and isinstance(pieces[0], str):
                texts.append(pieces[0])
            elif pieces:
                others.append(pieces)
        return cls(tuple(texts), tuple(others)) if texts or others else NO_ENDS

    def without(self, absent: Ends) -> Ends:
        """These ends, for what other ones might have ended before, and did not."""
        texts = dict.fromkeys((*self.absent, *absent.encoded))
        tokens = dict.fromkeys((*self.absent_tokens, *absent.tokens))
        return Ends(self.texts, self.others, tuple(texts), tuple(tokens))

    def other(self) -> Expr:
        """Any of the ends that hold tokens."""
        return alt(*map(spelled, self.others))

    def after(self, expr: Expr) -> Expr:
        """The expression, then an end; the very expression where there is none, by which the kernel knows it again."""
        return seq(expr, self.alone) if self.texts or self.others else expr

    def closing(
        self,
        excluded: tuple[bytes, ...] = (),
        body: Expr = ANY_TEXT,
        name: str | None = None,
        max_tokens: int | None = None,
        length: Length = ANY_LENGTH,
    ) -> Expr:
        """The texts of `body`, so long, up to where an end first occurs, and that end; nothing excluded occurs in them.

        Without the end, they are a capture of this name, and lie in at most `max_tokens` tokens.
        """
        parts = []
        excluded = (*excluded, *self.absent)
        whole = body if length == ANY_LENGTH else text_of_length(*length, body)
        if self.texts and max_tokens is None:
            parts.append(capture(name, text_until(self.encoded, excluded, body, length), self.encoded))
        elif self.texts:
            for end in self.encoded:
                text = capture(name, text_leading_to(end, self.encoded, excluded, whole))
                parts.append(seq(span(text, max_tokens), literal(end)))
        if self.others or not self.texts:
            text = span(capture(name, text_without((*self.encoded, *excluded), whole)), max_tokens)
            parts.append(seq(text, self.other()) if self.others else text)
        return alt(*parts)


NO_ENDS: Final = Ends()
