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

from maskwright.errors import UnsupportedSchemaError
from maskwright.ir import (
    OP_LITERAL,
    OP_REMEMBER,
    OP_SET,
    OP_SUBGRAMMAR,
    Expr,
    GrammarIR,
    Rule,
    byte_set,
    changed,
    literal,
    never,
    postorder,
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
    if op == OP_REMEMBER and not _is_ascii(expr[1]):
        raise UnsupportedSchemaError(
            "the text of a group that is referred back to may hold characters beyond ASCII",
            keyword="pattern",
            hint="allow only characters of ASCII in the group, such as [ -~], or leave out ensure_ascii",
        )
    return _of_subgrammar(expr[1]) if op == OP_SUBGRAMMAR else None


def _is_ascii(root: Expr) -> bool:
    """Whether all that a regular expression matches is ASCII. It has one spelling, so no other can be put."""
    return all(
        expr[1].isascii() if expr[0] == OP_LITERAL else expr[0] != OP_SET or not expr[1] & ~_ASCII
        for expr in postorder(root)
    )


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
