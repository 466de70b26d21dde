"""The judge of token budgets: a slow recogniser over tokens, meant to be right by reading.

Where `tests/oracle/recognizer.py` asks whether bytes follow, tokens do here: a span of the grammar may lie in so many
of them. The input is what was accepted, a sequence of tokens each read as its bytes or as itself; after it, whatever
the vocabulary can write may follow. So a position is one of

    0 ... n         before the i-th symbol of the input; n is its end, where any further token may begin
    (token, k)      inside a further token, before its byte k

and `ends(expr, i)` says, for each position at which a match of `expr` that starts at i may end, how many tokens begin
in between, at least. A span then lies in that many tokens, and one more if it starts inside a token; nothing lies in
none. Fewer tokens are never worse, so the least number is all there is to know. An input is viable iff the whole
grammar leads from 0 to n, the end of the input and of any tokens after it.

    >>> from oracle.vocabularies import Vocab
    >>> grammar = ir.GrammarIR((ir.Rule("s", ir.span(ir.literal(b"aab"), max_tokens=2)),), 0)
    >>> vocab = Vocab((b"a", b"b", b"ab"))
    >>> [is_viable(grammar, vocab, tokens) for tokens in ([], [(b"a",)], [(b"a",), (b"a",)], [(b"a",), (b"ab",)])]
    [True, True, False, True]

The rest is as there: rules are solved by evaluating all of them again until nothing changes. Remembered text and the
elements of lists are known in whole outputs only, where positions say what they are: what may follow is for
`tests/oracle/budget_model.py`.
Tested by tests/oracle/test_token_chart.py, against the enumeration of all token sequences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from maskwright import ir
from maskwright.ir import Expr, GrammarIR
from oracle.derivatives import derivative, is_empty, is_nullable
from oracle.multiples import Number
from oracle.recognizer import _NO_TEXTS, Symbol, Texts, takes
from oracle.vocabularies import Vocab

Reading: TypeAlias = "tuple[Symbol, ...]"  # of one token: its bytes, or itself
Position: TypeAlias = "int | tuple[int, int]"
Ends: TypeAlias = "dict[Position, int]"


def matches(grammar: GrammarIR, vocab: Vocab, tokens: Sequence[Reading | tuple[bytes]]) -> bool:
    """Is this a whole output, all budgets kept?"""
    return _Chart(grammar, vocab, tokens, open_ended=False).accepts()


def is_viable(grammar: GrammarIR, vocab: Vocab, tokens: Sequence[Reading | tuple[bytes]]) -> bool:
    """Is this the beginning of one that the vocabulary can write?"""
    return _Chart(grammar, vocab, tokens, open_ended=True).accepts()


class _Chart:
    def __init__(
        self, grammar: GrammarIR, vocab: Vocab, tokens: Sequence[Reading | tuple[bytes]], *, open_ended: bool
    ) -> None:
        self.grammar, self.vocab, self.open_ended = grammar, vocab, open_ended
        readings = [tuple(token[0]) if isinstance(token[0], bytes) else token for token in tokens]
        self.symbols: list[Symbol] = [symbol for reading in readings for symbol in reading]
        self.begins = [k == 0 for reading in readings for k in range(len(reading))]
        self.bytes = {b for data in vocab.token_bytes for b in data} | {b for b in self.symbols if isinstance(b, int)}
        self.rule_ends: dict[tuple[int, int, Position], Ends] = {(grammar.root, 0, 0): {}}

    def accepts(self) -> bool:
        before = None
        while before != self.rule_ends:
            before = dict(self.rule_ends)
            for rule, v, i in before:
                self.rule_ends[rule, v, i] = self.ends(self.grammar.rules[rule].body, i, v)
        return len(self.symbols) in self.rule_ends[self.grammar.root, 0, 0]

    def step(self, i: Position, accepts: Callable[[Symbol], bool]) -> Ends:
        """One symbol further, and whether a token begins with it."""
        end = len(self.symbols)
        found: Ends = {}
        if isinstance(i, int) and i < end:
            if accepts(self.symbols[i]):
                found[i + 1] = int(self.begins[i])
        elif isinstance(i, tuple):
            data = self.vocab.token_bytes[i[0]]
            if accepts(data[i[1]]):
                found[(i[0], i[1] + 1) if i[1] + 1 < len(data) else end] = 0
        elif self.open_ended:
            for token, data in enumerate(self.vocab.token_bytes):
                if accepts(("token", token)):
                    found[end] = 1
                if token not in self.vocab.special and data and accepts(data[0]):
                    found[(token, 1) if len(data) > 1 else end] = 1
        return found

    def is_inside_token(self, i: Position) -> bool:
        return isinstance(i, tuple) or (i < len(self.symbols) and not self.begins[i])

    def ends(self, e: Expr, i: Position, v: int, texts: Texts = _NO_TEXTS) -> Ends:
        op = e[0]
        if op == ir.OP_EMPTY:
            return {i: 0}
        if op == ir.OP_NEVER:
            return {}
        if op == ir.OP_LITERAL:
            at: Ends = {i: 0}
            for b in e[1]:
                at = _joined(at, lambda j, b=b: self.step(j, lambda symbol: symbol == b))
            return at
        if op == ir.OP_SET:
            return self.step(i, lambda symbol: isinstance(symbol, int) and bool(e[1] >> symbol & 1))
        if op == ir.OP_TOKENS:
            return self.step(i, lambda symbol: takes(e, symbol))
        if op == ir.OP_SEQ:
            return self.sequence_ends(e[1:], {i: 0}, v, texts)
        if op == ir.OP_ALT:
            return _least(*(self.ends(branch, i, v, texts) for branch in e[1:]))
        if op == ir.OP_REPEAT:
            return self.repeat_ends(e, i, v, texts)
        if op == ir.OP_REF:
            return dict(self.rule_ends.setdefault((e[1], 0, i), {}))
        if op == ir.OP_CALL:
            return dict(self.rule_ends.setdefault((e[1], e[2].of(v), i), {}))
        if op == ir.OP_GUARD:
            return self.ends(e[1], i, v, texts) if e[2].holds(v) else {}
        if op in (ir.OP_CAPTURE, ir.OP_SCOPE, ir.OP_REMEMBER):
            return self.ends(e[1], i, v, texts)
        if op == ir.OP_RECALL:
            return self.ends(ir.literal(bytes(dict(texts)[e[1]])), i, v)
        if op == ir.OP_SPAN:
            return self.span_ends(e, i, v)
        if op == ir.OP_MULTIPLE:
            return self.multiple_ends(e, i)
        if op == ir.OP_DISTINCT:
            return self.list_ends(e, i, v, frozenset())
        assert op in (ir.OP_AND, ir.OP_NOT)
        return self.regular_ends(e, i)

    def span_ends(self, e: Expr, i: Position, v: int) -> Ends:
        entered = int(self.is_inside_token(i))
        most = float("inf") if e[2] is None else e[2]
        # What ends where it starts, no token having begun, is empty: it lies in no token.
        return {j: n for j, n in self.ends(e[1], i, v).items() if (j == i and n == 0) or n + entered <= most}

    def sequence_ends(self, parts: Sequence[Expr], starts: Ends, v: int, texts: Texts) -> Ends:
        at = starts
        for k, part in enumerate(parts):
            if part[0] == ir.OP_REMEMBER:
                assert not self.open_ended
                others = frozenset(text for text in texts if text[0] != part[2])
                found: Ends = {}
                for j, n in at.items():
                    for end, more in self.ends(part[1], j, v).items():
                        known = others | {(part[2], tuple(self.symbols[j:end]))}
                        found = _least(found, self.sequence_ends(parts[k + 1 :], {end: n + more}, v, known))
                return found
            at = self.ends_from(part, at, v, texts)
        return at

    def ends_from(self, e: Expr, starts: Ends, v: int, texts: Texts = _NO_TEXTS) -> Ends:
        return _joined(starts, lambda i: self.ends(e, i, v, texts))

    def repeat_ends(self, e: Expr, i: Position, v: int, texts: Texts) -> Ends:
        _, item, minimum, maximum = e
        at, before, count = {i: 0}, None, 0
        while count < minimum and at != before:
            at, before, count = self.ends_from(item, at, v, texts), at, count + 1
        reached, fresh, count = dict(at), at, minimum
        while fresh and count != maximum:  # what was reached before with as few tokens had more repetitions left
            found, count = self.ends_from(item, fresh, v, texts), count + 1
            fresh = {j: n for j, n in found.items() if j not in reached or n < reached[j]}
            reached = _least(reached, fresh)
        return reached

    def list_ends(self, e: Expr, i: Position, v: int, used: frozenset[tuple[Symbol, ...]]) -> Ends:
        """The ends of elements, separated, at the first of which those in `used` are behind."""
        assert not self.open_ended
        element, separator, minimum, maximum = e[1:]
        found: Ends = {}
        for j, n in self.ends(element, i, v).items():
            text = tuple(self.symbols[i:j])
            if text in used:
                continue
            if len(used) + 1 >= minimum:
                found = _least(found, {j: n})
            if len(used) + 1 != maximum:
                behind = _joined(self.ends(separator, j, v), lambda k, t=text: self.list_ends(e, k, v, used | {t}))
                found = _least(found, {k: n + more for k, more in behind.items()})
        return found

    def multiple_ends(self, e: Expr, i: Position) -> Ends:
        start = Number.of(e)
        reached: dict[tuple[Position, Number], int] = {(i, start): 0}
        todo = [(i, start)]
        for at, number in todo:  # grows meanwhile
            for b in self.bytes:
                after = number.after(b)
                if after is None or not after.can_become_multiple():
                    continue
                for j, n in self.step(at, lambda symbol, b=b: symbol == b).items():
                    total = reached[at, number] + n
                    if total < reached.get((j, after), total + 1):
                        reached[j, after] = total
                        todo.append((j, after))
        return _least(*({j: n} for (j, number), n in reached.items() if number.is_multiple()))

    def regular_ends(self, e: Expr, i: Position) -> Ends:
        reached: dict[tuple[Position, Expr], int] = {(i, e): 0}
        todo = [(i, e)]
        for at, rest in todo:  # grows meanwhile
            for b in self.bytes:
                for j, n in self.step(at, lambda symbol, b=b: symbol == b).items():
                    after = (j, derivative(rest, b))
                    total = reached[at, rest] + n
                    if not is_empty(after[1]) and total < reached.get(after, total + 1):
                        reached[after] = total
                        todo.append(after)
        return _least(*({j: n} for (j, rest), n in reached.items() if is_nullable(rest)))


def _joined(starts: Ends, ends: Callable[[Position], Ends]) -> Ends:
    return _least(*({j: n + more for j, more in ends(i).items()} for i, n in starts.items()))


def _least(*found: Ends) -> Ends:
    out: Ends = {}
    for ends in found:
        for j, n in ends.items():
            out[j] = min(n, out.get(j, n))
    return out
