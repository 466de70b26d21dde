"""EBNF, printed. It can write all that grammars hold but lists of distinct values, and parameters, which are unfolded.

    root ::= "a" [^b-d]* | Byte("80-bf") | text1=[0-9]+ "-" $text1

Tested by tests/frontends/test_printing.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from maskwright.errors import GrammarError
from maskwright.frontends.charset import CodePointSet
from maskwright.frontends.notation.printer import ATOM, SEQ, Shown
from maskwright.frontends.notation.remembering_printer import RememberingPrinter
from maskwright.frontends.notation.spellings import char_class, ranges_of
from maskwright.ir import UNBOUNDED, Expr, GrammarIR, TokenSet


class EbnfPrinter(RememberingPrinter):
    name_pattern = re.compile(
        r"(?!(?:Regex|Substring|TagDispatch|TokenTagDispatch|ExcludeToken|Token|Byte|Distinct)\Z)[A-Za-z0-9_][A-Za-z0-9_.\-]*"
    )
    root_name = "root"
    defines = " ::="

    def __init__(self, grammar: GrammarIR) -> None:
        super().__init__(grammar)
        self._helpers: dict[str, str] = {}  # what macros name: the bodies of rules for it, and their names

    def distinct(self, node: Expr, parts: list[Shown]) -> Shown:
        if len(parts) > 2:
            hint = "use dump()"
            raise GrammarError("the grammar has a list of distinct JSON values, which no notation can write", hint=hint)
        between = parts[1].text
        arguments = [
            self._named(parts[0].text, "element"),
            between if re.fullmatch(r'"(?:[^"\\]|\\.)+"', between) else self._named(between, "separator"),
        ]
        arguments += [f"min={node[-2]}"] * (node[-2] > 1) + [f"max={node[-1]}"] * (node[-1] != UNBOUNDED)
        return Shown(f"Distinct({', '.join(arguments)})", ATOM)

    def _named(self, body: str, wanted: str) -> str:
        if body in self._names.values():
            return body
        if body not in self._helpers:
            self._helpers[body] = self._name(wanted, {*self._names.values(), *self._helpers.values()})
        return self._helpers[body]

    def helpers(self) -> Iterable[str]:
        return [f"{name} ::= {body}" for body, name in self._helpers.items()]

    def legal_name(self, wanted: str) -> str:
        return "r" + re.sub(r"[^A-Za-z0-9_]+", "_", wanted)

    def characters(self, chars: CodePointSet) -> Shown:
        return Shown(char_class(chars, "[]^-\\"), ATOM)

    def tokens(self, token_set: TokenSet) -> str:
        if all(re.fullmatch(r"<[^<>\s\[\],]+>", name) for name in token_set.names):
            return token_set.dump()
        members = [self.literal(name).text for name in token_set.names]
        for first, last in token_set.id_ranges:
            members += map(str, range(first, last + 1))
        return f"{'ExcludeToken' if token_set.negated else 'Token'}({', '.join(members)})"

    def substrings(self, chunks: list[str]) -> str:
        return f"Substring({', '.join(self.literal(chunk).text for chunk in chunks)})"

    def bytes(self, members: int | bytes) -> Shown:
        if isinstance(members, bytes):
            return Shown(" ".join(self.bytes(1 << b).text for b in members), SEQ)
        shown = ",".join(f"{a:02x}" if a == b else f"{a:02x}-{b:02x}" for a, b in _byte_ranges(members))
        return Shown(f'Byte("{shown}")', ATOM)


def _byte_ranges(mask: int) -> list[tuple[int, int]]:
    return ranges_of(b for b in range(256) if mask >> b & 1)
