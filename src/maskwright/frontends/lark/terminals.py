r"""Terminals: from the tree to regular expressions, as regex trees as long as possible, then as IR.

A terminal of literals, ranges, patterns and other terminals is one regex, as in Lark, so an assertion of one part sees
the others: `/.*?/ /(?<!\\)/ "\""`. Where `&` or `~` come in, the parts are lowered and joined in the IR.

    >>> from maskwright.frontends.lark.parser import parse
    >>> from maskwright.frontends.lark.resolve import resolve
    >>> scope = resolve(parse('T: "a".."c"+ & ~"b"\nstart: T'), {})
    >>> Terminals().named(scope.entries["T"], scope.entries["T"].span, scope).dump()
    '[a-c]+ & ~"b"'

But for non-greedy repetitions (`lazy.py`) a terminal matches every text of its language, not only the longest there is.
Tested by tests/frontends/test_lark_peers.py, tests/corpus/lark.toml.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from maskwright.errors import LimitError, RegexSyntaxError, Span
from maskwright.frontends.charset import CodePointSet
from maskwright.frontends.lark import ast
from maskwright.frontends.lark.alphabets import CHARACTERS, Alphabet
from maskwright.frontends.lark.lazy import lowered
from maskwright.frontends.lark.resolve import Entry, Scope
from maskwright.frontends.regex import ast as regex
from maskwright.frontends.regex import lower, parse
from maskwright.frontends.regex.classes import fold as fold_case
from maskwright.frontends.regular import is_regular
from maskwright.frontends.texts import complement
from maskwright.ir import OP_AND, UNBOUNDED, Expr, alt, and_, never, repeat, seq, text

Part: TypeAlias = "regex.Node | Expr"
Embed: TypeAlias = Callable[[ast.Embedded, Scope], Expr]  # makes the rules of a `%regex`, and the reference to them

_MAX_KEPT: Final = 100  # characters of a pattern
MAX_SIZE: Final = 200_000  # nodes of a terminal, those of the terminals in it included
MAX_TOTAL_SIZE: Final = 500_000  # nodes of all terminals, each with those in it: what terminals in chains add up to


class Sized(NamedTuple):
    """A part, and its size as a tree: parts that are shared would double it again and again."""

    part: Part
    size: int


_NOT_IN_TERMINALS: Final = {
    ast.Use: "a template",
    ast.Tokens: "a token",
    ast.Side: "a side grammar",
    ast.Embedded: "an embedded grammar other than %regex",
    ast.Parametric: "a parametric rule",
    ast.Conditional: "a condition",
    ast.Remember: "a text to remember",
    ast.Recall: "a remembered text",
}


class Terminals:
    """The terminals of one grammar, each lowered once."""

    def __init__(self, alphabet: Alphabet = CHARACTERS, embed: Embed | None = None) -> None:
        self.alphabet = alphabet
        self._embed = embed
        self._parts: dict[int, tuple[Entry, Sized]] = {}  # by identity
        self._anonymous: dict[int, tuple[ast.Node, Expr]] = {}  # the same
        self._total_size = 0

    def named(self, entry: Entry, span: Span, scope: Scope) -> Expr:
        """The texts of a terminal, which is used at `span` of the scope's source."""
        part, (body, home) = self._entry(entry, span, scope).part, entry.bodies[0]
        return self._lowered(part, body.span if len(entry.bodies) == 1 else entry.span, home)

    def anonymous(self, node: ast.Node, scope: Scope) -> Expr:
        """The texts of an item that stands in a rule, which may be read for each instance of a template."""
        if isinstance(node, ast.Text) and not node.ignore_case:
            return text(node.value)
        known = self._anonymous.get(id(node))
        if known is None:
            known = self._anonymous[id(node)] = node, self._item(node, scope)
        return known[1]

    def _item(self, node: ast.Node, scope: Scope) -> Expr:
        if isinstance(node, ast.Pattern):
            parsed = self.parsed_pattern(node.pattern, node.flags, node.span, scope)
            if len(node.pattern) <= _MAX_KEPT and not parsed.asserts:
                return _pattern_expr(node.pattern, node.flags, self.alphabet)
            return self._lowered(parsed, node.span, scope)
        return self._lowered(self.part(node, scope), node.span, scope)

    def as_expr(self, part: Part) -> Expr:
        """The IR of a terminal or a part of one."""
        return part if isinstance(part, Expr) else lowered(part, self.alphabet)

    def _lowered(self, part: Part | Callable[[], Expr], span: Span, scope: Scope) -> Expr:
        """The same, with errors at a place in the grammar."""
        try:
            return part() if callable(part) else self.as_expr(part)
        except RegexSyntaxError as error:
            raise scope.error(f"in the regular expression: {error.message}", span, error.hint) from error

    def pattern_expr(self, pattern: str, flags: str, span: Span, scope: Scope) -> Expr:
        """The texts of a regex in a grammar, which ends where its language says."""
        parsed = self.parsed_pattern(pattern, flags, span, scope)
        return self._lowered(lambda: lower(parsed, self.alphabet.encode), span, scope)

    def parsed_pattern(self, pattern: str, flags: str, span: Span, scope: Scope) -> regex.Node:
        """The tree of a regex in a grammar, with errors at its place there."""
        beyond = self.alphabet.beyond(pattern)
        if beyond:
            message, hint = (
                "in the regular expression: this is not a byte",
                "with allow_invalid_utf8, write \\xHH, or a string in quotes",
            )
            raise scope.error(message, _within(span, *beyond), hint)
        try:
            return _parse(pattern, flags, self.alphabet.is_bytes)
        except (RegexSyntaxError, LimitError) as error:
            within = error.span if isinstance(error, RegexSyntaxError) else None
            if within is not None and error.source is not None:  # type: ignore[union-attr]
                span = _within(span, *within)
            way_out = "a comment begins with // or #" if pattern.startswith("*") else error.hint
            raise scope.error(f"in the regular expression: {error.message}", span, way_out) from error

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
                self._parts[id(entry)] = entry, self._counted(self._body(entry))
                open_ids.discard(id(entry))
                stack.pop()

    def _counted(self, made: Sized) -> Sized:
        self._total_size += made.size
        if self._total_size > MAX_TOTAL_SIZE:
            hint = "use rules, in lower case, in place of terminals that name each other"
            raise LimitError("terminals are too large with all that they name", limit="lark terminal size", hint=hint)
        return made

    def _body(self, entry: Entry) -> Sized:
        if entry.is_declared:
            return Sized(never(), 1)
        bodies = [self._folded(body, scope) for body, scope in entry.bodies]
        if len(bodies) == 1:
            return bodies[0]
        return Sized(self._alternatives(entry.span, [body.part for body in bodies]), sum(body.size for body in bodies))

    def _combine(self, node: ast.Node, parts: list[Sized], scope: Scope) -> Sized:
        if isinstance(node, ast.Name):
            return self._parts[id(scope.entry(node.name, node.span))][1]
        size = 1 + sum(part.size for part in parts)
        if size > MAX_SIZE:
            hint = "make it a rule, in lower case, or use smaller counts"
            raise LimitError(
                "the terminal is too large with the terminals in it expanded", limit="lark terminal size", hint=hint
            )
        joined = self._joined(node, [part.part for part in parts], scope)
        return Sized(joined, max(size, joined.size) if isinstance(joined, regex.Node) else size)

    def _joined(self, node: ast.Node, parts: list[Part], scope: Scope) -> Part:
        span = node.span
        if isinstance(node, ast.Text):
            return _literal(node, self.alphabet)
        if isinstance(node, ast.Range):
            return _range(node, self.alphabet, scope)
        if isinstance(node, ast.Pattern):
            return self.parsed_pattern(node.pattern, node.flags, span, scope)
        if isinstance(node, ast.Seq):
            if all(isinstance(part, regex.Node) for part in parts):
                return regex.concat(span, *parts) if parts else regex.Seq(span, ())  # type: ignore[arg-type]
            return seq(*map(self.as_expr, parts))
        if isinstance(node, ast.Alt):
            return self._alternatives(span, parts)
        if isinstance(node, ast.Repeat):
            return _repeated(node, parts[0])
        if isinstance(node, ast.And):
            operands = [self._operand(part, at, scope) for part, at in zip(parts, node.operands, strict=True)]
            return self._intersection(node, operands)
        if isinstance(node, ast.Not):
            return complement(self._operand(parts[0], node.item, scope), self.alphabet.texts)
        if isinstance(node, ast.Embedded) and node.kind == "regex" and self._embed is not None:
            return self._embed(node, scope)
        raise scope.error(f"{_NOT_IN_TERMINALS[type(node)]} is not allowed in a terminal", span, "write a rule")

    def _operand(self, part: Part, node: ast.Node, scope: Scope) -> Expr:
        """An operand of & or ~."""
        expr = self._lowered(part, node.span, scope)
        check_no_regex_rules(expr, node.span, scope)
        return expr

    def _alternatives(self, span: Span, parts: Sequence[Part]) -> Part:
        if all(isinstance(part, regex.Node) for part in parts):
            return regex.Alt(span, tuple(parts))  # type: ignore[arg-type]
        return alt(*map(self.as_expr, parts))

    def _intersection(self, node: ast.And, operands: list[Expr]) -> Expr:
        """All operands; that they are texts need not be said of a complement beside one that is not a complement."""
        joined = and_(*operands)
        if joined[0] != OP_AND or all(isinstance(operand, ast.Not) for operand in node.operands):
            return joined
        return and_(*(operand for operand in joined[1:] if operand is not self.alphabet.texts))


