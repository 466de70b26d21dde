"""Values in which no string contains certain texts: a schema to be satisfied beside the caller's.

    ("</a>",)   →   {"not": {"type": "string", "pattern": "</a>"}, "propertyNames": the same,
                     "items": this very schema, "additionalProperties": this very schema}

It speaks of values, so an escape does not get around it. The schema holds itself: the normaliser knows schemas by
identity, and one that comes again becomes a rule that calls itself.
Tested by tests/structural_tag/arguments/test_excluded_in_json.py.
"""

from __future__ import annotations

import re
from typing import Any, Final

from maskwright.frontends.json_schema.read.places import Conj, Node, Resource
from maskwright.support.memos import remembered

_NOWHERE: Final = Resource("", True)
_SPECIAL: Final = re.compile(r"[\\^$.|?*+()\[\]{}/]")


@remembered(64)
def without_texts(excluded: tuple[bytes, ...]) -> Conj:
    """Return what values satisfy in which no string, names of members included, contains any of these texts."""
    pattern = "|".join(_SPECIAL.sub(r"\\\g<0>", text.decode()) for text in excluded)
    holds_one = {"type": "string", "pattern": pattern}
    schema: dict[str, Any] = {"not": holds_one, "propertyNames": {"not": holds_one}}
    schema["items"] = schema["additionalProperties"] = schema
    return (Node(schema, _NOWHERE, None),)
