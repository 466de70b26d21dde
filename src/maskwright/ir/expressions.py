"""Expressions and their smart constructors, the only way to make one.

An `Expr` is an immutable tuple `(op, ...)`, one of the shapes listed in ops.py. The constructors keep it canonical:
sequences and alternatives are flat, adjacent literals are joined, byte sets are merged, `never()` and `EMPTY` are
absorbed.

    >>> alt(seq(text("a"), text("b")), never(), text("x"), text("y")).dump()
    '"ab" | [x-y]'

Invariants: an expression equals another iff their tuples are equal; operands of `and_`/`not_` are regular (no `ref`,
`call`, `guard`, `tokens`) and without `substrings`; a byte set is an int whose bit b stands for byte b. Cost: about a
quarter of a microsecond a node.
Tested by tests/test_ir.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from maskwright.ir.expr import Expr
from maskwright.ir.ops import (
    ALL_BYTES,
    MAX_MODULUS,
    MAX_SCALE,
    OP_ALT,
    OP_AND,
    OP_CALL,
    OP_CAPTURE,
    OP_DISTINCT,
    OP_EMPTY,
    OP_GUARD,
    OP_LITERAL,
    OP_MULTIPLE,
    OP_NEVER,
    OP_NOT,
    OP_RECALL,
    OP_REF,
    OP_REMEMBER,
    OP_REPEAT,
    OP_SCOPE,
    OP_SEQ,
    OP_SET,
    OP_SPAN,
    OP_SUBSTRINGS,
    OP_TOKENS,
    OP_VALUE,
    UNBOUNDED,
)
from maskwright.ir.parameters import FALSE, TRUE, Condition, Value, both
from maskwright.support.interruption import interrupt_checkpoint

EMPTY: Final = Expr((OP_EMPTY,))
_NEVER: Final = Expr((OP_NEVER,))
ANY_BYTE: Final = Expr((OP_SET, ALL_BYTES))
_HASHED_AT_ONCE: Final = 256
_MOST_AT_ONCE: Final = 1024  # parts of an expression
_BYTE_LITERALS: Final = tuple(Expr((OP_LITERAL, bytes((b,)))) for b in range(256))


def never() -> Expr:
    """The expression that matches nothing."""
    return _NEVER


def literal(data: bytes) -> Expr:
    """Exactly these bytes."""
    interrupt_checkpoint()
    return Expr((OP_LITERAL, data)) if data else EMPTY


def text(string: str) -> Expr:
    """Exactly this string, as UTF-8."""
    return literal(string.encode())


def byte_set(mask: int) -> Expr:
    """One byte of a set, given as a 256-bit integer."""
    if mask & (mask - 1):
        return Expr((OP_SET, mask))
    return _BYTE_LITERALS[mask.bit_length() - 1] if mask else _NEVER


def bytes_in(members: bytes) -> Expr:
    """One of the bytes in `members`."""
    mask = 0
    for b in members:
        mask |= 1 << b
    return byte_set(mask)


def byte_range(first: int, last: int) -> Expr:
    """One byte from `first` to `last`, both included."""
    return byte_set((1 << (last + 1)) - (1 << first) if first <= last else 0)


def seq(*parts: Expr) -> Expr:
    """These one after the other."""
    interrupt_checkpoint()  # whatever takes long makes literals, sequences and alternatives as it goes
    if len(parts) > _MOST_AT_ONCE:
        return seq(*[seq(*parts[i : i + _MOST_AT_ONCE]) for i in range(0, len(parts), _MOST_AT_ONCE)])
    out: list[Any] = [OP_SEQ]
    before: Any = OP_SEQ  # the operation of the last part of `out`
    more: list[bytes] = []  # literals right behind a literal that is the last of `out`
    for part in parts:
        op = part[0]
        if op == OP_LITERAL and before == OP_LITERAL:
            more.append(part[1])
            continue
        if more:
            out[-1] = Expr((OP_LITERAL, out[-1][1] + b"".join(more)))
            more = []
        if op > OP_SEQ or op in (OP_SET, OP_LITERAL):  # as most are
            out.append(part)
        elif op == OP_SEQ:
            # Both are canonical, so only where they meet can two literals be neighbours.
            if before == OP_LITERAL and part[1][0] == OP_LITERAL:
                out[-1] = Expr((OP_LITERAL, out[-1][1] + part[1][1]))
                out += part[2:]
            else:
                out += part[1:]
            op = part[-1][0]
        elif op == OP_NEVER:
            return _NEVER
        else:
            continue
        before = op
    if more:
        out[-1] = Expr((OP_LITERAL, out[-1][1] + b"".join(more)))
    if len(out) > 2:
        return Expr(out)
    return out[1] if len(out) == 2 else EMPTY


def alt(*branches: Expr) -> Expr:
    """Any one of these."""
    interrupt_checkpoint()
    if len(branches) > _MOST_AT_ONCE:
        return _alt_of_many(branches)
    out: list[Any] = []
    mask = 0
    for branch in branches:
        for inner in branch[1:] if branch[0] == OP_ALT else (branch,):
            op = inner[0]
            if op == OP_SET:
                mask |= inner[1]
            elif op == OP_LITERAL and len(inner[1]) == 1:
                mask |= 1 << inner[1][0]
            elif op != OP_NEVER:
                out.append(inner)
    out = _distinct(out)
    if mask:
        out.append(byte_set(mask))
    if len(out) > 1:
        return Expr((OP_ALT, *out))
    return out[0] if out else _NEVER


def _alt_of_many(branches: Sequence[Expr]) -> Expr:
    """As `alt`, a part at a time. Groups of branches are alternatives themselves, and flat ones come of them."""
    groups = [alt(*branches[i : i + _MOST_AT_ONCE]) for i in range(0, len(branches), _MOST_AT_ONCE)]
    while len(groups) > _MOST_AT_ONCE:
        groups = [alt(*groups[i : i + _MOST_AT_ONCE]) for i in range(0, len(groups), _MOST_AT_ONCE)]
    return alt(*groups)


def _distinct(exprs: list[Any]) -> list[Any]:
    """Each once. A hash is of the whole tree, but a comparison mostly ends at its first difference."""
    if len(exprs) > 8:
        each_once: dict[Any, None] = {}
        for begin in range(0, len(exprs), _HASHED_AT_ONCE):
            interrupt_checkpoint()
            each_once.update(dict.fromkeys(exprs[begin : begin + _HASHED_AT_ONCE]))
        return list(each_once)
    out: list[Any] = []
    for expr in exprs:
        if expr not in out:
            out.append(expr)
    return out


def alt_of_distinct(branches: Sequence[Expr]) -> Expr:
    """As `alt`, its checks saved, for one or more branches that differ: sequences, references or several bytes each."""
    return Expr((OP_ALT, *branches)) if len(branches) > 1 else branches[0]


def repeat(item: Expr, minimum: int, maximum: int = UNBOUNDED) -> Expr:
    """Between `minimum` and `maximum` times, or without upper bound."""
    if maximum != UNBOUNDED and maximum < minimum:
        return _NEVER
    if item[0] == OP_EMPTY or maximum == 0:
        return EMPTY
    if item[0] == OP_NEVER:
        return _NEVER if minimum else EMPTY
    if minimum == 1 and maximum == 1:
        return item
    if item[0] == OP_REPEAT and item[2] <= 1 and item[3] == UNBOUNDED and minimum <= 1:
        return repeat(item[1], min(minimum, item[2]), UNBOUNDED)
    return Expr((OP_REPEAT, item, minimum, maximum))


def star(item: Expr) -> Expr:
    """Any number of times."""
    return Expr((OP_REPEAT, item, 0, UNBOUNDED)) if item[0] == OP_SEQ else repeat(item, 0)  # as most are


def plus(item: Expr) -> Expr:
    """Once or more."""
    return repeat(item, 1)


def optional(item: Expr) -> Expr:
    """Once or not at all."""
    return Expr((OP_REPEAT, item, 0, 1)) if item[0] == OP_SEQ else repeat(item, 0, 1)  # as most are


def ref(rule_index: int) -> Expr:
    """What the rule with this index matches."""
    return Expr((OP_REF, rule_index))


def call(rule_index: int, value: Value) -> Expr:
    """What the rule with this index matches with this parameter."""
    return ref(rule_index) if value.constant == 0 else Expr((OP_CALL, rule_index, value))


def guard(condition: Condition, body: Expr) -> Expr:
    """`body`, where the condition on the rule's parameter holds; nothing elsewhere."""
    if body[0] == OP_GUARD:
        return guard(both(condition, body[2]), body[1])
    if condition == FALSE or body[0] == OP_NEVER:
        return _NEVER
    return body if condition == TRUE else Expr((OP_GUARD, body, condition))


