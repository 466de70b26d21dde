"""Compiled grammars in a `DiskCache`, by everything that matters for what they are.

    key = kept.key(("regex", "a+", ""))     None: such a structure is not kept on disk
    kept.load(key)                          its bytes and notes, or None
    kept.store(key, ir, notes)

A key is a digest of the structure with its options, of the tokenizer's fingerprint, of the format's version and of the
code that compiles (disk_cache.py). An entry says in its notes which key it was stored under, so that a file that was
renamed counts as none. The source is left out: the compiler has the structure at hand.
Grammars of which parts are compiled when they are first needed are not kept: they are quick to compile, and would be
compiled as a whole to be written.
Invariant: structures with the same key are equal, and of equal types.
Tested by tests/saved/test_kept_grammars.py.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Hashable
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from maskwright.compiling.cache import renew_in_child
from maskwright.compiling.disk_cache import DiskCache, code_digest
from maskwright.errors import MaskwrightError
from maskwright.ir import GrammarIR
from maskwright.ir.portable import VERSION
from maskwright.saved_grammars import Notes, read_notes, written
from maskwright.tokenizer import TokenizerInfo

_T = TypeVar("_T")


class KeptGrammars:
    """What a compiler keeps on disk. Thread-safe.

    Raises:
        OptionError: The directory is not one, and cannot be made.
    """

    def __init__(self, directory: str | os.PathLike[str], limit_bytes: int, info: TokenizerInfo) -> None:
        self._cache = DiskCache(directory, limit_bytes)
        self._tokenizer = info.fingerprint
        self._context = b"".join((bytes((VERSION,)), code_digest(), self._tokenizer.encode()))
        self.hits = self.misses = 0
        self.forget()
        renew_in_child(self)

    def forget(self) -> None:
        self._lock = threading.Lock()

    def key(self, structure: Hashable) -> str | None:
        """Return the name of a structure's entry; None if the structure cannot be told apart from others by content."""
        if structure is None:
            return None
        parts: list[bytes] = [self._context]
        try:
            _add(structure, parts)
        except TypeError:
            return None
        return hashlib.sha256(b"".join(parts)).hexdigest()

    def load(self, key: str, make: Callable[[bytes, Notes], _T]) -> _T | None:
        """Return what `make` makes of an entry; None if there is none. One that is no good is removed."""
        made = None
        data = self._cache.load(key)
        if data is not None:
            try:
                notes = read_notes(data)
                if notes.key == key and notes.tokenizer == self._tokenizer:
                    made = make(data, notes)
            except MaskwrightError:
                pass
            if made is None:
                self._cache.remove(key)
        with self._lock:
            self.hits += made is not None
            self.misses += made is None
        return made

    def store(self, key: str, ir: GrammarIR, notes: Notes) -> None:
        """Keep a grammar without deferred parts, unless it is too large."""
        try:
            data = written(ir, replace(notes, source=None, tokenizer=self._tokenizer, key=key))
        except MaskwrightError:
            return
        self._cache.store(key, data)


def _add(value: Any, out: list[bytes]) -> None:
    """Append bytes that only equal values of equal types have.

    Raises:
        TypeError: There is more to the value than its content.
    """
    if isinstance(value, tuple):
        out.append(b"t%d:" % len(value))
        for each in value:
            _add(each, out)
    elif is_dataclass(value) and not isinstance(value, type):
        out.append(b"d%d:" % len(fields(value)))
        _add(type(value).__qualname__, out)
        for field in fields(value):
            if field.compare:
                _add(getattr(value, field.name), out)
    elif type(value) is bytes:
        out += (b"b%d:" % len(value), value)
    elif type(value) is str:
        text = value.encode("utf-8", "surrogatepass")
        out += (b"s%d:" % len(text), text)
    elif value is None or type(value) in (bool, int, float):
        text = repr(value).encode()
        out += (b"%d:" % len(text), text)
    else:
        raise TypeError
