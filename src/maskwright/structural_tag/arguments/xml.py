"""Arguments in styles other than JSON: from a JSON Schema to rules.

Schemas are read by the JSON Schema front-end, up to shapes: what the style spells itself (members, strings without
quotes) comes from the shapes, and what it spells as JSON is emitted as ever.

    {"properties": {"n": {"type": "integer"}}}   →   ws ("<parameter=n>" ws integer ws "</parameter>" ws)?

Members come in declared order, then undeclared ones where the schema has them and the style can close them; or sorted,
if the style sorts; or all in any order. A string ends where the closing text first occurs, so strings that contain it
cannot be written.
Invariant: no recursion over the schema's depth; what lies deeper waits in a queue, each place once.
Tested by tests/structural_tag/arguments/test_xml.py and test_xml_names.py.
"""

from __future__ import annotations

from typing import Any, Final

from maskwright.emptiness import admits_nothing
from maskwright.errors import LimitError, MaskwrightError, UnsatisfiableError
from maskwright.frontends.charset import CodePointSet, utf8
from maskwright.frontends.json_schema import (
    DEFAULTS,
    Finding,
    JsonSchemaOptions,
    normalised,
    schema_to_ir,
    why_unsatisfiable,
)
from maskwright.frontends.json_schema.emit.emitter import Emitter
from maskwright.frontends.json_schema.emit.layout import Layout, layout_of
from maskwright.frontends.json_schema.emit.name_patterns import OverlapError, matching_names, sets_of_patterns
from maskwright.frontends.json_schema.emit.objects import conj_of_extras
from maskwright.frontends.json_schema.normalise.normaliser import Normaliser
from maskwright.frontends.json_schema.read.documents import read_schema
from maskwright.frontends.json_schema.read.guidance import layout_options
from maskwright.frontends.json_schema.read.places import ANYTHING, Conj, Node, Path, Refusal, Resource
from maskwright.frontends.json_schema.sets.formats import format_text
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
from maskwright.frontends.json_schema.sets.strings import admits_string, pattern_text
from maskwright.frontends.regex import regex_to_expr
from maskwright.frontends.selections import ordered, permutation
from maskwright.frontends.texts import ANY_LENGTH, ANY_TEXT, text_of_length
from maskwright.ir import (
    EMPTY,
    OP_LITERAL,
    OP_NEVER,
    UNBOUNDED,
    Expr,
    GrammarIR,
    alt,
    and_,
    bytes_in,
    capture,
    never,
    not_,
    optional,
    repeat,
    seq,
    star,
    text,
)
from maskwright.structural_tag.arguments.free_names import Spelling, any_name, matching_pattern, names_of, spelling_of
from maskwright.structural_tag.formats.xml_styles import HOLES, Kind, SpelledStyle
from maskwright.structural_tag.texts.ends import Ends
from maskwright.structural_tag.texts.tokens import Pieces, joined, spelled

