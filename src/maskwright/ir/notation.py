"""An expression in an EBNF-like notation, for people and for tests.

    "ab" [0-9]* | name{2,3}      literals, byte sets, repetitions, rules
    A & ~B                       intersection, which binds less than a sequence, and complement
    <[1,5]>  <x: A>              one token by id; a capture, `<x: A - "b">` without an end
    <[max_tokens=9] A>           A in at most so many tokens
    substrings("a", "b")         one or more that follow each other in the list
    @name                        a subgrammar, by the name of its root
    multiple(A, 7, 2)            numbers out of A that are multiples of 0.07, 7 in units of 10**-2
    distinct(A, B){2,}           A at least twice, no two texts the same, with B between them
    distinct(A, B, C, D)+        where C is another JSON value than before, followed by D, may stand for A
    {new(A) new_text(B)}         JSON values, none of which is there twice, compared by what they say or by their texts
    {#1=A B #1}                  A, remembered as text 1, B, and the text again; forgotten behind the braces
    A %if _ <= 1  name::incr(_)  a guard on the rule's parameter; a call that passes one

Tested by tests/test_ir.py.
"""

from __future__ import annotations

from typing import Any

from maskwright.ir.ops import (
    ALL_BYTES,
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
    OP_SUBGRAMMAR,
    OP_SUBSTRINGS,
    OP_TOKENS,
    OP_VALUE,
    UNBOUNDED,
)

_PRECEDENCE_ALT, _PRECEDENCE_AND, _PRECEDENCE_SEQ, _PRECEDENCE_ATOM = 0, 1, 2, 3


def notation(expr: tuple[Any, ...], rule_names: tuple[str, ...] | None) -> str:
    """Show an expression; rules by their names, or by their numbers if there are none."""
    return _shown(expr, rule_names, _PRECEDENCE_ALT)


def _shown(expr: tuple[Any, ...], names: tuple[str, ...] | None, outer: int) -> str:
    op = expr[0]
    if op == OP_EMPTY:
        return '""'
    if op == OP_NEVER:
        return "[]"
    if op == OP_LITERAL:
        return _literal(expr[1])
    if op == OP_SET:
        return _set(expr[1])
    if op == OP_REF:
        return names[expr[1]] if names else f"${expr[1]}"
    if op == OP_TOKENS:
        return f"<[{','.join(map(str, expr[1]))}]>" + (" by exclusion" if expr[2] else "")
    if op == OP_SUBGRAMMAR:
        return f"@{expr[1].ir.rules[expr[1].ir.root].name}"
    if op == OP_SUBSTRINGS:
        return "substrings(" + ", ".join(_literal(chunk) for chunk in expr[1]) + ")"
    if op == OP_REPEAT:
        return _shown(expr[1], names, _PRECEDENCE_ATOM) + _suffix(expr[2], expr[3])
    if op == OP_NOT:
        return "~" + _shown(expr[1], names, _PRECEDENCE_ATOM)
    if op == OP_CALL:
        return f"{names[expr[1]] if names else f'${expr[1]}'}::{expr[2].dump()}"
    if op == OP_CAPTURE:
        without = "".join(f" - {_shown((OP_LITERAL, end), names, _PRECEDENCE_ATOM)}" for end in expr[3])
        return f"<{expr[2]}: {_shown(expr[1], names, _PRECEDENCE_ALT)}{without}>"
    if op == OP_SPAN:
        said = [f"max_tokens={expr[2]}"] * (expr[2] is not None) + [f"temperature={expr[3]}"] * (expr[3] is not None)
        return f"<[{', '.join(said)}] {_shown(expr[1], names, _PRECEDENCE_ALT)}>"
    if op == OP_SCOPE:
        return f"{{{_shown(expr[1], names, _PRECEDENCE_ALT)}}}"
    if op == OP_VALUE:
        return f"{'new_text' if expr[2] else 'new'}({_shown(expr[1], names, _PRECEDENCE_ALT)})"
    if op == OP_REMEMBER:
        return f"#{expr[2]}={_shown(expr[1], names, _PRECEDENCE_ATOM)}"
    if op == OP_DISTINCT:
        inside = ", ".join(_shown(part, names, _PRECEDENCE_ALT) for part in expr[1:-2])
        return f"distinct({inside}){_suffix(expr[-2], expr[-1])}"
    if op == OP_MULTIPLE:
        return f"multiple({_shown(expr[1], names, _PRECEDENCE_ALT)}, {expr[2]}, {expr[3]})"
    if op == OP_RECALL:
        return f"#{expr[1]}"
    if op == OP_GUARD:
        shown = f"{_shown(expr[1], names, _PRECEDENCE_SEQ)} %if {expr[2].dump()}"
        return f"({shown})" if outer > _PRECEDENCE_AND else shown
    level, joint = {
        OP_SEQ: (_PRECEDENCE_SEQ, " "),
        OP_AND: (_PRECEDENCE_AND, " & "),
        OP_ALT: (_PRECEDENCE_ALT, " | "),
    }[op]
    parts = [_shown(part, names, level + 1) for part in expr[1:]]
    shown = joint.join(parts)
    return f"({shown})" if outer > level else shown


def _literal(data: bytes) -> str:
    return '"' + "".join(_byte(b, '"') for b in data) + '"'


def _suffix(minimum: int, maximum: int) -> str:
    short = {(0, UNBOUNDED): "*", (1, UNBOUNDED): "+", (0, 1): "?"}.get((minimum, maximum))
    if short:
        return short
    if minimum == maximum:
        return f"{{{minimum}}}"
    return f"{{{minimum},}}" if maximum == UNBOUNDED else f"{{{minimum},{maximum}}}"


def _set(mask: int) -> str:
    negated = mask.bit_count() > 128
    shown = ALL_BYTES & ~mask if negated else mask
    out, b = [], 0
    while b < 256:
        if not shown >> b & 1:
            b += 1
            continue
        first = b
        while b < 256 and shown >> b & 1:
            b += 1
        last = b - 1
        out.append(_byte(first, "]^-") if first == last else f"{_byte(first, ']^-')}-{_byte(last, ']^-')}")
    return f"[{'^' if negated else ''}{''.join(out)}]"


def _byte(b: int, special: str) -> str:
    c = chr(b)
    if c in special or c == "\\":
        return "\\" + c
    if c in "\n\r\t":
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[c]
    return c if 0x20 <= b < 0x7F else f"\\x{b:02x}"
