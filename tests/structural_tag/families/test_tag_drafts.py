"""Speculative decoding: drafts that cross the ends of reasoning, triggers and calls, in every family and vocabulary.

Masks along a draft are those that single steps give; rolled back and replayed from the token list, all is as before.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

import maskwright as mw
from maskwright.events import EventReader
from maskwright.structural_tag import get_model_structural_tag
from oracle.comparing import seeded
from structural_tag.families.test_reader import joined
from structural_tag.families.test_walks import vocabulary_for
from structural_tag.families.transcripts import FAMILIES, OTHERS, TOOLS
from structural_tag.spelling import tokenize, vocabulary

DRAFT = 6
WHOLE = {family: texts[-1] for family, request, texts, _ in OTHERS if not request}


def transcript(family: str) -> str:
    """Reasoning, text and two calls, in the family's published format."""
    if family in WHOLE:
        return WHOLE[family]
    it = FAMILIES[family]
    thought = f"Hm < 5.{it.think[1]}" if it.think else ""
    return thought + ("" if family == "llama_4_pythonic" else "Let me see.\n") + it.calls(2)


@lru_cache(maxsize=4)
def vocabularies(family: str) -> tuple[mw.TokenizerInfo, ...]:
    own = vocabulary_for(family)
    special = [own.token_bytes[i].decode() for i in own.special_token_ids[:-1]]
    pieces = ["Hm", ".<", "</", "k>", "\n<", "ll", '{"', '": ', "}\n", "3}", "get_"]
    return own, vocabulary(special), vocabulary(special, pieces)


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("family", [*FAMILIES, *WHOLE])
def test_drafts_and_replay(family: str, number: int) -> None:
    info = vocabularies(family)[number]
    reasoning = "enabled" if family in WHOLE or FAMILIES[family].think else "disabled"
    tag = get_model_structural_tag(family, TOOLS, reasoning=reasoning)
    compiled = mw.GrammarCompiler(info).compile_structural_tag(tag)
    tokens = [*tokenize(info, transcript(family)), info.stop_token_ids[0]]
    masks = step_by_step(compiled, tokens)

    rng, matcher = seeded(f"drafts {family}"), mw.GrammarMatcher(compiled)
    reader = EventReader(matcher)
    rows = mw.allocate_token_bitmask(DRAFT + 2, info.vocab_size)
    for at in range(len(tokens)):
        draft = tokens[at : at + DRAFT]
        wrong = rng.randrange(info.vocab_size)
        good = matcher.fill_draft_bitmask([*draft, wrong], rows)
        assert good >= len(draft)
        assert matcher.validate_tokens(draft) == len(draft)
        assert (rows[: len(draft) + 1] == masks[at : at + len(draft) + 1]).all()
        matcher.accept_tokens(draft)
        reader.read()
        matcher.rollback(len(draft))
        matcher.fill_next_token_bitmask(rows)
        assert (rows[0] == masks[at]).all()
        assert matcher.accept_token(tokens[at])
    assert matcher.is_terminated()

    replayed = mw.GrammarMatcher(compiled)
    assert replayed.accept_tokens(tokens) == len(tokens)
    assert replayed.is_terminated()
    reader.read()
    assert joined(reader.events) == joined(EventReader(replayed).read())


def step_by_step(compiled: mw.CompiledGrammar, tokens: list[int]) -> np.ndarray:
    """The mask before each token, and after the last."""
    matcher = mw.GrammarMatcher(compiled)
    masks = mw.allocate_token_bitmask(len(tokens) + 1, compiled.tokenizer_info.vocab_size)
    for i, token in enumerate(tokens):
        matcher.fill_next_token_bitmask(masks, i)
        assert matcher.accept_token(token), (i, compiled.tokenizer_info.token_bytes[token])
    matcher.fill_next_token_bitmask(masks, len(tokens))
    return masks
