"""Members that `required` asks for under another name than the one that is declared.

    undeclared({"properties": {"first_name": {}}, "required": ["firstName"]})     [(0, "firstName", "first_name")]
    undeclared({"properties": {"line1": {}}, "required": ["line2"]})              []: there may well be both

Nothing is said where other keywords may declare the name, or where the declared one is required, too. Of the 1,500
schemas of MaskBench's dev set, 20 require what they do not declare, and 3 of them by a misspelled name.
Tested by tests/frontends/json_schema/read/test_schema_undeclared.py.
"""

from __future__ import annotations

import re
from typing import Any, Final

from maskwright.frontends.json_schema.read.keyword_table import IN_PLACE
from maskwright.frontends.json_schema.read.look_alikes import bare
from maskwright.support.interruption import interrupt_checkpoint
from maskwright.support.near_names import nearest

_CUTOFF: Final = 0.8
_MOST_NAMES: Final = 256
_MOST_MISSING: Final = 8
_LONGEST: Final = 60
_DIGITS: Final = re.compile("[0-9]+")
_DECLARING: Final = IN_PLACE | {"patternProperties"}


def undeclared(schema: dict[str, Any]) -> list[tuple[int, str, str]]:
    """Return the names in `required` that are surely misspelled: where they stand there, and what was meant."""
    declared, required = schema.get("properties"), schema["required"]
    if type(declared) is not dict or not declared or not _DECLARING.isdisjoint(schema):
        return []
    missing = [(i, name) for i, name in enumerate(required) if name not in declared]
    if not missing:
        return []
    free = declared.keys() - set(required)
    known = [name for name in declared if name in free and len(name) <= _LONGEST][:_MOST_NAMES]
    meant = [(i, name, _nearest(name, known)) for i, name in missing[:_MOST_MISSING] if len(name) <= _LONGEST]
    return [(i, name, near) for i, name, near in meant if near is not None]


def _nearest(name: str, known: list[str]) -> str | None:
    same = [each for each in known if bare(each) == bare(name)]
    if same:
        return same[0]
    interrupt_checkpoint()
    near = nearest(name, known, _CUTOFF)
    return None if near is None or _DIGITS.sub("", near) == _DIGITS.sub("", name) else near
