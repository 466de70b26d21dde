"""Tags whose end repeats a name from their begin: the name is remembered, and the end recalls it.

    named_tag("<{name}>", "[a-z]+", any_text, "</{name}>")   →   "<" {#250=[a-z]+ ">" (text up to "</") #250} ">"

Tested by tests/structural_tag/lowering/test_named_tags.py.
"""

from __future__ import annotations

from collections.abc import Callable

from maskwright.errors import GrammarError, StructuralTagError
from maskwright.ir import MAX_TEXT_NUMBER, Copies, Expr, capture, recall, remember, seq, with_scopes
from maskwright.structural_tag.formats.base import Format
from maskwright.structural_tag.formats.named_tag import NAME, NamedTagFormat
from maskwright.structural_tag.formats.partial_tag import PartialTag
from maskwright.structural_tag.texts.ends import Ends
from maskwright.structural_tag.texts.patterns import texts_of
from maskwright.structural_tag.texts.tokens import Tokens


def named_tag(
    it: NamedTagFormat, pointer: str, tokens: Tokens, lower: Callable[[Format, str, Ends], Expr]
) -> PartialTag:
    """Return a tag, whose begin is what stands before the name; `lower` makes its content and what ends that.

    Raises:
        StructuralTagError: Its name or its content cannot be used.
        LimitError: Too many names may be empty at once.
    """
    before, behind = it.begin.split(NAME)
    closing, rest = it.end.split(NAME)
    ends = Ends.of([tokens.pieces(closing)])
    content = capture(it.capture, lower(it.content, f"{pointer}/content", ends), ends.as_bytes)
    name = remember(_names(it, pointer), MAX_TEXT_NUMBER)
    parts = (name, tokens.spell(behind), content, recall(MAX_TEXT_NUMBER), tokens.spell(rest))
    return PartialTag(tokens.pieces(before), with_scopes(seq(*parts), lambda remembered: remembered[1], Copies()))


def _names(it: NamedTagFormat, pointer: str) -> Expr:
    try:
        texts = texts_of(it.name, ())
    except GrammarError as error:
        message = f"invalid pattern: {error.message}"
        raise StructuralTagError(message, pointer=f"{pointer}/name", hint=error.hint) from error
    if texts.is_empty:
        raise StructuralTagError("no text matches this pattern", pointer=f"{pointer}/name")
    return texts.expr
