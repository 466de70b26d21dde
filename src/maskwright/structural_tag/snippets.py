"""Grammars made before, put into new ones: how one more tool costs only what is new.

A `Snippet` is the IR of one argument schema, kept by content: a prelude of rules that many schemas share (the free JSON
values and white space of one layout), and its own. Placing it gives its rules indices in the new grammar; preludes are
placed once. A snippet that comes to stand where it stood before is taken as it was, without a look at its expressions,
and as the kernel interns groups of rules by structure, its automata and masks are those of before too.

Invariants: what is kept never changes, and threads may place the same snippet; the cache is bounded, the least recently
used going first.
Cost: about two microseconds for a snippet that is known.
Tested by tests/structural_tag/test_snippets.py.
"""

from __future__ import annotations

import marshal
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

from maskwright.ir import Expr, GrammarIR, IRBuilder, Rule, ref, refers_beyond, with_references

if TYPE_CHECKING:
    from maskwright.frontends.json_schema import Finding

_MAX_SNIPPETS = 4096
_MAX_KEY_BYTES = 4 << 20  # of schemas; what is made of one takes some ten to fifty times as much


class Snippet:
    """A grammar that starts with the rules of `prelude`, known by identity, and what was reported of it."""

    def __init__(self, ir: GrammarIR, prelude: tuple[Rule, ...] = (), report: tuple[Finding, ...] = ()) -> None:
        self.prelude = prelude
        self.own = ir.rules[len(prelude) :]
        self.root = ir.root - len(prelude)  # negative: a rule of the prelude
        self.report = report
        self._needs = len(self.own) > 1 or any(refers_beyond(rule.body, len(prelude)) for rule in self.own)
        # Where the prelude and the own rules stood last, and the own bodies as they were there.
        self._placed = (0, len(prelude) if self._needs else -1, [rule.body for rule in self.own])

    def bodies(self, prelude_at: int, own_at: int) -> list[Expr]:
        """Return the bodies of the own rules where the first rules of the two parts have these indices."""
        if not self._needs:
            own_at = -1  # wherever they stand, they are the same
        placed = self._placed  # taken once, for another thread may place it elsewhere meanwhile
        if placed[:2] != (prelude_at, own_at):
            count = len(self.prelude)
            indices = [*range(prelude_at, prelude_at + count), *range(own_at, own_at + len(self.own))]
            moved: dict[int, Expr] = {}
            new = [ref(i) for i in indices]
            placed = (prelude_at, own_at, [with_references(rule.body, new, moved) for rule in self.own])
            self._placed = placed
        return placed[2]


class Placing:
    """Puts snippets into one grammar."""

    def __init__(self, builder: IRBuilder) -> None:
        self._builder = builder
        self._preludes: dict[int, int] = {}  # by identity: the index of the first rule
        self._kept: list[Any] = []  # keeps preludes alive, for they are known by identity

    def place(self, snippet: Snippet, name: str) -> Expr:
        """Return the reference to a snippet's root, which is named `name`."""
        prelude_at = self._preludes.get(id(snippet.prelude))
        if prelude_at is None:
            prelude_at = self._place_prelude(snippet.prelude)
        # Names of own rules are told apart here: the builder would number equal ones, each time from the first on.
        places = [
            self._builder.declare(name if i == snippet.root else f"{name} {rule.name}")
            for i, rule in enumerate(snippet.own)
        ]
        if places:
            for place, body in zip(places, snippet.bodies(prelude_at, places[0][1]), strict=True):
                self._builder.define(place, body)
        return places[snippet.root] if snippet.root >= 0 else ref(prelude_at + len(snippet.prelude) + snippet.root)

    def _place_prelude(self, prelude: tuple[Rule, ...]) -> int:
        self._kept.append(prelude)
        places = [self._builder.declare(rule.name) for rule in prelude]
        first: int = places[0][1] if places else 0
        moved: dict[int, Expr] = {}
        for place, rule in zip(places, prelude, strict=True):
            self._builder.define(place, with_references(rule.body, places, moved) if first else rule.body)
        self._preludes[id(prelude)] = first
        return first


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
