r"""Terminals: from the tree to regular expressions, as regex trees as long as possible, then as IR.

A terminal of literals, ranges, patterns and other terminals is one regex, as in Lark, so an assertion of one part sees
the others: `/.*?/ /(?<!\\)/ "\""`. Where `&` or `~` come in, the parts are lowered and joined in the IR.

    >>> from maskwright.frontends.lark.parser import parse
    >>> from maskwright.frontends.lark.resolve import resolve
    >>> scope = resolve(parse('T: "a".."c"+ & ~"b"\nstart: T'), {})
    >>> Terminals().named(scope.entries["T"], scope.entries["T"].span, scope).dump()
    '[a-c]+ & ~"b"'

A terminal that ends in a non-greedy repetition ends where it first can: `/".*?"/` has no quote inside. What follows
the last such repetition may be of fixed length; from the first part of variable length on, it is free again.
Otherwise a terminal matches every text of its language, not only the longest there is.
Tested by tests/frontends/test_lark_peers.py, tests/corpus/lark.toml.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from maskwright.errors import LimitError, RegexSyntaxError, Span
from maskwright.frontends.charset import CodePointSet
from maskwright.frontends.lark import ast
from maskwright.frontends.lark.resolve import Entry, Scope
from maskwright.frontends.regex import ast as regex
from maskwright.frontends.regex import lower, parse
from maskwright.frontends.regex.classes import fold as fold_case
from maskwright.frontends.texts import ANY_TEXT, complement, shortest
from maskwright.ir import OP_AND, UNBOUNDED, Expr, alt, and_, never, repeat, seq, text

Part: TypeAlias = "regex.Node | Expr"

_MAX_KEPT = 100  # characters of a pattern
MAX_SIZE = 200_000  # nodes of a terminal, those of the terminals in it included


class Sized(NamedTuple):
    """A part, and its size as a tree: parts that are shared would double it again and again."""

    part: Part
    size: int


_NOT_IN_TERMINALS = {
    ast.Use: "a template",
    ast.Tokens: "a token",
    ast.Side: "a side grammar",
    ast.Embedded: "an embedded grammar",
    ast.Parametric: "a parametric rule",
    ast.Conditional: "a condition",
}


class Terminals:
    """The terminals of one grammar, each lowered once."""

    def __init__(self) -> None:
        self._parts: dict[int, tuple[Entry, Sized]] = {}

    def named(self, entry: Entry, span: Span, scope: Scope) -> Expr:
        """The texts of a terminal, which is used at `span` of the scope's source."""
        return as_expr(self._entry(entry, span, scope).part)

    def anonymous(self, node: ast.Node, scope: Scope) -> Expr:
        """The texts of an item that stands in a rule."""
        if isinstance(node, ast.Text) and not node.ignore_case:
            return text(node.value)
        if isinstance(node, ast.Pattern):
            parsed = parsed_pattern(node.pattern, node.flags, node.span, scope)
            is_small = len(node.pattern) <= _MAX_KEPT and not parsed.asserts
            return _pattern_expr(node.pattern, node.flags) if is_small else as_expr(parsed)
        return as_expr(self.part(node, scope))

    def part(self, node: ast.Node, scope: Scope) -> Part:
        """The same before it is lowered, if it is a regex as a whole."""
        for name in _names(node):
            self._entry(scope.entry(name.name, name.span), name.span, scope)
        return self._folded(node, scope).part

    def _folded(self, node: ast.Node, scope: Scope) -> Sized:
        return ast.fold(node, ast.children_of, lambda at, parts: self._combine(at, parts, scope))

    def _entry(self, entry: Entry, span: Span, scope: Scope) -> Sized:
        if id(entry) not in self._parts:
            _check_terminal(entry, span, scope)
            self._lower_with_parts(entry)
        return self._parts[id(entry)][1]

    def _lower_with_parts(self, root: Entry) -> None:
        """Lower a terminal after those that it names, depth first, on a stack of our own."""
        stack = [(root, _uses(root))]
        open_ids = {id(root)}
        while stack:
            entry, uses = stack[-1]
            for name, scope in uses:
                below = scope.entry(name.name, name.span)
                if id(below) in open_ids:
                    hint = "write a rule, in lower case"
                    raise scope.error(f"terminal {name.name!r} is recursive", name.span, hint)
                if id(below) not in self._parts:
                    _check_terminal(below, name.span, scope)
                    stack.append((below, _uses(below)))
                    open_ids.add(id(below))
                    break
            else:
                self._parts[id(entry)] = entry, self._body(entry)
                open_ids.discard(id(entry))
                stack.pop()

    def _body(self, entry: Entry) -> Sized:
        if entry.is_declared:
            return Sized(never(), 1)
        bodies = [self._folded(body, scope) for body, scope in entry.bodies]
        if len(bodies) == 1:
            return bodies[0]
        return Sized(_alternatives(entry.span, [body.part for body in bodies]), sum(body.size for body in bodies))

    def _combine(self, node: ast.Node, parts: list[Sized], scope: Scope) -> Sized:
        if isinstance(node, ast.Name):
            return self._parts[id(scope.entry(node.name, node.span))][1]
        size = 1 + sum(part.size for part in parts)
        if size > MAX_SIZE:
            raise LimitError("a terminal is too large with all that it names", limit="lark terminal size")
        joined = self._joined(node, [part.part for part in parts], scope)
        return Sized(joined, max(size, joined.size) if isinstance(joined, regex.Node) else size)

    def _joined(self, node: ast.Node, parts: list[Part], scope: Scope) -> Part:
        span = node.span
        if isinstance(node, ast.Text):
            return _literal(node)
        if isinstance(node, ast.Range):
            return regex.Chars(span, CodePointSet.from_ranges([(ord(node.first), ord(node.last))]))
        if isinstance(node, ast.Pattern):
            return parsed_pattern(node.pattern, node.flags, span, scope)
        if isinstance(node, ast.Seq):
            if all(isinstance(part, regex.Node) for part in parts):
                return regex.concat(span, *parts) if parts else regex.Seq(span, ())  # type: ignore[arg-type]
            return seq(*map(as_expr, parts))
        if isinstance(node, ast.Alt):
            return _alternatives(span, parts)
        if isinstance(node, ast.Repeat):
            return _repeated(node, parts[0])
        if isinstance(node, ast.And):
            return _intersection(node, [as_expr(part) for part in parts])
        if isinstance(node, ast.Not):
            return complement(as_expr(parts[0]))
        raise scope.error(f"{_NOT_IN_TERMINALS[type(node)]} cannot stand in a terminal", span, "write a rule")


