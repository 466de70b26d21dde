"""`StructuralTag`: the description of a whole output, and its forms in JSON.

    StructuralTag.from_json('{"type": "structural_tag", "format": {"type": "any_text"}}')

The older form, `{"structures": [{"begin", "schema", "end"}], "triggers": […]}`, is read as well.
Tested by tests/structural_tag/formats/test_formats.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import InvalidOperation
from difflib import get_close_matches
from typing import Any, ClassVar, Final

from maskwright.errors import LimitError, StructuralTagError
from maskwright.frontends.json_schema.read.documents import what_else
from maskwright.frontends.json_schema.sets.decimals import as_written
from maskwright.structural_tag.formats.base import TYPES, Format, altered
from maskwright.structural_tag.formats.classes import JSONSchemaFormat, TagFormat, TriggeredTagsFormat
from maskwright.structural_tag.formats.fields import filled, kind_of, schema, several, string, wrong
from maskwright.structural_tag.formats.reading import TYPES_OF_VALUES, read_format
from maskwright.support.arguments import text_hint
from maskwright.support.entrances import A_DICT_OR_TEXT, OF_A_LIST, USE_SCHEMA, USE_TOOLS
from maskwright.support.untracked import acyclic

_ANY_VALUE: Final = JSONSchemaFormat(True)
_OF_A_SCHEMA: Final = (
    f"for a JSON Schema, {USE_SCHEMA}; as a part of a tag, it is written "
    '{"type": "structural_tag", "format": {"type": "json_schema", "json_schema": …}}'
)
_KEYWORDS: Final = ("$schema", "$ref", "$defs", "properties", "anyOf", "oneOf", "allOf", "enum", "const", "items")


@dataclass(frozen=True)
class StructuralTag:
    """A whole output: `{"type": "structural_tag", "format": …}`.

    >>> from maskwright.structural_tag import RegexFormat
    >>> tag = StructuralTag(format=RegexFormat(pattern="[0-9]+"))
    >>> tag == StructuralTag.from_json(tag.to_json())
    True
    """

    type: ClassVar[str] = "structural_tag"
    format: Format

    def __post_init__(self) -> None:
        object.__setattr__(self, "format", read_format(self.format, "/format"))

    @classmethod
    def from_json(cls, data: str | bytes | Mapping[str, Any]) -> StructuralTag:
        """Read JSON text or data, also in the older form with `structures` and `triggers`.

        Raises:
            StructuralTagError: It is not a valid structural tag; `pointer` says where.
            LimitError: It is nested too deeply.
        """
        if isinstance(data, (str, bytes, bytearray)):
            data = parsed(data)
        if not isinstance(data, Mapping):
            hint = OF_A_LIST if isinstance(data, (list, tuple)) else text_hint(data)
            if isinstance(data, Format):
                hint = "wrap the format: StructuralTag(format=…)"
            raise StructuralTagError(f"a structural tag must be an object, not {kind_of(data)}", hint=hint)
        if data.get("type", "structural_tag") != "structural_tag":
            raise StructuralTagError(
                f"expected the type 'structural_tag', found {str(data['type'])[:60]!r}",
                pointer="/type",
                hint=_way_out(data["type"]),
            )
        fields = ("structures", "triggers") if "structures" in data and "format" not in data else ("format",)
        for name, value in data.items():
            if name not in ("type", *fields) and value is not None:
                raise StructuralTagError(
                    f"unknown field {str(name)[:60]!r}", pointer=f"/{name}", hint=_field_hint(name, fields)
                )
        if "structures" in fields:
            return cls(format=_legacy(data))
        if "format" not in data:
            raise StructuralTagError("a structural tag requires the field 'format'", hint="add 'format'")
        return cls(format=read_format(data["format"], "/format"))

    def to_dict(self, *, captures: bool = True) -> dict[str, Any]:
        """Return the tag as JSON data; `captures=False` omits the `capture` fields, which other engines do not know."""
        return {"type": self.type, "format": self.format.to_dict(captures=captures)}

    def to_json(self, *, captures: bool = True) -> str:
        """Return the tag as JSON text; `captures=False` omits the `capture` fields, which other engines do not know.

        Raises:
            StructuralTagError: A schema holds what JSON text cannot be written from, such as a Decimal.
        """
        try:
            return json.dumps(self.to_dict(captures=captures), ensure_ascii=False)
        except TypeError as error:
            hint = "use str, int, float, bool, None, lists and dicts; floats hold 15 digits"
            raise StructuralTagError(f"the tag cannot be written as JSON: {error}", hint=hint) from error


acyclic(StructuralTag)


def _way_out(kind: Any) -> str:
    """What to do with an object of another type."""
    if isinstance(kind, (list, tuple)) or (isinstance(kind, str) and kind in TYPES_OF_VALUES):
        return _OF_A_SCHEMA
    if kind == "function":
        return f"this is a tool: {USE_TOOLS}"
    written = '{"type": "structural_tag", "format": …}'
    is_format = isinstance(kind, str) and kind in TYPES
    return f"wrap the format: {written}" if is_format else f"write {written}"


def _field_hint(name: Any, fields: Sequence[str]) -> str:
    near = get_close_matches(str(name)[:60], fields, 1)
    if name in _KEYWORDS:
        return _OF_A_SCHEMA
    return f"did you mean {near[0]!r}?" if near else f"the fields are: type, {', '.join(fields)}"


def parsed(text: str | bytes | bytearray) -> Any:
    """Return the data of a JSON text, its numbers exact.

    Raises:
        StructuralTagError: It is not valid JSON.
        LimitError: It is nested too deeply, or a number has too large an exponent.
    """
    if isinstance(text, str):
        text = text.removeprefix("\ufeff")  # with which some editors begin files
    try:
        return json.loads(text, parse_float=as_written, parse_constant=as_written)
    except RecursionError as error:
        hint = "nest fewer objects and arrays in each other"
        raise LimitError("the JSON text is nested too deeply", limit="recursion", hint=hint) from error
    except InvalidOperation as error:
        hint = "use a number with a smaller exponent"
        raise LimitError("a number has too large an exponent", limit="MAX_DIGITS", hint=hint) from error
    except ValueError as error:
        known = what_else(text, error.pos) if isinstance(error, json.JSONDecodeError) else None
        hint = known or A_DICT_OR_TEXT
        raise StructuralTagError(f"the text is not valid JSON: {error}", hint=hint) from error


def _legacy(data: Mapping[str, Any]) -> Format:
    """`{"structures": [{"begin", "schema", "end"}], "triggers"}`: triggered tags with JSON inside."""
    structures, tags = data["structures"], []
    if not isinstance(structures, (list, tuple)):
        raise wrong("an array", structures, "/structures")
    for i, each in enumerate(structures):
        pointer = f"/structures/{i}"
        if not isinstance(each, Mapping) or not {"begin", "end"} <= each.keys():
            raise StructuralTagError("a structure requires begin, schema and end", pointer=pointer)
        inner = each.get("schema", each.get("schema_", True))
        inner = parsed(inner) if isinstance(inner, str) else {} if inner is None else inner
        content = altered(_ANY_VALUE, json_schema=schema(inner, f"{pointer}/schema"), origin=f"{pointer}/schema")
        begin, end = string(each["begin"], f"{pointer}/begin"), string(each["end"], f"{pointer}/end")
        tags.append(TagFormat(begin, content, end))
    return TriggeredTagsFormat(several(filled, at_least=1)(data.get("triggers", ()), "/triggers"), tuple(tags))