def capture(name: str | None, body: Expr, ends: tuple[bytes, ...] = ()) -> Expr:
    """`body`; what it matches can be asked for by this name, without the longest of `ends` with which it ends.

    Without a name it is `body` alone.
    """
    return body if name is None or body[0] == OP_NEVER else Expr((OP_CAPTURE, body, name, ends))


def span(body: Expr, max_tokens: int | None = None, temperature: float | None = None) -> Expr:
    """`body`, lying in at most so many tokens, each sampled at this temperature; without either it is `body` alone."""
    if body[0] in (OP_NEVER, OP_EMPTY) or (max_tokens is None and temperature is None):
        return body
    return Expr((OP_SPAN, body, max_tokens, None if temperature is None else float(temperature)))


def scope(body: Expr) -> Expr:
    """`body`; the texts remembered in it are forgotten behind it. Use `remembering` (remembered.py) to make one."""
    return body if body[0] in (OP_NEVER, OP_EMPTY) else Expr((OP_SCOPE, body))


def remember(body: Expr, number: int) -> Expr:
    """`body`, which is regular and not empty; its text gets this number, a lower one than those of outer texts."""
    return body if body[0] == OP_NEVER else Expr((OP_REMEMBER, body, number))


def new_value(body: Expr, *, by_text: bool = False) -> Expr:
    """`body`, a JSON value that none of those before it in the scope is equal to.

    `by_text`: it is regular, and has one text for each value. Its texts are compared with those of other such values;
    a byte that leads only to earlier ones is not allowed. All others are compared as the values of `distinct` are, and
    what is said there holds for them. They may not be equal to any that have one text.
    It stands in the scope itself, not in a rule that this refers to, and the scope ends with a text of its own. What
    follows a value that may be the last of its kind is taken to be possible.
    """
    return body if body[0] == OP_NEVER else Expr((OP_VALUE, body, by_text))


