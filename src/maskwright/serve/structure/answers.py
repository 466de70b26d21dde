"""The structures of vLLM's and SGLang's fields as formats of an answer, for outputs that have more than the answer.

    answer_format("structured_outputs", {"regex": "[0-9]+"}, grammar)        RegexFormat("[0-9]+")

A model that reasons writes its reasoning first, and one with tools may call them instead: a family's structural tag has
the format in its place. The fields were read by `maskwright.openai_shapes` before, which tells EBNF
from Lark.
Tested by tests/serve/test_serve_structure.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from maskwright import Grammar
from maskwright.openai_shapes import vllm_schema_options
from maskwright.structural_tag import (
    ConstStringFormat,
    Format,
    GrammarFormat,
    JSONSchemaFormat,
    OrFormat,
    RegexFormat,
    StructuralTag,
)
from maskwright.structural_tag.formats.defaults import located


def place_of_answer(field: str, value: Any) -> tuple[str, str]:
    """Return the kind of structure that a field asks for, and its JSON pointer."""
    if field != "structured_outputs":
        return field, f"/{field}"
    kinds = ("json", "json_object", "regex", "choice", "grammar", "structural_tag")
    kind = next(kind for kind in kinds if value.get(kind) not in (None, False))
    return kind, f"/{field}/{kind}"


def answer_format(field: str, value: Any, grammar: Grammar) -> Format:
    """Return the format that a field asks for, which was read as this grammar."""
    kind, pointer = place_of_answer(field, value)
    if field != "structured_outputs":
        return _format(kind, value, pointer, grammar, {})
    return _format(kind, value[kind], pointer, grammar, vllm_schema_options(value))


def _format(kind: str, value: Any, pointer: str, grammar: Grammar, options: Mapping[str, Any]) -> Format:
    match kind:
        case "regex":
            return RegexFormat(value, origin=pointer)
        case "choice":
            return OrFormat(tuple(ConstStringFormat(text) for text in value))
        case "grammar" | "ebnf":
            return GrammarFormat(value, rules=grammar.ir, origin=pointer)
        case "structural_tag":
            return located(StructuralTag.from_json(value).format, pointer)
        case "json_object":
            return JSONSchemaFormat({"type": "object"}, origin=pointer, **{**options, "strict_mode": False})
        case _:
            schema = json.loads(value) if isinstance(value, str) else value
            return JSONSchemaFormat(schema, origin=pointer, **options)
