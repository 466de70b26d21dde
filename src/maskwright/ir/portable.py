"""A grammar as bytes: what `Grammar.serialize` and `maskwright compile` write, and the kernel reads without Python.

    header   89 4D 57 47 ("\\x89MWG"), a version byte, the CRC-32 of the body (4 bytes, little-endian)
    body     notes, expressions, rules, the root, token sets

Numbers are LEB128, seven bits a byte, the lowest first. An expression is its op (ops.py), then its fields; operands are
written before what they are part of and named by how far back they stand, so what is shared is written once. Strings
are their length and their bytes. Subgrammars are written out as rules. Token sets keep names and ranges of ids: they
are looked up in the tokenizer with which the bytes are loaded. The notes are a string that the kernel passes over: what
else there is to know of the grammar (saved_grammars.py), or nothing.

    >>> from maskwright.ir.expressions import text
    >>> to_bytes(GrammarIR((Rule("root", text("hi")),), 0))[9:].hex()
    '00010202686901000000'

Readers refuse other versions; a change of what is written here is a new version. Bytes are read here by
portable_reading.py, and by cpp/kernel/grammar/read_grammar.cpp, natively and in the browser.
Tested by tests/test_portable.py, tests/saved/test_grammars.py, and in the browser by web/tests.
"""

from __future__ import annotations

import struct
import zlib
from typing import Any, Final

from maskwright.errors import LimitError
from maskwright.ir.expr import Expr
from maskwright.ir.grammar import GrammarIR, TokenSet
from maskwright.ir.grammar import Rule as Rule
from maskwright.ir.ops import (
    OP_ALT,
    OP_AND,
    OP_CALL,
    OP_CAPTURE,
    OP_DISTINCT,
    OP_GUARD,
    OP_LITERAL,
    OP_MULTIPLE,
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
)
from maskwright.ir.parameters import COND_ALL, Condition, Value
from maskwright.ir.subgrammars import spelled_out
from maskwright.ir.walks import operands, postorder
from maskwright.support.interruption import interrupt_checkpoint

MAGIC: Final = b"\x89MWG"
VERSION: Final = 4
MAX_NODES: Final = 4_000_000  # the reader's limits
MAX_BYTES: Final = 256 << 20
SET_BYTES: Final = 32


def to_bytes(grammar: GrammarIR, max_nodes: int = MAX_NODES, notes: bytes = b"") -> bytes:
    """Write a grammar of at most `max_nodes` expressions, with these notes.

    Raises:
        LimitError: It has more expressions, or more bytes than a reader takes.
    """
    writer = _Writer(max_nodes)
    spelled = spelled_out(grammar)
    rules = [writer.expression(rule.body) for rule in spelled.rules]
    out = bytearray()
    _string(out, notes)
    _number(out, len(writer.places))
    out += writer.out
    _number(out, len(rules))
    for place in rules:
        _number(out, place)
    _number(out, spelled.root)
    _number(out, len(spelled.token_sets))
    for index, token_set in spelled.token_sets:
        _number(out, index)
        _token_set(out, token_set)
    if len(out) > MAX_BYTES:
        hint = "use a smaller grammar"
        raise LimitError(f"the grammar takes more than {MAX_BYTES >> 20} MiB", limit="grammar_size", hint=hint)
    return MAGIC + bytes((VERSION,)) + struct.pack("<I", zlib.crc32(out)) + bytes(out)


