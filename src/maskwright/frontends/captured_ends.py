r"""A body up to where an end first comes, taken apart: what a captured rule matches, and the text that stops it.

    body .*, end "b" | "bc"    →   [(".*" without a "b" in it, "b")]
    body .*, end "aa" | "b"    →   ["a" is not the last character, "aa"), (…, "b")]

As one expression this is `shortest(seq(body, end))`; a capture needs the parts. What may stand before an end depends on
the end, as an earlier one may begin before it and end within it. If no end can begin so, one pair is enough; otherwise
there is a pair for each string that ends the text, which must be few then. A text can still be parted in several ways
where ends of different length come to the same place: then a capture takes the longest body.

Invariant: the pairs, in sequence, match what `shortest(seq(body, end))` does.
Cost: an automaton of the end by derivatives, within _MAX_WORK nodes.
Tested by tests/frontends/test_rule_captures.py.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from maskwright.frontends.derivatives import before_last, byte_classes, derivative, nullable
from maskwright.frontends.regular import first_bytes
from maskwright.frontends.texts import ANY_BYTES, shortest
from maskwright.ir import EMPTY, OP_NEVER, Expr, alt, and_, depth, literal, not_, postorder, seq

MAX_STRINGS: Final = 32
MAX_LEVELS: Final = 150
_MAX_STATES: Final = 2_000
_MAX_WORK: Final = 1_000_000


class UnclearEndError(Exception):
    """Ends overlap with each other, and are too many to be looked at one by one; or the end is too large."""


class _Ends(NamedTuple):
    """The shortest texts of an end as an automaton: state 0 is the start, and nothing follows an accepting state."""

    steps: list[list[tuple[int, int]]]  # of each state, sets of bytes and where they lead: to states that lead on
    accepting: list[bool]


def parted(body: Expr, end: Expr) -> list[tuple[Expr, Expr]]:
    """Return the texts before an end with the ends that may follow them.

    Raises:
        UnclearEndError: It cannot be done.
    """
    if end[0] == OP_NEVER:
        return []
    if depth(end) > MAX_LEVELS:
        raise UnclearEndError
    if nullable(end):
        return [(shortest(body), EMPTY)]
    ends = _automaton(end)
    if not _overlap(ends):
        return [(and_(body, not_(seq(body, end, ANY_BYTES))), shortest(end))]
    return _parted_by_string(body, _strings(ends))


def _parted_by_string(body: Expr, strings: list[bytes]) -> list[tuple[Expr, Expr]]:
    if depth(body) > MAX_LEVELS:
        raise UnclearEndError
    whole = seq(body, alt(*map(literal, strings)))
    complete = not_(seq(whole, ANY_BYTES))
    alike: dict[Expr, list[bytes]] = {}
    for string in strings:
        earlier = []
        for size in range(1, len(string)):
            too_long = whole
            for byte in reversed(string[:size]):
                too_long = before_last(too_long, byte)
            if too_long[0] != OP_NEVER:
                earlier.append(not_(too_long))
        alike.setdefault(and_(body, complete, *earlier), []).append(string)
    return [(before, alt(*map(literal, group))) for before, group in alike.items()]


def _automaton(end: Expr) -> _Ends:
    states, numbers = [end], {end: 0}
    steps: list[list[tuple[int, int]]] = []
    work = _MAX_WORK
    for state in states:  # grows meanwhile
        steps.append([])
        if nullable(state):
            continue
        if depth(state) > MAX_LEVELS:
            raise UnclearEndError
        classes = byte_classes(first_bytes(state), state)
        work -= len(postorder(state)) * len(classes)
        if work < 0 or len(states) > _MAX_STATES:
            raise UnclearEndError
        for members in classes:
            target = derivative(state, members[0])
            if target[0] != OP_NEVER:
                number = numbers.setdefault(target, len(states))
                if number == len(states):
                    states.append(target)
                steps[-1].append((sum(1 << byte for byte in members), number))
    accepting = list(map(nullable, states))
    alive = _leading_to(accepting, steps)
    return _Ends([[step for step in out if alive[step[1]]] for out in steps], accepting)


def _leading_to(accepting: list[bool], steps: list[list[tuple[int, int]]]) -> list[bool]:
    alive, changed = accepting[:], True
    while changed:
        changed = False
        for state, out in enumerate(steps):
            if not alive[state] and any(alive[target] for _, target in out):
                alive[state] = changed = True
    return alive


def _overlap(ends: _Ends) -> bool:
    """Whether an end may come to its own end within another one that begins later or at the same place."""
    everywhere = frozenset(range(len(ends.steps)))  # where an end may be that began before, or begins here
    seen = {(0, everywhere)}
    waiting = [(0, everywhere)]
    while waiting:
        state, others = waiting.pop()
        for members, target in ends.steps[state]:
            for _, reached in _moves(members, others, ends):
                after = (target, reached | {0})
                if ends.accepting[target] or after in seen:
                    continue
                if any(ends.accepting[other] for other in reached) or len(seen) > _MAX_STATES:
                    return True
                seen.add(after)
                waiting.append(after)
    return False


def _moves(members: int, states: frozenset[int], ends: _Ends) -> list[tuple[int, frozenset[int]]]:
    """Where some bytes lead from a set of states, by sets of bytes that lead alike."""
    found: list[tuple[int, frozenset[int]]] = [(members, frozenset())]
    for state in states:
        for taken, target in ends.steps[state]:
            if taken & members:
                found = [
                    (part, reached | {target} if is_in else reached)
                    for known, reached in found
                    for part, is_in in ((known & taken, True), (known & ~taken, False))
                    if part
                ]
    return found


def _strings(ends: _Ends) -> list[bytes]:
    """All ends, one by one."""
    out, waiting = [], [(b"", 0)]
    while waiting:
        begun, state = waiting.pop()
        if ends.accepting[state]:
            out.append(begun)
        for members, target in ends.steps[state]:
            waiting.extend((begun + bytes((b,)), target) for b in range(members.bit_length()) if members >> b & 1)
        if len(out) + len(waiting) > MAX_STRINGS or len(begun) > _MAX_STATES:
            raise UnclearEndError
    return sorted(out)
