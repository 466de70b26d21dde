"""What a JSON text says, so that texts can be compared by that: the judge of cpp/kernel/recognizer/value_identity.cpp.

    >>> identity(b'{"b": 1.0, "a": [true') == identity(b'{"a":[true],"b":1}')
    True

Read with Python's `json`, numbers as decimals; brackets that are open at the end are closed.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')


def identity(text: bytes) -> Any:
    """Equal for equal values only. A text that is not JSON stands for itself."""
    outside = _STRING.sub(b"", text)
    open_brackets: list[bytes] = []
    for bracket in re.findall(rb"[\[\]{}]", outside):
        if bracket in b"[{":
            open_brackets.append({b"[": b"]", b"{": b"}"}[bracket])
        elif open_brackets:
            open_brackets.pop()
    try:
        value = json.loads(text + b"".join(reversed(open_brackets)), parse_int=Decimal, parse_float=Decimal)
    except ValueError:
        return text
    return _hashable(value)


def _hashable(value: Any) -> Any:
    if isinstance(value, dict):
        return ("object", *sorted((name, _hashable(member)) for name, member in value.items()))
    if isinstance(value, list):
        return ("array", *map(_hashable, value))
    return (type(value).__name__, value)
