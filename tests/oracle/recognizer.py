"""A slow recogniser over the IR, meant to be right by reading: the judge of every mask.

The input is a sequence of symbols: an int is a byte, `("token", id)` is a token taken as a token, whatever its text,
and `("named", id)` the same where the grammar names it, not by a set of all tokens but some.
`ends(expr, i)` is the set of positions where a match of `expr` that starts at position i may end. Rules may be
recursive in any way (left, hidden left, nullable cycles, ambiguous): `ends` of a rule is the least fixpoint of its
equations, found by starting from empty sets and evaluating all of them again until nothing changes. All equations are
monotone, for the only operator that is not (`not_`) has no rules inside.

Viability is the same computation. A prefix p is viable iff the language meets p Σ*. The automaton of p Σ* is the chain
of p whose last position loops to itself on every symbol; so with `open_ended` the last position has that loop, and
nothing else changes (this is Bar-Hillel's product of a grammar and an automaton). That a rule has any word at all needs
no separate treatment: it says exactly that the rule leads from the last position to itself.

A rule with a parameter is a rule for each of its values: `ends(expr, i, v)` decides guards by v and asks for rule r
with value w where r is called with w. Only what is reached counts, so a test's parameters must take few values.

Behind a text that is remembered, every text that it may be is a case of its own, in which a recall is a literal. At the
last position of an open-ended input, a literal leads from it to itself, whatever the text goes on with.

Of distinct elements, each way to read one is a case of its own, with the set of texts so far. At the last position of
an open-ended input, an element may go on with whatever its derivative by what has been read matches, except where that
makes it an earlier element. A list matches nothing if there are fewer texts than it needs. Instead of an element, a
JSON value may come, compared with those before it by what it says. By the promise of `ir.distinct`, one that may go on
can become another one than those.

Of numbers that must be multiples, the digits are put together byte by byte; whether they can become one is searched,
from remainder to remainder.

Complements and intersections are regular: tests/oracle/derivatives.py follows them byte by byte.

    >>> grammar = ir.GrammarIR((ir.Rule("s", ir.alt(ir.seq(ir.ref(0), ir.ref(0)), ir.literal(b"ab"))),), 0)
    >>> [matches(grammar, b"abab"), matches(grammar, b"aba"), is_viable(grammar, b"aba"), is_viable(grammar, b"aa")]
    [True, False, True, False]

Source: Bar-Hillel, Perles, Shamir, On formal properties of simple phrase structure grammars, 1961.
Tested by tests/oracle/test_recognizer.py, against the enumeration of all strings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from maskwright import ir
from maskwright.ir import Expr, GrammarIR
from oracle.derivatives import byte_groups, derivative, is_empty, is_nullable
from oracle.json_values import identity
from oracle.multiples import Number

Symbol: TypeAlias = "int | tuple[str, int]"
Texts: TypeAlias = "frozenset[tuple[int, tuple[Symbol, ...]]]"  # by number
_NO_TEXTS: Texts = frozenset()
Used: TypeAlias = "frozenset[tuple[str, Any]]"  # values that a scope has had, by their texts or by what they say


def matches(grammar: GrammarIR, symbols: Sequence[Symbol]) -> bool:
    """Is this sequence in the language?"""
    return len(symbols) in _Chart(grammar, symbols, open_ended=False).solve()


def is_viable(grammar: GrammarIR, symbols: Sequence[Symbol]) -> bool:
    """Is this sequence a prefix of one in the language?"""
    return len(symbols) in _Chart(grammar, symbols, open_ended=True).solve()


def takes(e: Expr, symbol: Symbol) -> bool:
    """Does this set of tokens take the symbol?"""
    return isinstance(symbol, tuple) and symbol[1] in e[1] and not (symbol[0] == "named" and e[2])


def derived(e: Expr, symbols: Sequence[Symbol]) -> Expr:
    """What may follow these symbols in a regular expression."""
    for symbol in symbols:
        e = derivative(e, symbol) if isinstance(symbol, int) else ir.never()
    return e


def matches_all(e: Expr, symbols: Sequence[Symbol]) -> bool:
    """Does a regular expression match these symbols, nothing following?"""
    return is_nullable(derived(e, symbols))


@lru_cache(maxsize=1 << 14)
def can_become_another(e: Expr, begun: tuple[Symbol, ...], used: frozenset[tuple[Symbol, ...]]) -> bool:
    """Can what has begun become a text of a regular expression that is none of those used?"""
    endings = [bytes(text[len(begun) :]) for text in used if text[: len(begun)] == begun]
    return not is_empty(ir.and_(derived(e, begun), *[ir.not_(ir.literal(ending)) for ending in endings]))


@lru_cache(maxsize=1 << 10)
def has_words(e: Expr, count: int) -> bool:
    """Does a regular expression match so many strings?"""
    found: list[bytes] = []
    while len(found) < count:
        rest = ir.and_(e, *[ir.not_(ir.literal(word)) for word in found])
        if is_empty(rest):
            return False
        found.append(shortest_word(rest))
    return True


def shortest_word(e: Expr) -> bytes:
    """The first shortest string that a regular expression matches. It is not empty."""
    ways, pending = {e: b""}, [e]
    for at in pending:  # grows meanwhile, shorter ways first
        if is_nullable(at):
            return ways[at]
        for group in byte_groups(at):
            after = derivative(at, group[0])
            if after not in ways:
                ways[after] = ways[at] + bytes(group[:1])
                pending.append(after)
    raise AssertionError("the expression matches nothing")


@lru_cache(maxsize=1 << 14)
def _value_ends(grammar: GrammarIR, value: Expr, text: tuple[Symbol, ...]) -> frozenset[int]:
    return frozenset(_Chart(_of_value(grammar, value), text, open_ended=False).solve())


def value_ends(grammar: GrammarIR, value: Expr, symbols: Sequence[Symbol]) -> frozenset[int]:
    """How much of some symbols a value may be."""
    return _value_ends(grammar, value, tuple(symbols))


@lru_cache(maxsize=1 << 14)
def _can_go_on(grammar: GrammarIR, value: Expr, text: tuple[Symbol, ...]) -> bool:
    within = _of_value(grammar, value)
    return any(is_viable(within, (*text, byte)) for byte in _alphabet(within))


def can_go_on(grammar: GrammarIR, value: Expr, symbols: Sequence[Symbol]) -> bool:
    """May a value go on after these symbols? Each has some text."""
    return not symbols or _can_go_on(grammar, value, tuple(symbols))


@lru_cache(maxsize=1 << 8)
def _alphabet(grammar: GrammarIR) -> frozenset[int]:
    """The bytes that stand in a grammar without complements; all of them if there are some."""
    found = set[int]()
    for node in (node for rule in grammar.rules for node in ir.postorder(rule.body)):
        if node[0] in (ir.OP_NOT, ir.OP_SUBSTRINGS):
            return frozenset(range(256))
        if node[0] == ir.OP_LITERAL:
            found.update(node[1])
        elif node[0] == ir.OP_SET:
            found.update(byte for byte in range(256) if node[1] >> byte & 1)
    return frozenset(found)


def _has_values(e: Expr) -> bool:
    """Does a scope compare values? What it holds is its body."""
    if e[0] in (ir.OP_SCOPE, ir.OP_DISTINCT):
        return False
    return e[0] == ir.OP_VALUE or any(_has_values(part) for part in e[1:] if isinstance(part, Expr))


def _of_value(grammar: GrammarIR, value: Expr) -> GrammarIR:
    return grammar._replace(rules=(*grammar.rules, ir.Rule("value", value)), root=len(grammar.rules))


class _Chart:
    """The sets `ends(rule, value, i)` for one input."""

    def __init__(self, grammar: GrammarIR, symbols: Sequence[Symbol], *, open_ended: bool) -> None:
        self.grammar, self.symbols, self.open_ended = grammar, symbols, open_ended
        self.rule_ends: dict[tuple[int, int, int], set[int]] = {(grammar.root, 0, 0): set()}
        self.known: dict[tuple[int, int, int, Texts], set[int]] = {}  # by expression, while `rule_ends` stays as it is

    def solve(self) -> set[int]:
        before = None
        while before != self.rule_ends:
            before = dict(self.rule_ends)
            for rule, v, i in before:
                self.known.clear()
                self.rule_ends[rule, v, i] = self.ends(self.grammar.rules[rule].body, i, v)
        return self.rule_ends[self.grammar.root, 0, 0]

    def ends(self, e: Expr, i: int, v: int, texts: Texts = _NO_TEXTS) -> set[int]:
        if not texts:
            return self.found_ends(e, i, v, texts)
        key = (id(e), i, v, texts)  # many readings lead to the same one
        if key not in self.known:
            self.known[key] = self.found_ends(e, i, v, texts)
        return self.known[key]

    def found_ends(self, e: Expr, i: int, v: int, texts: Texts) -> set[int]:
        op = e[0]
        if op == ir.OP_EMPTY:
            return {i}
        if op == ir.OP_NEVER:
            return set()
        if op == ir.OP_LITERAL:
            at = {i}
            for b in e[1]:
                at = {k for j in at for k in self.step(j, lambda symbol, b=b: symbol == b)}
            return at
        if op == ir.OP_SET:
            return self.step(i, lambda symbol: isinstance(symbol, int) and bool(e[1] >> symbol & 1))
        if op == ir.OP_TOKENS:
            return self.step(i, lambda symbol: takes(e, symbol))
        if op == ir.OP_SEQ:
            return self.sequence_ends(e[1:], i, v, texts)
        if op == ir.OP_ALT:
            return {j for branch in e[1:] for j in self.ends(branch, i, v, texts)}
        if op == ir.OP_REPEAT:
            return self.repeat_ends(e, i, v, texts)
        if op == ir.OP_REF:
            return set(self.rule_ends.setdefault((e[1], 0, i), set()))
        if op == ir.OP_CALL:
            return set(self.rule_ends.setdefault((e[1], e[2].of(v), i), set()))
        if op == ir.OP_GUARD:
            return self.ends(e[1], i, v, texts) if e[2].holds(v) else set()
        if op == ir.OP_SCOPE and _has_values(e[1]):
            return {j for j, _ in self.ways(e[1], {(i, frozenset())}, v)}
        if op in (
            ir.OP_CAPTURE,
            ir.OP_SPAN,
            ir.OP_SCOPE,
            ir.OP_REMEMBER,
        ):  # what a span says is for tests/oracle/token_chart.py
            return self.ends(e[1], i, v, texts)
        if op == ir.OP_MULTIPLE:
            return self.multiple_ends(e, i)
        if op == ir.OP_DISTINCT:
            return self.list_ends(e, i, v, frozenset()) if len(e) > 5 or has_words(e[1], e[3]) else set()
        if op == ir.OP_RECALL:
            return self.ends(ir.literal(bytes(dict(texts)[e[1]])), i, v)
        assert op in (ir.OP_AND, ir.OP_NOT)
        return self.regular_ends(e, i)

    def step(self, i: int, accepts: Callable[[Symbol], bool]) -> set[int]:
        if i == len(self.symbols):
            return {i} if self.open_ended else set()
        return {i + 1} if accepts(self.symbols[i]) else set()

    def sequence_ends(self, parts: Sequence[Expr], i: int, v: int, texts: Texts) -> set[int]:
        at = {i}
        for k, part in enumerate(parts):
            if part[0] == ir.OP_REMEMBER:  # each text that it may be is remembered for the rest
                ends = {(j, end) for j in at for end in self.ends(part[1], j, v)}
                others = frozenset(text for text in texts if text[0] != part[2])
                readings = {(end, others | {(part[2], tuple(self.symbols[j:end]))}) for j, end in ends}
                return {j for end, known in readings for j in self.sequence_ends(parts[k + 1 :], end, v, known)}
            at = self.ends_from(part, at, v, texts)
        return at

    def list_ends(self, e: Expr, i: int, v: int, used: frozenset[tuple[Any, ...]]) -> set[int]:
        """The ends of elements, separated, at the first of which the elements in `used` are behind."""
        element, separator, *values, minimum, maximum = e[1:]
        found, last = set(), len(self.symbols)
        texts = frozenset(text for text in used if text[:1] != ("value",))
        if self.open_ended and can_become_another(element, tuple(self.symbols[i:]), texts):
            found.add(last)
        if self.open_ended and any(can_go_on(self.grammar, value, self.symbols[i:]) for value in values[::2]):
            found.add(last)
        for j, text in {*self.element_readings(element, i, v), *self.value_readings(values, i, v)}:
            if text in used:
                continue
            if len(used) + 1 >= minimum:
                found.add(j)
            if len(used) + 1 == maximum:
                continue
            for k in self.ends(separator, j, v):
                found |= self.list_ends(e, k, v, used | {text})
        return found

    def ways(self, e: Expr, starts: set[tuple[int, Used]], v: int) -> set[tuple[int, Used]]:
        """Where a part of a scope with values ends, from each start with the values that are behind it."""
        if e[0] == ir.OP_VALUE:
            return {way for i, used in starts for way in self.value_ways(e, i, used, v)}
        if e[0] == ir.OP_ALT:
            return {way for branch in e[1:] for way in self.ways(branch, starts, v)}
        if e[0] == ir.OP_SEQ:
            for part in e[1:]:
                starts = self.ways(part, starts, v)
            return starts
        if e[0] != ir.OP_REPEAT:
            return {(j, used) for i, used in starts for j in self.ends(e, i, v)}
        for _ in range(e[2]):
            starts = self.ways(e[1], starts, v)
        reached, fresh, count = set(starts), starts, e[2]
        while fresh and count != e[3]:
            fresh, count = self.ways(e[1], fresh, v) - reached, count + 1
            reached |= fresh
        return reached

    def value_ways(self, e: Expr, i: int, used: Used, v: int) -> set[tuple[int, Used]]:
        _, value, by_text = e
        rest, last = tuple(self.symbols[i:]), len(self.symbols)
        if by_text:
            said = {(j, ("text", text)) for j, text in self.element_readings(value, i, v)}
            texts = frozenset(text for kind, text in used if kind == "text")
            is_open = can_become_another(value, rest, texts)
        else:
            said = {(i + n, ("value", identity(bytes(rest[:n])))) for n in value_ends(self.grammar, value, rest)}
            is_open = can_go_on(self.grammar, value, rest)
        found = {(j, used | {one}) for j, one in said if one not in used}
        return found | ({(last, used)} if self.open_ended and is_open else set())

    def element_readings(self, element: Expr, i: int, v: int) -> list[tuple[int, tuple[Any, ...]]]:
        readings = [(j, tuple(self.symbols[i:j])) for j in self.ends(element, i, v)]
        is_open = self.open_ended
        return [(j, t) for j, t in readings if not is_open or j < len(self.symbols) or matches_all(element, t)]

    def value_readings(self, values: list[Expr], i: int, v: int) -> list[tuple[int, tuple[Any, ...]]]:
        """Where values with what closes them end, and what they say."""
        found = []
        for value, closing in zip(values[::2], values[1::2], strict=True):
            for middle in value_ends(self.grammar, value, self.symbols[i:]):
                said = ("value", identity(bytes(self.symbols[i : i + middle])))
                found += [(j, said) for j in self.ends(closing, i + middle, v)]
        return found

    def ends_from(self, e: Expr, starts: set[int], v: int, texts: Texts = _NO_TEXTS) -> set[int]:
        return {j for i in starts for j in self.ends(e, i, v, texts)}

    def repeat_ends(self, e: Expr, i: int, v: int, texts: Texts) -> set[int]:
        _, item, minimum, maximum = e
        at, before, count = {i}, None, 0
        while count < minimum and at != before:  # once a round changes nothing, the next ones do not either
            at, before, count = self.ends_from(item, at, v, texts), at, count + 1
        reached, fresh, count = set(at), at, minimum
        while fresh and count != maximum:  # a position reached before had more repetitions left than now
            fresh, count = self.ends_from(item, fresh, v, texts) - reached, count + 1
            reached |= fresh
        return reached

    def multiple_ends(self, e: Expr, i: int) -> set[int]:
        found, last = set(), len(self.symbols)
        number: Number | None = Number.of(e)
        for j in range(i, last + 1):
            if number is None:
                break
            if number.is_multiple() or (j == last and self.open_ended and number.can_become_multiple()):
                found.add(j)
            symbol = self.symbols[j] if j < last else None
            number = number.after(symbol) if isinstance(symbol, int) else None
        return found

    def regular_ends(self, e: Expr, i: int) -> set[int]:
        found, last = set(), len(self.symbols)
        for j in range(i, last + 1):
            if is_nullable(e) or (j == last and self.open_ended and not is_empty(e)):
                found.add(j)
            if j == last or not isinstance(self.symbols[j], int):
                break
            e = derivative(e, self.symbols[j])
        return found
