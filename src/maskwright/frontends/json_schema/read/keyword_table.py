"""The keywords of JSON Schema, one row each: what they are for, what they hold, and since when.

    KEYWORDS["dependentSchemas"]     Keyword("applicator", "by name", since=2019, in_place=True)

Whatever asks which keywords there are asks here, directly or by one of the sets below; what each one asserts is in
normalise/keywords.py. Keywords of earlier drafts that were dropped (`definitions`, `dependencies`) are in the table, as
they are understood in all of them.

Sources: JSON Schema drafts 4, 6, 7, 2019-09 and 2020-12, core and validation.
Tested by tests/frontends/json_schema/read/test_keyword_table.py.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple


class Keyword(NamedTuple):
    """What a keyword is.

    Attributes:
        vocabulary: The one that it is in, or what took its place; "" for `dependencies`, for which two keywords came.
        holds: Which schemas are in it, if any.
        since: The draft that brought it, if that was later than draft 3.
        in_place: Whether what it holds or leads to applies to the same instance.
        read_by: The keyword next to it without which it says nothing, if there is one.
    """

    vocabulary: Literal["", "core", "applicator", "validation", "unevaluated", "format", "meta-data", "content"]
    holds: Literal["", "one", "list", "list or one", "by name"] = ""
    since: int = 3
    in_place: bool = False
    read_by: str | None = None


KEYWORDS: Final[dict[str, Keyword]] = {
    "$schema": Keyword("core"),
    "$id": Keyword("core", since=6),
    "id": Keyword("core"),
    "$vocabulary": Keyword("core", since=2019),
    "$anchor": Keyword("core", since=2019),
    "$dynamicAnchor": Keyword("core", since=2020),
    "$recursiveAnchor": Keyword("core", since=2019),
    "$defs": Keyword("core", "by name", since=2019),
    "definitions": Keyword("core", "by name"),
    "$ref": Keyword("core", in_place=True),
    "$dynamicRef": Keyword("core", since=2020, in_place=True),
    "$recursiveRef": Keyword("core", since=2019, in_place=True),
    "type": Keyword("validation"),
    "enum": Keyword("validation"),
    "const": Keyword("validation", since=6),
    "minimum": Keyword("validation"),
    "exclusiveMinimum": Keyword("validation"),
    "maximum": Keyword("validation"),
    "exclusiveMaximum": Keyword("validation"),
    "multipleOf": Keyword("validation"),
    "minLength": Keyword("validation"),
    "maxLength": Keyword("validation"),
    "pattern": Keyword("validation"),
    "format": Keyword("format"),
    "items": Keyword("applicator", "list or one"),
    "prefixItems": Keyword("applicator", "list", since=2020),
    "additionalItems": Keyword("applicator", "one", read_by="items"),
    "minItems": Keyword("validation"),
    "maxItems": Keyword("validation"),
    "uniqueItems": Keyword("validation"),
    "contains": Keyword("applicator", "one", since=6),
    "minContains": Keyword("validation", since=2019, read_by="contains"),
    "maxContains": Keyword("validation", since=2019, read_by="contains"),
    "unevaluatedItems": Keyword("unevaluated", "one", since=2019),
    "properties": Keyword("applicator", "by name"),
    "required": Keyword("validation"),
    "additionalProperties": Keyword("applicator", "one"),
    "patternProperties": Keyword("applicator", "by name"),
    "propertyNames": Keyword("applicator", "one", since=6),
    "minProperties": Keyword("validation"),
    "maxProperties": Keyword("validation"),
    "dependentRequired": Keyword("validation", since=2019),
    "dependentSchemas": Keyword("applicator", "by name", since=2019, in_place=True),
    "dependencies": Keyword("", "by name", in_place=True),
    "unevaluatedProperties": Keyword("unevaluated", "one", since=2019),
    "allOf": Keyword("applicator", "list", in_place=True),
    "anyOf": Keyword("applicator", "list", in_place=True),
    "oneOf": Keyword("applicator", "list", in_place=True),
    "not": Keyword("applicator", "one", in_place=True),
    "if": Keyword("applicator", "one", since=7, in_place=True),
    "then": Keyword("applicator", "one", since=7, in_place=True, read_by="if"),
    "else": Keyword("applicator", "one", since=7, in_place=True, read_by="if"),
    "title": Keyword("meta-data"),
    "description": Keyword("meta-data"),
    "default": Keyword("meta-data"),
    "examples": Keyword("meta-data"),
    "deprecated": Keyword("meta-data"),
    "readOnly": Keyword("meta-data"),
    "writeOnly": Keyword("meta-data"),
    "$comment": Keyword("meta-data"),
    "contentEncoding": Keyword("content"),
    "contentMediaType": Keyword("content"),
    "contentSchema": Keyword("content", "one"),
}

ANNOTATIONS: Final = frozenset(name for name, row in KEYWORDS.items() if row.vocabulary in ("meta-data", "content"))
DEFINITIONS: Final = frozenset(("$defs", "definitions"))
IDENTIFIERS: Final = frozenset(
    name for name, row in KEYWORDS.items() if row.vocabulary == "core" and not row.in_place and not row.holds
)
ASSERTING: Final = KEYWORDS.keys() - ANNOTATIONS - DEFINITIONS - IDENTIFIERS
READ_BY: Final = {name: row.read_by for name, row in KEYWORDS.items() if row.read_by is not None}
IN_PLACE: Final = frozenset(name for name, row in KEYWORDS.items() if row.in_place and row.read_by is None)


def holding(*what: str) -> frozenset[str]:
    """Return the keywords that hold schemas in one of these ways."""
    return frozenset(name for name, row in KEYWORDS.items() if row.holds in what)
