"""A grammar: named rules and a root, and token sets that are resolved with a tokenizer.

    >>> TokenSet(names=("<think>",)).dump()
    '<think>'
    >>> TokenSet(names=("</s>",), id_ranges=((5, 7),), negated=True).dump()
    '<[^</s>,5-7]>'

Tested by tests/test_ir.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from maskwright.ir.expr import Expr
from maskwright.ir.expressions import tokens
from maskwright.ir.walks import reachable, references, uses_parameter


class Rule(NamedTuple):
    """A named rule. Names are for people; references go by index."""

    name: str
    body: Expr


class TokenSet(NamedTuple):
    """Tokens of a tokenizer that is not known yet: by name, by ranges of ids, or all but those."""

    names: tuple[str, ...] = ()
    id_ranges: tuple[tuple[int, int], ...] = ()
    negated: bool = False

    def dump(self) -> str:
        """Show it as in a grammar: `<think>`, `<[1,5-7]>`, `<[^</s>,2]>`, `<[*]>`."""
        if len(self.names) == 1 and not self.id_ranges:
            return ("!" if self.negated else "") + self.names[0]
        members = [*self.names, *(f"{a}" if a == b else f"{a}-{b}" for a, b in self.id_ranges)]
        if not members:
            return "<[*]>" if self.negated else "<[^*]>"
        return f"<[{'^' if self.negated else ''}{','.join(members)}]>"


class GrammarIR(NamedTuple):
    """All rules of a grammar, the index of the root, and the rules whose bodies a tokenizer has to supply."""

    rules: tuple[Rule, ...]
    root: int
    token_sets: tuple[tuple[int, TokenSet], ...] = ()

    def with_tokens(self, ids_of: Callable[[TokenSet], Iterable[int]]) -> GrammarIR:
        """Give the rules that stand for token sets their bodies."""
        if not self.token_sets:
            return self
        rules = list(self.rules)
        for index, token_set in self.token_sets:
            rules[index] = Rule(rules[index].name, tokens(ids_of(token_set), by_exclusion=token_set.negated))
        return GrammarIR(tuple(rules), self.root)

    def dump(self) -> str:
        """Show the root and the rules that it leads to, one a line."""
        names = tuple(rule.name for rule in self.rules)
        shown = dict(self.token_sets)
        order = _reachable(self.rules, self.root)
        bodies = (shown[i].dump() if i in shown else self.rules[i].body.dump(names) for i in order)
        heads = (names[i] + ("::_" if uses_parameter(self.rules[i].body) else "") for i in order)
        return "\n".join(f"{head} ::= {body}" for head, body in zip(heads, bodies, strict=True))


def _reachable(rules: tuple[Rule, ...], root: int) -> dict[int, None]:
    return reachable([root], lambda index: references(rules[index].body))
