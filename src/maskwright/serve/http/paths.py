"""Where there is nothing: what a client that asks for it meant, by the paths that there are.

    hint_for("/chat/completions", PATHS)     'did you mean /v1/chat/completions? A base URL ends in /v1'

Most of these come from a base URL that is not quite right, or from a proxy that leaves its prefix in the path.
Tested by tests/serve/http/test_paths.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from maskwright.support.near_names import nearest

_BASE: Final = "/v1"
_SLASHES: Final = re.compile("/{2,}")


def hint_for(path: str, known: Sequence[str]) -> str:
    """Return which path was meant, or which there are.

    >>> hint_for("/v1/models/", ["/v1/models"])
    'did you mean /v1/models?'
    >>> hint_for("/llm/v1/models", ["/v1/models"])
    "did you mean /v1/models? A proxy in front of the server must remove '/llm'"
    """
    plain = _SLASHES.sub("/", path).rstrip("/")
    for each in known:
        if plain == each:
            return f"did you mean {each}?"
        if f"{_BASE}{plain}" == each:
            return f"did you mean {each}? A base URL ends in {_BASE}"
        if plain.endswith(each):
            return f"did you mean {each}? {_too_much(plain.removesuffix(each), each)}"
        if plain.startswith(f"{each}/"):
            return f"what {each} has answered is not kept"
    near = nearest(plain, known, 0.75)
    return f"did you mean {near}?" if near else f"the endpoints are {', '.join(known)}"


def _too_much(prefix: str, path: str) -> str:
    if prefix == _BASE:
        return f"The base URL ends in {_BASE}, once" if path.startswith(_BASE) else f"It is not below {_BASE}"
    return f"A proxy in front of the server must remove {prefix[:60]!r}"
