"""All substrings of a sequence of chunks: in short, right-linear rules for the states of its suffix automaton.

    >>> builder = IRBuilder()
    >>> print(builder.build(substrings(["a", "b", "a"], builder)).dump())
    substring_2 ::= ("a" ("b" substring)? | "b" substring)?
    substring ::= "a"?

The automaton is deterministic in chunks, has fewer than twice as many states as there are chunks, and every state
accepts, the empty string included. A state that only one other leads to is part of the rule of that one, to some depth.
Rules can be spelled out, written as a regular expression and compared with others. More chunks than can be spelled out
(`regular.MAX_SPELLED_DEPTH`) are one leaf of the grammar, of which the kernel makes the automaton
(cpp/kernel/grammar/substring_automaton.h), which is some twenty times as fast.
Cost: linear; a kilobyte costs up to a millisecond, reading, compiling and the first mask together, where the kernel
makes it.
Source: Blumer et al., The smallest automaton recognizing the subwords of a text, 1985.
Tested by tests/frontends/test_texts.py, tests/kernel/test_substrings.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from maskwright.errors import LimitError
from maskwright.ir import EMPTY, Expr, IRBuilder, alt, optional, seq, text
from maskwright.ir import substrings as of_bytes

MAX_CHUNKS: Final = 500_000
MAX_BYTES: Final = 1_000_000
MAX_IN_RULES = 1_000  # chunks; not final, as tests lower it
_MAX_INLINED: Final = 8  # states in each other

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
        hint = "split the text into words, or use a part of it"
        raise LimitError(
            f"the text of substrings has more than {MAX_CHUNKS:,} chunks", limit="substring chunks", hint=hint
        )
    if len("".join(chunks).encode()) > MAX_BYTES:
        raise LimitError(
            f"the text of substrings has more than {MAX_BYTES:,} bytes",
            limit="substring bytes",
            hint="use a part of the text",
        )
    if len(chunks) > MAX_IN_RULES:
        return builder.add("substring", of_bytes([chunk.encode() for chunk in chunks]))
    states, lengths = _suffix_automaton([chunk for chunk in chunks if chunk])
    num_ways = [0] * len(states)  # into each state
    for transitions in states:
        for target in transitions.values():
            num_ways[target] += 1
    made: list[Expr] = [EMPTY] * len(states)
    heights = [0] * len(states)
    for state in sorted(range(len(states)), key=lengths.__getitem__, reverse=True):  # after those that it leads to
        transitions = states[state]
        if not transitions:
            continue
        body = optional(alt(*[seq(text(chunk), made[target]) for chunk, target in transitions.items()]))
        height = 1 + max([heights[target] for target in transitions.values()])
        if num_ways[state] == 1 and height < _MAX_INLINED:
            made[state], heights[state] = body, height
        else:
            made[state] = builder.add("substring", body)
    return made[0]


def _suffix_automaton(chunks: Sequence[str]) -> tuple[list[dict[str, int]], list[int]]:
    """The transitions of each state, and how many chunks lead to it at most; state 0 is the start."""
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
    return transitions, lengths


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
