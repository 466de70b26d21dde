"""Grammars from the bytes that portable.py writes; the bytes may be anybody's.

    notes_of(data)               what the notes say, as bytes
    from_bytes(data, names)      the grammar, its rules named so

The kernel reads the same bytes by itself (cpp/kernel/grammar/read_grammar.cpp): this is for what is done to a grammar
in Python. Both refuse the same bytes, but for what only the kernel knows, such as a text that is recalled where none is
remembered. Expressions are exactly those that were written, made without the smart constructors: these compare their
operands, which of two equal towers of shared expressions takes forever.

Invariants: everything is checked before it is used, and memory is bounded by the number of bytes. No recursion but into
conditions, to a fixed depth. Cost: a microsecond an expression.
Tested by tests/saved/test_hostile_bytes.py.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Sequence
from typing import Any, Final, NoReturn

from maskwright.errors import GrammarError, LimitError
from maskwright.ir.expr import Expr
from maskwright.ir.expressions import EMPTY, never
from maskwright.ir.grammar import GrammarIR, TokenSet
from maskwright.ir.grammar import Rule as Rule
from maskwright.ir.ops import (
    MAX_MODULUS,
    MAX_SCALE,
    MAX_TEXT_NUMBER,
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
)
from maskwright.ir.parameters import COND_ALL, STEP_MASK, Condition, Value
from maskwright.ir.portable import MAGIC, MAX_BYTES, MAX_NODES, SET_BYTES, VERSION
from maskwright.support.interruption import interrupt_checkpoint

_HEADER: Final = len(MAGIC) + 5
_MAX_CONDITION_DEPTH: Final = 64
_MAX_TOKEN_BUDGET: Final = 1_000_000_000
_MAX_TOKENS_SEEN: Final = 64_000_000  # in all token sets together, as in the kernel
_RANGE_COST: Final = 64
_MOST_INT32: Final = 2**31 - 1
_MOST_INT64: Final = 2**63 - 1
_BETWEEN_CHECKPOINTS: Final = 256
_OF_REGULAR: Final = {
    OP_NOT: "the operand of a complement",
    OP_REMEMBER: "what is remembered",
    OP_MULTIPLE: "what has multiples",
}


def notes_of(data: bytes) -> bytes:
    """Check the header and the checksum, and return the notes.

    Raises:
        GrammarError: The bytes are no grammar, or were damaged.
        LimitError: They are too many.
    """
    return _Input(data, _checked(data)).string()


def from_bytes(data: bytes, names: Sequence[str] | None = None) -> GrammarIR:
    """Read a grammar.

    Args:
        data: What `to_bytes` wrote.
        names: A name for each rule; if it is None, they get numbers.

    Raises:
        GrammarError: The bytes are no grammar, or were damaged; or the names are not as many as the rules.
        LimitError: They are too many, or a limit on what is in them is passed.
    """
    reader = _Reader(_Input(data, _checked(data)))
    return reader.grammar(names)


def refuse(what: str) -> NoReturn:
    """Raise the error for bytes that are not what they should be."""
    raise GrammarError(f"the saved grammar is damaged: {what}", hint="save it again")


def _checked(data: bytes) -> int:
    """Where the body begins."""
    if len(data) < _HEADER or not data.startswith(MAGIC):
        raise GrammarError("the bytes are not a saved grammar", hint="pass what serialize() returned")
    version = data[len(MAGIC)]
    if version != VERSION:
        raise GrammarError(
            f"the saved grammar has version {version}; this release of Maskwright reads version {VERSION}",
            hint="save it again with this release",
        )
    if len(data) > MAX_BYTES:
        hint = "save a smaller grammar"
        raise LimitError(f"the saved grammar has more than {MAX_BYTES >> 20} MiB", limit="grammar_size", hint=hint)
    expected: int = struct.unpack_from("<I", data, len(MAGIC) + 1)[0]
    if zlib.crc32(memoryview(data)[_HEADER:]) != expected:
        refuse("its checksum does not match")
    return _HEADER


class _Input:
    """Bytes, and how far they were read."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data = data
        self.at = at

    def is_at_end(self) -> bool:
        return self.at == len(self.data)

    def byte(self) -> int:
        at = self.at
        if at >= len(self.data):
            refuse("it ends too early")
        self.at = at + 1
        return self.data[at]

    def number(self) -> int:
        first = self.byte()
        if first < 0x80:  # as most are
            return first
        out, shift = first & 0x7F, 7
        while shift < 64:
            following = self.byte()
            if shift == 63 and following > 1:
                break
            out |= (following & 0x7F) << shift
            if following < 0x80:
                return out
            shift += 7
        refuse("a number has more than 64 bits")

    def number_below(self, end: int, what: str) -> int:
        out = self.number()
        if out >= end:
            refuse(what)
        return out

    def count(self) -> int:
        """How many items follow, each of which takes at least one byte."""
        out = self.number()
        if out > len(self.data) - self.at:
            refuse("it ends too early")
        return out

    def flag(self) -> bool:
        value = self.byte()
        if value > 1:
            refuse("a flag is neither 0 nor 1")
        return value == 1

    def bytes_of(self, size: int) -> bytes:
        end = self.at + size
        if end > len(self.data):
            refuse("it ends too early")
        out = self.data[self.at : end]
        self.at = end
        return out

    def string(self) -> bytes:
        return self.bytes_of(self.count())

    def strings(self) -> tuple[bytes, ...]:
        return tuple([self.string() for _ in range(self.count())])

    def text(self) -> str:
        try:
            return self.string().decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            refuse("a name is not UTF-8")


