"""Random grammars that shrink: when the walks above find a difference, this finds a small one."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import maskwright
from maskwright.ir import EMPTY, Expr, alt, and_, literal, not_, ref, repeat, seq, star, tokens
from oracle.comparing import compile_fresh, scaled, walk
from oracle.grammars import AB, NOT_A, A, B, grammar
from oracle.model import Language
from oracle.vocabularies import SMALL

BOUNDS = st.tuples(st.integers(0, 4), st.integers(0, 4) | st.just(70)).map(lambda b: (b[0], b[0] + b[1]))
REGULAR = st.recursive(
    st.sampled_from([A, B, AB, NOT_A, EMPTY, literal(b"ab")]),
    lambda inner: (
        st.builds(seq, inner, inner)
        | st.builds(alt, inner, inner)
        | st.builds(and_, inner, inner)
        | st.builds(not_, inner)
        | st.builds(lambda e, b: repeat(e, *b), inner, BOUNDS)
    ),
    max_leaves=5,
)
EXPRS = st.recursive(
    REGULAR | st.sampled_from([ref(0), ref(1), tokens([3]), tokens(SMALL.special[:1])]),
    lambda inner: (
        st.builds(seq, inner, inner)
        | st.builds(alt, inner, inner)
        | st.builds(lambda e, b: repeat(e, *b), inner, BOUNDS)
        | st.builds(star, inner)
    ),
    max_leaves=6,
)


@settings(max_examples=scaled(150))
@given(EXPRS, EXPRS, st.integers(0, 2**16))
def test_any_grammar(root: Expr, other: Expr, seed: int) -> None:
    language = Language(grammar(root, other))
    if not language.viable(()):
        with pytest.raises(maskwright.UnsatisfiableError):
            compile_fresh(language.grammar, SMALL)
        return
    walk(compile_fresh(language.grammar, SMALL), language, SMALL, random.Random(seed), steps=4)
