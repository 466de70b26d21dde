"""The intermediate representation: rules over bytes, the only thing front-ends produce.

An `Expr` is an immutable tuple `(op, ...)`, made only by the smart constructors below, which keep it canonical:
sequences and alternatives are flat, adjacent literals are joined, byte sets are merged, `never()` and `EMPTY` are
absorbed.
A `GrammarIR` is a tuple of named rules and a root; `Ref` nodes name rules by index. Tokens that are known by name only
stand in it as `TokenSet`s, each the body of a rule, until a tokenizer resolves them (`with_tokens`).

    >>> ir = GrammarIR((Rule("root", seq(literal(b"a"), star(byte_range(0x30, 0x39)), literal(b"b"))),), 0)
    >>> print(ir.dump())
    root ::= "a" [0-9]* "b"

A rule may have a parameter of 64 bits: branches are guarded by conditions on it, and calls pass a value made from it.

    >>> from maskwright.parameters import compare, increment
    >>> at_most_two = alt(EMPTY, guard(compare("<", 2), seq(literal(b"x"), call(0, increment()))))
    >>> print(GrammarIR((Rule("r", at_most_two),), 0).dump())
    r::_ ::= "" | "x" r::incr(_) %if _ <= 1

Invariants: an expression equals another iff their tuples are equal; operands of `and_`/`not_` are regular (no `ref`,
`call`, `guard`, `tokens`); a byte set is an int whose bit b stands for byte b. Cost: about a quarter of a microsecond a
node; the kernel reads the tuples directly, so there is no second representation in Python.
Tested by tests/test_ir.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import is_
from typing import Any, NamedTuple

from maskwright.parameters import FALSE, TRUE, Condition, Value, both

# The kernel reads these numbers: cpp/kernel/ir.h lists the same.
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
OP_CAPTURE = 13  # (op, expr, name)        the expression; what it matches can be asked for by name

UNBOUNDED = -1
ALL_BYTES = (1 << 256) - 1


class Expr(tuple[Any, ...]):
    """A node of the grammar: see the OP_ constants for its shapes. Make one with the constructors of this module."""

    __slots__ = ()

    @property
    def op(self) -> int:
        return self[0]  # type: ignore[no-any-return]

    def dump(self, rule_names: tuple[str, ...] | None = None) -> str:
        """Show the expression in an EBNF-like notation, for people and for tests."""
        return _dump(self, rule_names, 0)

    def __repr__(self) -> str:
        return f"Expr({self.dump()})"


EMPTY = Expr((OP_EMPTY,))
_NEVER = Expr((OP_NEVER,))
ANY_BYTE = Expr((OP_SET, ALL_BYTES))
_BYTE_LITERALS = tuple(Expr((OP_LITERAL, bytes((b,)))) for b in range(256))


def never() -> Expr:
    """The expression that matches nothing."""
    return _NEVER


def literal(data: bytes) -> Expr:
    """Exactly these bytes."""
    return Expr((OP_LITERAL, data)) if data else EMPTY


def text(string: str) -> Expr:
    """Exactly this string, as UTF-8."""
    return literal(string.encode())


def byte_set(mask: int) -> Expr:
    """One byte out of a set, given as a 256-bit integer."""
    if mask & (mask - 1):
        return Expr((OP_SET, mask))
    return _BYTE_LITERALS[mask.bit_length() - 1] if mask else _NEVER


def bytes_in(members: bytes) -> Expr:
    """One byte out of those in `members`."""
    mask = 0
    for b in members:
        mask |= 1 << b
    return byte_set(mask)


def byte_range(first: int, last: int) -> Expr:
    """One byte from `first` to `last`, both included."""
    return byte_set((1 << (last + 1)) - (1 << first) if first <= last else 0)


def seq(*parts: Expr) -> Expr:
    """These one after the other."""
    out: list[Any] = [OP_SEQ]
    before: Any = OP_SEQ  # the operation of the last part of `out`
    for part in parts:
        op = part[0]
        if op == OP_LITERAL:
            if before == OP_LITERAL:
                out[-1] = Expr((OP_LITERAL, out[-1][1] + part[1]))
            else:
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
        elif op == OP_EMPTY:
            continue
        else:
            out.append(part)
        before = op
    if len(out) > 2:
        return Expr(out)
    return out[1] if len(out) == 2 else EMPTY


def alt(*branches: Expr) -> Expr:
    """Any one of these."""
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


def _distinct(exprs: list[Any]) -> list[Any]:
    """Each once. A hash is of the whole tree, but a comparison mostly ends at its first difference."""
    if len(exprs) > 8:
        return list(dict.fromkeys(exprs))
    out: list[Any] = []
    for expr in exprs:
        if expr not in out:
            out.append(expr)
    return out


def alt_of_distinct(branches: Sequence[Expr]) -> Expr:
    """As `alt`, for one or more branches that differ and are sequences or references: their dearest check is saved."""
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
    return repeat(item, 0)


def plus(item: Expr) -> Expr:
    """Once or more."""
    return repeat(item, 1)


def optional(item: Expr) -> Expr:
    """Once or not at all."""
    return repeat(item, 0, 1)


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


def capture(name: str, body: Expr, ends: tuple[bytes, ...] = ()) -> Expr:
    """`body`; what it matches can be asked for by this name, without the longest of `ends` with which it ends."""
    return body if body[0] == OP_NEVER else Expr((OP_CAPTURE, body, name, ends))


def tokens(token_ids: Iterable[int]) -> Expr:
    """Exactly one token out of these ids, whatever its bytes."""
    ids = tuple(sorted(set(token_ids)))
    return Expr((OP_TOKENS, ids)) if ids else _NEVER


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


class Rule(NamedTuple):
    """A named rule. Names are for people; references go by index."""

    name: str
    body: Expr


class TokenSet(NamedTuple):
    """Tokens of a tokenizer that is not known yet: by name, by ranges of ids, or all but those."""

    names: tuple[str, ...] = ()
    id_ranges: tuple[tuple[int, int], ...] = ()
    negated: bool = False

    def dump(self) -> str:
        """Show it as in a grammar: `<think>`, `<[1,5-7]>`, `<[^</s>,2]>`, `<[*]>`."""
        if len(self.names) == 1 and not self.id_ranges:
            return ("!" if self.negated else "") + self.names[0]
        members = [*self.names, *(f"{a}" if a == b else f"{a}-{b}" for a, b in self.id_ranges)]
        if not members:
            return "<[*]>" if self.negated else "<[^*]>"
        return f"<[{'^' if self.negated else ''}{','.join(members)}]>"


class GrammarIR(NamedTuple):
    """All rules of a grammar, the index of the root, and the rules whose bodies a tokenizer has to supply."""

    rules: tuple[Rule, ...]
    root: int
    token_sets: tuple[tuple[int, TokenSet], ...] = ()

    def with_tokens(self, ids_of: Callable[[TokenSet], Iterable[int]]) -> GrammarIR:
        """Give the rules that stand for token sets their bodies."""
        if not self.token_sets:
            return self
        rules = list(self.rules)
        for index, token_set in self.token_sets:
            rules[index] = Rule(rules[index].name, tokens(ids_of(token_set)))
        return GrammarIR(tuple(rules), self.root)

    def dump(self) -> str:
        """Show the root and the rules that it leads to, one a line."""
        names = tuple(rule.name for rule in self.rules)
        shown = dict(self.token_sets)
        order = {self.root: None}
        pending = [self.root]
        while pending:
            new = [i for i in references(self.rules[pending.pop(0)].body) if i not in order]
            order.update(dict.fromkeys(new))
            pending.extend(new)
        bodies = (shown[i].dump() if i in shown else self.rules[i].body.dump(names) for i in order)
        heads = (names[i] + ("::_" if uses_parameter(self.rules[i].body) else "") for i in order)
        return "\n".join(f"{head} ::= {body}" for head, body in zip(heads, bodies, strict=True))


def joined(grammars: Sequence[GrammarIR]) -> tuple[IRBuilder, list[Expr]]:
    """Put the rules of several grammars into one builder; return it and the references to their roots."""
    builder = IRBuilder()
    return builder, [builder.include(grammar) for grammar in grammars]


def with_references(root: Expr, references: list[Expr], moved: dict[int, Expr]) -> Expr:
    """Exchange rule i for references[i]. `moved` is by identity, so that what was shared stays shared."""
    open_nodes = [root]
    while open_nodes:
        expr = open_nodes[-1]
        op = expr[0]
        children = _children(expr, op)
        waiting = [child for child in children if id(child) not in moved]
        if waiting:
            open_nodes.extend(waiting)
            continue
        open_nodes.pop()
        if op == OP_REF:
            moved[id(expr)] = references[expr[1]]
            continue
        if op == OP_CALL:
            moved[id(expr)] = call(references[expr[1]][1], expr[2])
            continue
        new = [moved[id(child)] for child in children]
        unchanged = all(map(is_, new, children))
        moved[id(expr)] = expr if unchanged else Expr((op, *new, *expr[1 + len(new) :]))
    return moved[id(root)]


def refers_beyond(root: Expr, count: int) -> bool:
    """Whether an expression names a rule that is not among the first `count`."""
    open_nodes, seen = [root], set()
    while open_nodes:
        expr = open_nodes.pop()
        op = expr[0]
        if op in _NAMES_RULES and expr[1] >= count:
            return True
        for child in _children(expr, op):
            if child[0] not in _LEAVES and id(child) not in seen:
                seen.add(id(child))
                open_nodes.append(child)
    return False


_LEAVES = frozenset((OP_EMPTY, OP_NEVER, OP_LITERAL, OP_SET, OP_TOKENS))
_NAMES_RULES = frozenset((OP_REF, OP_CALL))
_ONE_OPERAND = frozenset((OP_REPEAT, OP_NOT, OP_GUARD, OP_CAPTURE))


def _children(expr: Expr, op: int) -> tuple[Expr, ...]:
    if op in _LEAVES or op in _NAMES_RULES:
        return ()
    return expr[1:2] if op in _ONE_OPERAND else expr[1:]


def operands(expr: Expr) -> list[Expr]:
    """The expressions that an expression is made of."""
    return [part for part in expr[1:] if isinstance(part, Expr)]


def postorder(root: Expr, children: Callable[[Expr], Iterable[Expr]] = operands) -> list[Expr]:
    """All parts of an expression, each once and after its own parts. Parts are told apart by identity."""
    order: list[Expr] = []
    seen: set[int] = set()
    stack = [(root, False)]
    while stack:
        node, is_ready = stack.pop()
        if is_ready:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((child, False) for child in children(node))
    return order


def references(root: Expr) -> list[int]:
    """The rules that an expression names, in order of appearance."""
    found: dict[int, None] = {}
    open_nodes = [root]
    while open_nodes:
        expr = open_nodes.pop()
        if expr[0] in (OP_REF, OP_CALL):
            found[expr[1]] = None
        open_nodes.extend(part for part in reversed(expr[1:]) if isinstance(part, Expr))
    return list(found)


def uses_parameter(root: Expr) -> bool:
    """Whether a rule with this body has a parameter: whether the body guards by it or passes something made from it."""
    open_nodes, seen = [root], {id(root)}
    while open_nodes:
        expr = open_nodes.pop()
        if expr[0] == OP_GUARD or (expr[0] == OP_CALL and expr[2].constant is None):
            return True
        new = [part for part in expr[1:] if isinstance(part, Expr) and id(part) not in seen]
        seen.update(map(id, new))
        open_nodes.extend(new)
    return False


class IRBuilder:
    """Collects rules; a rule can be referred to before it is defined.

    >>> b = IRBuilder()
    >>> value = b.declare("value")
    >>> b.define(value, alt(text("x"), seq(text("("), value, text(")"))))
    >>> print(b.build(value).dump())
    value ::= "(" value ")" | "x"
    """

    def __init__(self) -> None:
        self._names: list[str] = []
        self._bodies: list[Expr | None] = []
        self._taken: dict[str, int] = {}  # each name, and the number to try next for another of it
        self._token_sets: list[tuple[int, TokenSet]] = []

    def declare(self, name: str) -> Expr:
        """Reserve a rule and return the reference to it. A name already taken gets a number."""
        unique, n = name, self._taken.get(name, 2)
        while unique in self._taken:
            unique, n = f"{name}_{n}", n + 1
            self._taken[name] = n
        self._taken[unique] = 2
        self._names.append(unique)
        self._bodies.append(None)
        return Expr((OP_REF, len(self._bodies) - 1))

    def define(self, reference: Expr, body: Expr) -> None:
        """Give a declared rule its body."""
        self._bodies[reference[1]] = body

    def add(self, name: str, body: Expr) -> Expr:
        """Declare and define in one step."""
        reference = self.declare(name)
        self._bodies[-1] = body
        return reference

    def add_tokens(self, token_set: TokenSet) -> Expr:
        """Exactly one token out of a set that only a tokenizer can tell."""
        for index, known in self._token_sets:
            if known == token_set:
                return ref(index)
        reference = self.add("token", _NEVER)
        self._token_sets.append((reference[1], token_set))
        return reference

    def include(self, grammar: GrammarIR) -> Expr:
        """Take over the rules of a grammar and return the reference to its root."""
        references = [self.declare(rule.name) for rule in grammar.rules]
        moved: dict[int, Expr] = {}
        for reference, rule in zip(references, grammar.rules, strict=True):
            self.define(reference, with_references(rule.body, references, moved))
        self._token_sets.extend((references[i][1], token_set) for i, token_set in grammar.token_sets)
        return references[grammar.root]

    def build(self, root: Expr) -> GrammarIR:
        """Finish. `root` may be any expression; one that is no reference becomes a rule of its own."""
        if root[0] != OP_REF:
            root = self.add("root", root)
        rules = []
        for name, body in zip(self._names, self._bodies, strict=True):
            assert body is not None, f"rule {name} was declared but never defined"
            rules.append(Rule(name, body))
        return GrammarIR(tuple(rules), root[1], tuple(self._token_sets))


_PRECEDENCE_ALT, _PRECEDENCE_AND, _PRECEDENCE_SEQ, _PRECEDENCE_ATOM = 0, 1, 2, 3


def _dump(expr: Expr, names: tuple[str, ...] | None, outer: int) -> str:
    op = expr[0]
    if op == OP_EMPTY:
        return '""'
    if op == OP_NEVER:
        return "[]"
    if op == OP_LITERAL:
        return '"' + "".join(_byte(b, '"') for b in expr[1]) + '"'
    if op == OP_SET:
        return _dump_set(expr[1])
    if op == OP_REF:
        return names[expr[1]] if names else f"${expr[1]}"
    if op == OP_TOKENS:
        return "<[" + ",".join(map(str, expr[1])) + "]>"
    if op == OP_REPEAT:
        return _dump(expr[1], names, _PRECEDENCE_ATOM) + _suffix(expr[2], expr[3])
    if op == OP_NOT:
        return "~" + _dump(expr[1], names, _PRECEDENCE_ATOM)
    if op == OP_CALL:
        return f"{names[expr[1]] if names else f'${expr[1]}'}::{expr[2].dump()}"
    if op == OP_CAPTURE:
        without = "".join(f" - {_dump(literal(end), names, _PRECEDENCE_ATOM)}" for end in expr[3])
        return f"<{expr[2]}: {_dump(expr[1], names, _PRECEDENCE_ALT)}{without}>"
    if op == OP_GUARD:
        shown = f"{_dump(expr[1], names, _PRECEDENCE_SEQ)} %if {expr[2].dump()}"
        return f"({shown})" if outer > _PRECEDENCE_AND else shown
    level, joint = {
        OP_SEQ: (_PRECEDENCE_SEQ, " "),
        OP_AND: (_PRECEDENCE_AND, " & "),
        OP_ALT: (_PRECEDENCE_ALT, " | "),
    }[op]
    parts = [_dump(part, names, level + 1) for part in expr[1:]]
    shown = joint.join(parts)
    return f"({shown})" if outer > level else shown


def _suffix(minimum: int, maximum: int) -> str:
    short = {(0, UNBOUNDED): "*", (1, UNBOUNDED): "+", (0, 1): "?"}.get((minimum, maximum))
    if short:
        return short
    if minimum == maximum:
        return f"{{{minimum}}}"
    return f"{{{minimum},}}" if maximum == UNBOUNDED else f"{{{minimum},{maximum}}}"


def _dump_set(mask: int) -> str:
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
