"""Schemas as formats hold them: by content, so that a caller who changes what he passed changes no format.

    schema = OwnSchema({"type": "object", …})
    schema.content       the data as bytes, by which equal schemas are known; None if they are not plain
    schema.data          the schema, read anew from its content each time

Most schemas of tools are never read again: what cannot fail is compiled when an output comes to it (snippets.py). Data
that are not plain stay the caller's.
Tested by tests/structural_tag/formats/test_schemas.py.
"""

from __future__ import annotations

from typing import Any

from maskwright._kernel import canonical_bytes, from_canonical_bytes
from maskwright.support.untracked import acyclic


class OwnSchema:
    """See the module's header."""

    __slots__ = ("_data", "content")

    def __init__(self, data: Any) -> None:
        self.content: bytes | None = canonical_bytes(data)
        self._data = data if self.content is None else None

    @property
    def data(self) -> Any:
        return self._data if self.content is None else from_canonical_bytes(self.content)


acyclic(OwnSchema)
