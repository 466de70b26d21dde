"""Grammars that stand in other grammars as leaves, so that they are read, linked and kept once, by identity.

    >>> from maskwright.ir.expressions import seq, star, text
    >>> digits = GrammarIR((Rule("digits", star(text("1"))),), 0)
    >>> leaf = subgrammar(digits)
    >>> print(spelled_out(GrammarIR((Rule("root", seq(text("<"), leaf, text(">"))),), 0)).dump())
    root ::= "<" digits ">"
    digits ::= "1"*

What many grammars hold (the arguments of a tool, a format of strings) is made into a leaf once. An expression with the
leaf is the same wherever it stands, as the leaf's rules have indices of their own; and the kernel knows what it has
linked before by the leaf's number (grammar/subgrammar.h). A subgrammar begins with the rules of `prelude`, which
others have too: spelled out, they are written once.

A deferred subgrammar is made when it is looked at: by whoever wants its rules, or by the kernel when an output comes to
it (deferred.h). Of 128 tools, only those are compiled that are called. What was made is not kept: the kernel
keeps what it linked, and what it lets go of is made again.

Invariants: two leaves are equal only if they are the same; numbers are never used again. Operands of `and_` and `not_`
hold no leaves. Token sets that are resolved with a tokenizer cannot be part of a subgrammar.
Cost: nothing, whatever its size, for the kernel to read and link one that the tokenizer knows.
Tested by tests/test_subgrammars.py, tests/kernel/test_linked_subgrammars.py, tests/kernel/test_deferred.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple
from weakref import ref as weak

from maskwright.ir.expr import Expr
from maskwright.ir.expressions import ref
from maskwright.ir.grammar import GrammarIR, Rule
from maskwright.ir.ops import OP_EMPTY, OP_LITERAL, OP_NEVER, OP_SET, OP_SUBGRAMMAR
from maskwright.ir.walks import postorder, with_references
from maskwright.support.numbering import Numbering
from maskwright.support.untracked import acyclic, untrack

_numbers = Numbering()
_deferred: Final[dict[int, weak[Subgrammar]]] = {}  # by number
_SMALL: Final = frozenset((OP_EMPTY, OP_NEVER, OP_LITERAL, OP_SET, OP_SUBGRAMMAR))


class Promised(NamedTuple):
    """What is known of a deferred subgrammar before it is made.

    Attributes:
        beginnings: all bytes that its strings may begin with, in the root rule or at most a few calls below it.
        begins_with_tokens: whether some may begin with a named token.
        nullable: whether the empty string is one of its strings.
        parametric: whether it may have parametric rules.
        remembers: whether it may remember text.
        num_bytes: a string of so many bytes is one of its strings, as the kernel finds short strings; -1 if none is
            known. With it, a token budget that is not near needs no look at the grammar.
    """

    beginnings: bytes
    begins_with_tokens: bool = False
    nullable: bool = False
    parametric: bool = False
    remembers: bool = False
    num_bytes: int = -1


class Subgrammar:
    """A grammar by identity: see the module's header."""

    __slots__ = ("__weakref__", "_ir", "_make", "_promised", "number", "prelude")

    def __init__(
        self,
        ir: GrammarIR | None,
        prelude: tuple[Rule, ...],
        make: Callable[[], GrammarIR] | None = None,
        promised: Promised | None = None,
    ) -> None:
        self._ir, self._make, self._promised = ir, make, promised
        self.prelude = prelude
        self.number = _numbers.take()

    def __reduce__(self) -> tuple[type[Subgrammar], tuple[GrammarIR, tuple[Rule, ...]]]:
        """A copy, and what another process unpickles, has a number of its own: there, this one may be another's."""
        return Subgrammar, (self.ir, self.prelude)

    def __del__(self, forget: Callable[[int, None], object] = _deferred.pop) -> None:
        forget(self.number, None)

    @property
    def ir(self) -> GrammarIR:
        if self._ir is not None:
            return self._ir
        assert self._make is not None
        return self._make()

    @property
    def deferred(self) -> Promised | None:
        """What is promised of it, if it is made anew each time."""
        return self._promised


acyclic(Subgrammar)


def subgrammar(ir: GrammarIR, prelude: tuple[Rule, ...] = ()) -> Expr:
    """What a grammar matches; `prelude`, by identity, are rules that it begins with and that need no others."""
    body = ir.rules[ir.root].body
    assert not ir.token_sets
    return body if body[0] in _SMALL else Expr((OP_SUBGRAMMAR, Subgrammar(ir, prelude)))


