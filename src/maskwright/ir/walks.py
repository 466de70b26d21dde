"""Walks over expressions: their parts, the rules that they name, and copies with other references or other parts.

    >>> from maskwright.ir import ref, seq, text
    >>> pair = seq(ref(1), text(","), ref(0))
    >>> references(pair)
    [1, 0]
    >>> with_references(pair, [text("a"), text("b")], {}).dump()
    '"b" "," "a"'

None recurses, so depth costs no stack; what is shared is visited once where that can matter.
Tested by tests/test_ir.py.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from operator import is_
from typing import Final, TypeVar

from maskwright.ir.expr import Expr
from maskwright.ir.expressions import (
    alt,
    and_,
    call,
    capture,
    distinct,
    guard,
    multiple,
    new_value,
    not_,
    remember,
    repeat,
    scope,
    seq,
    span,
)
from maskwright.ir.ops import (
    OP_ALT,
    OP_AND,
    OP_CALL,
    OP_CAPTURE,
    OP_DISTINCT,
    OP_GUARD,
    OP_MULTIPLE,
    OP_NOT,
    OP_REF,
    OP_REMEMBER,
    OP_REPEAT,
    OP_SCOPE,
    OP_SEQ,
    OP_SPAN,
    OP_VALUE,
)
from maskwright.support.interruption import interrupt_checkpoint

_T = TypeVar("_T", bound=Hashable)

_CHECKPOINT_EVERY: Final = 0x100  # nodes
_NAMES_RULES: Final = frozenset((OP_REF, OP_CALL))


def operands(expr: Expr) -> list[Expr]:
    """The expressions that an expression is made of."""
    return [part for part in expr[1:] if isinstance(part, Expr)]


def postorder(root: Expr, children: Callable[[Expr], Iterable[Expr]] = operands) -> list[Expr]:
    """All parts of an expression, each once and after its own parts. Parts are distinguished by identity."""
    order: list[Expr] = []
    seen: set[int] = set()
    stack = [(root, False)]
    while stack:
        if len(order) % _CHECKPOINT_EVERY == 0:
            interrupt_checkpoint()
        node, is_ready = stack.pop()
        if is_ready:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((child, False) for child in children(node))
    return order


def rebuilt(expr: Expr, parts: Sequence[Expr]) -> Expr:
    """The same operation on other parts, made by its constructor and so in canonical form; a leaf is itself."""
    op = expr[0]
    if op == OP_SEQ:
        return seq(*parts)
    if op == OP_ALT:
        return alt(*parts)
    if op == OP_AND:
        return and_(*parts)
    if op == OP_REPEAT:
        return repeat(parts[0], expr[2], expr[3])
    if op == OP_NOT:
        return not_(parts[0])
    if op == OP_GUARD:
        return guard(expr[2], parts[0])
    if op == OP_CAPTURE:
        return capture(expr[2], parts[0], expr[3])
    if op == OP_SCOPE:
        return scope(parts[0])
    if op == OP_REMEMBER:
        return remember(parts[0], expr[2])
    if op == OP_VALUE:
        return new_value(parts[0], by_text=expr[2])
    if op == OP_DISTINCT:
        values = [(parts[i], parts[i + 1]) for i in range(2, len(parts), 2)]
        return distinct(parts[0], parts[1], expr[-2], expr[-1], values)
    if op == OP_MULTIPLE:
        return multiple(parts[0], expr[2], expr[3])
    return span(parts[0], expr[2], expr[3]) if op == OP_SPAN else expr


def changed(root: Expr, change: Callable[[Expr], Expr | None], known: dict[int, Expr]) -> Expr:
    """Exchange parts of an expression, the innermost first: each for what `change` makes of it.

    Where it returns None, the part is made of its own parts as they are then. Complements stay as they are. `known` is
    by identity, so that what was shared stays shared, in several expressions too.
    """
    for expr in postorder(root, lambda part: () if part[0] == OP_NOT or id(part) in known else operands(part)):
        if id(expr) not in known:
            made = expr if expr[0] == OP_NOT else change(expr)
            known[id(expr)] = rebuilt(expr, [known[id(part)] for part in operands(expr)]) if made is None else made
    return known[id(root)]


def references(root: Expr) -> list[int]:
    """The rules that an expression names, in order of appearance."""
    found: dict[int, None] = {}
    open_nodes: list[Expr] = [root]
    seen: set[int] = set()
    while open_nodes:
        expr = open_nodes.pop()
        if id(expr) in seen:
            continue
        seen.add(id(expr))
        if expr[0] in _NAMES_RULES:
            found[expr[1]] = None
        open_nodes.extend(part for part in expr[:0:-1] if isinstance(part, Expr))
    return list(found)


def reachable(starts: Iterable[_T], following: Callable[[_T], Iterable[_T]]) -> dict[_T, None]:
    """These and what they lead to, in the order in which they are found."""
    found = dict.fromkeys(starts)
    pending = list(found)
    for each in pending:  # grows meanwhile
        fresh = [one for one in dict.fromkeys(following(each)) if one not in found]
        found.update(dict.fromkeys(fresh))
        pending += fresh
    return found


def leading_back(links: Sequence[Collection[int]]) -> set[int]:
    """The numbers, below `len(links)`, that lead back to themselves: in components, and loops (Tarjan)."""
    found: set[int] = set()
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    open_numbers: list[int] = []
    is_open: set[int] = set()
    for start in range(len(links)):
        stack = [(start, iter(links[start]))] if start not in number else []
        while stack:
            index, targets = stack[-1]
            if index not in number:
                number[index] = low[index] = len(number)
                open_numbers.append(index)
                is_open.add(index)
            for target in targets:
                if target not in number:
                    stack.append((target, iter(links[target])))
                    break
                if target in is_open:
                    low[index] = min(low[index], number[target])
            else:
                stack.pop()
                if stack:
                    low[stack[-1][0]] = min(low[stack[-1][0]], low[index])
                if low[index] == number[index]:
                    component = [open_numbers.pop()]
                    while component[-1] != index:
                        component.append(open_numbers.pop())
                    is_open.difference_update(component)
                    if len(component) > 1 or index in links[index]:
                        found.update(component)
    return found


def depth(root: Expr) -> int:
    """How deep an expression nests; 1 for a leaf."""
    depths: dict[int, int] = {}
    for node in postorder(root):
        depths[id(node)] = 1 + max([depths[id(part)] for part in operands(node)], default=0)
    return depths[id(root)]


def uses_parameter(root: Expr) -> bool:
    """Whether a rule with this body has a parameter: whether the body guards by it or passes something made from it."""
    return any(expr[0] == OP_GUARD or (expr[0] == OP_CALL and expr[2].constant is None) for expr in postorder(root))


def with_references(root: Expr, references: list[Expr], moved: dict[int, Expr]) -> Expr:
    """Exchange rule i for references[i].

    `moved` is by identity, so that what was shared stays shared; what it holds beforehand is exchanged as well.
    """
    open_nodes = [] if id(root) in moved else [root]
    while open_nodes:
        if len(moved) % _CHECKPOINT_EVERY == 0:
            interrupt_checkpoint()
        expr = open_nodes[-1]
        op = expr[0]
        children = operands(expr)
        waiting = [child for child in children if id(child) not in moved]
        if waiting:
            open_nodes.extend(waiting)
            continue
        open_nodes.pop()
        if op == OP_REF:
            target = references[expr[1]]
            moved[id(expr)] = expr if target == expr else target  # so that what does not change stays shared
            continue
        if op == OP_CALL:
            moved[id(expr)] = call(references[expr[1]][1], expr[2])
            continue
        new = [moved[id(child)] for child in children]
        unchanged = all(map(is_, new, children))
        moved[id(expr)] = expr if unchanged else Expr((op, *new, *expr[1 + len(new) :]))
    return moved[id(root)]
