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
        vocabulary: The one that it is in, or what took its place; "" for `dependencies`, for which two keywords came;
            "extension" if it is our own.
        holds: Which schemas are in it, if any.
        since: The draft that brought it, if that was later than draft 3.
        in_place: Whether what it holds or leads to applies to the same instance.
        read_by: The keyword next to it without which it says nothing, if there is one.
        about: The type of the values that it constrains, if it is one.
    """

    vocabulary: Literal[
        "", "core", "applicator", "validation", "unevaluated", "format", "meta-data", "content", "extension"
    ]
    holds: Literal["", "one", "list", "list or one", "by name"] = ""
    since: int = 3
    in_place: bool = False
    read_by: str | None = None
    about: Literal["", "number", "string", "array", "object"] = ""


KEYWORDS: Final[dict[str, Keyword]] = {
    **dict.fromkeys(("$schema", "id"), Keyword("core")),
    "$id": Keyword("core", since=6),
    **dict.fromkeys(("$vocabulary", "$anchor", "$recursiveAnchor"), Keyword("core", since=2019)),
    "$dynamicAnchor": Keyword("core", since=2020),
    "$defs": Keyword("core", "by name", since=2019),
    "definitions": Keyword("core", "by name"),
    "$ref": Keyword("core", in_place=True),
    "$dynamicRef": Keyword("core", since=2020, in_place=True),
    "$recursiveRef": Keyword("core", since=2019, in_place=True),
    # any type
    **dict.fromkeys(("type", "enum"), Keyword("validation")),
    "const": Keyword("validation", since=6),
    **dict.fromkeys(("allOf", "anyOf", "oneOf"), Keyword("applicator", "list", in_place=True)),
    "not": Keyword("applicator", "one", in_place=True),
    "if": Keyword("applicator", "one", since=7, in_place=True),
    **dict.fromkeys(("then", "else"), Keyword("applicator", "one", since=7, in_place=True, read_by="if")),
    # numbers and strings
    **dict.fromkeys(
        ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf"),
        Keyword("validation", about="number"),
    ),
    **dict.fromkeys(("minLength", "maxLength", "pattern"), Keyword("validation", about="string")),
    "format": Keyword("format"),
    "x-grammar": Keyword("extension", about="string"),
    # arrays
    "items": Keyword("applicator", "list or one", about="array"),
    "prefixItems": Keyword("applicator", "list", since=2020, about="array"),
    "additionalItems": Keyword("applicator", "one", read_by="items"),
    **dict.fromkeys(("minItems", "maxItems", "uniqueItems"), Keyword("validation", about="array")),
    "contains": Keyword("applicator", "one", since=6, about="array"),
    **dict.fromkeys(("minContains", "maxContains"), Keyword("validation", since=2019, read_by="contains")),
    "unevaluatedItems": Keyword("unevaluated", "one", since=2019, about="array"),
    # objects
    **dict.fromkeys(("properties", "patternProperties"), Keyword("applicator", "by name", about="object")),
    "additionalProperties": Keyword("applicator", "one", about="object"),
    "propertyNames": Keyword("applicator", "one", since=6, about="object"),
    **dict.fromkeys(("required", "minProperties", "maxProperties"), Keyword("validation", about="object")),
    "dependentRequired": Keyword("validation", since=2019, about="object"),
    "dependentSchemas": Keyword("applicator", "by name", since=2019, in_place=True, about="object"),
    "dependencies": Keyword("", "by name", in_place=True, about="object"),
    "unevaluatedProperties": Keyword("unevaluated", "one", since=2019, about="object"),
    # annotations
    **dict.fromkeys(("title", "description", "default", "examples", "$comment"), Keyword("meta-data")),
    **dict.fromkeys(("deprecated", "readOnly", "writeOnly"), Keyword("meta-data")),
    **dict.fromkeys(("contentEncoding", "contentMediaType"), Keyword("content")),
    "contentSchema": Keyword("content", "one"),
}

ANNOTATIONS: Final = frozenset(name for name, row in KEYWORDS.items() if row.vocabulary in ("meta-data", "content"))
DEFINITIONS: Final = frozenset(("$defs", "definitions"))
IDENTIFIERS: Final = frozenset(
    name for name, row in KEYWORDS.items() if row.vocabulary == "core" and not row.in_place and not row.holds
)
EXTENSIONS: Final = tuple(name for name, row in KEYWORDS.items() if row.vocabulary == "extension")
ASSERTING: Final = KEYWORDS.keys() - ANNOTATIONS - DEFINITIONS - IDENTIFIERS
READ_BY: Final = {name: row.read_by for name, row in KEYWORDS.items() if row.read_by is not None}
IN_PLACE: Final = frozenset(name for name, row in KEYWORDS.items() if row.in_place and row.read_by is None)


def holding(*what: str) -> frozenset[str]:
    """Return the keywords that hold schemas in one of these ways."""
    return frozenset(name for name, row in KEYWORDS.items() if row.holds in what)
