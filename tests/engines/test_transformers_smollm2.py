"""transformers with a real language model: what `maskwright.generate` returns, in several ways of decoding.

Run by the engines' environment, and by that of the other tests where the model can be made there.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

import maskwright as mw
from maskwright.errors import UnsatisfiableError

torch = pytest.importorskip("torch", reason="torch is not installed: make engines")
transformers = pytest.importorskip("transformers", reason="transformers is not installed: make engines")
pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed: make engines")
jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")


class City(pydantic.BaseModel):  # type: ignore[misc, unused-ignore]
    name: str
    country: Literal["Japan", "France", "Peru"]
    founded: datetime.date | None
    population: int = pydantic.Field(ge=0)


def get_weather(city: str, days: int) -> str:
    """Get the weather forecast of a city."""
    return f"{city}: {days} days of rain"


SCHEMAS: list[dict[str, Any]] = [
    {"type": "object", "properties": {"id": {"type": "string", "format": "uuid"}}, "required": ["id"]},
    {"type": "array", "items": {"enum": ["red", "green", 3]}, "minItems": 2, "uniqueItems": True},
    {"anyOf": [{"type": "number", "multipleOf": 0.5}, {"type": "string", "pattern": "^[a-z]+$"}]},
    {
        "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "required": ["next"]}},
        "type": "object",
        "properties": {"head": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
        "required": ["head"],
    },
    {
        "type": "object",
        "properties": {"kind": {"const": "a"}, "size": {"type": "integer", "minimum": 10, "maximum": 99}},
        "required": ["kind", "size"],
        "additionalProperties": {"type": "boolean"},
    },
]


@pytest.fixture(scope="module")
def loaded(smollm2: Path) -> Iterator[tuple[Any, Any]]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # others may be at work on the same cores, and torch's threads wait by spinning
    tokenizer = transformers.AutoTokenizer.from_pretrained(smollm2)
    yield transformers.AutoModelForCausalLM.from_pretrained(smollm2).eval(), tokenizer
    torch.set_num_threads(threads)


def asks(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def test_a_pydantic_model(loaded: tuple[Any, Any]) -> None:
    question = asks("Tell me about the largest city of Japan, as JSON.")
    city = mw.generate(*loaded, question, City, max_new_tokens=60)
    assert isinstance(city, City)
    with pytest.raises(UnsatisfiableError, match=r"the shortest output needs \d+ tokens, but max_new_tokens is 8"):
        mw.generate(*loaded, question, City, max_new_tokens=8)


def test_the_model_still_says_what_it_knows(loaded: tuple[Any, Any]) -> None:
    prompts = [asks(f"What is the capital of {country}?") for country in ("France", "Peru", "Japan")]
    pattern = re.compile(r"The capital of [A-Z][a-z]+ is (Lima|Tokyo|Paris)\.")
    expected = ["The capital of France is Paris.", "The capital of Peru is Lima.", "The capital of Japan is Tokyo."]
    assert mw.generate(*loaded, prompts, pattern, temperature=0) == expected


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: next(iter(schema)))
@pytest.mark.parametrize("seed", range(2))
def test_sampled_json_is_valid_within_a_small_budget(loaded: tuple[Any, Any], schema: Any, seed: int) -> None:
    transformers.set_seed(seed)
    prompts = [asks("Write some JSON."), asks("Write a lot of JSON, with many members.")]
    for value in mw.generate(*loaded, prompts, schema, max_new_tokens=40, temperature=1.0):
        jsonschema.validate(value, schema, format_checker=jsonschema.FormatChecker())


def test_a_tool_is_called(loaded: tuple[Any, Any]) -> None:
    question = asks('Call get_weather for Paris: {"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}')
    options = {"tool_format": "hermes", "max_new_tokens": 60}
    (call, *_) = mw.generate(*loaded, question, [get_weather], temperature=0, **options)
    assert call.tool(**call.arguments).startswith("Paris: ")


def test_batches_of_prompts_of_different_lengths(loaded: tuple[Any, Any]) -> None:
    prompts = ["The three primary colors are ", "1, 2, 3, 4, 5, 6, 7, 8, 9, "]
    pattern = re.compile(r"[a-z0-9]+(, [a-z0-9]+){2,4}\.", re.ASCII)
    together = mw.generate(*loaded, prompts, pattern, max_new_tokens=30, temperature=0)
    assert all(pattern.fullmatch(text) for text in together)


@pytest.mark.parametrize("options", [{"prompt_lookup_num_tokens": 6}, {"num_beams": 2}, {"do_sample": True}], ids=str)
def test_ways_of_decoding(loaded: tuple[Any, Any], options: dict[str, Any]) -> None:
    prompt = 'Repeat: {"first": "alpha beta gamma", "second": "alpha beta gamma"}\n'
    schema = {"type": "object", "properties": {"first": {"type": "string"}}, "required": ["first"]}
    value = mw.generate(*loaded, prompt, schema, max_new_tokens=30, **options)
    jsonschema.validate(value, schema)


def test_drafts_from_the_grammar(loaded: tuple[Any, Any]) -> None:
    from maskwright.engine import GrammarDrafts
    from maskwright.integrations.transformers import with_drafts

    model, tokenizer = loaded
    steps: list[int] = []
    counted = model.register_forward_hook(lambda *_: steps.append(1))
    drafting = with_drafts(model, GrammarDrafts())
    pattern = re.compile(r"The capital of [A-Z][a-z]+ is the city of (Lima|Tokyo|Paris)\.")
    for country in ("France", "Peru", "Japan"):
        asked = asks(f"What is the capital of {country}?"), pattern
        alone = mw.generate(model, tokenizer, *asked, max_new_tokens=24, temperature=0)
        taken_alone = len(steps)
        assert mw.generate(drafting, tokenizer, *asked, max_new_tokens=24, temperature=0) == alone
        assert len(steps) - taken_alone < 0.7 * taken_alone
        steps.clear()
    counted.remove()


def test_the_processor_with_generate(loaded: tuple[Any, Any]) -> None:
    from maskwright.integrations.transformers import GrammarLogitsProcessor

    model, tokenizer = loaded
    info = mw.TokenizerInfo.from_huggingface(tokenizer, vocab_size=model.config.vocab_size)
    compiled = mw.GrammarCompiler(info).compile_json_schema(SCHEMAS[0])
    inputs = tokenizer("A UUID as JSON: ", return_tensors="pt")
    processor = GrammarLogitsProcessor(compiled, max_new_tokens=60)
    out = model.generate(**inputs, logits_processor=[processor], max_new_tokens=60, do_sample=False)
    text = tokenizer.decode(out[0, inputs.input_ids.shape[1] :], skip_special_tokens=True)
    jsonschema.validate(json.loads(text), SCHEMAS[0], format_checker=jsonschema.FormatChecker())
