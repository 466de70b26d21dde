"""What the caller chooses about JSON Schemas, and what the front-end tells back.

Tested by tests/frontends/json_schema/test_schema_options.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple


@dataclass(frozen=True)
class JsonSchemaOptions:
    """How a JSON Schema is read, and how its instances are spelled.

    Attributes:
        any_whitespace: Allow white space between tokens wherever JSON does, up to `max_whitespace_cnt` characters in a
            row; none before or after the whole text. If False, only what `separators` and `indent` say.
        max_whitespace_cnt: The longest run of white space when `any_whitespace` is True.
        indent: As in `json.dumps`; used when `any_whitespace` is False.
        separators: `(item separator, key separator)` as in `json.dumps`; used when `any_whitespace` is False.
        ensure_ascii: Characters beyond ASCII are written as escapes only, as by `json.dumps`; otherwise either way.
        strict_mode: Objects that declare properties and arrays that declare a prefix are closed unless the schema says
            `additionalProperties`, `items` or the like.
        on_unsupported: `"error"` refuses a schema with an assertion that cannot be enforced, `"relax"` leaves the
            assertion out and reports it.
        any_order: Members come in any order, in objects that declare up to 64; otherwise in declared order.
        registry: A `referencing.Registry` of the documents that references may lead to. Nothing is ever fetched.
        formats: `"assert"` enforces `format`, `"annotate"` only reports it, which is the standard's default.
    """

    any_whitespace: bool = True
    max_whitespace_cnt: int = 32
    indent: int | None = None
    separators: tuple[str, str] | None = None
    strict_mode: bool = False
    on_unsupported: Literal["error", "relax"] = "error"
    formats: Literal["assert", "annotate"] = "assert"
    any_order: bool = False
    registry: Any = field(default=None, compare=False)
    ensure_ascii: bool = False

    def __post_init__(self) -> None:
        if self.on_unsupported not in ("error", "relax"):
            raise ValueError(f'on_unsupported must be "error" or "relax", not {self.on_unsupported!r}')
        if self.formats not in ("assert", "annotate"):
            raise ValueError(f'formats must be "assert" or "annotate", not {self.formats!r}')
        if self.max_whitespace_cnt < 0:
            raise ValueError(f"max_whitespace_cnt must not be negative, not {self.max_whitespace_cnt}")
        if self.indent is not None and self.indent < 0:
            raise ValueError(f"indent must be None or not negative, not {self.indent}")
        if self.separators is not None and [s.strip(" \t\n\r") for s in self.separators] != [",", ":"]:
            raise ValueError(f"separators must be a comma and a colon with white space, not {self.separators!r}")


class Finding(NamedTuple):
    """One keyword that does not constrain the output, and why."""

    pointer: str
    keyword: str
    outcome: Literal["annotation", "relaxed"]
    reason: str
