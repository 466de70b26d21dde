r"""Grammars of JSON texts held to ASCII, as `json.dumps` writes them by default.

    "é" | "\u00" ("e" | "E") "9"   →   "\u00e9" | "\u00" ("e" | "E") "9"

In a JSON text only strings hold characters beyond ASCII, and the front-end lets each of these be spelled by an escape,
wherever it is one of a set. So what is read as it is can be left out; but for whole characters in literals, which are
the values of an `enum` or the names of members and have no other spelling: for them their escapes are put. What a
complement excludes may stay as it is, as it is always excluded from something else.

Cost: one walk over the grammar.
Tested by tests/frontends/json_schema/text/test_schema_ascii.py.
"""

from __future__ import annotations

from functools import lru_cache
from json.encoder import encode_basestring_ascii
from typing import Final

from maskwright.ir import (
    OP_LITERAL,
    OP_SET,
    OP_SUBGRAMMAR,
    Expr,
    GrammarIR,
    Rule,
    byte_set,
    changed,
    literal,
    never,
    subgrammar,
)
from maskwright.ir.subgrammars import Subgrammar

_ASCII: Final = (1 << 0x80) - 1


def in_ascii(grammar: GrammarIR, done: tuple[Rule, ...] = ()) -> GrammarIR:
    """Return the grammar of the same values in ASCII. Its first rules are `done` instead of its own, if given."""
    known: dict[int, Expr] = {}
    own = [Rule(rule.name, changed(rule.body, _respelled, known)) for rule in grammar.rules[len(done) :]]
    return GrammarIR(done + tuple(own), grammar.root)


def _respelled(expr: Expr) -> Expr | None:
    op = expr[0]
    if op == OP_SET:
        return byte_set(expr[1] & _ASCII)
    if op == OP_LITERAL:
        return expr if expr[1].isascii() else _escaped(expr[1])
    return _of_subgrammar(expr[1]) if op == OP_SUBGRAMMAR else None


def _escaped(data: bytes) -> Expr:
    """A literal with escapes; nothing, if it holds parts of characters, whose other parts may be many."""
    try:
        string = data.decode()
    except UnicodeDecodeError:
        return never()
    return literal("".join([c if c.isascii() else encode_basestring_ascii(c)[1:-1] for c in string]).encode())


@lru_cache(maxsize=1024)
def _of_subgrammar(leaf: Subgrammar) -> Expr:
    return subgrammar(in_ascii(leaf.ir))
