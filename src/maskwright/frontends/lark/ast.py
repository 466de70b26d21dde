"""The syntax tree of a Lark grammar: nodes with spans, definitions, and what stands beside them in the text.

    >>> Repeat(NOWHERE, Text(NOWHERE, "a"), 0, UNBOUNDED).item
    Text(span=Span(start=0, end=0), value='a', ignore_case=False)

The tree is what was written: templates are not expanded, imports not resolved, conditions not decided. `parser.py`
makes it, `resolve.py` looks names up in it, `terminals.py` and `lower.py` make the IR from it.
Tested by tests/frontends/test_lark.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from maskwright.errors import Span
from maskwright.frontends.notation.rule_options import RuleOption
from maskwright.ir import UNBOUNDED as UNBOUNDED
from maskwright.ir import TokenSet

NOWHERE: Final = Span(0, 0)


class Name(NamedTuple):
    """A rule, a terminal, or a parameter of the template around it."""

    span: Span
    name: str


class Text(NamedTuple):
    """A literal."""

    span: Span
    value: str
    ignore_case: bool = False


class Range(NamedTuple):
    """One character: `"a".."z"`."""

    span: Span
    first: str
    last: str


class Pattern(NamedTuple):
    """A regular expression between slashes."""

    span: Span
    pattern: str
    flags: str


class Seq(NamedTuple):
    """One after the other; none at all is the empty string."""

    span: Span
    items: tuple[Node, ...]


class Alt(NamedTuple):
    """One of several."""

    span: Span
    branches: tuple[Node, ...]


class And(NamedTuple):
    """What all operands match; in terminals."""

    span: Span
    operands: tuple[Node, ...]


class Not(NamedTuple):
    """All texts that the item does not match; in terminals."""

    span: Span
    item: Node


class Repeat(NamedTuple):
    """Several times; `maximum` may be UNBOUNDED."""

    span: Span
    item: Node
    minimum: int
    maximum: int


class Use(NamedTuple):
    """A template with arguments: `_sep{item, ","}`."""

    span: Span
    name: str
    arguments: tuple[Node, ...]


class Tokens(NamedTuple):
    """One token of a set: `<think>`, `<[1-5]>`."""

    span: Span
    token_set: TokenSet


class Side(NamedTuple):
    """A grammar that the caller supplies: `@name`."""

    span: Span
    name: str


class Embedded(NamedTuple):
    """`%json {…}`, `%regex {…}` or `%lark {…}`; `value` is the JSON value, or the document."""

    span: Span
    kind: str
    value: Any


class Call(NamedTuple):
    """A term of a parametric rule: `_`, a number, a bit range, or a function with arguments."""

    span: Span
    function: str
    arguments: tuple[Call, ...] = ()


class Parametric(NamedTuple):
    """A parametric rule with its parameter: `perm::set_bit(3)`."""

    span: Span
    name: str
    parameter: Call


class Conditional(NamedTuple):
    """An alternative under a condition on the parameter: `… %if bit_clear(3)`."""

    span: Span
    item: Node
    condition: Call


class Remember(NamedTuple):
    """An item whose text comes again in the rest of its alternative: `tag=NAME`. It is read as one terminal."""

    span: Span
    item: Node
    number: int


class Recall(NamedTuple):
    """The text that is remembered by this number: `$tag`."""

    span: Span
    number: int


Node: TypeAlias = (
    "Name | Text | Range | Pattern | Seq | Alt | And | Not | Repeat | Use | Tokens | Side | Embedded | Parametric"
    " | Conditional | Remember | Recall"
)


class Definition(NamedTuple):
    """A rule or a terminal, which its name tells: `parameters` are a template's, `is_parametric` says `name::_`."""

    name: str
    span: Span
    parameters: tuple[str, ...]
    options: tuple[RuleOption, ...]
    is_parametric: bool
    body: Node
    mode: str  # "define", "override" or "extend"

    @property
    def is_terminal(self) -> bool:
        return is_terminal_name(self.name)


class Import(NamedTuple):
    """`%import module.name -> alias`, one for each name."""

    span: Span
    module: str
    name: str
    alias: str


class Document(NamedTuple):
    """A whole grammar text."""

    source: str
    definitions: tuple[Definition, ...]
    imports: tuple[Import, ...]
    ignored: tuple[Node, ...]
    declared: tuple[Name, ...]
    options: dict[str, Any]


def is_terminal_name(name: str) -> bool:
    """Whether a name is a terminal's: upper-case after underscores."""
    return name.lstrip("_")[:1].isupper()


Result = TypeVar("Result")


def fold(
    root: Node, children: Callable[[Node], Sequence[Node]], combine: Callable[[Node, list[Result]], Result]
) -> Result:
    """Combine a tree from its leaves upwards, from left to right, without recursion."""
    pending, order = [root], []
    while pending:
        node = pending.pop()
        parts = children(node)
        order.append((node, len(parts)))
        pending.extend(parts)
    done: list[Result] = []  # of what is still to be joined
    for node, count in reversed(order):
        if count:
            joined = combine(node, done[-count:])
            del done[-count:]
            done.append(joined)
        else:
            done.append(combine(node, []))
    return done[0]


def children_of(node: Node) -> Sequence[Node]:
    """The parts of a node; a template's arguments are none, for they are bound to its parameters."""
    kind = type(node)
    if kind in _WITH_PARTS:
        return node[1]  # type: ignore[return-value]
    return (node.item,) if kind in _WITH_ITEM else ()  # type: ignore[union-attr]


_WITH_PARTS: Final = frozenset((Seq, Alt, And))
_WITH_ITEM: Final = frozenset((Repeat, Not, Conditional, Remember))
