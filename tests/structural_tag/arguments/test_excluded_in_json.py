"""Arguments as JSON inside a tag, of which no string contains what ends the tag."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import StructuralTagError
from structural_tag.arguments.styles import check, compiled, of

EXCLUDING: list[tuple[Any, list[str], list[str]]] = [
    ({"type": "string"}, ['"a"', '"<"', '"< /x>"'], ['"</x>"', '"a</x>b"', r'"\u003c/x>"', r'"<\/x>"', '"a[*]"']),
    (True, ["{}", '{"a": ["b", {"<": 1}]}', "3"], ['{"</x>": 1}', '["</x>"]', '{"a": [{"b": "</x>"}]}']),
    (
        of({"s": {"type": "string", "maxLength": 6}, "t": {"type": "array", "items": {"type": "string"}}}, "s"),
        ['{"s": "abc"}', '{"s": "</x", "t": [">"]}'],
        ['{"s": "</x>"}', '{"s": "", "t": ["", "</x>"]}', '{"s": "abcdefg"}'],
    ),
    ({"enum": ["</x>", "a", 1, ["</x>"], ["b"]]}, ['"a"', "1", '["b"]'], ['"</x>"', '["</x>"]']),
    (
        {"$defs": {"n": {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}, "s": {"type": "string"}}}},
         "$ref": "#/$defs/n"},
        ['{"n": {"n": {"s": "</"}}}'],
        ['{"n": {"n": {"s": "</x>"}}}', '{"n": {"n": {"z": "</x>"}}}'],
    ),
    ({"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "integer"}}, ['["a", 1]'], ['["</x>"]']),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "accepted", "rejected"), EXCLUDING)
def test_texts_that_no_string_in_json_contains(schema: Any, accepted: list[str], rejected: list[str]) -> None:
    check(schema, "json", accepted, rejected, excludes=["</x>", "a[*]"])
    for captured in (True, False):
        name = {"capture": "arguments"} if captured else {}
        check(schema, "json", accepted, rejected, excludes=["</x>", "a[*]"], **name)


def test_texts_that_leave_nothing_in_json() -> None:
    for schema in ({"const": "</x>"}, {"type": "string", "pattern": "^a</x>"}):
        with pytest.raises(StructuralTagError, match="contains an excluded text") as caught:
            compiled(schema, "json", excludes=["</x>"])
        assert caught.value.pointer == "/format/json_schema"
    with pytest.raises(StructuralTagError, match="strict_mode") as caught:
        compiled({"type": "string"}, "json", excludes=["</x>"], strict_mode=True)
    assert caught.value.pointer == "/format/excludes"
