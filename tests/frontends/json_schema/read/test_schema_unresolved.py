"""References that lead nowhere: what to write instead."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright import Grammar, SchemaError

PET = {"$defs": {"Pet": {}, "a/b": {}}}
MEANT = "did you mean '#/$defs/Pet'?"
ANCHOR = "no schema has the anchor 'cat': add it, or write a pointer, such as '#/$defs/name'"
REGISTRY = "nothing is fetched from the network: embed the schema in $defs, or pass a registry"


@pytest.mark.parametrize(
    ("reference", "schema", "hint"),
    [
        ("#/definitions/Pet", PET, MEANT),
        ("#/$defs/pet", PET, MEANT),
        ("#/$defs/Pett/properties", {"$defs": {"Pet": {}, "properties": {}}}, "did you mean '#/$defs/properties'?"),
        ("#/Pet", PET, MEANT),
        ("#Pet", PET, MEANT),
        ("Pet", PET, MEANT),
        ("./schemas/Pet.yaml", PET, MEANT),
        ("https://example.com/Pet.json", PET, MEANT),
        ("#/definitions/a~1b", PET, "did you mean '#/$defs/a~1b'?"),
        ("#/components/schemas/Pet", {"definitions": {"Pet": {}}}, "did you mean '#/definitions/Pet'?"),
        ("#/$defs/Pet", {"components": {"schemas": {"Pet": {}}}}, "did you mean '#/components/schemas/Pet'?"),
        ("#/components/schemas/Cat", PET, 'add the "components" of the OpenAPI document to the schema'),
        ("#/$defs/Warehouse", PET, "define it, or correct the pointer"),
        ("#cat", {}, ANCHOR),
        ("https://example.com/Pets", PET, REGISTRY),
    ],
)
def test_what_was_meant(reference: str, schema: dict[str, Any], hint: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Grammar.from_json_schema({"properties": {"a": {"$ref": reference}}, **schema})
    assert caught.value.hint == hint
