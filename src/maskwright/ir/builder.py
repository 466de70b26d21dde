"""Grammars made rule by rule, and from other grammars.

Tested by tests/test_ir.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from maskwright.ir.expr import Expr
from maskwright.ir.expressions import never, ref
from maskwright.ir.grammar import GrammarIR, Rule, TokenSet
from maskwright.ir.ops import OP_REF
from maskwright.ir.walks import references as named_rules
from maskwright.ir.walks import with_references
from maskwright.support.interruption import interrupt_checkpoint

_CHECKPOINT_EVERY: Final = 0x10  # rules


class _Included(NamedTuple):
    """A grammar that was included: its rules, where they are now, and how many of its first so many are closed."""

    rules: tuple[Rule, ...]
    references: list[Expr]
    closed: dict[int, int]


def _closed(rules: tuple[Rule, ...]) -> int:
    """How many of the first rules name no others."""
    closed = named = 0
    for i, rule in enumerate(rules):
        named = max(named, i, *named_rules(rule.body))
        if named <= i:
            closed = i + 1
    return closed


class IRBuilder:
    """Collects rules; a rule can be referred to before it is defined.

    >>> from maskwright.ir import alt, seq, text
    >>> b = IRBuilder()
    >>> value = b.declare("value")
    >>> b.define(value, alt(text("x"), seq(text("("), value, text(")"))))
    >>> print(b.build(value).dump())
    value ::= "(" value ")" | "x"
    """

    def __init__(self) -> None:
        self._names: list[str] = []
        self._bodies: list[Expr | None] = []
        self._taken: dict[str, int] = {}  # each name, and the number to try next for another of it
        self._token_sets: list[tuple[int, TokenSet]] = []
        # Of grammars that were included, by the identity of their first bodies.
        self._included: dict[int, _Included] = {}

    @property
    def num_rules(self) -> int:
        return len(self._bodies)

    def num_named(self, name: str) -> int:
        """How many rules were asked for by this name."""
        return self._taken.get(name, 1) - 1

    def declare(self, name: str) -> Expr:
        """Reserve a rule and return the reference to it. A name already taken gets a number."""
        return self._new(name, None)

    def define(self, reference: Expr, body: Expr) -> None:
        """Give a declared rule its body."""
        self._bodies[reference[1]] = body

    def body_of(self, index: int) -> Expr | None:
        """The body that a rule was given; None if it has none yet, or only a tokenizer can give it."""
        return None if any(index == known for known, _ in self._token_sets) else self._bodies[index]

    def add(self, name: str, body: Expr) -> Expr:
        """Declare and define in one step."""
        return self._new(name, body)

    def _new(self, name: str, body: Expr | None) -> Expr:
        taken, unique = self._taken, name
        n = taken.get(name)
        if n is not None:
            unique = f"{name}_{n}"
            while unique in taken:
                n += 1
                unique = f"{name}_{n}"
            taken[name] = n + 1
        taken[unique] = 2
        if len(self._bodies) % _CHECKPOINT_EVERY == 0:
            interrupt_checkpoint()
        self._names.append(unique)
        self._bodies.append(body)
        return Expr((OP_REF, len(self._bodies) - 1))

    def add_tokens(self, token_set: TokenSet) -> Expr:
        """Exactly one token of a set that is resolved with a tokenizer."""
        for index, known in self._token_sets:
            if known == token_set:
                return ref(index)
        reference = self.add("token", never())
        self._token_sets.append((reference[1], token_set))
        return reference

    def include(self, grammar: GrammarIR) -> Expr:
        """Take over the rules of a grammar and return the reference to its root.

        What it begins with, and a grammar before began with, is there already: every schema opens with the same rules.
        """
        shared = [] if grammar.token_sets else self._shared(grammar.rules)
        first = len(shared)
        references = shared + [self.declare(rule.name) for rule in grammar.rules[first:]]
        moved: dict[int, Expr] = {}
        for reference, rule in zip(references[first:], grammar.rules[first:], strict=True):
            self.define(reference, with_references(rule.body, references, moved))
        self._token_sets.extend((references[i][1], token_set) for i, token_set in grammar.token_sets)
        if not grammar.token_sets:
            self._included.setdefault(id(grammar.rules[0].body), _Included(grammar.rules, references, {}))
        root = references[grammar.root]
        return self.add(grammar.rules[grammar.root].name, root) if grammar.root < first else root

    def _shared(self, rules: tuple[Rule, ...]) -> list[Expr]:
        """Where the first rules are, as far as they are those of a grammar before and name no other rules."""
        known = self._included.get(id(rules[0].body))
        if known is None:
            return []
        same = 0
        while same < min(len(rules), len(known.rules)) and rules[same].body is known.rules[same].body:
            same += 1
        if same not in known.closed:
            known.closed[same] = _closed(rules[:same])
        return known.references[: known.closed[same]]

    def build(self, root: Expr) -> GrammarIR:
        """Finish. `root` may be any expression; one that is not a reference becomes a rule of its own."""
        if root[0] != OP_REF:
            root = self.add("root", root)
        rules: list[Rule] = []
        for name, body in zip(self._names, self._bodies, strict=True):
            assert body is not None, f"rule {name} was declared but never defined"
            if len(rules) % _CHECKPOINT_EVERY == 0:
                interrupt_checkpoint()
            rules.append(Rule(name, body))
        return GrammarIR(tuple(rules), root[1], tuple(self._token_sets))


def joined(grammars: Sequence[GrammarIR]) -> tuple[IRBuilder, list[Expr]]:
    """Put the rules of several grammars into one builder; return it and the references to their roots."""
    builder = IRBuilder()
    return builder, [builder.include(grammar) for grammar in grammars]
