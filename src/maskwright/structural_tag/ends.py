"""What ends a format: strings of text, and strings that hold special tokens.

    Ends.of([("</a>",), (7,)])      "</a>" or the token 7

`Ends()` stands for an end that is not known: what follows is another's business.
Tested by tests/structural_tag/test_lower.py.
"""

from __future__ import annotations

from collections.abc import Iterable

from maskwright.frontends.texts import ANY_TEXT, text_until, text_without
from maskwright.ir import EMPTY, Expr, alt, seq
from maskwright.structural_tag.tokens import Pieces, spelled


class Ends:
    """See the module's header. `alone` is any of the ends; nothing where none is known."""

    __slots__ = ("alone", "others", "texts")

    def __init__(self, texts: tuple[str, ...] = (), others: tuple[Pieces, ...] = ()) -> None:
        self.texts, self.others = texts, others
        every = (*[(text,) for text in texts], *others)
        self.alone = alt(*map(spelled, every)) if every else EMPTY

    @classmethod
    def of(cls, ends: Iterable[Pieces]) -> Ends:
        """Sort ends into those of text and others."""
        texts, others = [], []
        for pieces in ends:
            if len(pieces) == 1 and isinstance(pieces[0], str):
                texts.append(pieces[0])
            elif pieces:
                others.append(pieces)
        return cls(tuple(texts), tuple(others))

    @property
    def encoded(self) -> tuple[bytes, ...]:
        return tuple(text.encode() for text in self.texts)

    def other(self) -> Expr:
        """Any of the ends that hold tokens."""
        return alt(*map(spelled, self.others))

    def after(self, expr: Expr) -> Expr:
        """The expression, then an end."""
        return seq(expr, self.alone)

    def closing(self, excluded: tuple[bytes, ...] = (), body: Expr = ANY_TEXT) -> Expr:
        """The texts of `body` up to where an end first occurs, and that end; in them nothing excluded occurs."""
        parts = []
        if self.texts:
            parts.append(text_until(self.encoded, excluded, body))
        if self.others or not self.texts:
            text = text_without((*self.encoded, *excluded), body)
            parts.append(seq(text, self.other()) if self.others else text)
        return alt(*parts)
