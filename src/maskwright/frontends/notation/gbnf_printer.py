r"""GBNF, printed: the grammars of llama.cpp, and of the programs that are built on it.

    root ::= "a" [^\x5ea-f\]]{2,} ws-2

It has characters, sequences, alternatives, counts and rules. Rules are named by letters, digits and hyphens.
Tested by tests/frontends/test_printing_gbnf.py, tests/engines/test_llama_cpp_gbnf.py.
Source: llama.cpp's grammars/README.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NoReturn

from maskwright.errors import GrammarError
from maskwright.frontends.charset import CodePointSet
from maskwright.frontends.notation.printer import ATOM, Printer, Shown
from maskwright.frontends.notation.spellings import char_class
from maskwright.ir import OP_SPAN, Expr, TokenSet

_HEX_IN_CLASSES: Final = re.compile(r"\\([\^-])")  # GBNF has no such escapes


class GbnfPrinter(Printer):
    name_pattern = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
    root_name = "root"
    defines = " ::="
    joint = "-"

    def legal_name(self, wanted: str) -> str:
        return re.sub(r"\A(?![A-Za-z])", "r", re.sub(r"[^A-Za-z0-9]+", "-", wanted))

    def characters(self, chars: CodePointSet) -> Shown:
        shown = char_class(chars, "[]^-\\")
        return Shown(_HEX_IN_CLASSES.sub(lambda found: f"\\x{ord(found[1]):02x}", shown), ATOM)

    def _options(self, index: int) -> str:
        body = self._grammar.rules[index].body
        if body[0] == OP_SPAN and body[2] is not None:
            _refuse("a token budget (max_tokens)")
        return ""  # captures and temperatures do not change what is valid

    def tokens(self, token_set: TokenSet) -> str:
        _refuse("tokens")

    def substrings(self, chunks: list[str]) -> str:
        _refuse("substrings of a text")

    def remembered(self, node: Expr, parts: list[Shown]) -> Shown:
        _refuse("text that is repeated")

    def distinct(self, node: Expr, parts: list[Shown]) -> Shown:
        _refuse("a list of distinct elements")

    def intersection(self, parts: Iterable[Shown]) -> Shown:
        raise AssertionError("intersections and complements have become rules (spelled_booleans.py)")


def _refuse(what: str) -> NoReturn:
    hint = "use EBNF, which Maskwright reads: Grammar.to_ebnf, or --to ebnf"
    raise GrammarError(f"the grammar has {what}, which GBNF cannot write", hint=hint)
