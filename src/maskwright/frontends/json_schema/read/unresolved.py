"""What to write instead of a reference that leads nowhere.

    hint_for("#/definitions/Pet", {"$defs": {"Pet": {}}})           did you mean '#/$defs/Pet'?
    hint_for("Pet", {"$defs": {"pet": {}}})                         did you mean '#/$defs/pet'?
    hint_for("#/components/schemas/Pet", {})                        add the "components" of the OpenAPI document, …

Tested by tests/frontends/json_schema/read/test_schema_unresolved.py.
"""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import unquote

from maskwright.frontends.json_schema.read.pointers import pointer_of
from maskwright.support.near_names import nearest

_FOLDERS: Final = (("$defs",), ("definitions",), ("components", "schemas"))
_MOST: Final = 2_000  # names that are compared
_NAME: Final = re.compile(r"[^/#?]*\Z")
_EXTENSION: Final = re.compile(r"\.(?:json|ya?ml)\Z")


def hint_for(uri: str, root: Any) -> str | None:
    """Return what was probably meant by a reference in a document; None if nothing there is like it."""
    pointers = _definitions(root)
    name = _EXTENSION.sub("", unquote(_NAME.findall(uri)[0]).replace("~1", "/").replace("~0", "~"))
    is_near = name not in pointers and "://" not in uri
    meant = nearest(name, list(pointers)[:_MOST]) if is_near else name
    if meant in pointers:
        return f"did you mean {pointers[meant]!r}?"
    if uri.startswith("#/components/"):
        return 'add the "components" of the OpenAPI document to the schema'
    if uri.startswith("#") and not uri.startswith("#/"):
        return f"no schema has the anchor {uri[1:61]!r}: add it, or write a pointer, such as '#/$defs/name'"
    return None


def _definitions(root: Any) -> dict[str, str]:
    """The pointers to the definitions of a document, by their names."""
    found: dict[str, str] = {}
    for folder in _FOLDERS:
        place = root
        for token in folder:
            place = place.get(token) if type(place) is dict else None
        for name in place if type(place) is dict else ():
            found.setdefault(name, f"#/{'/'.join(folder)}{pointer_of((None, name))}")
    return found
