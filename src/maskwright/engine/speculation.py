"""Drafts: tokens that may come next, guessed by something cheap and checked by the model in one step.

    Request(..., propose=prompt_lookup())       what followed the last tokens when they came before
    Request(..., propose=GrammarDrafts())       what outputs of this grammar went on with there

A draft is cut to what the grammar allows, and read by the model with the token before it. The output takes the tokens
that would have been chosen anyway: the same seed gives the same output with drafts and without, unless forced text is
inserted at other places. Where the draft is wrong, the model's cache is cut back; the matcher has not moved, since
masks along a draft are filled ahead of it.

Source: Leviathan et al., "Fast inference from transformers via speculative decoding" (2023); Saxena, "Prompt lookup
decoding" (2023). Tested by tests/engine/test_speculation.py.
"""

from __future__ import annotations

from collections.abc import Sequence as Several

from maskwright.engine.requests import Propose
from maskwright.engine.sequence import Sequence
from maskwright.errors import OptionError
from maskwright.matcher import GrammarMatcher
from maskwright.outputs.grammar_drafts import GrammarDrafts
from maskwright.support.arguments import as_integer


def prompt_lookup(num_tokens: int = 8, longest_match: int = 3) -> Propose:
    """Return a function that proposes what followed the last tokens when they last came before.

    Args:
        num_tokens: The most tokens to propose.
        longest_match: How many of the last tokens to look for, at first; then fewer.
    """
    limit, longest = as_integer("num_tokens", num_tokens, at_least=1), as_integer("longest_match", longest_match)
    if longest < 1:
        raise OptionError(f"longest_match must be >= 1, not {longest}", option="longest_match")

    def propose(ids: Several[int]) -> Several[int]:
        ids = list(ids)
        for size in range(min(longest, len(ids) - 1), 0, -1):
            wanted = ids[-size:]
            for start in range(len(ids) - size - 1, -1, -1):
                if ids[start : start + size] == wanted:
                    return ids[start + size : start + size + limit]
        return []

    return propose


def drafted(sequence: Sequence, max_tokens: int) -> list[int]:
    """Return the draft of an output: what is proposed, as far as it fits and the grammar allows it."""
    propose, matcher = sequence.request.propose, sequence.matcher
    room = min(max_tokens, sequence.max_tokens - sequence.num_output - 1)
    if propose is None or sequence.awaits_grammar or room < 1:
        return []
    size = sequence.vocab_size
    if isinstance(propose, GrammarDrafts):
        return [] if matcher is None else _learnt(sequence, propose, matcher)[:room]
    draft = [as_integer("each of what propose returns", token) for token in list(propose(sequence.ids))[:room]]
    known = next((i for i, token in enumerate(draft) if not 0 <= token < size), len(draft))
    return draft[:known] if matcher is None else draft[: matcher.validate_tokens(draft[:known])]


def _learnt(sequence: Sequence, drafts: GrammarDrafts, matcher: GrammarMatcher) -> list[int]:
    """What followed in other outputs, and earlier in this one."""
    output_ids = sequence.output_ids
    if sequence.draft_reader is None:
        sequence.draft_reader = drafts.reader(matcher.compiled_grammar)
    sequence.draft_reader.read(output_ids)
    return drafts.propose(matcher, output_ids[-1] if output_ids else None)
