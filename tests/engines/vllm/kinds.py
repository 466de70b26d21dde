"""Every kind of structure that vLLM's requests name, each with a judge of the output."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import jsonschema

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer", "minimum": 0},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["name", "age", "tags"],
    "additionalProperties": False,
}
TAG = {"begin": "<f>", "content": {"type": "json_schema", "json_schema": PERSON}, "end": "</f>"}
TAGS = {"type": "triggered_tags", "triggers": ["<f>"], "tags": [TAG], "at_least_one": True, "stop_after_first": True}
LEGACY = {
    "type": "structural_tag",
    "structures": [{"begin": "<f>", "schema": PERSON, "end": "</f>"}],
    "triggers": ["<f>"],
}


def is_person(text: str) -> bool:
    jsonschema.validate(json.loads(text), PERSON)
    return True


KINDS: dict[str, tuple[dict[str, Any], Callable[[str], object]]] = {
    "json": ({"json": PERSON}, is_person),
    "json as text": ({"json": json.dumps(PERSON)}, is_person),
    "json_object": ({"json_object": True}, lambda text: isinstance(json.loads(text), dict)),
    "regex": ({"regex": r"[0-9]{3}-[a-z]+!"}, re.compile(r"[0-9]{3}-[a-z]+!").fullmatch),
    "choice": ({"choice": ["yes", "no", 'per"haps\n']}, ["yes", "no", 'per"haps\n'].__contains__),
    "ebnf": ({"grammar": 'root ::= "a" [b-d]+ "e"'}, re.compile("a[b-d]+e").fullmatch),
    "lark": ({"grammar": 'start: "x" /[0-9]+/ "y"'}, re.compile("x[0-9]+y").fullmatch),
    "structural_tag": (
        {"structural_tag": json.dumps({"type": "structural_tag", "format": TAGS})},
        lambda text: is_person(text[3:-4]),
    ),
    "legacy structural_tag": (
        {"structural_tag": json.dumps(LEGACY)},
        lambda text: all(is_person(inner) for inner in re.findall("<f>(.*?)</f>", text, re.DOTALL)),
    ),
}
