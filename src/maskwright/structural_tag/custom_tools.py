"""Custom tools, which take one text instead of arguments: a call has it as the string `input`.

    {"type": "text"}                                                            any text
    {"type": "grammar", "syntax": "lark", "definition": "start: …"}             Responses
    {"type": "grammar", "grammar": {"syntax": "lark", "definition": "…"}}       Chat Completions

A grammar becomes the `x-grammar` of the string, with any of its syntaxes; OpenAI has "lark" and "regex".
Source: OpenAI's API reference, chat/create and responses/create.
Tested by tests/structural_tag/test_custom_tools.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from maskwright.errors import RequestError
from maskwright.frontends.grammar_readers import READERS
from maskwright.structural_tag.tool_types import lacks, named_part, wrong
from maskwright.support.near_names import nearest

INPUT: Final = "input"
_POINTER: Final = f"/properties/{INPUT}/x-grammar"


def schema_of_input(given: Any, pointer: str) -> tuple[dict[str, Any], str]:
    """Return the schema of the arguments of a custom tool with this `format`, and the pointer of what it comes from.

    Raises:
        RequestError: The format is malformed.
    """
    text: dict[str, Any] = {"type": "string"}
    grammar = grammar_of(given, pointer)
    if grammar is not None:
        text["x-grammar"] = {"syntax": grammar["syntax"], "definition": grammar["definition"]}
        pointer = f"{pointer}/grammar/definition" if "grammar" in given else f"{pointer}/definition"
    schema = {"type": "object", "properties": {INPUT: text}, "required": [INPUT], "additionalProperties": False}
    return schema, pointer


def grammar_of(given: Any, pointer: str) -> Mapping[str, Any] | None:
    """Return the object with the syntax and the definition in the `format` of a custom tool; None if any text will do.

    Raises:
        RequestError: The format is malformed.
    """
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise lacks("'type'", given, pointer)
    kind = given.get("type")
    if kind == "text":
        return None
    if kind != "grammar":
        raise wrong("'text' or 'grammar'", kind, f"{pointer}/type", 'write {"type": "grammar", …}')
    if isinstance(given.get("grammar"), str):
        hint = 'write {"type": "grammar", "syntax": "lark", "definition": …}'
        raise wrong("an object", given["grammar"], f"{pointer}/grammar", hint)
    grammar, at = (given["grammar"], f"{pointer}/grammar") if "grammar" in given else (given, pointer)
    for name in ("syntax", "definition"):
        if not isinstance(grammar, Mapping) or name not in grammar:
            raise lacks(repr(name), grammar, at)
        if not isinstance(grammar[name], str):
            raise wrong("a string", grammar[name], f"{at}/{name}")
    if grammar["syntax"] not in READERS:
        near = nearest(grammar["syntax"].lower(), READERS)
        hint = f"did you mean {near!r}?" if near else "use 'lark' or 'regex'"
        raise RequestError(f"unknown syntax {grammar['syntax'][:60]!r}", pointer=f"{at}/syntax", hint=hint)
    return grammar


def check_custom(tool: Mapping[str, Any], body: Mapping[str, Any], pointer: str, at: str) -> None:
    """Refuse a grammar where it would have no effect: beside the `format` of a custom tool, or beside its `body`.

    Raises:
        RequestError: There is one.
    """
    if body is not tool and "format" in tool:
        raise RequestError("format stands beside 'custom'", pointer=f"{pointer}/format", hint="move it into 'custom'")
    for name in ("grammar", "syntax", "definition"):
        if name in body:
            hint = 'write "format": {"type": "grammar", "syntax": "lark", "definition": …}'
            raise RequestError(f"a custom tool has no {name}", pointer=f"{at}/{name}", hint=hint)


def as_function(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return a well-formed custom tool as the function that it is to chat templates; its grammar is told in words."""
    body, at = named_part(tool, "custom", "")
    told = [str(body["description"])] if body.get("description") else []
    grammar = grammar_of(body.get("format"), f"{at}/format")
    if grammar is not None:
        told.append(f"{INPUT} must follow this grammar ({grammar['syntax']}):\n{grammar['definition']}")
    described = {"description": "\n\n".join(told)} if told else {}
    schema = {"type": "object", "properties": {INPUT: {"type": "string"}}, "required": [INPUT]}
    return {"type": "function", "function": {"name": body["name"], **described, "parameters": schema}}


def in_request(origin: str, pointer: str) -> str:
    """Return where in a request something stands in a schema that is at `origin`, or made of the definition there."""
    return origin if pointer == _POINTER and origin.endswith("/definition") else origin + pointer
