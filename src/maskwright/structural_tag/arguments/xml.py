"""Objects in styles other than JSON: members, elements and values.

Schemas are read by the JSON Schema front-end, up to shapes: what the style spells itself (members, strings without
quotes) comes from the shapes, and what it spells as JSON is emitted by that front-end.

    {"n": integer}   →   "<parameter=n>" ws integer ws "</parameter>" ws

The order of members is in `member_order.py`, strings without quotes are in `raw_strings.py`.
Invariant: no recursion over the schema's depth; what lies deeper waits in a queue, each place once.
Tested by tests/structural_tag/arguments/test_xml.py and test_xml_names.py.
"""

from __future__ import annotations

from typing import Any, Final

from maskwright.frontends.charset import ALL_CHARACTERS
from maskwright.frontends.json_schema import (
    DEFAULTS,
)
from maskwright.frontends.json_schema.emit.emitter import Emitter
from maskwright.frontends.json_schema.emit.layout import Layout, layout_of
from maskwright.frontends.json_schema.emit.name_patterns import OverlapError, matching_names, sets_of_patterns
from maskwright.frontends.json_schema.emit.objects import conj_of_extras
from maskwright.frontends.json_schema.read.places import ANYTHING, Conj, Node, Path, Refusal, Resource
from maskwright.frontends.json_schema.sets.intersect import is_nothing, undeclared
from maskwright.frontends.json_schema.sets.shape import (
    ALL_TYPES,
    ARRAY,
    FALSE,
    FREE_INTEGERS,
    FREE_NUMBERS,
    FREE_OBJECTS,
    FREE_STRINGS,
    FREE_WRITTEN_INTEGERS,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    TRUE,
    ArrayShape,
    ObjectShape,
    StringShape,
)
from maskwright.frontends.json_schema.sets.strings import admits_string
from maskwright.frontends.regex import regex_to_expr
from maskwright.ir import (
    EMPTY,
    MAX_TEXT_NUMBER,
    OP_NEVER,
    Copies,
    Expr,
    alt,
    and_,
    bytes_in,
    capture,
    never,
    not_,
    optional,
    recall,
    recalled,
    remember,
    repeat,
    seq,
    star,
    text,
    with_scopes,
)
from maskwright.structural_tag.arguments.free_names import Spelling, any_name, matching_pattern, names_of, spelling_of
from maskwright.structural_tag.arguments.member_order import Members
from maskwright.structural_tag.arguments.raw_strings import RawStrings
from maskwright.structural_tag.formats.xml_styles import HOLES, SCALARS, Kind, SpelledStyle
from maskwright.structural_tag.texts.ends import Ends
from maskwright.structural_tag.texts.tokens import Pieces, spelled

