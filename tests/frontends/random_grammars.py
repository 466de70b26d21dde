"""Random grammars over the letters a and b, as texts in Lark and in EBNF."""

from __future__ import annotations

import random
from collections.abc import Sequence

LARK_ATOMS = ['"a"', '"b"', '"ab"', '"A"i', '"a".."b"', "/a/", "/[ab]/", "/a+/", "/ab?/", "/b{1,2}/", "/(a|bb)/"]
LARK_COUNTS = ["", "", "", "?", "+", "~2", "~1..2"]  # with more that may be empty, Lark takes minutes
LARK_TERMINALS = ['"a"', '"ab"', '"a".."b"', "/[ab]/", "/a+/", "/b+a/", '"b"+', '"a"~2 "b"']
EBNF_ATOMS = [
    *('"a"', '"b"', '"ab"', '"\\""', '"\\n"', '"é"', '"\\\\"', '""', "'a'"),
    *("[ab]", "[^a]", '[a-b"]', "[\\]\\-^]", "[^\\n]", ".", "[é-ü]", "[-a]", "[[]"),
    *('Regex("a+b?")', 'Regex("(a|b)*")', 'Regex("a(?!b).?")', 'Regex("\\\\w\\\\W?")', 'Byte("61-62,c3")'),
    *('([ab]* & ~("a" .*))', '(~"ab" & [ab]{1,3})'),
]
EBNF_COUNTS = ["", "", "", "", "?", "*", "+", "{2}", "{1,2}", "{,2}", "{2,}", "?*", "{2}{2}"]


class Bodies:
    """Bodies of rules that may name some others."""

    def __init__(self, rng: random.Random, atoms: Sequence[str], counts: Sequence[str], names: Sequence[str]) -> None:
        self.rng, self.atoms, self.counts, self.names = rng, atoms, counts, names

    def body(self, depth: int) -> str:
        branches = []
        for _ in range(self.rng.randint(1, 3)):
            items = [self._atom(depth) + self.rng.choice(self.counts) for _ in range(self.rng.randint(1, 3))]
            branches.append(" ".join(items))
        return " | ".join(dict.fromkeys(branches))

    def _atom(self, depth: int) -> str:
        kind = self.rng.random()
        if kind < 0.3 and self.names:
            return self.rng.choice(self.names)
        return f"({self.body(depth - 1)})" if depth and kind < 0.5 else self.rng.choice(self.atoms)


def lark_grammar(rng: random.Random) -> str:
    rules = [f"r{i}" for i in range(rng.randint(0, 2))]
    terminals = [f"T{i}" for i in range(rng.randint(0, 2))]
    bodies = Bodies(rng, LARK_ATOMS, LARK_COUNTS, [*rules, *terminals, "tpl{/a/}"])
    lines = [f"start: {bodies.body(1)}", "tpl{x}: x | x tpl{x}"]
    lines += [f'{rng.choice(["", "?", "!"])}{name}: {bodies.body(1)} | "aba"' for name in rules]
    lines += [f"{name}: {' '.join(rng.choices(LARK_TERMINALS, k=rng.randint(1, 2)))}" for name in terminals]
    return "\n".join(lines + rng.choice([[], ['%ignore " "'], ["%ignore / +/"]]))


def ebnf_grammar(rng: random.Random) -> str:
    names = [rng.choice(["r", "start", "A-b.", "Token"]) + str(i) for i in range(rng.randint(1, 4))]
    bodies = Bodies(rng, EBNF_ATOMS, EBNF_COUNTS, names)
    rules = [f"{name} ::= {bodies.body(1)}" + rng.choice(["", ' | "a"', " |"]) for name in names]
    return "\n".join([f"root ::= {bodies.body(2)}", *rules])
