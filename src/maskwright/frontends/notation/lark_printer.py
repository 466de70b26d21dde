"""Lark's syntax, printed, with our parameters.

    start: "a" /[^b-d]/* | item::0
    item::_: "b" item::incr([0:4]) | "c" %if le([0:4],4)

Tested by tests/frontends/test_printing.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from maskwright.frontends.charset import CodePointSet
from maskwright.frontends.notation.parameter_notation import shown_condition, shown_steps
from maskwright.frontends.notation.printer import ALT, AND, ATOM, Shown
from maskwright.frontends.notation.remembering_printer import RememberingPrinter
from maskwright.frontends.notation.spellings import REGEX_CLASS, char_class
from maskwright.ir import OP_GUARD, Expr, GrammarIR, uses_parameter


class LarkPrinter(RememberingPrinter):
    name_pattern = re.compile(r"[a-z_]*[a-z][a-z0-9_]*")
    root_name = "start"
    defines = ":"

    def __init__(self, grammar: GrammarIR) -> None:
        super().__init__(grammar)
        self._parametric = {i for i, rule in enumerate(self._grammar.rules) if uses_parameter(rule.body)}
        self._helpers: dict[str, str] = {}  # the bodies of rules that pass a value on, and their names

    def head(self, index: int) -> str:
        return self._names[index] + ("::_" if index in self._parametric else "")

    def reference(self, index: int) -> str:
        return super().reference(index) + ("::0" if index in self._parametric else "")

    def parametric(self, node: Expr, parts: list[Shown]) -> Shown:
        if node[0] == OP_GUARD:
            return Shown(f"{self._inside(parts[0], AND)} %if {shown_condition(node[2])}", ALT)
        if node[1] not in self._parametric:
            return Shown(self.reference(node[1]), ATOM)
        steps, name = shown_steps(node[2]), self._names[node[1]]
        for step in reversed(steps[1:]):
            body = f"{name}::{step}"
            if body not in self._helpers:
                self._helpers[body] = self._name("passed_on", {*self._names.values(), *self._helpers.values()})
            name = self._helpers[body]
        return Shown(f"{name}::{steps[0]}", ATOM)

    def helpers(self) -> Iterable[str]:
        return [f"{name}::_: {body}" for body, name in self._helpers.items()]

    def legal_name(self, wanted: str) -> str:
        return "r_" + re.sub(r"[^a-z0-9_]+", "_", wanted.lower())

    def characters(self, chars: CodePointSet) -> Shown:
        return Shown(f"/{char_class(chars, REGEX_CLASS)}/", ATOM)

    def substrings(self, chunks: list[str]) -> str:
        return "%regex " + json.dumps({"substring_chunks": chunks}, ensure_ascii=False)
