"""Grammars made before, put into new ones: how one more tool costs only what is new.

A `Snippet` is the IR of one argument schema, kept by content. Placing it gives its rules indices in the new grammar.
Rules that many schemas share (the free JSON values and white space of one layout) are the same objects in each, and are
placed once. A snippet that is placed where it was placed before is taken as it was, without looking at its expressions;
and as the kernel interns groups of rules by structure, its automata and masks are those of before too.

Invariants: what is kept never changes; the cache is bounded, the least recently used going first.
Tested by tests/structural_tag/test_snippets.py.
"""

from __future__ import annotations

import marshal
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

from maskwright.ir import Expr, GrammarIR, IRBuilder, Rule, ref, with_references

if TYPE_CHECKING:
    from maskwright.frontends.json_schema import Finding

_MAX_SNIPPETS = 4096


class Snippet:
    """The IR of one grammar, and where its rules stood when it was placed last."""

    def __init__(self, ir: GrammarIR, report: tuple[Finding, ...] = ()) -> None:
        self.ir = ir
        self.report = report
        self._placed: tuple[list[int], list[Expr]] = ([], [])

    def bodies(self, indices: list[int], own: list[int]) -> list[Expr]:
        """Return the bodies of the rules `own`, rule i being at `indices[i]` in the new grammar."""
        known, bodies = self._placed
        if known != indices or len(bodies) != len(own):
            if indices == list(range(len(indices))):
                bodies = [self.ir.rules[i].body for i in own]
            else:
                references = [ref(i) for i in indices]
                moved: dict[int, Expr] = {}
                bodies = [with_references(self.ir.rules[i].body, references, moved) for i in own]
            self._placed = (indices, bodies)
        return bodies


class Placing:
    """Puts snippets into one grammar."""

    def __init__(self, builder: IRBuilder) -> None:
        self._builder = builder
        self._shared: dict[int, int] = {}  # by the identity of a rule: its index
        self._kept: list[Snippet] = []  # keeps the rules alive, for they are known by identity

    def place(self, snippet: Snippet, name: str) -> Expr:
        """Return the reference to a snippet's root, named `name`."""
        rules, root = snippet.ir.rules, snippet.ir.root
        indices, own, references = [], [], []
        for i, rule in enumerate(rules):
            index = self._shared.get(id(rule))
            if index is None:
                reference = self._builder.declare(_name(rule, i == root, name))
                index = self._shared[id(rule)] = reference[1]
                own.append(i)
                references.append(reference)
            indices.append(index)
        for reference, body in zip(references, snippet.bodies(indices, own), strict=True):
            self._builder.define(reference, body)
        self._kept.append(snippet)
        return ref(indices[root])


def _name(rule: Rule, is_root: bool, name: str) -> str:
    return name if is_root else rule.name


class SnippetCache:
    """Snippets by content. Thread-safe."""

    def __init__(self) -> None:
        self._known: OrderedDict[Hashable, Snippet] = OrderedDict()
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
            self._known[key] = found
            if len(self._known) > _MAX_SNIPPETS:
                self._known.popitem(last=False)
        return found

    def clear(self) -> None:
        with self._lock:
            self._known.clear()


SCHEMAS = SnippetCache()
