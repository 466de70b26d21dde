"""A record that tests of drafts let models write: long names, which the grammar forces, and values to learn."""

from __future__ import annotations

from typing import Any

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"inhabitants_in_millions": {"enum": [2, 30]}, "continent": {"enum": ["Asia", "Europe"]}},
    "required": ["inhabitants_in_millions", "continent"],
    "additionalProperties": False,
}
PROMPT = "Paris as JSON: "
