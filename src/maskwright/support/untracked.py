"""What is kept for long, taken off the list of Python's cyclic garbage collector.

    untrack(kept)    tuples, dicts, frozen sets and objects of `acyclic` classes in it: a full collection no longer goes
                     through them

It returns how many bytes they take, by which caches count: what is off the list was counted where it was kept first.

What is kept of the tools that a server sees is some hundred thousand objects, and a full collection, which stops
everything, took 100 ms to go through them. They are made from their parts, so no cycle goes through them.

Invariant: no object of an `acyclic` class is ever in a cycle; it would never be freed.
Tested by tests/support/test_untracked.py.
"""

from __future__ import annotations

from functools import partial
from weakref import ref as weak

from maskwright import _kernel

_kinds: tuple[type, ...] = (partial, weak)


def acyclic(kind: type) -> None:
    """Declare that no object of a class is ever in a cycle."""
    global _kinds
    _kinds += (kind,)


def untrack(kept: object, *kinds: type) -> int:
    """Take an object off the collector's list, and what it leads to through tuples, dicts, frozen sets and `acyclic`
    classes; return about how many bytes these have, with the texts in them.

    A dict must be passed again when something was put in it.

    Args:
        kept: The object.
        kinds: Other classes whose objects in it are in no cycle.
    """
    return _kernel.untrack(kept, _kinds + kinds)
