"""Texts held to ASCII: the same values, characters beyond ASCII as escapes only."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from frontends.json_schema.checking import check_texts
from frontends.json_schema.grammar_matcher import accepts_text
from frontends.json_schema.random_schemas import Maker, plain_text
from maskwright.errors import MaskwrightError
from maskwright.frontends.json_schema import JsonSchemaOptions, schema_to_ir

ASCII = JsonSchemaOptions(ensure_ascii=True)


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        ({"type": "string"}, [r'"a"', r'"\u00e9"', r'"\u00E9"', r'"\ud83d\ude00"', '"\x7f"'], ['"é"', '"\U0001f600"']),
        ({"const": "né"}, [r'"n\u00e9"'], ['"né"', r'"n\u00E9"', r'"\u006e\u00e9"']),
        ({"enum": ["\U0001f600", "\ud800"]}, [r'"\ud83d\ude00"', r'"\ud800"'], ['"\U0001f600"']),
        ({"pattern": "^[aéß]$", "type": "string"}, [r'"\u00e9"', r'"\u00dF"', '"a"'], ['"é"', r'"\u00e8"']),
        ({"maxLength": 1, "type": "string"}, [r'"\u00e9"', r'"\ud83d\ude00"'], ['"é"', r'"\u00e9\u00e9"']),
        ({"not": {"const": "é"}, "type": "string"}, [r'"\u00e8"', '"e"'], [r'"\u00e9"', r'"\u00E9"', '"è"']),
        ({"format": "idn-email", "type": "string"}, [r'"\u00e9@a.de"'], ['"é@a.de"', r'"\u00e9"']),
        (True, [r'{"\u00e9": ["\u00e9"]}'], ['{"é": 1}', '["é"]']),
    ],
    ids=str,
)
def test_characters_beyond_ascii_are_escaped(schema: Any, valid: list[str], invalid: list[str]) -> None:
    check_texts(schema, valid, invalid, ensure_ascii=True)


@pytest.mark.parametrize("any_order", [False, True])
def test_names_of_members_are_escaped_and_stay_unique(any_order: bool) -> None:
    schema = {
        "type": "object",
        "properties": {"é": {"type": "null"}, "b": {"type": "null"}},
        "required": ["é"],
        "additionalProperties": {"type": "integer"},
    }
    check_texts(
        schema,
        [r'{"\u00e9": null}', r'{"\u00e9": null, "b": null, "\u00e8": 1}'],
        ['{"é": null}', r'{"\u00e9": null, "\u00E9": 1}', r'{"\u00e9": null, "è": 1}', r'{"\u00e8": 1}'],
        ensure_ascii=True,
        any_order=any_order,
    )


def test_with_a_fixed_layout_it_is_as_json_dumps_writes() -> None:
    value = {"é": ["ß\n\U0001f600"], "x": 1}
    schema = {"const": value}
    options = JsonSchemaOptions(any_whitespace=False, indent=2, ensure_ascii=True)
    assert accepts_text(schema_to_ir(schema, options), json.dumps(value, indent=2))


def test_the_values_are_the_same() -> None:
    compared = [0, 0]
    for seed in range(150):
        maker = Maker(seed)
        schema = maker.document()
        try:
            free, held = schema_to_ir(schema), schema_to_ir(schema, ASCII)
        except MaskwrightError:
            continue
        for _ in range(4):
            text = plain_text(maker.value(2))
            escaped = "".join(c if c.isascii() else json.dumps(c)[1:-1] for c in text)
            is_valid = accepts_text(free, text)
            assert accepts_text(held, escaped) == is_valid, (seed, schema, text)
            if not text.isascii():
                assert not accepts_text(held, text), (seed, schema, text)
                compared[is_valid] += 1
    assert min(compared) > 10, compared


def test_whatever_spelling_is_accepted_is_one_of_the_free_grammar_in_ascii() -> None:
    """But for what is spelled in one way only: constants and declared names."""
    schema = {"type": "array", "items": {"type": "string", "pattern": "^[^b]*é"}}
    free, held = schema_to_ir(schema), schema_to_ir(schema, ASCII)
    rng = random.Random(1)
    spellings = ["é", r"\u00e9", r"\u00E9", "a", r"\u0061", "ß", r"\u00df", r"\n", "b", '"', r"\"", r"\/", "/"]
    accepted = 0
    for _ in range(2000):
        text = '["' + "".join(rng.choices(spellings, k=rng.randint(0, 4))) + '"]'
        is_accepted = accepts_text(held, text)
        accepted += is_accepted
        assert is_accepted == (text.isascii() and accepts_text(free, text)), text
    assert accepted > 50