def recall(number: int) -> Expr:
    """The text with this number once more."""
    return Expr((OP_RECALL, number))


def distinct(
    element: Expr, separator: Expr, minimum: int, maximum: int, values: Sequence[tuple[Expr, Expr]] = ()
) -> Expr:
    """Elements with separators between them, `minimum` to `maximum` (`UNBOUNDED`: any number), no two texts the same.

    The element is regular and never empty. Instead of it may come one of the `values`, each followed by the expression
    beside it. These are JSON values without white space around them, compared by what they say: `{"a": 1}` is the same
    as `{ "a" : 1.0 }`. Their last bracket may be left to what follows, none of whose texts is empty or begins another.
    They are not compared with elements, and may use rules of any kind but not the parameter. Wherever a beginning of a
    value may go on, infinitely many values must be possible, whether it could end there or not.
    """
    values = [pair for pair in values if OP_NEVER not in (pair[0][0], pair[1][0])]
    if (element[0] == OP_NEVER and not values) or maximum == 0:
        return EMPTY if minimum == 0 else _NEVER
    if maximum != UNBOUNDED and maximum < minimum:
        return _NEVER
    if maximum == 1 or separator[0] == OP_NEVER:
        alone = alt(element, *[seq(*pair) for pair in values]) if minimum <= 1 else _NEVER
    else:
        parts = [part for pair in values for part in pair]
        alone = Expr((OP_DISTINCT, element, separator, *parts, max(minimum, 1), maximum))
    return optional(alone) if minimum == 0 else alone


def multiple(numbers: Expr, modulus: int, scale: int = 0) -> Expr:
    """Numbers, of those that an expression matches, that are multiples of `modulus / 10**scale`.

    They are written in digits with at most one point; `-` does not matter, an exponent makes a text no multiple, and so
    do digits other than 0 more than `scale` places behind the point. The expression is regular.
    """
    if not (1 <= modulus <= MAX_MODULUS and 0 <= scale <= MAX_SCALE):
        raise ValueError(f"{modulus} in units of 10**-{scale} is out of range")
    return numbers if numbers[0] == OP_NEVER else Expr((OP_MULTIPLE, numbers, modulus, scale))


def tokens(token_ids: Iterable[int], *, by_exclusion: bool = False) -> Expr:
    """Exactly one token with one of these ids, whatever its bytes.

    `by_exclusion`: these are what some others leave, so none of them is named: a matcher's stop tokens are not meant.
    """
    ids = tuple(sorted(set(token_ids)))
    return Expr((OP_TOKENS, ids, by_exclusion)) if ids else _NEVER


def substrings(chunks: Iterable[bytes]) -> Expr:
    """Any number of chunks that follow each other in the list, none included."""
    parts = tuple([chunk for chunk in chunks if chunk])
    return optional(Expr((OP_SUBSTRINGS, parts)) if len(parts) > 1 else literal(b"".join(parts)))


def and_(*operands: Expr) -> Expr:
    """The strings that all operands match. Operands are regular."""
    out: list[Any] = []
    for operand in operands:
        for inner in operand[1:] if operand[0] == OP_AND else (operand,):
            if inner[0] == OP_NEVER:
                return _NEVER
            out.append(inner)
    out = _distinct(out)
    if len(out) > 1:
        return Expr((OP_AND, *out))
    return out[0] if out else star(ANY_BYTE)


def not_(operand: Expr) -> Expr:
    """All byte strings that the operand does not match. The operand is regular."""
    if operand[0] == OP_NOT:
        return operand[1]  # type: ignore[no-any-return]
    return Expr((OP_NOT, operand))
