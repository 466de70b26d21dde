"""`maskwright._kernel` where the front-ends run in the browser: what they ask of it, without the extension module.

The kernel is there as WebAssembly, so a grammar is compiled by handing its bytes to `compile_file`, which the worker
supplies (web/maskwright/src/frontends.worker.js). There is one thread, and what is compiled is not kept for long: so
turns and the garbage collector need nothing. No schema is deferred: all rules are written to the grammar's file anyway.
Tested by web/tests/frontends.test.js.
"""

from __future__ import annotations

import marshal
from typing import Any

from maskwright import errors

_MAX_BYTES = 16 << 20
_MAX_DEPTH = 1_000
_MADE_OF_A_BYTE = 10  # of a text that front-ends remember
_SCALARS = (str, int, float, bool, type(None))


def compile_file(file: bytes) -> str | None:
    """Compile a grammar's bytes; return "Name: message" of the error if that fails. The worker puts its own here."""
    raise NotImplementedError


class Vocabulary:
    """Stands for that of ir/emptiness.py."""

    def __init__(self, token_bytes: object, special: object, stops: object, vocab_size: int) -> None: ...


class Matcher: ...


def compile(vocabulary: Vocabulary, rules: tuple[Any, ...], root: int, memory_budget_bytes: int) -> None:
    """Compile a grammar for a vocabulary that can spell everything: whether it can be."""
    from maskwright.ir.grammar import GrammarIR  # which imports this module
    from maskwright.ir.portable import to_bytes

    failed = compile_file(to_bytes(GrammarIR(rules, root)))
    if failed is not None:
        name, _, message = failed.partition(": ")
        if name == "LimitError":
            raise errors.LimitError(message, limit="work")
        raise getattr(errors, name, errors.GrammarError)(message)


def canonical_bytes(data: object) -> bytes | None:
    """Data of JSON's types, and tuples of them, as bytes that only equal data have; None for any other data."""
    pending = [(data, 0)]
    while pending:
        each, depth = pending.pop()
        if type(each) in _SCALARS:
            continue
        if depth >= _MAX_DEPTH or type(each) not in (dict, list, tuple):
            return None
        if type(each) is dict:
            if any(type(key) is not str for key in each):
                return None
            pending += [(value, depth + 1) for value in each.values()]
        else:
            pending += [(value, depth + 1) for value in each]
    content = marshal.dumps(data, 0)
    return content if len(content) <= _MAX_BYTES else None


def from_canonical_bytes(content: bytes) -> Any:
    """The data that have this content, made anew."""
    return marshal.loads(content)


def can_defer(*_: object) -> None:
    """No schema's compilation is deferred."""


def interrupt_checkpoint() -> None:
    """There is no other thread."""


def begin_compiling() -> None: ...


def end_compiling() -> None: ...


def renew_compiling_in_child() -> None: ...


def untrack(root: object, kinds: tuple[type, ...]) -> int:
    """Return about how many bytes are made of the texts in a tuple, or in the tuple that it begins with."""
    parts = root[0] if isinstance(root, tuple) and root and isinstance(root[0], tuple) else root
    texts = parts if isinstance(parts, tuple) else (parts,)
    return _MADE_OF_A_BYTE * sum(len(text) for text in texts if isinstance(text, (str, bytes)))
