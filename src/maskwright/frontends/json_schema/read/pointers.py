"""JSON pointers of places in a schema, kept as linked lists and written out only for messages and names.

Source: RFC 6901. Tested by tests/frontends/json_schema/read/test_schema_references.py.
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import unquote

from maskwright.frontends.json_schema.read.places import Path

_IN_JSON: Final = {None: "null", True: "true", False: "false"}


def pointer_of(path: Path) -> str:
    """Return the JSON pointer: `(((None, "items"), 0), "a/b")` is `/items/0/a~1b`."""
    tokens: list[str] = []
    while path is not None:
        path, token = path
        if type(token) is not str:
            token = str(token)
        elif "~" in token or "/" in token:
            token = token.replace("~", "~0").replace("/", "~1")
        tokens.append(token)
    tokens.append("")
    tokens.reverse()
    return "/".join(tokens)


def tokens_of(fragment: str) -> list[str]:
    """Return the tokens of a pointer written as a URI fragment: `/a~1b/%25` is `["a/b", "%"]`."""
    if "%" in fragment:
        fragment = unquote(fragment)
    tokens = fragment.split("/")[1:]
    if "~" in fragment:
        tokens = [token.replace("~1", "/").replace("~0", "~") for token in tokens]
    return tokens


def described(value: Any) -> str:
    """Return what a message says of a value: itself if it is a short scalar, else what it is."""
    if isinstance(value, (dict, list)):
        return f"an {'object' if isinstance(value, dict) else 'array'}"
    shown = _IN_JSON[value] if value is None or isinstance(value, bool) else repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."
