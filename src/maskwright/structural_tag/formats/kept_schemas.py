"""Schemas known by content: one object each, with all that was made of it.

    kept({"type": "object", …})    the `KeptSchema` of such data, the same one each time

It owns its data in the form of their content, so a caller may change what he passed; most are never read again, as what
is evidently right is compiled when an output comes to it (arguments.py). Data that are not plain are not kept: each
time they are a `KeptSchema` of their own.
Tested by tests/structural_tag/arguments/test_snippets.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from maskwright._kernel import canonical_bytes, from_canonical_bytes
from maskwright.frontends.json_schema.normalise.deferral import Deferral, deferral_of
from maskwright.structural_tag.formats.content_cache import ContentCache
from maskwright.support.untracked import acyclic, untrack

if TYPE_CHECKING:
    from collections.abc import Hashable

    from maskwright.structural_tag.arguments.snippets import Snippet

_MAX_SNIPPETS: Final = 16  # of one schema: styles and options


class KeptSchema:
    """See the module's header.

    Attributes:
        content: the data as bytes, by which it is known; None if they are not plain.
        deferral: what is known of it if compiling it can be deferred, whatever the options; else None.
    """

    __slots__ = ("_data", "_snippets", "content", "deferral")

    def __init__(self, data: Any, content: bytes | None) -> None:
        self.content = content
        self.deferral: Deferral | None = None if content is None else deferral_of(content)
        self._data = data if content is None else None
        self._snippets: dict[Hashable, Snippet] = {}

    @property
    def data(self) -> Any:
        """The schema, read anew from its content."""
        return self._data if self.content is None else from_canonical_bytes(self.content)

    def find(self, choices: Hashable) -> Snippet | None:
        """Return what was made of it with these choices."""
        return self._snippets.get(choices)

    def keep(self, choices: Hashable, made: Snippet) -> None:
        if len(self._snippets) >= _MAX_SNIPPETS:
            self._snippets = {}
        self._snippets[choices] = made
        untrack(self._snippets)


acyclic(KeptSchema)

SchemaData: TypeAlias = "dict[str, Any] | bool | KeptSchema"
SCHEMAS: Final[ContentCache[KeptSchema]] = ContentCache()


def kept(schema: SchemaData) -> KeptSchema:
    """Return what is known of a schema."""
    if isinstance(schema, KeptSchema):
        return schema
    content = canonical_bytes(schema)
    if content is None:
        return KeptSchema(schema, None)
    return SCHEMAS.find(content) or SCHEMAS.keep(content, KeptSchema(schema, content), len(content))
