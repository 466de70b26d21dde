"""`x-guidance`: a layout that stands in the schema itself, as llguidance reads it.

    {"type": "object", "x-guidance": {"whitespace_flexible": false, "item_separator": ", "}}

    whitespace_pattern                  what may stand between two tokens, or nothing
    whitespace_flexible                 false, without a pattern: the separators and no other white space
    item_separator, key_separator       regular expressions; "," and ":" if they are not given
    lenient                             true: what cannot be enforced is left out, as with on_unsupported="relax"
    coerce_one_of                       true: so is "only one branch" of a oneOf, where it cannot be enforced
    json_allowed_escapes                the letters that may stand behind a backslash in strings (escapes.py)

It counts in the outermost schema object only, and then instead of the caller's options. White space
that is flexible may stand around separators, so what these hold themselves is left out then.
Source: llguidance 1.9, its documentation and what it accepts.
Tested by tests/frontends/json_schema/read/test_schema_guidance.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from maskwright.errors import OptionError, SchemaError, UnsupportedSchemaError
from maskwright.frontends.json_schema.options import Finding, JsonSchemaOptions
from maskwright.frontends.json_schema.text.escapes import LETTERS
from maskwright.frontends.json_schema.text.separators import separator

KEYWORD: Final = "x-guidance"
NOT_HERE: Final = "it counts in the outermost schema object only"
_SEPARATORS: Final = {"item_separator": ",", "key_separator": ":"}
_LAYOUT: Final = {**dict.fromkeys(_SEPARATORS, str), "whitespace_flexible": bool, "whitespace_pattern": str}
_ESCAPES: Final = "json_allowed_escapes"
_TYPES: Final = {**_LAYOUT, "lenient": bool, "coerce_one_of": bool, _ESCAPES: str}
_JSON_NAMES: Final = {str: "a string", bool: "true or false"}


def layout_options(schema: Any, options: JsonSchemaOptions, report: list[Finding] | None = None) -> JsonSchemaOptions:
    """Return the options with what the schema asks for: white space, and whether it is lenient.

    Args:
        schema: As `read_schema` returns it.
        options: What the caller chose.
        report: Receives a `Finding` for each part of `x-guidance` that does not count.

    Raises:
        SchemaError: `x-guidance` is malformed, or asks for what is not JSON.
    """
    if type(schema) is not dict or KEYWORD not in schema:
        return options
    asked = _checked(schema[KEYWORD])
    if report is not None:
        report += [
            Finding(f"/{KEYWORD}/{name}", str(name), "annotation", reason) for name, reason in not_read(asked).items()
        ]
    if asked.get("lenient") is True:
        options = replace(options, on_unsupported="relax")
    if asked.keys().isdisjoint(_LAYOUT):
        return options
    pattern = asked.get("whitespace_pattern")
    is_fixed = pattern is None and asked.get("whitespace_flexible") is False
    try:
        return replace(
            options,
            any_whitespace=not is_fixed,
            max_whitespace_cnt=None,
            indent=None,
            separators=(asked.get("item_separator", ","), asked.get("key_separator", ":")) if is_fixed else None,
            whitespace_pattern=None if pattern is None else f"{pattern}|",
        )
    except OptionError as error:
        raise _wrong(error.option, error.message, error.hint) from error


def coerces_one_of(schema: Any) -> bool:
    """Whether a schema asks for each `oneOf` to be read as `anyOf` where it cannot be enforced."""
    asked = schema.get(KEYWORD) if type(schema) is dict else None
    return isinstance(asked, dict) and asked.get("coerce_one_of") is True


def allowed_escapes(schema: Any) -> str | None:
    """Return the letters that a schema allows behind a backslash in strings; None if it does not say."""
    asked = schema.get(KEYWORD) if type(schema) is dict else None
    return asked.get(_ESCAPES) if isinstance(asked, dict) else None


def not_read(asked: Mapping[Any, Any]) -> dict[Any, str]:
    """Return the parts of `x-guidance` that do not count, and why."""
    reasons = dict.fromkeys(asked.keys() - _TYPES.keys(), "it is not supported")
    has_pattern = "whitespace_pattern" in asked
    if has_pattern and "whitespace_flexible" in asked:
        reasons["whitespace_flexible"] = "whitespace_pattern says which white space there is"
    if has_pattern or asked.get("whitespace_flexible", True):
        for name, usual in _SEPARATORS.items():
            if asked.get(name, usual) != usual:
                reasons[name] = "white space is flexible around separators, whatever they hold"
    return {name: reasons[name] for name in asked if name in reasons}


def _checked(asked: Any) -> dict[Any, Any]:
    if not isinstance(asked, dict):
        raise SchemaError("x-guidance must be an object", pointer=f"/{KEYWORD}", keyword=KEYWORD)
    for name, kind in _TYPES.items():
        if name in asked and not isinstance(asked[name], kind):
            raise _wrong(name, f"{name} must be {_JSON_NAMES[kind]}", None)
    other = next((letter for letter in asked.get(_ESCAPES, "") if letter not in LETTERS), None)
    if other is not None:
        raise _wrong(_ESCAPES, f"JSON has no escape \\{other}", f"use letters out of {LETTERS}")
    for name, usual in _SEPARATORS.items():
        _check_separator(name, asked.get(name, usual), usual)
    return asked


def _check_separator(name: str, given: str, usual: str) -> None:
    try:
        separator(given, usual, name)
    except OptionError as error:
        pointer = f"/{KEYWORD}/{name}"
        raise UnsupportedSchemaError(error.message, pointer=pointer, keyword=name, hint=error.hint) from error


def _wrong(name: str, message: str, hint: str | None) -> SchemaError:
    return SchemaError(message, pointer=f"/{KEYWORD}/{name}", keyword=name, hint=hint)
