"""What `maskwright demo` shows: a structure, a prompt, and a parser that is not ours to judge the text.

JSON is judged by the standard library's parser, a regex by `re`, the query language by SQLite, each on the bare
output.

Invariants: nothing here knows what the model will say. Tested by tests/cli/test_demo.py.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from typing import Any, NamedTuple

from ..sources import Structure


class Verdict(NamedTuple):
    """Whether the parser took the text, and what it said."""

    ok: bool
    message: str


class Case(NamedTuple):
    """One structure to show."""

    title: str
    structure: Structure
    prompt: str
    judge: Callable[[str], Verdict]


USER_PROFILE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 3, "maxLength": 30},
        "age": {"type": "integer", "minimum": 18, "maximum": 99},
        "email": {"type": "string", "pattern": "^[a-z]+[.][a-z]+@[a-z.]+[.](com|org|net)$"},
        "role": {"enum": ["admin", "editor", "viewer"]},
        "languages": {"type": "array", "items": {"type": "string"}},
        "bio": {"type": "string", "minLength": 20},
        "newsletter": {"type": "boolean"},
    },
    "required": ["name", "age", "email", "role", "languages", "bio", "newsletter"],
    "additionalProperties": False,
}

ORDER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "order_id": {"type": "string", "pattern": "^ORD-[0-9]{5}$"},
        "customer": {"$ref": "#/$defs/customer"},
        "status": {"enum": ["pending", "paid", "shipped"]},
        "items": {
            "type": "array",
            "prefixItems": [{"$ref": "#/$defs/item"}],
            "minItems": 1,
            "items": {"$ref": "#/$defs/item"},
        },
        "total": {"type": "number"},
    },
    "required": ["order_id", "customer", "status", "items", "total"],
    "additionalProperties": False,
    "$defs": {
        "customer": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "city": {"type": "string"}},
            "required": ["name", "city"],
            "additionalProperties": False,
        },
        "item": {
            "type": "object",
            "properties": {
                "sku": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{4}$"},
                "description": {"type": "string"},
                "quantity": {"type": "integer", "minimum": 1, "maximum": 20},
                "unit_price": {"type": "number"},
            },
            "required": ["sku", "description", "quantity", "unit_price"],
            "additionalProperties": False,
        },
    },
}


def _call(tool: str, properties: dict[str, Any]) -> dict[str, Any]:
    arguments = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"tool": {"const": tool}, "arguments": arguments},
        "required": ["tool", "arguments"],
        "additionalProperties": False,
    }


TOOL_CALL: dict[str, Any] = {
    "anyOf": [
        _call("get_weather", {"city": {"type": "string"}, "unit": {"enum": ["celsius", "fahrenheit"]}}),
        _call(
            "create_event",
            {
                "title": {"type": "string"},
                "date": {"type": "string", "pattern": "^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])$"},
                "attendees": {"type": "array", "items": {"type": "string"}},
            },
        ),
    ]
}

LOG_LINE = (
    "20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]) ([01][0-9]|2[0-3])(:[0-5][0-9]){2} "
    r"(INFO|WARN|ERROR) \[(auth|billing|search)\] [a-z]+( [a-z]+){1,7} after [0-9]{1,3} ms"
)

QUERY = """\
root      ::= "SELECT " column (", " column)? " FROM users WHERE " condition order? ";"
condition ::= term ((" AND " | " OR ") term){0,2}
term      ::= "age " ("<" | ">=") " " [1-9] [0-9] | "city = '" [A-Z] [a-z]+ "'" | "name <> ''" | "(" condition ")"
order     ::= " ORDER BY " column
column    ::= "name" | "age" | "city"
"""


_TABLES = """\
CREATE TABLE users (name TEXT, age INTEGER, city TEXT);
CREATE TABLE orders (customer TEXT, total REAL, status TEXT);
CREATE TABLE products (title TEXT, price REAL, category TEXT);
"""


def judge_json(text: str) -> Verdict:
    """Ask `json.loads`."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return Verdict(False, f"json.loads: {error}")
    except RecursionError:
        return Verdict(False, "json.loads: nested too deeply")
    return Verdict(True, "json.loads: parsed")


def judge_log_line(text: str) -> Verdict:
    """Ask `re.fullmatch`."""
    matched = re.fullmatch(LOG_LINE, text) is not None
    return Verdict(matched, "re.fullmatch: matches" if matched else "re.fullmatch: no match")


def judge_query(text: str) -> Verdict:
    """Ask SQLite to run the query on empty tables."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(_TABLES)
        connection.execute(text)
    except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
        return Verdict(False, f"SQLite: {error}")
    finally:
        connection.close()
    return Verdict(True, "SQLite: runs")


def _json_case(title: str, schema: dict[str, Any]) -> Case:
    return Case(
        f"{title[0].upper()}{title[1:]}",
        Structure("JSON Schema", "json_schema", lambda compiler: compiler.compile_json_schema(schema)),
        f"Write {title} as JSON.\n",
        judge_json,
    )


CASES: tuple[Case, ...] = (
    _json_case("a user profile", USER_PROFILE),
    _json_case("an order", ORDER),
    _json_case("a tool call", TOOL_CALL),
    Case(
        "A log line",
        Structure("regex", "regex", lambda compiler: compiler.compile_regex(LOG_LINE)),
        "Log:\n",
        judge_log_line,
    ),
    Case(
        "A query",
        Structure("EBNF grammar", "ebnf", lambda compiler: compiler.compile_grammar(QUERY)),
        "Query:\n",
        judge_query,
    ),
)
