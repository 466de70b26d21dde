"""The white space between tokens, and the rules that every schema shares.

A `Layout` belongs to one set of options. It opens each grammar with the same rules at the same indices

    string, integer, number, large, unsigned, name, ws, colon, comma, value, array, object, member

(`ws` to `comma` only where white space is flexible or separators are patterns) so that the expressions that refer to
them are built once for all schemas. `large` and `unsigned` are parts of plain numbers (doubles.py). `name` is called by
none: its body is the one that stands in every object with a name that is not declared, and what all grammars begin with
is read and weighed once.

A `Style` holds the punctuation at one depth: the depth matters only where `indent` is given. Below MAX_INDENTED levels
an indented layout goes on in one line, as the rules must be finite in number.
Tested by tests/frontends/json_schema/text/test_schema_layout.py.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any, Final, NamedTuple

from maskwright.frontends.json_schema.options import JsonSchemaOptions
from maskwright.frontends.json_schema.read.places import ANYTHING, FREE_PLACES, OPEN
from maskwright.frontends.json_schema.sets.doubles import LARGE_TEXT, UNSIGNED_DOUBLE_TEXT
from maskwright.frontends.json_schema.sets.numerals import (
    FREE_INTEGER_TEXTS,
    FREE_NUMBER_TEXTS,
    INTEGER_RULE,
    NUMBER_RULE,
)
from maskwright.frontends.json_schema.sets.quotes import QUOTE
from maskwright.frontends.json_schema.sets.scalars import FALSE_TEXT, NULL_TEXT, STRING_RULE, TRUE_TEXT
from maskwright.frontends.json_schema.sets.strings import ANY_NAME_CLOSED, ANY_TEXT
from maskwright.frontends.json_schema.text.ascii_only import in_ascii
from maskwright.frontends.json_schema.text.separators import separator
from maskwright.frontends.json_schema.text.white_space import JSON_SPACE, white_space
from maskwright.ir import (
    EMPTY,
    OP_EMPTY,
    OP_LITERAL,
    OP_REF,
    Expr,
    GrammarIR,
    IRBuilder,
    Rule,
    alt,
    bytes_in,
    never,
    optional,
    repeat,
    seq,
    star,
    text,
)
from maskwright.support.interruption import interrupt_checkpoint

MAX_INDENTED: Final = 12

CLOSE_ARRAY: Final = text("]")
CLOSE_OBJECT: Final = text("}")

_FREE_SCALARS: Final = {
    "string": STRING_RULE,
    "integer": INTEGER_RULE,
    "number": NUMBER_RULE,
    "boolean": alt(TRUE_TEXT, FALSE_TEXT),
    "null": NULL_TEXT,
}


class Style(NamedTuple):
    """Punctuation and white space of containers at one depth, and the rules for free values there.

    A container without items is `open_… close_…`, one with items `open_… lead items-joined-by-comma trail close_…`.
    `inner` is the depth of what it holds. `free` has the expressions of the places that admit all values, or all of one
    type, by their identity; `lists` has those of arrays of any number of such values.
    """

    open_array: Expr
    open_object: Expr
    lead: Expr
    colon: Expr
    comma: Expr
    trail: Expr
    value: Expr
    array: Expr
    object: Expr
    member: Expr
    inner: int
    free: dict[int, Expr]
    lists: dict[int, Expr]

    def array_of(self, *items: Expr, may_be_empty: bool) -> Expr:
        """An array whose items and commas are `items`, in sequence."""
        if may_be_empty:
            return seq(self.open_array, optional(seq(self.lead, *items, self.trail)), CLOSE_ARRAY)
        return seq(self.open_array, self.lead, *items, self.trail, CLOSE_ARRAY)

    def object_of(self, *members: Expr, may_be_empty: bool) -> Expr:
        """An object whose members and commas are `members`, in sequence."""
        if may_be_empty:
            return seq(self.open_object, optional(seq(self.lead, *members, self.trail)), CLOSE_OBJECT)
        return seq(self.open_object, self.lead, *members, self.trail, CLOSE_OBJECT)


_RULES_AT_ONCE: Final = 512
_RULE: Final[Any] = partial(tuple.__new__, Rule)  # as `Rule._make`, at half its time


class RuleBuilder(IRBuilder):
    """A builder that starts from rules made before."""

    def __init__(self, prelude: tuple[Rule, ...], names: list[str], bodies: list[Expr | None]) -> None:
        self._prelude = prelude
        self._names = names.copy()
        self._bodies = bodies.copy()
        self._taken = dict.fromkeys(names, 2)
        self._token_sets = []
        self._included = {}

    def build(self, root: Expr) -> GrammarIR:
        """Finish, as the base does, but hand the first rules on as they are."""
        if root[0] != OP_REF:
            root = self.add("root", root)
        assert all(self._bodies), "a rule was declared but never defined"
        rules = list(self._prelude)
        while len(rules) < len(self._bodies):
            interrupt_checkpoint()
            some = slice(len(rules), len(rules) + _RULES_AT_ONCE)
            own: Any = zip(self._names[some], self._bodies[some], strict=True)
            rules += map(_RULE, own)
        return GrammarIR(tuple(rules), root[1])


class Layout:
    """See the module's header. `space` is what may stand between any two tokens, whatever they are."""

    def __init__(self, options: JsonSchemaOptions) -> None:
        self.options = options
        builder = IRBuilder()
        builder.add("string", seq(QUOTE, ANY_TEXT, QUOTE))
        builder.add("integer", FREE_INTEGER_TEXTS[options.numbers])
        builder.add("number", FREE_NUMBER_TEXTS[options.numbers])
        builder.add("large", LARGE_TEXT)
        builder.add("unsigned", UNSIGNED_DOUBLE_TEXT)
        builder.add("name", ANY_NAME_CLOSED)
        self.depth_matters = not options.any_whitespace and options.indent is not None
        self.space = _space(options)
        if options.any_whitespace:
            self._ws = EMPTY if self.space[0] == OP_EMPTY else builder.add("ws", self.space)
            self._colon = builder.add("colon", seq(self._ws, text(":"), self._ws))
            self._comma = builder.add("comma", seq(self._ws, text(","), self._ws))
        else:
            item, key = options.separators or (", ", ": ")
            self._comma = _shared(builder, "comma", separator(item, ","))
            self._colon = _shared(builder, "colon", separator(key, ":"))
        depths = MAX_INDENTED + 1 if self.depth_matters else 1
        names = [[builder.declare(name) for name in ("value", "array", "object", "member")] for _ in range(depths)]
        self.styles = tuple(self._style(depth, *names[depth]) for depth in range(depths))  # the root has depth 0
        for style in self.styles:
            if options.strict_mode:  # an object of which no member is declared has none
                style.free[id(FREE_PLACES["object"])] = style.object_of(never(), may_be_empty=True)
        for style in self.styles:
            self._define_free(builder, style)
        grammar = builder.build(STRING_RULE)
        self.prelude = (in_ascii(grammar) if options.ensure_ascii else grammar).rules
        self._names = [rule.name for rule in self.prelude]
        self._bodies: list[Expr | None] = [rule.body for rule in self.prelude]

    def builder(self) -> RuleBuilder:
        return RuleBuilder(self.prelude, self._names, self._bodies)

    def _style(self, depth: int, value: Expr, array: Expr, object_: Expr, member: Expr) -> Style:
        inner = depth + 1 if self.depth_matters and depth < MAX_INDENTED else depth
        lists: dict[int, Expr] = {}  # filled below
        free = (value, array, object_, member, inner, _free_places(value, array, object_), lists)
        if self.options.any_whitespace:
            ws = self._ws
            return Style(seq(text("["), ws), seq(text("{"), ws), EMPTY, self._colon, self._comma, ws, *free)
        lead, trail, comma = EMPTY, EMPTY, self._comma
        indent = self.options.indent
        if indent is not None and depth < MAX_INDENTED:
            lead, trail = text("\n" + " " * (indent * (depth + 1))), text("\n" + " " * (indent * depth))
            comma = seq(comma if self.options.separators else text(","), lead)
        return Style(text("["), text("{"), lead, self._colon, comma, trail, *free)

    def _define_free(self, builder: IRBuilder, s: Style) -> None:
        inside = self.styles[s.inner]
        scalars = (STRING_RULE, NUMBER_RULE, TRUE_TEXT, FALSE_TEXT, NULL_TEXT)
        builder.define(s.value, alt(s.object, s.array, *scalars))
        for place, value in inside.free.items():
            s.lists[place] = s.array_of(_list(value, s), may_be_empty=True)
        builder.define(s.array, s.lists[id(ANYTHING)])
        builder.define(s.object, s.object_of(_list(s.member, s), may_be_empty=True))
        builder.define(s.member, seq(STRING_RULE, s.colon, inside.value))


def _shared(builder: IRBuilder, name: str, expr: Expr) -> Expr:
    """A separator; a rule of its own if it is more than a text."""
    return expr if expr[0] == OP_LITERAL else builder.add(name, expr)


def _space(options: JsonSchemaOptions) -> Expr:
    if not options.any_whitespace:
        return EMPTY
    if options.whitespace_pattern is not None:
        return white_space(options.whitespace_pattern)
    assert options.max_whitespace_cnt is not None
    return repeat(bytes_in(JSON_SPACE), 0, options.max_whitespace_cnt)


def _free_places(value: Expr, array: Expr, object_: Expr) -> dict[int, Expr]:
    by_type = {**_FREE_SCALARS, "array": array, "object": object_}
    return {id(ANYTHING): value, id(OPEN): value, **{id(FREE_PLACES[t]): by_type[t] for t in by_type}}


def _list(item: Expr, style: Style) -> Expr:
    return seq(item, star(seq(style.comma, item)))


@lru_cache(maxsize=32)
def layout_of(options: JsonSchemaOptions) -> Layout:
    """Return the layout of these options. Layouts are shared: never change one."""
    return Layout(options)
