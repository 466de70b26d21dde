"""Every optimisation can be switched off, and the masks stay the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import maskwright as mw
from maskwright import _kernel
from oracle.comparing import compile_fresh, scaled, seeded, walk
from oracle.grammars import random_grammar
from oracle.model import Language
from oracle.vocabularies import SMALL

SWITCHES = ["inlining", "registers", "subtree_skipping", "state_masks", "config_memo", "sharing"]
RECURSIVE = 'root ::= t ("a" t)* "b"{2,40}\nt ::= f ("b" f)*\nf ::= "c" | "ab" root "a" | [ab]{20,30}'


@pytest.fixture(params=[*[[name] for name in SWITCHES], SWITCHES], ids=[*SWITCHES, "all"])
def switched_off(request: pytest.FixtureRequest) -> Iterator[None]:
    _kernel.set_optimisations(**dict.fromkeys(request.param, False))
    yield
    _kernel.set_optimisations()


@pytest.mark.usefixtures("switched_off")
def test_masks_are_the_same() -> None:
    rng = seeded("optimisations")
    grammars = [random_grammar(rng, (3, SMALL.special[0])) for _ in range(scaled(8))]
    for grammar in [mw.Grammar.from_ebnf(RECURSIVE).ir, *grammars]:
        language = Language(grammar)
        if language.viable(()):
            walk(compile_fresh(grammar, SMALL), language, SMALL, rng, steps=3)
