"""What makes the text of an array or an object may ask; `Emitter` is what answers.

    rules.place(conj, depth)                  the expression for the values at a place, inside so many containers
    rules.as_rule("item", expr)               an expression that may be used many times
    rules.norm, rules.layout, rules.builder   the document, how its text is laid out, and where rules go

Tested by tests/frontends/json_schema/emit/test_schema_emit.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Final

from maskwright.frontends.json_schema.emit.layout import Layout
from maskwright.frontends.json_schema.normalise.document_context import DocumentContext
from maskwright.frontends.json_schema.read.places import Conj, Path, Refusal
from maskwright.frontends.regular import SpelledOut
from maskwright.ir import OP_EMPTY, OP_LITERAL, OP_NEVER, OP_REF, OP_SET, OP_SUBGRAMMAR, Expr

SMALL: Final = frozenset((OP_EMPTY, OP_NEVER, OP_LITERAL, OP_SET, OP_REF, OP_SUBGRAMMAR))  # gain nothing as rules


class SchemaRules(ABC):
    """The rules of one schema.

    Attributes:
        norm: The document, and the shapes of its places.
        layout: How the text is laid out.
        builder: Where rules go.
        strict: Whether objects admit only what is declared.
        names: Expressions for the names of members that are not declared: see objects.py.
        spelled_rules: Rules of the layout without their references, each spelled out once: see one_text.py.
        without_text: Places, by identity and depth, whose values are known to have no one text each: see one_text.py.
        inside: What lies within the values at places, by identity: see compared_values.py.
    """

    def __init__(self, norm: DocumentContext, layout: Layout) -> None:
        self.norm = norm
        self.layout = layout
        self.builder = layout.builder()
        self.strict = layout.options.strict_mode
        self.names: dict[Any, Expr] = {}
        self.spelled_rules = SpelledOut()
        self.without_text: set[tuple[Any, int]] = set()
        self.inside: dict[Any, tuple[list[Path | None], list[Conj]]] = {}
        self._rules: dict[Expr, Expr] = {}

    @abstractmethod
    def place(self, conj: Conj, depth: int) -> Expr:
        """Return the expression for the values that satisfy all of `conj`, inside containers of this depth."""

    @property
    @abstractmethod
    def captures_members(self) -> bool:
        """Whether the members of the object that is being made are captures."""

    def as_rule(self, name: str, expr: Expr) -> Expr:
        """Return an expression that may be used many times."""
        return expr if expr[0] in SMALL else self.builder.add(name, expr)

    def as_one_rule(self, name: str, expr: Expr) -> Expr:
        """As `as_rule`, where equal expressions are likely: they become the same rule."""
        rule = self._rules.get(expr)
        if rule is None:
            rule = self._rules[expr] = self.as_rule(name, expr)
        return rule

    def refuse(self, refusal: Refusal) -> None:
        self.norm.findings.refuse(refusal)
