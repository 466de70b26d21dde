"""All substrings of a sequence of chunks, as right-linear rules: one for each state of its suffix automaton.

    >>> builder = IRBuilder()
    >>> print(builder.build(substrings(["a", "b", "a"], builder)).dump())
    substring ::= "" | "a" substring_2 | "b" substring_3
    substring_2 ::= "" | "b" substring_3
    substring_3 ::= "" | "a"

The automaton is deterministic in chunks, has fewer than twice as many states as there are chunks, and every state
accepts, the empty string included. Cost: linear, some microseconds a chunk.
Source: Blumer et al., The smallest automaton recognizing the subwords of a text, 1985.
Tested by tests/frontends/test_texts.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from maskwright.errors import LimitError
from maskwright.ir import EMPTY, Expr, IRBuilder, alt, seq, text

MAX_CHUNKS: Final = 50_000

_WORDS: Final = re.compile(r"\s+|\w+|[^\w\s]+")


def words(string: str) -> list[str]:
    """Cut a text into words, runs of white space and runs of other characters."""
    return _WORDS.findall(string)


def substrings(chunks: Sequence[str], builder: IRBuilder) -> Expr:
    """Any number of chunks that follow each other in the sequence, none included.

    Raises:
        LimitError: There are too many.
    """
    if len(chunks) > MAX_CHUNKS:
        raise LimitError(f"more than {MAX_CHUNKS:,} chunks to take substrings of", limit="substring chunks")
    states = _suffix_automaton([chunk for chunk in chunks if chunk])
    references = [builder.declare("substring") if transitions else EMPTY for transitions in states]
    for reference, transitions in zip(references, states, strict=True):
        if transitions:
            steps = (seq(text(chunk), references[target]) for chunk, target in transitions.items())
            builder.define(reference, alt(EMPTY, *steps))
    return references[0]


def _suffix_automaton(chunks: Sequence[str]) -> list[dict[str, int]]:
    """The transitions of each state; state 0 is the start."""
    transitions: list[dict[str, int]] = [{}]
    links, lengths = [-1], [0]
    last = 0
    for chunk in chunks:
        new = len(transitions)
        transitions.append({})
        lengths.append(lengths[last] + 1)
        links.append(0)
        at = last
        while at != -1 and chunk not in transitions[at]:
            transitions[at][chunk] = new
            at = links[at]
        if at != -1:
            target = transitions[at][chunk]
            if lengths[target] != lengths[at] + 1:
                target = _split(at, chunk, transitions, links, lengths)
            links[new] = target
        last = new
    return transitions


def _split(at: int, chunk: str, transitions: list[dict[str, int]], links: list[int], lengths: list[int]) -> int:
    """Give the longer paths into a state a state of their own; return the one that the shorter keep."""
    target, clone = transitions[at][chunk], len(transitions)
    transitions.append(dict(transitions[target]))
    lengths.append(lengths[at] + 1)
    links.append(links[target])
    links[target] = clone
    while at != -1 and transitions[at].get(chunk) == target:
        transitions[at][chunk] = clone
        at = links[at]
    return clone
