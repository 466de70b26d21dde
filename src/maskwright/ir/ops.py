"""The operations of the IR: the first member of an expression's tuple, and what follows it.

The kernel reads the same numbers; cpp/kernel/ir.h lists them too.
Tested by tests/test_ir.py.
"""

from __future__ import annotations

OP_EMPTY = 0  # (op,)                      the empty string
OP_NEVER = 1  # (op,)                      no string at all
OP_LITERAL = 2  # (op, bytes)              at least one byte
OP_SET = 3  # (op, 256-bit int)            one byte out of a set of at least two
OP_SEQ = 4  # (op, expr, expr, ...)        two or more
OP_ALT = 5  # (op, expr, expr, ...)        two or more
OP_REPEAT = 6  # (op, expr, min, max)      max -1 = unbounded
OP_REF = 7  # (op, rule index)
OP_TOKENS = 8  # (op, (token id, ...))     exactly one token out of a sorted set, whatever its text
OP_AND = 9  # (op, expr, expr, ...)        strings in all of them
OP_NOT = 10  # (op, expr)                  all byte strings but these
OP_GUARD = 11  # (op, expr, condition)     the expression where the rule's parameter meets the condition
OP_CALL = 12  # (op, rule index, value)    a rule with a parameter (maskwright.parameters); a reference passes zero
OP_CAPTURE = 13  # (op, expr, name, ends)  the expression; what it matches, but for an end, can be asked for by name
OP_SUBGRAMMAR = 14  # (op, Subgrammar)     what a grammar of its own matches
OP_SPAN = 15  # (op, expr, max tokens or None, temperature or None)  the expression, in at most so many tokens

UNBOUNDED = -1
ALL_BYTES = (1 << 256) - 1
