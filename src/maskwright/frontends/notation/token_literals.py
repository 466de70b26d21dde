"""Token literals of grammar texts: `<think>`, `!<think>`, `<[1,3-5]>`, `<[^</s>,7]>`, `<[*]>`.

    >>> from maskwright.errors import LarkSyntaxError
    >>> token_set("<[1,3-5]>", Span(0, 9), "<[1,3-5]>", LarkSyntaxError)
    TokenSet(names=(), id_ranges=((1, 1), (3, 5)), negated=False)

A name is the whole text of the token, brackets included, and is looked up when a tokenizer is known.
Tested by tests/tokenizer/test_token_sets.py.
"""

from __future__ import annotations

import re
from typing import Final

from maskwright.errors import GrammarError, Span
from maskwright.ir import TokenSet

MAX_ID: Final = 2**31 - 1

_MEMBER: Final = re.compile(r"([0-9]{1,10})(?:\s*-\s*([0-9]{1,10}))?\Z")


def token_set(literal: str, span: Span, source: str, error: type[GrammarError]) -> TokenSet:
    """Read a literal, which stands at `span` of the source."""
    negated = literal.startswith("!")
    body = literal[1:] if negated else literal
    if not body.startswith("<["):
        return TokenSet(names=(body,), negated=negated)
    inside = body[2:-2].strip()
    if inside.startswith("^"):
        negated, inside = not negated, inside[1:].strip()
    if inside == "*":
        return TokenSet(negated=not negated)
    names, ranges = [], []
    for member in map(str.strip, inside.split(",")):
        match = _MEMBER.match(member)
        if match:
            ranges.append((int(match[1]), int(match[2] or match[1])))
        elif member.startswith("<") and member.endswith(">"):
            names.append(member)
        else:
            hint = "write ids and ranges: <[1,3-5]>, or * for all"
            raise error("malformed token literal", source=source, span=span, hint=hint)
    if any(first > last or last > MAX_ID for first, last in ranges):
        hint = f"write low-high, with low <= high <= {MAX_ID}"
        raise error("the range of tokens is empty or too large", source=source, span=span, hint=hint)
    return TokenSet(tuple(names), tuple(ranges), negated)