# Grammars repeat their patterns, and are read again and again: the small ones are kept, as trees and as expressions.
@lru_cache(maxsize=512)
def _kept_parse(pattern: str, flags: str, is_bytes: bool) -> regex.Node:
    return parse(pattern, flags, is_bytes=is_bytes)


def _parse(pattern: str, flags: str, is_bytes: bool) -> regex.Node:
    if len(pattern) <= _MAX_KEPT:
        return _kept_parse(pattern, flags, is_bytes)
    return parse(pattern, flags, is_bytes=is_bytes)


@lru_cache(maxsize=512)
def _pattern_expr(pattern: str, flags: str, alphabet: Alphabet) -> Expr:
    return lowered(_parse(pattern, flags, alphabet.is_bytes), alphabet)


def check_no_regex_rules(expr: Expr, span: Span, scope: Scope) -> None:
    """Refuse what `%regex` stands for where an expression without rules is needed.

    Raises:
        LarkSyntaxError: There is one.
    """
    if not is_regular(expr):
        hint = "use %regex in sequences, alternatives and repetitions only"
        raise scope.error("%regex cannot be combined with &, ~, or options about text", span, hint)


def _within(span: Span, start: int, end: int) -> Span:
    """A part of the pattern that stands at a span, behind its slash."""
    first = min(span.start + 1 + start, span.end - 1)
    return Span(first, max(first + 1, min(span.start + 1 + end, span.end)))


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