# Grammars repeat their patterns, and are read again and again: the small ones are kept, as trees and as expressions.
_kept_parse = lru_cache(maxsize=512)(parse)


def _parse(pattern: str, flags: str) -> regex.Node:
    return _kept_parse(pattern, flags) if len(pattern) <= _MAX_KEPT else parse(pattern, flags)


@lru_cache(maxsize=512)
def _pattern_expr(pattern: str, flags: str) -> Expr:
    return as_expr(_parse(pattern, flags))


def parsed_pattern(pattern: str, flags: str, span: Span, scope: Scope) -> regex.Node:
    """The tree of a regex in a grammar, with errors at its place there."""
    try:
        return _parse(pattern, flags)
    except (RegexSyntaxError, LimitError) as error:
        within = error.span if isinstance(error, RegexSyntaxError) else None
        if within is not None and error.source is not None:  # type: ignore[union-attr]
            start = min(span.start + 1 + within.start, span.end - 1)
            span = Span(start, max(start + 1, min(span.start + 1 + within.end, span.end)))
        raise scope.error(f"in the regex: {error.message}", span, error.hint) from error


def _check_terminal(entry: Entry, span: Span, scope: Scope) -> None:
    if not entry.is_terminal:
        raise scope.error(f"a terminal cannot use the rule {entry.name!r}", span, "make it a terminal, in upper case")
    if entry.parameters or entry.options or entry.is_parametric:
        raise scope.error(
            f"terminal {entry.name!r} has parameters or options", entry.span, "write a rule, in lower case"
        )


