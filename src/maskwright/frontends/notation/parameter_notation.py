"""Values and conditions of parametric rules in Lark's notation: the way back of `parameters.py`.

    >>> from maskwright.ir.parameters import bit_clear, both, compare, increment, masked
    >>> shown_condition(both(bit_clear(3), compare("<", 5, (0, 4))))
    'and(bit_clear(3),le([0:4],4))'
    >>> shown_steps(masked(0xF, 0x1).then(increment((0, 4))))
    ['bit_and(0xf)', 'set_bit(0)', 'incr([0:4])']

A call in Lark makes one step; several are for the printer to divide among rules that pass the value on.
Tested by tests/frontends/test_printing_parameters.py.
"""

from __future__ import annotations

from maskwright.ir.parameters import (
    ALL_BITS,
    COND_ALL,
    COND_ANY,
    COND_NUMBER,
    FALSE,
    STEP_INCREMENT,
    STEP_MASK,
    TRUE,
    WHOLE,
    Condition,
    Value,
)


def shown_steps(value: Value) -> list[str]:
    """The steps one by one, in order; at least one."""
    if value.constant is not None:
        return [str(value.constant) if value.constant < 10 else hex(value.constant)]
    return [shown for step in value for shown in _shown_step(*step)] or ["_"]


def _shown_step(op: int, a: int, b: int) -> list[str]:
    if op != STEP_MASK:
        return [f"{'incr' if op == STEP_INCREMENT else 'decr'}({_shown_bits(a, b)})"]
    kept, cleared, out = a | b, ALL_BITS & ~(a | b), []
    if cleared:
        is_one = cleared.bit_count() == 1
        out.append(f"clear_bit({cleared.bit_length() - 1})" if is_one else f"bit_and({kept:#x})")
    if b:
        out.append(f"set_bit({b.bit_length() - 1})" if b.bit_count() == 1 else f"bit_or({b:#x})")
    return out


def shown_condition(condition: Condition) -> str:
    """The condition as one term."""
    if condition in (TRUE, FALSE):
        return "true" if condition == TRUE else "not(true)"
    op = condition[0]
    if op in (COND_ALL, COND_ANY):
        return f"{'and' if op == COND_ALL else 'or'}({','.join(map(shown_condition, condition[1:]))})"
    _, first, last, minimum, maximum = condition
    if op == COND_NUMBER and last == first + 1:
        return f"bit_{'set' if minimum else 'clear'}({first})"
    kind, bits = "" if op == COND_NUMBER else "bit_count_", _shown_bits(first, last)
    if minimum == maximum:
        return f"{kind}eq({bits},{minimum})"
    most = (1 << (last - first)) - 1 if op == COND_NUMBER else last - first
    bounds = [f"{kind}ge({bits},{minimum})"] * (minimum > 0) + [f"{kind}le({bits},{maximum})"] * (maximum < most)
    return bounds[0] if len(bounds) == 1 else f"and({','.join(bounds)})"


def _shown_bits(first: int, last: int) -> str:
    return "_" if (first, last) == WHOLE else f"[{first}:{last}]"