def _literal(node: ast.Text, alphabet: Alphabet) -> regex.Node:
    if not node.value:
        return regex.Seq(node.span, ())
    if not node.ignore_case:
        return regex.Literal(node.span, alphabet.spelled(node.value))
    return regex.concat(node.span, *(_in_any_case(node.span, c, alphabet) for c in node.value))


def _in_any_case(span: Span, character: str, alphabet: Alphabet) -> regex.Node:
    chars = fold_case(CodePointSet.from_string(character), False)
    if not alphabet.is_bytes:
        return regex.Chars(span, chars)
    each = (chr(c) for first, last in chars.ranges for c in range(first, last + 1))
    return regex.Alt(span, tuple(regex.Literal(span, alphabet.spelled(c)) for c in each))


def _range(node: ast.Range, alphabet: Alphabet, scope: Scope) -> regex.Node:
    if alphabet.is_bytes and not node.last.isascii():
        raise scope.error("this is not a byte", node.span, "with allow_invalid_utf8, write /[\\xHH-\\xHH]/")
    return regex.Chars(node.span, CodePointSet.from_ranges([(ord(node.first), ord(node.last))]))


def _repeated(node: ast.Repeat, part: Part) -> Part:
    if isinstance(part, Expr):
        return repeat(part, node.minimum, node.maximum)
    return regex.Repeat(node.span, part, node.minimum, regex.INFINITE if node.maximum == UNBOUNDED else node.maximum)