def _uses(entry: Entry) -> Iterator[tuple[ast.Name, Scope]]:
    if not entry.is_declared:
        for body, scope in entry.bodies:
            for name in _names(body):
                yield name, scope


def _names(node: ast.Node) -> list[ast.Name]:
    found, pending = [], [node]
    for at in pending:  # grows meanwhile
        if isinstance(at, ast.Name):
            found.append(at)
        pending.extend(ast.children_of(at))
    return found


def _literal(node: ast.Text) -> regex.Node:
    if not node.value:
        return regex.Seq(node.span, ())
    if not node.ignore_case:
        return regex.Literal(node.span, node.value)
    folded = [fold_case(CodePointSet.from_string(c), False) for c in node.value]
    return regex.concat(node.span, *(regex.Chars(node.span, chars) for chars in folded))


def _alternatives(span: Span, parts: Sequence[Part]) -> Part:
    if all(isinstance(part, regex.Node) for part in parts):
        return regex.Alt(span, tuple(parts))  # type: ignore[arg-type]
    return alt(*map(as_expr, parts))


def _repeated(node: ast.Repeat, part: Part) -> Part:
    if isinstance(part, Expr):
        return repeat(part, node.minimum, node.maximum)
    return regex.Repeat(node.span, part, node.minimum, regex.INFINITE if node.maximum == UNBOUNDED else node.maximum)


def _intersection(node: ast.And, operands: list[Expr]) -> Expr:
    """All operands; that they are texts need not be said of a complement beside one that is no complement."""
    joined = and_(*operands)
    if joined[0] != OP_AND or all(isinstance(operand, ast.Not) for operand in node.operands):
        return joined
    return and_(*(operand for operand in joined[1:] if operand is not ANY_TEXT))


def as_expr(part: Part) -> Expr:
    """The IR of a terminal or a part of one."""
    return part if isinstance(part, Expr) else _lowered(part)


def _lowered(node: regex.Node) -> Expr:
    """Lower a regex; non-greedy parts end where they first can."""
    if not _has_lazy(node):
        return lower(node)
    if isinstance(node, regex.Group):
        return _lowered(node.item)
    if isinstance(node, regex.Alt):
        return alt(*map(_lowered, node.branches))
    if isinstance(node, regex.Repeat) and not node.lazy:
        return repeat(_lowered(node.item), node.minimum, UNBOUNDED if node.maximum == regex.INFINITE else node.maximum)
    if isinstance(node, regex.Seq):
        return _lowered_sequence(node)
    return shortest(lower(node))


def _lowered_sequence(node: regex.Seq) -> Expr:
    items = node.items
    cut = 1 + max(i for i, item in enumerate(items) if _has_lazy(item))
    while cut < len(items) and items[cut].min_width == items[cut].max_width:
        cut += 1
    if any(item.asserts for item in items[cut:]):
        cut = len(items)
    if cut == 1:
        return seq(_lowered(items[0]), *map(lower, items[1:]))
    return seq(shortest(lower(regex.Seq(node.span, items[:cut]))), *map(lower, items[cut:]))


def _has_lazy(node: regex.Node) -> bool:
    pending = [node]
    for at in pending:  # grows meanwhile
        if isinstance(at, regex.Repeat):
            if at.lazy and at.minimum != at.maximum:
                return True
            pending.append(at.item)
        elif isinstance(at, regex.Group):
            pending.append(at.item)
        elif isinstance(at, regex.Seq):
            pending.extend(at.items)
        elif isinstance(at, regex.Alt):
            pending.extend(at.branches)
    return False