def deferred_subgrammar(make: Callable[[], GrammarIR], promised: Promised, prelude: tuple[Rule, ...] = ()) -> Expr:
    """What a grammar matches that is made each time it is needed, always alike.

    `make` must not fail. Its grammar must have strings besides the empty one, and no spans, and be as promised.
    """
    leaf = Subgrammar(None, prelude, make, promised)
    known = weak(leaf)
    _deferred[leaf.number] = known
    untrack(known)
    return Expr((OP_SUBGRAMMAR, leaf))


def deferred_grammar(number: int) -> GrammarIR:
    """Return the grammar of the deferred subgrammar with this number, which some compiled grammar keeps."""
    leaf = _deferred[number]()
    assert leaf is not None
    return leaf.ir


def has_deferred(grammar: GrammarIR) -> bool:
    """Whether any of its subgrammars, or of theirs, is deferred."""
    seen: set[int] = set()
    waiting = [grammar]
    while waiting:
        for leaf in [leaf for rule in waiting.pop().rules for leaf in _leaves(rule.body)]:
            known: Subgrammar = leaf[1]
            if known.deferred is not None:
                return True
            if known.number not in seen:
                seen.add(known.number)
                waiting.append(known.ir)
    return False


def spelled_out(grammar: GrammarIR) -> GrammarIR:
    """Return the same grammar with the rules of its subgrammars among its own, which stay where they are."""
    found = {id(leaf): leaf for rule in grammar.rules for leaf in _leaves(rule.body)}
    if not found:
        return grammar
    spelled = _Spelled(grammar.rules)
    spelled.fill(0, grammar.rules, [ref(i) for i in range(len(grammar.rules))])
    return GrammarIR(spelled.rules(), grammar.root, grammar.token_sets)


def _leaves(body: Expr) -> list[Expr]:
    return [part for part in postorder(body) if part[0] == OP_SUBGRAMMAR]


class _Spelled:
    """The rules of a grammar, of its subgrammars, and of theirs."""

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self._names = [rule.name for rule in rules]
        self._bodies: list[Expr | None] = [None] * len(rules)
        self._taken: dict[str, int] = dict.fromkeys(self._names, 1)
        self._roots: dict[int, Expr] = {}  # by the number of a subgrammar
        self._preludes: dict[int, int] = {}  # by identity: where it stands
        self._waiting: list[tuple[int, tuple[Rule, ...], list[Expr]]] = []

    def rules(self) -> tuple[Rule, ...]:
        assert None not in self._bodies
        return tuple(map(Rule, self._names, self._bodies))  # type: ignore[arg-type]

    def fill(self, at: int, rules: tuple[Rule, ...], references: list[Expr]) -> None:
        """Write rules from this index on, the rules that they name being `references`; then what they lead to."""
        self._waiting.append((at, rules, references))
        while self._waiting:
            at, rules, references = self._waiting.pop()
            moved: dict[int, Expr] = {}
            for index, rule in enumerate(rules, at):
                for leaf in _leaves(rule.body):
                    moved[id(leaf)] = self._root(leaf[1])
                self._bodies[index] = with_references(rule.body, references, moved)

    def _root(self, known: Subgrammar) -> Expr:
        """The reference to a subgrammar's root, whose rules are written later."""
        if known.number not in self._roots:
            shared = len(known.prelude)
            if id(known.prelude) not in self._preludes:
                at = self._preludes[id(known.prelude)] = self._reserve(known.prelude)
                self._waiting.append((at, known.prelude, [ref(at + i) for i in range(shared)]))
            made = known.ir
            prelude_at, own = self._preludes[id(known.prelude)], made.rules[shared:]
            at = self._reserve(own)
            references = [ref(prelude_at + i) for i in range(shared)] + [ref(at + i) for i in range(len(own))]
            self._waiting.append((at, own, references))
            self._roots[known.number] = references[made.root]
        return self._roots[known.number]

    def _reserve(self, rules: tuple[Rule, ...]) -> int:
        """Return the index of the first of these rules, which get names and have no bodies yet."""
        at = len(self._names)
        self._names += [self._unique(rule.name) for rule in rules]
        self._bodies += [None] * len(rules)
        return at

    def _unique(self, name: str) -> str:
        while name in self._taken:
            self._taken[name] += 1
            name = f"{name}_{self._taken[name]}"
        self._taken[name] = 1
        return name
