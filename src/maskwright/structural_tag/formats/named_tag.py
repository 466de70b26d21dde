"""`NamedTagFormat`: a tag whose end repeats a name from its begin.

    {"type": "named_tag", "begin": "<{name}>", "name": "[a-z]+", "content": {"type": "any_text"}, "end": "</{name}>"}

An extension of the interchange format: other engines cannot hold an end to what was written.
Tested by tests/structural_tag/formats/test_formats.py and tests/structural_tag/lowering/test_named_tags.py.
"""

# ruff: noqa: RUF009 (read_by makes a field)

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from maskwright.errors import StructuralTagError
from maskwright.structural_tag.formats.base import Format, read_by
from maskwright.structural_tag.formats.fields import filled, optional_name, string
from maskwright.structural_tag.formats.reading import read_format

NAME: Final = "{name}"


def _with_name(value: Any, pointer: str) -> str:
    read = string(value, pointer)
    if read.count(NAME) != 1:
        hint = 'as in "<{name}>" and "</{name}>"; for a tag without a name, use {"type": "tag"}'
        raise StructuralTagError(f"expected a string that contains {NAME} once", pointer=pointer, hint=hint)
    return read


def _end(value: Any, pointer: str) -> str:
    read = _with_name(value, pointer)
    if read.startswith(NAME):
        hint = "write what comes before the name, such as a line break"
        raise StructuralTagError(f"the end of a named tag begins with {NAME}", pointer=pointer, hint=hint)
    return read


@dataclass(frozen=True)
class NamedTagFormat(Format):
    """`begin content end`, in which {name} stands for a match of the regular expression `name`, the same in both.

    Free text in it ends where that first occurs which stands before {name} in `end`. `capture` is the name under which
    the content is captured.
    """

    type = "named_tag"
    begin: str = read_by(_with_name)
    name: str = read_by(filled)
    content: Format = read_by(read_format)
    end: str = read_by(_end)
    capture: str | None = read_by(optional_name, None)
