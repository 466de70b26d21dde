"""Strings without quotes: from shapes to texts that end where their closing text first occurs.

    {"maxLength": 3}, closed by "</parameter>"   →   (text of 0 to 3 characters but "</parameter>") "</parameter>"

A reader of a padded style takes one newline off each end; other values that a reader would see are left out.
Invariant: a string that holds its closing text, or what the style excludes, is not written.
Tested by tests/structural_tag/arguments/test_xml.py.
"""

from __future__ import annotations

from typing import Final, Protocol

from maskwright.frontends.charset import CodePointSet, utf8
from maskwright.frontends.json_schema.sets.formats import format_text
from maskwright.frontends.json_schema.sets.shape import StringShape
from maskwright.frontends.json_schema.sets.strings import admits_string, pattern_text
from maskwright.frontends.json_schema.sets.text_grammars import (
    TextGrammar,
    bare_text,
    bytes_of,
    is_regular_text,
    refused,
    regular_text,
)
from maskwright.frontends.texts import ANY_LENGTH, ANY_TEXT, text_of_length
from maskwright.ir import EMPTY, OP_LITERAL, OP_NEVER, Expr, alt, and_, never, not_, optional, seq, text
from maskwright.structural_tag.formats.xml_styles import SpelledStyle
from maskwright.structural_tag.texts.ends import Ends
from maskwright.structural_tag.texts.tokens import Pieces, joined, spelled

_NEWLINE: Final = text("\n")
_INK: Final = utf8(~CodePointSet.from_ranges([(ord("\n"), ord("\n"))]))
_BARE: Final = optional(alt(_INK, seq(_INK, ANY_TEXT, _INK)))  # texts without a newline at either end


class Captured(Protocol):
    """Makes `body` a capture where values are captured; the capture leaves out the one of `ends` that ends it."""

    def __call__(self, name: str, body: Expr, *ends: Pieces) -> Expr: ...


class RawStrings:
    """The strings of one style."""

    def __init__(self, style: SpelledStyle, excluded: tuple[bytes, ...], captured: Captured) -> None:
        self._style, self._excluded, self._captured = style, excluded, captured

    def closed(self, shape: StringShape, close: Pieces, other: Expr, taken: frozenset[str] = frozenset()) -> Expr:
        """The strings of a shape but some others, and what closes them; of listed strings, all but those `taken`."""
        if shape.values is not None:
            listed = [each for each in shape.values if each not in taken and admits_string(shape, each)]
            values = [self._constant(value, close) for value in listed]
            return alt(*values) if values else never()
        if shape.is_grammar() and not is_regular_text(shape.grammars[0]):
            return self._of_grammar(shape.grammars[0], close, other)
        body, length = body_of(shape), (shape.min_length, shape.max_length)
        is_any = body is ANY_TEXT and length == ANY_LENGTH
        body = body if other[0] == OP_NEVER else and_(body, not_(other))
        ends = Ends.of([close])
        if not self._style.padded:
            return self._captured("string", ends.closing(self._excluded, body, length=length), close)
        newline_close = (f"\n{close[0]}",)
        if is_any:
            return self._captured("padded", ends.closing(self._excluded, body), close, newline_close)
        # A reader takes off one newline at each end, so without padding the string itself has none there.
        bare = _BARE if body is ANY_TEXT else and_(body, _BARE)
        padded = Ends.of([newline_close]).closing((*ends.encoded, *self._excluded), body, length=length)
        return alt(
            seq(_NEWLINE, self._captured("string", padded, newline_close)),
            self._captured("string", ends.closing(self._excluded, bare, length=length), close),
        )

    def _of_grammar(self, grammar: TextGrammar, close: Pieces, other: Expr) -> Expr:
        """The strings of a grammar that cannot be intersected: what may not occur in them must plainly not."""
        texts, bytes_in_texts = bare_text(grammar), bytes_of(grammar)
        absent = [piece.encode() for piece in close[:1] if isinstance(piece, str)] + list(self._excluded)
        found = next((each for each in absent if bytes_in_texts >> each[0] & 1), None)
        if found is not None:
            reason = f"in this style strings have no quotes, and it may hold what begins {found.decode()!r}"
            raise refused(grammar, reason, f"leave {found[:1].decode()!r} out of it, or let no rule call itself")
        if other[0] != OP_NEVER:
            reason = "in this style strings have no quotes, and it may be taken for a value of another type"
            raise refused(grammar, reason, 'let type be "string"')
        end = spelled(close)
        if not self._style.padded:
            return self._captured("string", seq(texts, end), close)
        return seq(_NEWLINE, self._captured("string", seq(texts, _NEWLINE, end), (f"\n{close[0]}",)))

    def closing_pieces(self, name: Expr) -> tuple[Pieces, Expr]:
        """What ends a text without quotes, and what follows that where the name could be any."""
        close = self._style.close
        if "{name}" not in close:
            return close, EMPTY
        at = close.index("{name}")
        if name[0] != OP_LITERAL:
            return close[:at], seq(name, spelled(close[at + 1 :]))
        return joined([name[1].decode() if piece == "{name}" else piece for piece in close]), EMPTY

    def _constant(self, value: str, close: Pieces) -> Expr:
        closing = close[0] if len(close) == 1 and isinstance(close[0], str) else None  # a token is in no string
        if (closing is not None and closing in value) or any(x.decode() in value for x in self._excluded):
            return never()
        end = spelled(close)
        if self._style.padded:
            padded = self._captured("string", seq(text(value), _NEWLINE, end), (f"\n{close[0]}",))
            is_bare = value[:1] != "\n" and value[-1:] != "\n"
            bare = self._captured("string", seq(text(value), end), close) if is_bare else never()
            return alt(seq(_NEWLINE, padded), bare)
        return self._captured("string", seq(text(value), end), close)


def text_of_shape(shape: StringShape) -> Expr:
    """The strings of a shape as they are, without quotes and escapes."""
    if shape.values is not None:
        return alt(*[text(value) for value in shape.values if admits_string(shape, value)])
    if (shape.min_length, shape.max_length) == ANY_LENGTH:
        return body_of(shape)
    return text_of_length(shape.min_length, shape.max_length, body_of(shape))


def body_of(shape: StringShape) -> Expr:
    """The same of any length, for a shape that does not list them."""
    parts = [pattern_text(pattern, path, in_json=False) for pattern, path in shape.patterns]
    parts += [format_text(name, utf8) for name in shape.formats]
    parts += [regular_text(grammar, in_json=False) for grammar in shape.grammars]
    parts += [not_(text_of_shape(each)) for each in shape.excluded]
    if shape.excluded or not parts:
        parts.append(ANY_TEXT)
    return and_(*parts)