class _Reader:
    """Expressions in the order in which they were written, each with whether it is regular: without what operands of
    intersections and complements must not have.
    """

    def __init__(self, given: _Input) -> None:
        self.input = given
        self.exprs: list[Expr] = []
        self.regular: list[bool] = []
        self.most_rule = -1  # that an expression names
        self.spent = 0  # on token sets

    def grammar(self, names: Sequence[str] | None) -> GrammarIR:
        given = self.input
        given.string()  # the notes
        num_nodes = given.number()
        if num_nodes > MAX_NODES:
            hint = "save a smaller grammar"
            raise LimitError(f"the grammar has more than {MAX_NODES:,} expressions", limit="grammar_size", hint=hint)
        for i in range(num_nodes):
            if i % _BETWEEN_CHECKPOINTS == 0:
                interrupt_checkpoint()
            self._expression()
        num_rules = given.count()
        if self.most_rule >= num_rules:
            refuse("a reference names no rule")
        places = [given.number_below(len(self.exprs), "a rule has no expression") for _ in range(num_rules)]
        root = given.number_below(num_rules, "the root names no rule")
        token_sets = tuple([self._token_set(num_rules) for _ in range(given.count())])
        if not given.is_at_end():
            refuse("something follows its end")
        if names is None:
            names = [f"rule_{i}" if i != root else "root" for i in range(num_rules)]
        if len(names) != num_rules:
            refuse("its rules have other names")
        return GrammarIR(
            tuple([Rule(name, self.exprs[place]) for name, place in zip(names, places, strict=True)]), root, token_sets
        )

    def _add(self, expr: Expr, regular: bool) -> None:
        self.exprs.append(expr)
        self.regular.append(regular)

    def _operand(self) -> int:
        back = self.input.number()
        if back == 0 or back > len(self.exprs):
            refuse("an operand is not there")
        return len(self.exprs) - back

    def _expression(self) -> None:
        given = self.input
        op = given.byte()
        if op in (OP_SEQ, OP_ALT, OP_AND):
            self._of_many(op)
        elif op == OP_LITERAL:
            text = given.string()
            self._add(Expr((op, text)) if text else EMPTY, True)
        elif op == OP_SET:
            mask = int.from_bytes(given.bytes_of(SET_BYTES), "little")
            self._add(Expr((op, mask)) if mask else never(), True)
        elif op in (OP_REPEAT, OP_NOT, OP_GUARD, OP_CAPTURE, OP_SPAN, OP_SCOPE, OP_REMEMBER, OP_MULTIPLE, OP_VALUE):
            self._of_one(op)
        elif op in (OP_REF, OP_CALL):
            self._reference(op)
        elif op == OP_EMPTY:
            self._add(EMPTY, True)
        elif op == OP_NEVER:
            self._add(never(), True)
        elif op == OP_DISTINCT:
            self._distinct()
        elif op == OP_RECALL:
            self._add(Expr((op, self._text_number())), False)
        elif op == OP_TOKENS:
            self._tokens()
        elif op == OP_SUBSTRINGS:
            chunks = given.strings()
            if not chunks:
                refuse("there are no chunks")
            if not all(chunks):
                refuse("a chunk is empty")
            self._add(Expr((op, chunks)), False)
        else:
            refuse("an expression has an unknown op")

    def _of_many(self, op: int) -> None:
        count = self.input.count()
        if count < 2:
            refuse("an expression has too few operands")
        places = [self._operand() for _ in range(count)]
        regular = False not in [self.regular[place] for place in places]
        if op == OP_AND and not regular:
            refuse("an operand of an intersection is not regular")
        self._add(Expr((op, *[self.exprs[place] for place in places])), regular)

    def _of_one(self, op: int) -> None:
        given = self.input
        place = self._operand()
        inner, regular = self.exprs[place], self.regular[place]
        if op in _OF_REGULAR and not regular:
            refuse(f"{_OF_REGULAR[op]} is not regular")
        if op == OP_NOT:
            self._add(Expr((op, inner)), True)
        elif op == OP_REPEAT:
            minimum, maximum = self._bounds()
            self._add(Expr((op, inner, minimum, maximum)), regular)
        elif op == OP_GUARD:
            self._add(Expr((op, inner, self._condition(0))), False)
        elif op == OP_CAPTURE:
            name = given.text()
            if "\0" in name:
                refuse("the name of a capture holds a zero byte")
            self._add(Expr((op, inner, name, given.strings())), False)
        elif op == OP_SPAN:
            max_tokens, temperature = self._span()
            self._add(Expr((op, inner, max_tokens, temperature)), False)
        elif op == OP_SCOPE:
            self._add(Expr((op, inner)), False)
        elif op == OP_VALUE:
            by_text = given.byte()
            if by_text > 1 or (by_text and not regular):
                refuse("a value with one text is not regular")
            self._add(Expr((op, inner, bool(by_text))), False)
        elif op == OP_MULTIPLE:
            self._add(Expr((op, inner, *self._modulus())), False)
        else:
            self._add(Expr((op, inner, self._text_number())), False)

    def _distinct(self) -> None:
        count = self.input.count()
        if count < 2 or count % 2:
            refuse("a list of distinct elements has an impossible number of operands")
        places = [self._operand() for _ in range(count)]
        if not self.regular[places[0]]:
            refuse("a distinct element is not regular")
        minimum, maximum = self._bounds()
        if minimum < 1 or maximum == 0:
            refuse("a list of distinct elements has impossible bounds")
        self._add(Expr((OP_DISTINCT, *[self.exprs[place] for place in places], minimum, maximum)), False)

    def _bounds(self) -> tuple[int, int]:
        minimum, more = self.input.number(), self.input.number()
        if minimum > _MOST_INT64 or more > _MOST_INT64:
            hint = "pass what serialize() returned"
            raise LimitError("a repetition has a bound beyond 64 bits", limit="repetition_bound", hint=hint)
        if more and more - 1 < minimum:
            refuse("a repetition has impossible bounds")
        return minimum, more - 1

    def _span(self) -> tuple[int | None, float | None]:
        max_tokens = self.input.number()
        if max_tokens > _MAX_TOKEN_BUDGET:
            refuse("a span has an impossible budget of tokens")
        temperature: float = struct.unpack("<d", self.input.bytes_of(8))[0]
        if not math.isfinite(temperature):
            refuse("a temperature is not finite")
        return max_tokens or None, None if temperature < 0 else temperature

    def _modulus(self) -> tuple[int, int]:
        modulus, scale = self.input.number(), self.input.number()
        if not (1 <= modulus <= MAX_MODULUS and scale <= MAX_SCALE):
            refuse("numbers are multiples of what is impossible")
        return modulus, scale

    def _text_number(self) -> int:
        number = self.input.number()
        if not 1 <= number <= MAX_TEXT_NUMBER:
            refuse("a remembered text has an impossible number")
        return number

    def _reference(self, op: int) -> None:
        rule = self.input.number_below(MAX_NODES, "a reference names no rule")
        self.most_rule = max(self.most_rule, rule)
        self._add(Expr((op, rule, self._value()) if op == OP_CALL else (op, rule)), False)

    def _value(self) -> Value:
        given = self.input
        steps: list[tuple[int, int, int]] = []
        for _ in range(given.count()):
            kind = given.number_below(3, "a value has an unknown step")
            a, b = given.number(), given.number()
            if kind != STEP_MASK:
                _check_bits(a, b)
            steps.append((kind, a, b))
        return Value(steps)

    def _condition(self, depth: int) -> Condition:
        if depth > _MAX_CONDITION_DEPTH:
            hint = "pass what serialize() returned"
            raise LimitError(
                f"a condition nests deeper than {_MAX_CONDITION_DEPTH}", limit="condition_depth", hint=hint
            )
        given = self.input
        op = given.number_below(4, "a condition has an unknown op")
        fields: list[Any] = [op]
        if op < COND_ALL:
            fields += [given.number() for _ in range(4)]
            _check_bits(fields[1], fields[2])
        else:
            fields += [self._condition(depth + 1) for _ in range(given.count())]
        return Condition(fields)

    def _tokens(self) -> None:
        given = self.input
        by_exclusion = given.flag()
        ids: list[int] = []
        before = 0
        for i in range(given.count()):
            step = given.number()
            if i > 0 and step == 0:
                refuse("token ids do not ascend")
            before += step
            if before > _MOST_INT32:
                refuse("a token id does not fit in an int32")
            ids.append(before)
        self._add(Expr((OP_TOKENS, tuple(ids), by_exclusion)), False)

    def _token_set(self, num_rules: int) -> tuple[int, TokenSet]:
        given = self.input
        rule = given.number_below(num_rules, "a token set stands for no rule")
        negated = given.flag()
        names = tuple([given.text() for _ in range(given.count())])
        ranges: list[tuple[int, int]] = []
        for _ in range(given.count()):
            first, last = given.number(), given.number()
            if first > last:
                refuse("a range of token ids ends before it begins")
            if last > _MOST_INT32:
                refuse("a token id does not fit in an int32")
            self.spent += last - first + _RANGE_COST
            if self.spent > _MAX_TOKENS_SEEN:
                raise LimitError("the token sets are too large", limit="grammar_size", hint="name fewer tokens")
            ranges.append((first, last))
        return rule, TokenSet(names, tuple(ranges), negated)


def _check_bits(first: int, last: int) -> None:
    if first >= last or last > 64:
        refuse("a range of bits does not lie within 64")