class _Writer:
    """Expressions, each once."""

    def __init__(self, max_nodes: int) -> None:
        self.max_nodes = max_nodes
        self.out = bytearray()
        self.places: dict[int, int] = {}  # by identity: which expression, counted from the first

    def expression(self, root: Expr) -> int:
        """Write an expression, unless it was written, and return its place."""
        for expr in postorder(root, lambda part: () if id(part) in self.places else operands(part)):
            if id(expr) not in self.places:
                interrupt_checkpoint()
                self._write(expr)
                self.places[id(expr)] = len(self.places)
        if len(self.places) > self.max_nodes:
            hint = "use a smaller grammar"
            raise LimitError(
                f"the grammar has more than {self.max_nodes:,} expressions", limit="grammar_size", hint=hint
            )
        return self.places[id(root)]

    def _write(self, expr: Expr) -> None:
        out, op = self.out, expr[0]
        out.append(op)
        if op in (OP_SEQ, OP_ALT, OP_AND):
            _number(out, len(expr) - 1)
            for part in expr[1:]:
                self._operand(part)
        elif op in (OP_REPEAT, OP_NOT, OP_GUARD, OP_CAPTURE, OP_SPAN, OP_SCOPE, OP_REMEMBER, OP_MULTIPLE, OP_VALUE):
            self._operand(expr[1])
            _fields(out, op, expr)
        elif op == OP_DISTINCT:
            _number(out, len(expr) - 3)
            for part in expr[1:-2]:
                self._operand(part)
            _numbers(out, expr[-2], expr[-1] + 1)
        elif op == OP_SET:
            out += expr[1].to_bytes(SET_BYTES, "little")
        elif op == OP_LITERAL:
            _string(out, expr[1])
        elif op == OP_RECALL:
            _number(out, expr[1])
        elif op in (OP_REF, OP_CALL):
            _number(out, expr[1])
            if op == OP_CALL:
                _value(out, expr[2])
        elif op == OP_TOKENS:
            out.append(expr[2])
            _ascending(out, expr[1])
        elif op == OP_SUBSTRINGS:
            _strings(out, expr[1])

    def _operand(self, part: Expr) -> None:
        _number(self.out, len(self.places) - self.places[id(part)])


def _fields(out: bytearray, op: int, expr: Expr) -> None:
    """What follows the only operand."""
    if op == OP_REPEAT:
        _number(out, expr[2])
        _number(out, expr[3] + 1)
    elif op == OP_VALUE:
        out.append(expr[2])
    elif op == OP_REMEMBER:
        _number(out, expr[2])
    elif op == OP_MULTIPLE:
        _numbers(out, expr[2], expr[3])
    elif op == OP_GUARD:
        _condition(out, expr[2])
    elif op == OP_CAPTURE:
        _string(out, expr[2].encode("utf-8", "surrogatepass"))
        _strings(out, expr[3])
    elif op == OP_SPAN:
        _number(out, expr[2] or 0)
        out += struct.pack("<d", -1.0 if expr[3] is None else expr[3])


def _value(out: bytearray, value: Value) -> None:
    _number(out, len(value))
    for step in value:
        _numbers(out, *step)


def _condition(out: bytearray, condition: Condition | tuple[Any, ...]) -> None:
    """Nests no deeper than the parameter's tests do, which is checked where they are made."""
    op = condition[0]
    _number(out, op)
    if op < COND_ALL:
        _numbers(out, *condition[1:])
        return
    _number(out, len(condition) - 1)
    for part in condition[1:]:
        _condition(out, part)


def _token_set(out: bytearray, token_set: TokenSet) -> None:
    out.append(token_set.negated)
    _strings(out, [name.encode("utf-8", "surrogatepass") for name in token_set.names])
    _number(out, len(token_set.id_ranges))
    for first, last in token_set.id_ranges:
        _numbers(out, first, last)


def _number(out: bytearray, number: int) -> None:
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)


def _numbers(out: bytearray, *numbers: int) -> None:
    for number in numbers:
        _number(out, number)


def _ascending(out: bytearray, ids: tuple[int, ...]) -> None:
    """Each as its distance from the one before."""
    _number(out, len(ids))
    before = 0
    for token_id in ids:
        _number(out, token_id - before)
        before = token_id


def _string(out: bytearray, text: bytes) -> None:
    _number(out, len(text))
    out += text


def _strings(out: bytearray, texts: list[bytes] | tuple[bytes, ...]) -> None:
    _number(out, len(texts))
    for text in texts:
        _string(out, text)
