"""The intermediate representation: rules over bytes, the only thing front-ends produce.

An `Expr` is an immutable tuple `(op, ...)`, made only by smart constructors, which keep it canonical.
A `GrammarIR` is a tuple of named rules and a root; `Ref` nodes name rules by index. Tokens that are known by name only
stand in it as `TokenSet`s, each the body of a rule, until a tokenizer resolves them (`with_tokens`).

    >>> ir = GrammarIR((Rule("root", seq(literal(b"a"), star(byte_range(0x30, 0x39)), literal(b"b"))),), 0)
    >>> print(ir.dump())
    root ::= "a" [0-9]* "b"

A rule may have a parameter of 64 bits: branches are guarded by conditions on it, and calls pass a value made from it.

    >>> from maskwright.ir.parameters import compare, increment
    >>> at_most_two = alt(EMPTY, guard(compare("<", 2), seq(literal(b"x"), call(0, increment()))))
    >>> print(GrammarIR((Rule("r", at_most_two),), 0).dump())
    r::_ ::= "" | "x" r::incr(_) %if _ <= 1

The files from the bottom up: `ops.py` (the numbers that the kernel reads), `notation.py` (expressions as text),
`expr.py`, `expressions.py` (the constructors), `walks.py`, `remembered.py` (text that comes again), `grammar.py`,
`subgrammars.py`, `builder.py`. Import all from here. The kernel reads the tuples directly, so there is no second
representation in Python.
Tested by tests/test_ir.py.
"""

from __future__ import annotations

from maskwright.ir.builder import IRBuilder as IRBuilder
from maskwright.ir.builder import joined as joined
from maskwright.ir.expr import Expr as Expr
from maskwright.ir.expressions import ANY_BYTE as ANY_BYTE
from maskwright.ir.expressions import EMPTY as EMPTY
from maskwright.ir.expressions import alt as alt
from maskwright.ir.expressions import alt_of_distinct as alt_of_distinct
from maskwright.ir.expressions import and_ as and_
from maskwright.ir.expressions import byte_range as byte_range
from maskwright.ir.expressions import byte_set as byte_set
from maskwright.ir.expressions import bytes_in as bytes_in
from maskwright.ir.expressions import call as call
from maskwright.ir.expressions import capture as capture
from maskwright.ir.expressions import distinct as distinct
from maskwright.ir.expressions import guard as guard
from maskwright.ir.expressions import literal as literal
from maskwright.ir.expressions import multiple as multiple
from maskwright.ir.expressions import never as never
from maskwright.ir.expressions import new_value as new_value
from maskwright.ir.expressions import not_ as not_
from maskwright.ir.expressions import optional as optional
from maskwright.ir.expressions import plus as plus
from maskwright.ir.expressions import recall as recall
from maskwright.ir.expressions import ref as ref
from maskwright.ir.expressions import remember as remember
from maskwright.ir.expressions import repeat as repeat
from maskwright.ir.expressions import scope as scope
from maskwright.ir.expressions import seq as seq
from maskwright.ir.expressions import span as span
from maskwright.ir.expressions import star as star
from maskwright.ir.expressions import substrings as substrings
from maskwright.ir.expressions import text as text
from maskwright.ir.expressions import tokens as tokens
from maskwright.ir.grammar import GrammarIR as GrammarIR
from maskwright.ir.grammar import Rule as Rule
from maskwright.ir.grammar import TokenSet as TokenSet
from maskwright.ir.ops import ALL_BYTES as ALL_BYTES
from maskwright.ir.ops import MAX_MODULUS as MAX_MODULUS
from maskwright.ir.ops import MAX_SCALE as MAX_SCALE
from maskwright.ir.ops import MAX_TEXT_NUMBER as MAX_TEXT_NUMBER
from maskwright.ir.ops import OP_ALT as OP_ALT
from maskwright.ir.ops import OP_AND as OP_AND
from maskwright.ir.ops import OP_CALL as OP_CALL
from maskwright.ir.ops import OP_CAPTURE as OP_CAPTURE
from maskwright.ir.ops import OP_DISTINCT as OP_DISTINCT
from maskwright.ir.ops import OP_EMPTY as OP_EMPTY
from maskwright.ir.ops import OP_GUARD as OP_GUARD
from maskwright.ir.ops import OP_LITERAL as OP_LITERAL
from maskwright.ir.ops import OP_MULTIPLE as OP_MULTIPLE
from maskwright.ir.ops import OP_NEVER as OP_NEVER
from maskwright.ir.ops import OP_NOT as OP_NOT
from maskwright.ir.ops import OP_RECALL as OP_RECALL
from maskwright.ir.ops import OP_REF as OP_REF
from maskwright.ir.ops import OP_REMEMBER as OP_REMEMBER
from maskwright.ir.ops import OP_REPEAT as OP_REPEAT
from maskwright.ir.ops import OP_SCOPE as OP_SCOPE
from maskwright.ir.ops import OP_SEQ as OP_SEQ
from maskwright.ir.ops import OP_SET as OP_SET
from maskwright.ir.ops import OP_SPAN as OP_SPAN
from maskwright.ir.ops import OP_SUBGRAMMAR as OP_SUBGRAMMAR
from maskwright.ir.ops import OP_SUBSTRINGS as OP_SUBSTRINGS
from maskwright.ir.ops import OP_TOKENS as OP_TOKENS
from maskwright.ir.ops import OP_VALUE as OP_VALUE
from maskwright.ir.ops import UNBOUNDED as UNBOUNDED
from maskwright.ir.remembered import Copies as Copies
from maskwright.ir.remembered import recalled as recalled
from maskwright.ir.remembered import remembering as remembering
from maskwright.ir.remembered import with_scopes as with_scopes
from maskwright.ir.subgrammars import Promised as Promised
from maskwright.ir.subgrammars import deferred_subgrammar as deferred_subgrammar
from maskwright.ir.subgrammars import has_deferred as has_deferred
from maskwright.ir.subgrammars import spelled_out as spelled_out
from maskwright.ir.subgrammars import subgrammar as subgrammar
from maskwright.ir.walks import changed as changed
from maskwright.ir.walks import depth as depth
from maskwright.ir.walks import leading_back as leading_back
from maskwright.ir.walks import operands as operands
from maskwright.ir.walks import postorder as postorder
from maskwright.ir.walks import reachable as reachable
from maskwright.ir.walks import rebuilt as rebuilt
from maskwright.ir.walks import references as references
from maskwright.ir.walks import uses_parameter as uses_parameter
from maskwright.ir.walks import with_references as with_references
