"""The warning of a JSON Schema in which something has no effect, or another one than was surely meant.

    warn_of([Finding("/requird", "requird", "annotation", "unknown keyword 'requird'; did you mean 'required'?")])

What may be meant as it is gives none: unknown formats, and what the caller chose to leave out.
Tested by tests/frontends/json_schema/read/test_schema_misspelled.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from maskwright.errors import SchemaWarning
from maskwright.frontends.warnings.issuing import issue

if TYPE_CHECKING:
    from maskwright.frontends.json_schema import Finding


def warn_of(report: Iterable[Finding]) -> None:
    """Issue one `SchemaWarning` for a report, if anything in it is probably a mistake."""
    mistakes = [found for found in dict.fromkeys(report) if found.is_mistake]
    if mistakes:
        first = mistakes[0]
        issue([SchemaWarning(first.reason, pointer=first.pointer, keyword=first.keyword, num_more=len(mistakes) - 1)])
