"""Keywords about types, finite sets, numbers and strings: see keywords.py.

Tested by tests/frontends/json_schema/normalise/test_schema_keywords.py.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, Final

from maskwright.frontends.grammar_readers import READERS
from maskwright.frontends.json_schema.normalise.constants import shape_of_values
from maskwright.frontends.json_schema.normalise.findings import schema_error, unknown_format
from maskwright.frontends.json_schema.normalise.schema_context import SchemaContext
from maskwright.frontends.json_schema.read.guidance import allowed_escapes
from maskwright.frontends.json_schema.read.pointers import described
from maskwright.frontends.json_schema.sets.decimals import exact
from maskwright.frontends.json_schema.sets.escaped_grammars import Spelling
from maskwright.frontends.json_schema.sets.formats import FORMATS, INTEGER_FORMATS, MAX_LENGTHS, limits_integers
from maskwright.frontends.json_schema.sets.shape import (
    ANY_KIND,
    ARRAY,
    FALSE,
    INTEGER,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    TRUE,
    WRITTEN_INTEGER,
    Exact,
    NumberShape,
)
from maskwright.frontends.json_schema.sets.text_grammars import KEYWORD as X_GRAMMAR
from maskwright.frontends.json_schema.sets.text_grammars import TextGrammar, check_grammar, remarks
from maskwright.frontends.json_schema.text.escapes import LETTERS
from maskwright.support.entrances import OR_OPENAI_SHAPES, USE_TAG, USE_TOOLS
from maskwright.support.near_names import nearest

_TYPES: Final = {
    "null": NULL,
    "boolean": FALSE | TRUE,
    "number": NUMBER,
    "integer": NUMBER,
    "string": STRING,
    "array": ARRAY,
    "object": OBJECT,
}
_GRAMMAR_PARTS: Final = ("syntax", "definition")
_GRAMMAR_HINT: Final = 'write {"syntax": "lark", "definition": "start: …"}'
_TYPE_NAMES: Final = "null, boolean, number, integer, string, array or object"
_ELSEWHERE: Final = {
    **dict.fromkeys(("str", "text", "date", "datetime", "uuid", "char", "bytes"), "string"),
    **dict.fromkeys(("int", "long", "int32", "int64"), "integer"),
    **dict.fromkeys(("float", "double", "decimal"), "number"),
    **dict.fromkeys(("dict", "map", "struct", "record"), "object"),
    **dict.fromkeys(("list", "tuple", "set"), "array"),
    **dict.fromkeys(("bool",), "boolean"),
    **dict.fromkeys(("none", "nil", "undefined"), "null"),
}


def _type_hint(name: Any) -> str | None:
    """What was meant by the name of a type that JSON Schema does not have."""
    if name is None:
        return 'write "null" in quotes'
    if isinstance(name, type):
        meant = _ELSEWHERE.get(name.__name__)
        return f'write "{meant}" in quotes' if meant else None
    if not isinstance(name, str):
        return None
    if name.lower() in ("any", "unknown", "mixed"):
        return "leave type out to admit values of any type"
    if name in ("json_schema", "json_object"):
        return f"this is a response format: pass the schema in it{OR_OPENAI_SHAPES}"
    if name == "function":
        return f"this is a tool: {USE_TOOLS}"
    if name == "structural_tag":
        return f"this is a structural tag: {USE_TAG}"
    near = get_close_matches(name.lower()[:40], _TYPES, 1)
    meant = _ELSEWHERE.get(name.lower()) or (near[0] if near else None)
    return None if meant is None else f"did you mean {meant!r}?"


def type_(context: SchemaContext, value: Any) -> None:
    if type(value) is str and value in _TYPES:
        if value == "integer":
            context.kind = _integers(context)
        context.mask &= _TYPES[value]
        return
    names = value if isinstance(value, list) else [value]
    mask = 0
    for name in names:
        bits = _TYPES.get(name) if isinstance(name, str) else None
        if bits is None:
            raise context.malformed("type", _TYPE_NAMES, name, _type_hint(name))
        mask |= bits
    if not names:
        raise context.malformed("type", "a type or a non-empty array of types", value)
    if mask & NUMBER:
        context.kind = ANY_KIND if "number" in names else _integers(context)
    context.mask &= mask


def _integers(context: SchemaContext) -> int:
    return INTEGER if context.norm.draft > 4 else WRITTEN_INTEGER


def enum(context: SchemaContext, value: Any) -> None:
    if not isinstance(value, list):
        raise context.malformed("enum", "an array", value)
    context.applied.append(shape_of_values(context, "enum", value))


def const(context: SchemaContext, value: Any) -> None:
    context.applied.append(shape_of_values(context, "const", [value]))


# Numbers


def _number_of(context: SchemaContext, keyword: str, value: Any) -> Exact:
    number = exact(value)
    if number is None:
        raise context.malformed(keyword, "a number", value)
    return number


def minimum(context: SchemaContext, value: Any) -> None:
    low = _number_of(context, "minimum", value)
    number = context.numbers()
    is_open = context.schema.get("exclusiveMinimum") is True
    if number.low is None or low > number.low or (low == number.low and is_open):
        number.low, number.low_open = low, is_open


def exclusiveMinimum(context: SchemaContext, value: Any) -> None:
    if isinstance(value, bool):
        return  # draft 4: it qualifies `minimum`
    low = _number_of(context, "exclusiveMinimum", value)
    number = context.numbers()
    if number.low is None or low >= number.low:
        number.low, number.low_open = low, True


def maximum(context: SchemaContext, value: Any) -> None:
    high = _number_of(context, "maximum", value)
    number = context.numbers()
    is_open = context.schema.get("exclusiveMaximum") is True
    if number.high is None or high < number.high or (high == number.high and is_open):
        number.high, number.high_open = high, is_open


def exclusiveMaximum(context: SchemaContext, value: Any) -> None:
    if isinstance(value, bool):
        return  # draft 4: it qualifies `maximum`
    high = _number_of(context, "exclusiveMaximum", value)
    number = context.numbers()
    if number.high is None or high <= number.high:
        number.high, number.high_open = high, True


def multipleOf(context: SchemaContext, value: Any) -> None:
    multiple = _number_of(context, "multipleOf", value)
    if multiple <= 0:
        raise context.malformed("multipleOf", "a number > 0", value)
    context.numbers().multiple_of += ((multiple, (context.node.path, "multipleOf")),)


# Strings


def count_of(context: SchemaContext, keyword: str, value: Any) -> int:
    number = exact(value)
    if number is None or number < 0 or number != int(number):
        raise context.malformed(keyword, "an integer >= 0", value)
    return int(number)


def minLength(context: SchemaContext, value: Any) -> None:
    count = count_of(context, "minLength", value)
    if count:
        string = context.strings()
        string.min_length = max(string.min_length, count)


def maxLength(context: SchemaContext, value: Any) -> None:
    count = count_of(context, "maxLength", value)
    string = context.strings()
    string.max_length = count if string.max_length is None else min(string.max_length, count)


def pattern(context: SchemaContext, value: Any) -> None:
    if not isinstance(value, str):
        raise context.malformed("pattern", "a string", value)
    path = (context.node.path, "pattern")
    context.norm.findings.note_pattern(value, path, "pattern")
    context.strings().patterns += ((value, path),)


def x_grammar(context: SchemaContext, value: Any) -> None:
    grammar = _grammar_of(context, value)
    reason = check_grammar(grammar)
    if reason is not None:
        return context.refuse(X_GRAMMAR, reason)
    context.strings().grammars += (grammar,)
    for remark in remarks(grammar):
        context.norm.findings.note_remark(remark, grammar.path, X_GRAMMAR)


def _grammar_of(context: SchemaContext, value: Any) -> TextGrammar:
    if not isinstance(value, dict):
        raise context.malformed(X_GRAMMAR, 'an object of the texts "syntax" and "definition"', value, _GRAMMAR_HINT)
    for name in value:
        if name not in _GRAMMAR_PARTS:
            near = nearest(name, _GRAMMAR_PARTS) if isinstance(name, str) else None
            hint = _GRAMMAR_HINT if near is None or near in value else f"did you mean {near!r}?"
            raise schema_error(context.node, X_GRAMMAR, f"{X_GRAMMAR} has no member {name!r:.60}", hint)
    for name in _GRAMMAR_PARTS:
        if name not in value:
            raise schema_error(context.node, X_GRAMMAR, f"{X_GRAMMAR} lacks {name!r}", _GRAMMAR_HINT)
        if not isinstance(value[name], str):
            what = f"{name!r} of {X_GRAMMAR} must be a string, not {described(value[name])}"
            raise schema_error(context.node, X_GRAMMAR, what, _GRAMMAR_HINT)
    syntax = value["syntax"]
    if syntax not in READERS:
        names, near = ", ".join(sorted(READERS)), nearest(syntax.lower(), READERS)
        hint = f"use one of {names}" if near is None else f"did you mean {near!r}?"
        raise context.malformed(X_GRAMMAR, f"in one of the syntaxes {names}", syntax, hint)
    letters = allowed_escapes(context.norm.document.root)
    spelling = Spelling(LETTERS if letters is None else letters, context.norm.options.ensure_ascii)
    return TextGrammar(syntax, value["definition"], spelling, (context.node.path, X_GRAMMAR))


def format_(context: SchemaContext, value: Any) -> None:
    if not isinstance(value, str):
        hint = f"if this is a structural tag, {USE_TAG}" if isinstance(value, dict) else None
        raise context.malformed("format", "a string", value, hint)
    if context.norm.options.formats == "annotate":
        context.annotate("format", 'formats are annotations: formats="annotate"')
    elif value in FORMATS:
        context.strings().formats += (value,)
        if value in MAX_LENGTHS:
            maxLength(context, MAX_LENGTHS[value])
    elif limits_integers(value, context.schema):
        _limit(context.numbers(), *INTEGER_FORMATS[value])
    else:
        context.norm.findings.note(unknown_format(value, (context.node.path, "format")))


def _limit(number: NumberShape, low: int, high: int) -> None:
    if number.low is None or low > number.low:
        number.low, number.low_open = low, False
    if number.high is None or high < number.high:
        number.high, number.high_open = high, False
