"""Grammars that a vocabulary cannot write, as no token has a byte that every output needs.

    check_spellable(ir, info)    raises for JSON objects, where the vocabulary is T5's, which has no braces

Without it, the first mask would be empty, and nobody would say why. A byte that only some outputs need is no error:
the masks allow what leads to it, and are empty there. Seen by leaving out of the grammar what cannot be written.

Invariants: an error is certain; sets of substrings and parts that are compiled later are taken as they are.
Cost: nothing where the vocabulary has all bytes, as most have; else a copy of the grammar, compiled.
Tested by tests/report/test_missing_bytes.py.
"""

from __future__ import annotations

from maskwright.errors import LimitError, UnsatisfiableError
from maskwright.ir import (
    OP_LITERAL,
    OP_SET,
    Expr,
    GrammarIR,
    Rule,
    byte_set,
    changed,
    never,
    postorder,
    spelled_out,
)
from maskwright.ir.emptiness import admits_nothing
from maskwright.tokenizer import TokenizerInfo

_MOST_NAMED = 8
_NO_TEXT = 256  # all bytes: a vocabulary without texts is for accepting strings


def check_spellable(grammar: GrammarIR, info: TokenizerInfo) -> None:
    """Refuse a grammar none of whose outputs the vocabulary can write. It admits some, whatever the tokenizer.

    Raises:
        UnsatisfiableError: A byte is in no token, and every output needs it, or one of several such bytes.
    """
    if not info.missing_bytes or len(info.missing_bytes) == _NO_TEXT:
        return
    spelled = spelled_out(grammar)
    if not _needs_one_of(spelled, info.missing_bytes):
        return
    in_literals, in_sets = _bytes_of(spelled, info.missing_bytes)
    needed = _needed(spelled, in_literals)
    named = _named(needed or in_literals or in_sets)
    raise UnsatisfiableError(
        f"the vocabulary cannot write any output: none of its tokens has {named}, "
        f"{'which' if needed else 'one of which'} every output needs",
        hint="use a tokenizer that can spell every text, as most can, byte by byte; add tokens to one of from_vocab",
    )


def _needed(grammar: GrammarIR, among: list[int]) -> list[int]:
    """Those of some bytes that every output needs: where outputs do without several, they do without each."""
    found: list[int] = []
    waiting = [among]
    while waiting and len(found) < _MOST_NAMED:
        some = waiting.pop()
        if some and _needs_one_of(grammar, bytes(some)):
            half = len(some) // 2
            if half:
                waiting += [some[half:], some[:half]]
            else:
                found += some
    return found


def _needs_one_of(grammar: GrammarIR, missing: bytes) -> bool:
    """Whether the grammar admits nothing without these bytes."""
    known: dict[int, Expr] = {}
    left = ~sum(1 << byte for byte in missing)

    def without(expr: Expr) -> Expr | None:
        if expr[0] == OP_SET:
            return byte_set(expr[1] & left)
        return never() if expr[0] == OP_LITERAL and not set(missing).isdisjoint(expr[1]) else None

    rules = [Rule(rule.name, changed(rule.body, without, known)) for rule in grammar.rules]
    try:
        return admits_nothing(grammar._replace(rules=tuple(rules)))
    except LimitError:  # not known, so not certain
        return False


def _bytes_of(grammar: GrammarIR, among: bytes) -> tuple[list[int], list[int]]:
    """Those of some bytes that stand in literals, and those that stand in sets."""
    parts = [part for rule in grammar.rules for part in postorder(rule.body)]
    texts = set().union(*(part[1] for part in parts if part[0] == OP_LITERAL))
    mask = 0
    for part in parts:
        mask |= part[1] if part[0] == OP_SET else 0
    return [byte for byte in among if byte in texts], [byte for byte in among if mask >> byte & 1]


def _named(values: list[int]) -> str:
    """Bytes as a reader would write them.

    >>> _named([0x7B, 0x7D]), _named([0x0A])
    ("'{' or '}'", 'byte 0x0a')
    """
    names = [repr(chr(byte)) if 0x21 <= byte < 0x7F else f"byte 0x{byte:02x}" for byte in values[:_MOST_NAMED]]
    if len(values) > _MOST_NAMED:
        return ", ".join([*names, f"or {len(values) - _MOST_NAMED} other bytes"])
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
