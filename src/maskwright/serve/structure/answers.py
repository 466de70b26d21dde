"""The structures of vLLM's and SGLang's fields as formats of an answer, for outputs that have more than the answer.

    answer_format("structured_outputs", {"regex": "[0-9]+"})        RegexFormat("[0-9]+")

A model that reasons writes its reasoning first, and one with tools may call them instead: a family's structural tag has
the format in its place. The fields were checked by `maskwright.openai_shapes` before.
Tested by tests/serve/test_serve_structure.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

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


def answer_format(field: str, value: Any) -> Format:
    """Return the format that a field asks for."""
    if field != "structured_outputs":
        return _format(field, value, {})
    options = vllm_schema_options(value)
    kinds = ("json", "json_object", "regex", "choice", "grammar", "structural_tag")
    kind = next(kind for kind in kinds if value.get(kind) not in (None, False))
    return _format(kind, value[kind], options)


def _format(kind: str, value: Any, options: Mapping[str, Any]) -> Format:
    match kind:
        case "regex":
            return RegexFormat(value)
        case "choice":
            return OrFormat(tuple(ConstStringFormat(text) for text in value))
        case "grammar" | "ebnf":
            return GrammarFormat(value)
        case "structural_tag":
            return StructuralTag.from_json(value).format
        case "json_object":
            return JSONSchemaFormat({"type": "object"}, **{**options, "strict_mode": False})
        case _:
            return JSONSchemaFormat(json.loads(value) if isinstance(value, str) else value, **options)
