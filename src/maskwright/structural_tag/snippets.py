"""Argument schemas made before, kept by content: how one more tool costs only what is new.

A `Snippet` is the grammar of one argument schema as a leaf (maskwright.ir.subgrammars), which stands in any grammar as
it is, and which the kernel knows again without a look at it; and what was reported of the schema.

Invariants: what is kept never changes; the cache is bounded, the least recently used going first.
Cost: about two microseconds for a snippet that is known.
Tested by tests/structural_tag/test_snippets.py.
"""

from __future__ import annotations

import marshal
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, NamedTuple

from maskwright.ir import Expr

if TYPE_CHECKING:
    from maskwright.frontends.json_schema import Finding

_MAX_SNIPPETS = 4096
_MAX_KEY_BYTES = 4 << 20  # of schemas; what is made of one takes some ten to fifty times as much


class Snippet(NamedTuple):
    """A grammar as an expression, and what was reported of it."""

    expr: Expr
    report: tuple[Finding, ...] = ()


class SnippetCache:
    """Snippets by content. Thread-safe."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[bytes, Hashable], Snippet] = OrderedDict()
        self._key_bytes = 0
        self._lock = threading.Lock()

    def get(self, schema: Any, options: Hashable, make: Callable[[], Snippet]) -> Snippet:
        """Return the snippet of a schema under some options; `make` makes it if it is new."""
        try:
            # Format 2 spells equal data alike; later ones depend on which parts are shared.
            key = (marshal.dumps(schema, 2), options)
        except ValueError:  # not plain data, or too deep: `make` says so
            return make()
        with self._lock:
            found = self._known.get(key)
            if found is not None:
                self._known.move_to_end(key)
                return found
        found = make()
        with self._lock:
            if key not in self._known:
                self._known[key] = found
                self._key_bytes += len(key[0])
            while len(self._known) > _MAX_SNIPPETS or self._key_bytes > _MAX_KEY_BYTES:
                (dropped, _), _ = self._known.popitem(last=False)
                self._key_bytes -= len(dropped)
        return found

    def clear(self) -> None:
        with self._lock:
            self._known.clear()
            self._key_bytes = 0


SCHEMAS = SnippetCache()