_MASKS: Final = {
    "string": STRING,
    "number": NUMBER,
    "boolean": TRUE | FALSE,
    "null": NULL,
    "object": OBJECT,
    "array": ARRAY,
}
_BOOLEANS: Final = ((TRUE, "true", "True"), (FALSE, "false", "False"))
_NOWHERE: Final = Resource("", True)
_ONLY: Final[dict[tuple[tuple[str, ...], bool], Node]] = {}  # schemas that admit certain types only, known by identity
_NEWLINE: Final = text("\n")
_INK: Final = utf8(~CodePointSet.from_ranges([(ord("\n"), ord("\n"))]))
_SPACE: Final = star(bytes_in(b" \t\n\r"))
_BOOLEAN: Final = alt(text("true"), text("false"))
_ANY_BOOLEAN: Final = alt(_BOOLEAN, text("True"), text("False"))
_ANY_NULL: Final = alt(text("null"), text("None"))
_INTEGER: Final = regex_to_expr("-?(?:0|[1-9][0-9]*)")
_NUMBER: Final = regex_to_expr(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_BARE: Final = optional(alt(_INK, seq(_INK, ANY_TEXT, _INK)))  # texts without a newline at either end


def xml_to_ir(
    schema: Any,
    style: SpelledStyle,
    options: JsonSchemaOptions,
    excluded: tuple[bytes, ...],
    report: list[Finding],
    *,
    capture_members: bool = False,
) -> GrammarIR:
    """Return the grammar of the spellings of a schema's objects.

    With `capture_members`, names of members are captures, `name` or, with escapes, `attribute`; and so are values:
    `string` without quotes; `padded`, a string with a newline in front that may be there and does not count; `value` in
    JSON; `true` and `false` in any spelling; `object` and `array`, member by member and item by item.

    Raises:
        SchemaError: As `schema_to_ir`; also where the style cannot spell what the schema asks for.
        UnsatisfiableError: It is plain that no object is valid.
    """
    schema = read_schema(schema)
    options = layout_options(schema, options, report)
    writer_of = Writer
    if style.is_python:
        from maskwright.structural_tag.arguments.python_calls import PythonWriter

        writer_of = PythonWriter

    def written(norm: Normaliser) -> GrammarIR:
        emitter = Emitter(norm, layout_of(options))
        writer = writer_of(emitter, style, excluded, capture_members)
        node = norm.document.node
        root = writer.members(writer.of_types((node,), ("object",)), node.path)
        writer.finish()
        if root[0] == OP_NEVER:
            raise no_object(schema, options)
        return emitter.builder.build(emitter.builder.add("arguments", root))

    return normalised(schema, options, report, written)


def no_object(schema: Any, options: JsonSchemaOptions) -> UnsatisfiableError:
    """The error for a schema of which no object can be spelled; if it has no values at all, it names the keywords."""
    try:
        if admits_nothing(schema_to_ir(schema, options)):
            return why_unsatisfiable(schema, options)
    except UnsatisfiableError as error:
        return error
    except MaskwrightError:
        pass
    return UnsatisfiableError(
        "no object that is valid against this schema can be written in this style",
        hint="change the schema or the style",
    )


class Writer:
    """Writes objects in one style. Another kind of style overrides the methods that are not private."""

    def __init__(
        self, emitter: Emitter, style: SpelledStyle, excluded: tuple[bytes, ...], capture_members: bool
    ) -> None:
        self.emitter, self.style, self.excluded, self._captures = emitter, style, excluded, capture_members
        self.separator = text(style.separator)
        self.ws = EMPTY if style.separator else _between(emitter.layout)
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
        return self._counted(shape, members, seq(extra, self.ws))

    def _counted(self, shape: ObjectShape, members: list[tuple[Expr, bool]], extra: Expr) -> Expr:
        """The members in the order that is asked for, as many as `minProperties` and `maxProperties` say."""
        num_required, closed = sum(required for _, required in members), extra[0] == OP_NEVER
        least, most = shape.min_properties, UNBOUNDED if shape.max_properties is None else shape.max_properties
        if closed and least > len(members):
            return never()
        if not closed and least > num_required + 1:
            # Members that are not declared might all have one name, and then they are one member.
            self._refuse(
                "minProperties", shape.min_path, "this style cannot count undeclared properties, whose names may repeat"
            )
            least = 0
        in_any_order = self.emitter.layout.options.any_order and len(members) + (not closed) > 1
        is_free = least <= num_required and (most == UNBOUNDED or (closed and len(members) <= most))
        if is_free and not in_any_order:
            return self._listed(members, extra)
        try:
            return (permutation if in_any_order else ordered)(
                self.emitter.builder,
                "members",
                [self.emitter.as_rule("member", member) for member, _ in members],
                required=[i for i, (_, required) in enumerate(members) if required],
                separator=self.separator,
                extra=extra if closed else self.emitter.as_rule("member", extra),
                minimum=least,
                maximum=most,
            )
        except LimitError as error:
            if not is_free:
                keyword = "minProperties" if shape.max_path is None else "maxProperties"
                self._refuse(keyword, shape.max_path or shape.min_path, error.message)
            return self._listed(members, extra)

    def _listed(self, members: list[tuple[Expr, bool]], extra: Expr) -> Expr:
        """The members in their order, each with whether it must be there, then any number of extra ones.

        Where the style sorts, extra ones stand anywhere, as only their names say where.
        """
        if self.style.sorts and extra[0] != OP_NEVER:
            return self._listed_among(members, extra)
        if not self.style.separator:
            parts = [member if required else optional(member) for member, required in members]
            return seq(*parts, star(extra))
        more = star(seq(self.separator, extra))  # where something stands before
        listed = optional(seq(extra, more))
        for member, required in reversed(members):
            more = self.emitter.as_rule("members", more)
            listed = seq(member, more) if required else alt(seq(member, more), listed)
            more = seq(self.separator, member, more) if required else alt(seq(self.separator, member, more), more)
        return listed

    def _listed_among(self, members: list[tuple[Expr, bool]], extra: Expr) -> Expr:
        builder = self.emitter.builder
        rest, may_end = builder.declare("members"), True
        builder.define(rest, optional(seq(self.separator, extra, rest)))
        choice = seq(extra, rest)
        for member, required in reversed(members):
            later, may_end = rest, may_end and not required
            rest = builder.declare("members")
            skipped = never() if required else choice
            choice = builder.add("member", alt(seq(member, later), seq(extra, rest), skipped))
            more = seq(self.separator, choice)
            builder.define(rest, optional(more) if may_end else more)
        return optional(choice) if may_end else choice

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
            if "{name}" in self.style.close and not self._may_end_with_any_name(shape, declared, patterns, conj):
                return never()
            name = self._free_name(shape, declared, patterns, matched)
            members.append(self._element(self.opening, name, conj, self._below("additionalProperties")))
        return alt(*members)

    def _may_end_with_any_name(
        self, shape: ObjectShape, declared: dict[str, Conj], patterns: dict[str, Path], conj: Conj
    ) -> bool:
        """Whether the caller lets members end with any name: a grammar cannot remember how they began."""
        if patterns:
            self._refuse(
                "patternProperties", next(iter(patterns.values())), "this style supports declared properties only"
            )
            return False
        if declared or not (conj or shape is FREE_OBJECTS[0]):
            return False
        reason = "an element ends with its name in this style, so only declared properties are supported"
        self._refuse("additionalProperties", self._path, reason)
        return True

    def _free_name(
        self, shape: ObjectShape, declared: dict[str, Conj], patterns: dict[str, Path], matched: frozenset[str]
    ) -> Expr:
        """The name of a member that is not declared, and which just these patterns match."""
        spell = self.name_spelling
        parts = matching_names(patterns, matched, lambda pattern, path: matching_pattern(pattern, path, spell))
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

    def _element(self, open_: Pieces, name: Expr, conj: Conj, path: Path) -> Expr:
        """`open value close` for the values that satisfy `conj`, the schema at `path`."""
        mask = self.emitter.norm.shape_of(conj).mask
        branches = []
        for kind in self.style.kinds:
            if not any(mask & _MASKS[each] for each in kind.types):
                continue
            value = self._value(kind, name, conj, mask, path)
            if value[0] != OP_NEVER:
                branches.append(seq(self._filled(open_, self.captured_name(name), kind), value))
            if kind.spelling == "raw" and not kind.label and self._is_free(conj):
                # Text without quotes covers all other values but those that it leaves out.
                types = [name for name, (bits, _) in self._other_readings(conj).items() if mask & bits]
                types += [each for each in self._as_elements if mask & _MASKS[each]]
                conj, mask = (*conj, _only(tuple(types))), sum(_MASKS[name] for name in types) & mask
        return alt(*branches)

    @property
    def _as_elements(self) -> tuple[str, ...]:
        """The types that are written as elements beside text without quotes, which covers what is left out."""
        if not any(kind.spelling == "items" for kind in self.style.kinds):
            return ()
        # An object without declared members can be written only if its names need not be held to anything.
        return ("array", "object") if self.emitter.norm.options.on_unsupported == "relax" else ("array",)

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

    def _filled(self, template: Pieces, name: Expr, kind: Kind) -> Expr:
        holes = dict(zip(HOLES, (name, text(kind.label), self.ws), strict=True))
        return seq(*[holes[p] if isinstance(p, str) and p in holes else spelled((p,)) for p in template])

    def _value(self, kind: Kind, name: Expr, conj: Conj, mask: int, path: Path) -> Expr:
        strings = self.emitter.norm.shape_of(conj).strings
        if kind.spelling == "raw":
            other = never() if kind.label else self._no_string(conj, mask)
            close, rest = self._closing_pieces(name)
            return alt(*[seq(self._string(part, close, other), rest) for part in strings])
        if kind.spelling == "quoted":
            quoted = [self._string(part, self.style.quote, never()) for part in strings]
            return seq(spelled(self.style.quote), alt(*quoted))
        close = self._filled(self.style.close, name, kind)
        if kind.spelling == "boolean":
            return seq(self.ws, alt(*[self._boolean(each) for each in _BOOLEANS if mask & each[0]]), self.ws, close)
        if kind.spelling == "null":
            return seq(self.ws, self.captured("null", _ANY_NULL), self.ws, close)
        if kind.spelling not in ("json", "members", "items"):
            return self.scalar(kind, strings, mask)
        restricted = self.of_types(conj, kind.types)
        if kind.spelling == "json":
            inner = self.emitter.root(restricted)
            inner = self.captured("value", inner)
            return seq(self.ws, inner, self.ws, close) if inner[0] != OP_NEVER else inner
        name_of = {"members": "object", "items": "array"}[kind.spelling]
        return self.captured(name_of, seq(self._rule(restricted, kind.spelling, path), close))

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

    def _string(self, shape: StringShape, close: Pieces, other: Expr) -> Expr:
        """The strings of a shape but some others, and what closes them."""
        if shape.values is not None:
            values = [self._constant(value, close) for value in shape.values if admits_string(shape, value)]
            return alt(*values) if values else never()
        body, length = _body(shape), (shape.min_length, shape.max_length)
        is_any = body is ANY_TEXT and length == ANY_LENGTH
        body = body if other[0] == OP_NEVER else and_(body, not_(other))
        ends = Ends.of([close])
        if not self.style.padded:
            return self.captured("string", ends.closing(self.excluded, body, length=length), close)
        newline_close = (f"\n{close[0]}",)
        if is_any:
            return self.captured("padded", ends.closing(self.excluded, body), close, newline_close)
        # A reader takes off one newline at each end, so without padding the string itself has none there.
        bare = _BARE if body is ANY_TEXT else and_(body, _BARE)
        padded = Ends.of([newline_close]).closing((*ends.encoded, *self.excluded), body, length=length)
        return alt(
            seq(_NEWLINE, self.captured("string", padded, newline_close)),
            self.captured("string", ends.closing(self.excluded, bare, length=length), close),
        )

    def _closing_pieces(self, name: Expr) -> tuple[Pieces, Expr]:
        """What ends a text without quotes, and what follows that where the name could be any."""
        close = self.style.close
        if "{name}" not in close:
            return close, EMPTY
        at = close.index("{name}")
        if name[0] != OP_LITERAL:
            return close[:at], seq(name, spelled(close[at + 1 :]))
        return joined([name[1].decode() if piece == "{name}" else piece for piece in close]), EMPTY

    def _constant(self, value: str, close: Pieces) -> Expr:
        closing = close[0] if len(close) == 1 and isinstance(close[0], str) else None  # a token is in no string
        if (closing is not None and closing in value) or any(x.decode() in value for x in self.excluded):
            return never()
        end = spelled(close)
        if self.style.padded:
            padded = self.captured("string", seq(text(value), _NEWLINE, end), (f"\n{close[0]}",))
            is_bare = value[:1] != "\n" and value[-1:] != "\n"
            bare = self.captured("string", seq(text(value), end), close) if is_bare else never()
            return alt(seq(_NEWLINE, padded), bare)
        return self.captured("string", seq(text(value), end), close)


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


def text_of_shape(shape: StringShape) -> Expr:
    """The strings of a shape as they are, without quotes and escapes."""
    if shape.values is not None:
        return alt(*[text(value) for value in shape.values if admits_string(shape, value)])
    if (shape.min_length, shape.max_length) == ANY_LENGTH:
        return _body(shape)
    return text_of_length(shape.min_length, shape.max_length, _body(shape))


def _body(shape: StringShape) -> Expr:
    """The same of any length, for a shape that does not list them."""
    parts = [pattern_text(pattern, path, in_json=False) for pattern, path in shape.patterns]
    parts += [format_text(name, utf8) for name in shape.formats]
    parts += [not_(text_of_shape(each)) for each in shape.excluded]
    if shape.excluded or not parts:
        parts.append(ANY_TEXT)
    return and_(*parts)
