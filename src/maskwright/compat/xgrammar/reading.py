"""Schemas and structural tags as XGrammar reads them, in the words of Maskwright.

    >>> as_xgrammar_reads({"type": "array", "items": {"type": "object"}})
    {'type': 'array', 'items': {'type': 'object', 'additionalProperties': True}}

With `strict_mode`, both forbid undeclared members, but of an object about which a schema says nothing at all, XGrammar
admits every member and Maskwright none; so such objects are opened here. In regular expressions, digits, word
characters and white space are those of ASCII. White space in JSON is free, and integers have digits alone, of any
length.
Invariant: what the caller passed is not changed. Tested by tests/compat/test_xgrammar_reading.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import InvalidOperation
from typing import Any, Final

from maskwright.errors import LimitError, SchemaError
from maskwright.frontends.json_schema import JsonSchemaKeywords
from maskwright.frontends.json_schema.read.keyword_table import KEYWORDS, holding
from maskwright.frontends.json_schema.sets.decimals import as_written
from maskwright.inputs.schema_inputs import schema_of
from maskwright.structural_tag.formats.tag import parsed

ANY_WHITESPACE: Final = r"[ \n\r\t]*"
REGEX_FLAGS: Final = "a"  # digits, word characters and white space are those of ASCII
TAG_OPTIONS: Final[JsonSchemaKeywords] = {
    "strict_mode": True,
    "whitespace_pattern": ANY_WHITESPACE,
    "numbers": "digits",
}

_IN_TAGS: Final = ("format", "content", "elements", "tags", "rules")
_IN_PLACE: Final = frozenset(name for name, row in KEYWORDS.items() if row.in_place)
_IN_SCHEMAS: Final = holding("one", "list", "list or one") - _IN_PLACE
_SAME_INSTANCE: Final = holding("one", "list") & _IN_PLACE
_BY_NAME: Final = holding("by name") - _IN_PLACE
_SAY_MEMBERS: Final = frozenset(
    (
        *("additionalProperties", "patternProperties", "properties", "required", "unevaluatedProperties"),
        *("dependencies", "dependentRequired", "dependentSchemas"),
    )
)
_SAY_MORE: Final = _SAY_MEMBERS | _IN_PLACE


def schema_options(
    any_whitespace: bool,
    indent: int | None,
    separators: tuple[str, str] | None,
    strict_mode: bool,
    max_whitespace_cnt: int | None,
    any_order: bool,
) -> JsonSchemaKeywords:
    """Return XGrammar's arguments as options of Maskwright."""
    options: JsonSchemaKeywords = {"strict_mode": strict_mode, "any_order": any_order, "numbers": "digits"}
    if not any_whitespace:
        options["any_whitespace"] = False
        options["indent"] = indent
        options["separators"] = separators
    elif max_whitespace_cnt is None:
        options["whitespace_pattern"] = ANY_WHITESPACE
    else:
        options["max_whitespace_cnt"] = max_whitespace_cnt
    return options


def schema_text(schema: Any) -> str:
    """Return a schema as JSON.

    Raises:
        SchemaError: It has no schema, or holds something that JSON does not have.
        LimitError: It is nested too deeply.
    """
    if isinstance(schema, str):
        return schema
    try:
        return json.dumps(schema_of(schema))
    except RecursionError as error:
        hint = "nest fewer objects and arrays in each other"
        raise LimitError("the schema is nested too deeply", limit="recursion", hint=hint) from error
    except TypeError as error:
        raise SchemaError(f"the schema cannot be written as JSON: {error}") from error


def schema_data(schema: Any, strict_mode: bool) -> Any:
    """Return a schema as data, numbers exact; or as the text that it was given as, if that is not JSON.

    Raises:
        LimitError: It is nested too deeply.
    """
    data = schema_of(schema)
    if isinstance(data, str | bytes):
        try:
            data = json.loads(data, parse_float=as_written, parse_constant=as_written)
        except RecursionError as error:
            hint = "nest fewer objects and arrays in each other"
            raise LimitError("the schema is nested too deeply", limit="recursion", hint=hint) from error
        except (ValueError, InvalidOperation):
            return data  # the front-end says what is wrong with it
    return as_xgrammar_reads(data) if strict_mode else data


def as_xgrammar_reads(schema: Any) -> Any:
    """Return a schema with the objects open about which it says nothing."""
    whole = [schema]
    pending: list[tuple[Any, Any]] = [(whole, 0)]
    while pending:
        holder, key = pending.pop()
        node = holder[key]
        if isinstance(node, list):
            node = list(node)
            pending += [(node, index) for index in range(len(node))]
        elif isinstance(node, dict):
            node = {**node, "additionalProperties": True} if _says_nothing(node) else dict(node)
            pending += _parts(node)
        holder[key] = node
    return whole[0]


def _says_nothing(schema: dict[str, Any]) -> bool:
    kind = schema.get("type")
    is_object = kind == "object" or (isinstance(kind, list) and "object" in kind)
    return is_object and _SAY_MORE.isdisjoint(schema)


def _parts(schema: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Where the schemas in a schema stand. Copies what holds them."""
    says_members = not _SAY_MEMBERS.isdisjoint(schema)
    for name in schema:
        if name in _IN_SCHEMAS or (name in _SAME_INSTANCE and not says_members):
            yield schema, name
        elif name in _BY_NAME and isinstance(schema[name], dict):
            schema[name] = dict(schema[name])
            for each in schema[name]:
                yield schema[name], each


def tag_data(tag: str | Mapping[str, Any]) -> Any:
    """Return a structural tag's data with its regular expressions and schemas as XGrammar reads them.

    Raises:
        StructuralTagError: The text is not JSON.
        LimitError: It is nested too deeply.
    """
    data = parsed(tag) if isinstance(tag, str) else tag
    whole = [data]
    pending: list[tuple[Any, Any]] = [(whole, 0)]
    while pending:
        holder, key = pending.pop()
        node = holder[key]
        if isinstance(node, list | tuple):
            node = list(node)
            pending += [(node, index) for index in range(len(node))]
        elif isinstance(node, Mapping):
            node = dict(node)
            if node.get("type") == "regex" and isinstance(node.get("pattern"), str):
                node["pattern"] = f"(?{REGEX_FLAGS}:{node['pattern']})"
            if "json_schema" in node and node.get("strict_mode") is not False:
                node["json_schema"] = as_xgrammar_reads(node["json_schema"])
            pending += [(node, name) for name in _IN_TAGS if name in node]
        holder[key] = node
    return whole[0]
