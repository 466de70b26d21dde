"""Schemas known by content: one object each, with all that was made of it.

    kept({"type": "object", …})    the `KeptSchema` of such data, the same one each time

It owns its data in the form of their content, so a caller may change what he passed; most are never read again, as what
is evidently right is compiled when an output comes to it (arguments.py). Data that are not plain are not kept: each
time they are a `KeptSchema` of their own.
Tested by tests/structural_tag/test_snippets.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from maskwright._kernel import content_of, data_of
from maskwright.frontends.json_schema.normalise.evident import Evident, evident
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
        evident: what is evident of it, if it can be compiled with any options.
    """

    __slots__ = ("_data", "_snippets", "content", "evident")

    def __init__(self, data: Any, content: bytes | None) -> None:
        self.content = content
        self.evident: Evident | None = None if content is None else evident(content)
        self._data = data if content is None else None
        self._snippets: dict[Hashable, Snippet] = {}

    @property
    def data(self) -> Any:
        """The schema, read anew from its content."""
        return self._data if self.content is None else data_of(self.content)

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
    content = content_of(schema)
    if content is None:
        return KeptSchema(schema, None)
    return SCHEMAS.find(content) or SCHEMAS.keep(content, KeptSchema(schema, content), len(content))
