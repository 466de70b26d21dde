"""The operations of the IR: the first member of an expression's tuple, and what follows it.

The kernel reads the same numbers; cpp/kernel/grammar/ir.h lists them too.
Tested by tests/test_ir.py.
"""

from __future__ import annotations

from typing import Final

OP_EMPTY: Final = 0  # (op,)                      the empty string
OP_NEVER: Final = 1  # (op,)                      no string at all
OP_LITERAL: Final = 2  # (op, bytes)              at least one byte
OP_SET: Final = 3  # (op, 256-bit int)            one byte of a set of at least two
OP_SEQ: Final = 4  # (op, expr, expr, ...)        two or more
OP_ALT: Final = 5  # (op, expr, expr, ...)        two or more
OP_REPEAT: Final = 6  # (op, expr, min, max)      max -1 = unbounded
OP_REF: Final = 7  # (op, rule index)
OP_TOKENS: Final = 8  # (op, (token id, ...), by exclusion)  one token of a sorted set, whatever its text
OP_AND: Final = 9  # (op, expr, expr, ...)        strings in all of them
OP_NOT: Final = 10  # (op, expr)                  all byte strings but these
OP_GUARD: Final = 11  # (op, expr, condition)     the expression where the rule's parameter meets the condition
OP_CALL: Final = 12  # (op, rule index, value)    a rule with a parameter; a reference passes zero
OP_CAPTURE: Final = 13  # (op, expr, name, ends)  the expression; its text, without an end, can be asked for by name
OP_SUBGRAMMAR: Final = 14  # (op, Subgrammar)     what a grammar of its own matches
OP_SPAN: Final = 15  # (op, expr, max tokens or None, temperature or None)  the expression, in at most so many tokens
OP_SUBSTRINGS: Final = 16  # (op, (bytes, ...))   one or more that follow each other in the list
OP_SCOPE: Final = 17  # (op, expr)                   the expression; what is remembered in it is forgotten behind it
OP_REMEMBER: Final = 18  # (op, expr, number)        the expression, regular and not empty; its text gets this number
OP_RECALL: Final = 19  # (op, number)                the text with this number once more
OP_DISTINCT: Final = 20  # (op, element, separator, value, closing, ..., min, max)  elements, regular and not empty, or
# JSON values, each with what closes it; all different; min >= 1
OP_MULTIPLE: Final = 21  # (op, expr, modulus, scale)  numbers, regular, that are multiples of modulus / 10**scale
OP_VALUE: Final = 22  # (op, expr, by text)          a JSON value that is none of those before it in the scope

MAX_TEXT_NUMBER: Final = 250  # of a remembered text: kMaxTextNumber in cpp/kernel/grammar/ir.h
MAX_MODULUS: Final = 10**17  # of multiples: kMaxModulus and kMaxScale there
MAX_SCALE: Final = 100
UNBOUNDED: Final = -1
ALL_BYTES: Final = (1 << 256) - 1
