"""The terms of parametric rules: what follows `name::` and `%if`, as a tree of calls.

    >>> parse_term("bit_clear(3)", 0, "")
    Call(function='bit_clear', arguments=(Call(function='3', arguments=()),))

A number is written in decimal or after 0x, a range of bits as `[low:high]`, the rule's own value as `_`.
Tested by tests/frontends/test_lark.py.
"""

from __future__ import annotations

import re

from maskwright.errors import LarkSyntaxError, Span
from maskwright.frontends.lark.ast import Call

MAX_DEPTH = 20

_TOKEN = re.compile(r"\s*(?:(0[xX][0-9a-fA-F]+|[0-9]+)|([A-Za-z_][A-Za-z0-9_]*)(\s*\()?|(\[[0-9]*:[0-9]*\])|([,)]))")


def parse_term(text: str, start: int, source: str) -> Call:
    """Read one term, which stands at `start` of the source.

    Raises:
        LarkSyntaxError: It is malformed or nests too deep.
    """
    open_calls: list[tuple[str, list[Call]]] = [("", [])]
    at, end = 0, len(text.rstrip())
    comment = re.search(r"\s*(?://|#)", text)
    if comment:
        end = comment.start()

    def refuse(message: str) -> LarkSyntaxError:
        hint = "write a number, _, a range of bits [0:4], or a function such as bit_clear(3)"
        return LarkSyntaxError(message, source=source, span=Span(start + at, start + max(end, at + 1)), hint=hint)

    while at < end:
        token = _TOKEN.match(text, at, end)
        if token is None or len(open_calls) > MAX_DEPTH:
            raise refuse("a malformed parameter")
        number, word, opening, bits, mark = token.groups()
        if opening:
            open_calls.append((word, []))
        elif mark == ")":
            if len(open_calls) == 1:
                raise refuse("a ) without its (")
            function, arguments = open_calls.pop()
            open_calls[-1][1].append(Call(function, tuple(arguments)))
        elif mark is None:
            open_calls[-1][1].append(Call(number or word or bits))
        at = token.end()
    if len(open_calls) != 1 or len(open_calls[0][1]) != 1:
        raise refuse("a malformed parameter")
    return open_calls[0][1][0]
