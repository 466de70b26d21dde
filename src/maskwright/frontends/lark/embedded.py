"""Grammars within a Lark grammar: those that the caller supplied, and those written in other notations.

    @name                                  a grammar of `grammars`, included once
    %json {"type": "integer"}              a JSON Schema
    %lark { start: "a" }                   another Lark grammar, whose `start` it is
    %regex {"substring_words": "a b c"}    any substring of a text, by chunks, words or characters

All become rules of the grammar around them. What they were written as is noted, for the warnings.
Tested by tests/frontends/test_lark.py, tests/frontends/test_lark_peers.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from maskwright.errors import Span
from maskwright.frontends.lark import ast
from maskwright.frontends.lark.resolve import Scope
from maskwright.frontends.substrings import substrings, words
from maskwright.frontends.warnings.notes import Notes
from maskwright.ir import OP_REF, Expr, GrammarIR, IRBuilder
from maskwright.support.entrances import PASS_GRAMMARS


class Embedded:
    """The grammars within one grammar.

    Args:
        builder: Where their rules go.
        grammars: Those that the caller supplied, by name.
        read_schema: Makes the grammar of a JSON Schema, given where it stands in which text.
        read_lark: Makes the grammar of a Lark grammar.
        notes: Filled, for the warnings.
    """

    def __init__(
        self,
        builder: IRBuilder,
        grammars: Mapping[str, GrammarIR],
        read_schema: Callable[[object, str, Span], GrammarIR],
        read_lark: Callable[[ast.Document], GrammarIR],
        notes: Notes,
    ) -> None:
        self._builder, self._grammars, self._notes = builder, grammars, notes
        self._read_schema, self._read_lark = read_schema, read_lark
        self._supplied: dict[str, Expr] = {}

    def supplied(self, name: str, span: Span, scope: Scope) -> Expr:
        """A grammar that the caller supplied by this name."""
        known = self._supplied.get(name)
        if known is not None:
            return known
        grammar = self._grammars.get(name)
        if grammar is None:
            names = ", ".join(list(self._grammars)[:10])
            hint = f"there are: {names}" if names else PASS_GRAMMARS
            raise scope.error(f"no grammar {name[:60]!r} was supplied", span, hint)
        reference = self._supplied[name] = self._builder.include(grammar)
        return reference

    def side(self, node: ast.Side, scope: Scope) -> Expr:
        """`@name`."""
        return self._noted(self.supplied(node.name, node.span, scope), f"@{node.name}")

    def inline(self, node: ast.Embedded, scope: Scope) -> Expr:
        """`%json`, `%lark` or `%regex`."""
        if node.kind == "json":
            made = self._builder.include(self._read_schema(node.value, scope.source, node.span))
        elif node.kind == "lark":
            made = self._builder.include(self._read_lark(node.value))
        else:
            made = substrings(_chunks(node, scope), self._builder)
        return self._noted(made, f"%{node.kind}")

    def _noted(self, reference: Expr, written: str) -> Expr:
        if reference[0] == OP_REF:
            self._notes.embedded[reference[1]] = written
        return reference


def _chunks(node: ast.Embedded, scope: Scope) -> Sequence[str]:
    """What the substrings of a `%regex` are made of."""
    is_single = isinstance(node.value, dict) and len(node.value) == 1
    kind, value = next(iter(node.value.items())) if is_single else ("", None)
    chunks: Sequence[str] | None = None
    if kind == "substring_chunks" and isinstance(value, list) and all(isinstance(chunk, str) for chunk in value):
        chunks = value
    elif kind in ("substring_words", "substring_chars") and isinstance(value, str):
        chunks = words(value) if kind == "substring_words" else value
    if chunks is None:
        hint = 'write {"substring_chunks": ["…", "…"]}, {"substring_words": "…"} or {"substring_chars": "…"}'
        raise scope.error("malformed %regex", node.span, hint)
    if not _is_encodable(chunks):
        raise scope.error("a lone surrogate is not a character", node.span, "write a pair: \\uHHHH\\uHHHH")
    return chunks


def _is_encodable(chunks: Sequence[str]) -> bool:
    try:
        "".join(chunks).encode()
    except UnicodeEncodeError:
        return False
    return True
