"""Regular expressions, printed: what is regular, and holds whole characters only.

    a[^b-d]*|(?:xy){2,3}

Tested by tests/frontends/test_printing.py.
"""

from __future__ import annotations

from maskwright.errors import GrammarError
from maskwright.frontends.charset import CodePointSet
from maskwright.frontends.notation.printer import ATOM, SEQ, Printer, Shown
from maskwright.frontends.notation.spellings import REGEX_CLASS, REGEX_SPECIAL, char_class, escaped


class RegexPrinter(Printer):
    blank = ""
    empty = "(?:)"

    def group(self, text: str) -> str:
        return f"(?:{text})"

    def literal(self, text: str) -> Shown:
        return Shown("".join(escaped(c, REGEX_SPECIAL) for c in text), ATOM if len(text) == 1 else SEQ)

    def characters(self, chars: CodePointSet) -> Shown:
        return Shown(char_class(chars, REGEX_CLASS), ATOM)

    def intersection(self, parts: list[Shown]) -> Shown:
        raise GrammarError(
            "the grammar contains an intersection",
            hint="use EBNF or Lark, which have & and ~: Grammar.to_ebnf, or --to ebnf",
        )

    def complement(self, part: Shown) -> Shown:
        return self.intersection([part])