_MASKS: Final = {
    "string": STRING,
    "number": NUMBER,
    "boolean": TRUE | FALSE,
    "null": NULL,
    "object": OBJECT,
    "array": ARRAY,
}
_BOOLEANS: Final = ((TRUE, "true", "True"), (FALSE, "false", "False"))  # in JSON, and in Python
_CONSTANTS: Final = ((NULL, "null", "None"), *_BOOLEANS)
_NOWHERE: Final = Resource("", True)
_ONLY: Final[dict[tuple[tuple[str, ...], bool], Node]] = {}  # schemas that admit certain types only, known by identity
_SPACE: Final = star(bytes_in(b" \t\n\r"))
_BOOLEAN: Final = alt(text("true"), text("false"))
_ANY_BOOLEAN: Final = alt(_BOOLEAN, text("True"), text("False"))
_ANY_NULL: Final = alt(text("null"), text("None"))
_INTEGER: Final = regex_to_expr("-?(?:0|[1-9][0-9]*)")
_NUMBER: Final = regex_to_expr(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


class Writer:
    """Writes objects in one style. Another kind of style overrides the methods that are not private."""

    def __init__(
        self, emitter: Emitter, style: SpelledStyle, excluded: tuple[bytes, ...], capture_members: bool
    ) -> None:
        self.emitter, self.style, self._captures = emitter, style, capture_members
        self.separator = text(style.separator)
        self.ws = EMPTY if style.separator else _between(emitter.layout)
        self._pad = optional(text("\n")) if style.padded else EMPTY  # what readers take off a text without quotes
        self._raw = RawStrings(style, excluded, self.captured)
        self._order = Members(emitter, style, self.separator, self._refuse)
        self._rules: dict[Any, Expr] = {}
        self._queue: list[tuple[Expr, Conj, str, Path]] = []
        self._conj: Conj = ANYTHING  # the object or array that is being written
        self._path: Path = None

    def finish(self) -> None:
        while self._queue:
            rule, conj, spelling, path = self._queue.pop()
            write = self._items if spelling == "items" else self.members
            self.emitter.builder.define(rule, write(conj, path))

    def members(self, conj: Conj, path: Path) -> Expr:
        """The members of the objects that satisfy `conj`, white space or braces around them."""
        shape = self.emitter.norm.shape_of(conj)
        self._conj, self._path = conj, path
        return self.enclosed("{", alt(*[self._object(part) for part in shape.objects]), "}")

    def enclosed(self, left: str, inner: Expr, right: str) -> Expr:
        return seq(text(left), inner, text(right)) if self.style.separator else seq(self.ws, inner)

    def _object(self, shape: ObjectShape) -> Expr:
        if shape.witnesses:
            self._refuse("not", shape.witnesses[-1].path)
        declared = dict(shape.properties)
        for name in shape.required:
            if name not in declared:
                declared[name] = undeclared(shape, name, self.emitter.norm)
        if shape.names:
            names = self.emitter.norm.shape_of(shape.names).strings
            declared = {n: c for n, c in declared.items() if any(admits_string(each, n) for each in names)}
        if not shape.required.keys() <= declared.keys():
            return never()
        members = []
        in_order = sorted(declared, key=str.lower) if self.style.sorts else list(declared)
        for name in in_order:
            if (reason := self.why_unwritable(name)) is not None:
                self._refuse("properties", self._below("properties", name), reason)
                continue  # left out, as the caller asks
            member = self._member(name, declared[name])
            if member[0] != OP_NEVER:
                members.append((seq(member, self.ws), name in shape.required))
            elif name in shape.required:
                return never()
        extra = self._extra(shape, declared)
        return self._order.counted(shape, members, seq(extra, self.ws))

    def _refuse(self, keyword: str, path: Path, reason: str = "this style cannot enforce it exactly") -> None:
        self.emitter.refuse(Refusal(keyword, path, reason))

    def _extra(self, shape: ObjectShape, declared: dict[str, Conj]) -> Expr:
        """One member that is not declared."""
        patterns: dict[str, Path] = {pattern: path for extras in shape.extras for pattern, path, _ in extras.patterns}
        try:
            matches = sets_of_patterns(patterns)
        except OverlapError:
            self._refuse("patternProperties", next(iter(patterns.values())), "too many of the patterns overlap")
            return never()
        members = []
        for matched in matches:
            conj = conj_of_extras(shape.extras, matched)
            if is_nothing(conj) or (self.emitter.strict and not conj):
                continue
            name = self._free_name(shape, declared, patterns, matched)
            if "{name}" not in self.style.close:
                members.append(self._element(self.opening, name, conj, self._below("additionalProperties")))
            elif matched or (not declared and (patterns or conj or shape is FREE_OBJECTS[0])):
                members.append(self._element_with_name(name, conj, self._below("additionalProperties")))
        return alt(*members)

    def _element_with_name(self, name: Expr, conj: Conj, path: Path) -> Expr:
        """A member of any name with which it ends: the same, or again any where the caller gives up what is exact."""
        if self.emitter.norm.options.on_unsupported == "relax":
            reason = "the name at the end of an element is any name, so that token budgets can be kept"
            self._refuse("additionalProperties", self._path, reason)
            return self._element(self.opening, name, conj, path)
        element = self._element(self.opening, name, conj, path, again=recall(MAX_TEXT_NUMBER))
        return with_scopes(element, lambda remembered: remembered[1], Copies())

    def _free_name(
        self, shape: ObjectShape, declared: dict[str, Conj], patterns: dict[str, Path], matched: frozenset[str]
    ) -> Expr:
        """The name of a member that is not declared, and which just these patterns match."""
        spell = self.name_spelling
        parts = matching_names(
            patterns, matched, lambda pattern, path: matching_pattern(pattern, path, spell), spell(ALL_CHARACTERS)
        )
        if shape.names:
            strings = self.emitter.norm.shape_of(shape.names).strings
            parts.append(alt(*[names_of(part, spell) for part in strings]))
        return self.other_name(declared, *parts)

    def _below(self, keyword: str, *more: str | int) -> Path:
        """The place of a part of what is being written; as near to it as the schema shows."""
        for node in self._conj:
            if node.resource is not _NOWHERE and type(node.schema) is dict and keyword in node.schema:
                path: Path = (node.path or self._path, keyword)
                inside = node.schema[keyword]
                for key in more:
                    if not (type(inside) is dict and key in inside):
                        return path
                    path, inside = (path, key), inside[key]
                return path
        return self._path

    def _member(self, name: str, conj: Conj) -> Expr:
        return self._element(self.opening, self.name(name), conj, self._below("properties", name))

    @property
    def opening(self) -> Pieces:
        """What stands before a member's value."""
        return self.style.open

    def why_unwritable(self, name: str) -> str | None:
        """Say why a declared name cannot be written; None if it can."""
        forbidden = () if self.style.escapes else self.style.not_in_names
        if name and not any(c < " " for c in name) and not any(each in name for each in forbidden):
            return None
        return f"{name[:60]!r} is not a valid property name in this style"

    def name(self, name: str) -> Expr:
        """A declared name as it is written."""
        for character, escaped in self.style.escapes:
            name = name.replace(character, escaped)
        return text(name)

    @property
    def name_spelling(self) -> Spelling:
        """How characters of names that are not declared are written."""
        return spelling_of(self.style.escapes)

    def other_name(self, declared: dict[str, Conj], *parts: Expr) -> Expr:
        """Any other name for which all parts hold."""
        name = and_(any_name(self.style.escapes), *parts)
        return and_(name, not_(alt(*map(self.name, declared)))) if declared else name

    def captured_name(self, name: Expr) -> Expr:
        return self.captured("attribute" if self.style.escapes else "name", name)

    def scalar(self, kind: Kind, strings: tuple[StringShape, ...], mask: int) -> Expr:
        """A value of a spelling that this class does not know."""
        raise NotImplementedError

    def _element(self, open_: Pieces, name: Expr, conj: Conj, path: Path, again: Expr | None = None) -> Expr:
        """`open value close` for the values that satisfy `conj`, the schema at `path`.

        With `again`, the name is remembered: `again` is where it comes again.
        """
        mask = self.emitter.norm.shape_of(conj).mask
        branches = []
        for kind in self.style.kinds:
            if not any(mask & _MASKS[each] for each in kind.types):
                continue
            value = self._value(kind, again or name, conj, mask, path)
            if value[0] != OP_NEVER:
                captured = self.captured_name(name)
                opened = captured if again is None else remember(captured, MAX_TEXT_NUMBER)
                branches.append(seq(self._filled(open_, opened, kind), value))
            if kind.spelling == "raw" and not kind.label and self._is_free(conj):
                # Text without quotes covers all other values but those that it leaves out.
                types = [name for name, (bits, _) in self._other_readings(conj).items() if mask & bits]
                types += [each for each in self._as_elements(again is not None) if mask & _MASKS[each]]
                conj, mask = (*conj, _only(tuple(types))), sum(_MASKS[name] for name in types) & mask
        return alt(*branches)

    def _as_elements(self, repeats_name: bool) -> tuple[str, ...]:
        """The types that are written as elements beside text without quotes, which covers what is left out."""
        if not any(kind.spelling == "items" for kind in self.style.kinds):
            return ()
        # To write an object of any members, the grammar must remember their names, unless these are held to nothing:
        # what could be an object among others makes no grammar one that remembers.
        relaxed = self.emitter.norm.options.on_unsupported == "relax"
        return ("array", "object") if relaxed or repeats_name else ("array",)

    def _is_free(self, conj: Conj) -> bool:
        return self.emitter.norm.shape_of(conj).strings is FREE_STRINGS

    def _other_readings(self, conj: Conj) -> dict[str, tuple[int, Expr]]:
        """By type: texts without quotes that are a value of it, not a string, where values satisfy `conj`."""
        numbers = self.emitter.norm.shape_of(conj).numbers
        in_python = any(kind.spelling == "boolean" for kind in self.style.kinds)
        found = {
            "null": (NULL, _ANY_NULL if in_python else text("null")),
            "boolean": (TRUE | FALSE, _ANY_BOOLEAN if in_python else _BOOLEAN),
        }
        if len(numbers) == 1 and numbers[0] in (FREE_NUMBERS[0], FREE_INTEGERS[0], FREE_WRITTEN_INTEGERS[0]):
            found["number"] = (NUMBER, _NUMBER if numbers[0] is FREE_NUMBERS[0] else _INTEGER)
        return found

    def _no_string(self, conj: Conj, mask: int) -> Expr:
        """Texts that readers of values without quotes take for another value that satisfies `conj`."""
        others = [texts for bits, texts in self._other_readings(conj).values() if mask & bits]
        return seq(_SPACE, alt(*others), _SPACE) if others else never()

    def _taken(self, mask: int) -> frozenset[str]:
        """The texts that are constants of this mask, and no strings, in the spellings of the style."""
        taken = {in_json for bit, in_json, _ in _CONSTANTS if mask & bit}
        if any(kind.spelling == "boolean" for kind in self.style.kinds):
            taken |= {in_python for bit, _, in_python in _CONSTANTS if mask & bit}
        return frozenset(taken)

    def _filled(self, template: Pieces, name: Expr, kind: Kind) -> Expr:
        holes = dict(zip(HOLES, (name, text(kind.label), self.ws), strict=True))
        return seq(*[holes[p] if isinstance(p, str) and p in holes else spelled((p,)) for p in template])

    def _value(self, kind: Kind, name: Expr, conj: Conj, mask: int, path: Path) -> Expr:
        strings = self.emitter.norm.shape_of(conj).strings
        if kind.spelling == "raw":
            other = never() if kind.label else self._no_string(conj, mask)
            taken = frozenset[str]() if kind.label else self._taken(mask)
            close, rest = self._raw.closing_pieces(name)
            return alt(*[seq(self._raw.closed(part, close, other, taken), rest) for part in strings])
        if kind.spelling == "quoted":
            quoted = [self._raw.closed(part, self.style.quote, never()) for part in strings]
            return seq(spelled(self.style.quote), alt(*quoted))
        close = self._filled(self.style.close, name, kind)
        if kind.spelling == "boolean":
            return seq(self._pad, alt(*[self._boolean(each) for each in _BOOLEANS if mask & each[0]]), self._pad, close)
        if kind.spelling == "null":
            return seq(self._pad, self.captured("null", _ANY_NULL), self._pad, close)
        if kind.spelling not in ("json", "members", "items"):
            return self.scalar(kind, strings, mask)
        if kind.spelling == "json":
            ways = [(types, space) for types, space in self._spaces(kind) if any(mask & _MASKS[each] for each in types)]
            return alt(*[self._json(self.of_types(conj, types), space, close) for types, space in ways])
        restricted = self.of_types(conj, kind.types)
        name_of = {"members": "object", "items": "array"}[kind.spelling]
        inner = self._rule(restricted, kind.spelling, path)
        if recalled(close):  # which a capture cannot hold
            return seq(self.captured(name_of, inner), close)
        return self.captured(name_of, seq(inner, close))

    def _spaces(self, kind: Kind) -> list[tuple[tuple[str, ...], Expr]]:
        """The white space around JSON, by type: readers compare scalars as they are, unless a label says JSON."""
        if kind.label:
            return [(kind.types, self.ws)]
        scalars = tuple(each for each in kind.types if each in SCALARS)
        return [(scalars, self._pad), (tuple(each for each in kind.types if each not in SCALARS), self.ws)]

    def _json(self, conj: Conj, space: Expr, close: Expr) -> Expr:
        inner = self.captured("value", self.emitter.root(conj))
        return seq(space, inner, space, close) if inner[0] != OP_NEVER else inner

    def of_types(self, conj: Conj, types: tuple[str, ...]) -> Conj:
        """What satisfies `conj` and is of one of these types."""
        shape = self.emitter.norm.shape_of(conj)
        if not shape.mask & ~sum(_MASKS[each] for each in types):
            return conj
        # The strict mode leaves objects open of which nothing at all is said, not even the type.
        is_free = shape.mask == ALL_TYPES and shape.objects is FREE_OBJECTS
        return (*conj, _only(types, self.emitter.strict and is_free))

    def _boolean(self, it: tuple[int, str, str]) -> Expr:
        _, in_json, in_python = it
        return self.captured(in_json, alt(text(in_json), text(in_python)))

    def captured(self, name: str, body: Expr, *ends: Pieces) -> Expr:
        """`body` as a capture if members are captures, without the one of `ends` with which it ends."""
        return capture(name, body, Ends.of(ends).as_bytes) if self._captures else body

    def _rule(self, conj: Conj, spelling: str, path: Path) -> Expr:
        own = conj[0].path if conj else None
        # Schemas that say no more than a type are the same object everywhere: what is reported of them has its place.
        key = (spelling, path if own is None else None, *[id(node.schema) for node in conj])
        rule = self._rules.get(key)
        if rule is None:
            rule = self._rules[key] = self.emitter.builder.declare(spelling)
            self._queue.append((rule, conj, spelling, path if own is None else own))
        return rule

    def _items(self, conj: Conj, path: Path) -> Expr:
        self._conj, self._path = conj, path
        arrays = self.emitter.norm.shape_of(conj).arrays
        return self.enclosed("[", alt(*[self._array(part) for part in arrays]), "]")

    def _array(self, shape: ArrayShape) -> Expr:
        longest = -1 if shape.max_items is None else shape.max_items
        if shape.contains:
            self._refuse("contains", shape.contains[0].path)
        if shape.unique is not None and not 0 <= longest <= 1:
            self._refuse("uniqueItems", shape.unique)
        if longest == 0:
            return EMPTY if shape.min_items == 0 else never()
        rest = self._item(shape.rest, self._below("items"))
        firsts = shape.prefix if longest < 0 else shape.prefix[:longest]
        prefix = [self._item(conj, self._below("prefixItems")) for conj in firsts] or [rest]
        least = max(shape.min_items - len(prefix), 0)
        tail = repeat(seq(self.separator, rest), least, -1 if longest < 0 else longest - len(prefix))
        for i in range(len(prefix) - 1, 0, -1):
            tail = seq(self.separator, prefix[i], tail)
            if i >= shape.min_items:
                tail = self.emitter.as_rule("items", optional(tail))
        items = seq(prefix[0], tail)
        return items if shape.min_items else optional(items)

    def _item(self, conj: Conj, path: Path) -> Expr:
        return seq(self._element(self.style.open_item, text("item"), conj, path), self.ws)


def _between(layout: Layout) -> Expr:
    """The white space between elements, which models write whatever the layout of JSON in them is."""
    return layout.space if layout.options.any_whitespace else layout_of(DEFAULTS).space


def _only(types: tuple[str, ...], open_objects: bool = False) -> Node:
    node = _ONLY.get((types, open_objects))
    if node is None:
        schema: dict[str, Any] = {"type": list(types)}
        if open_objects:
            schema["additionalProperties"] = True
        node = _ONLY.setdefault((types, open_objects), Node(schema, _NOWHERE, None))
    return node
