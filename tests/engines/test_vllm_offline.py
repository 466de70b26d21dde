"""A real vLLM in one process, with the backend `maskwright` and random weights: what it takes, it completes.

The engine has little room, so that prompts are read in chunks and requests are preempted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

pytest.importorskip("vllm", reason="vLLM is not installed: make engines")

from vllm.sampling_params import SamplingParams, StructuredOutputsParams

from engines.vllm_engine import offline_engine

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer", "minimum": 0},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["name", "age", "tags"],
    "additionalProperties": False,
}
TAG = {"begin": "<f>", "content": {"type": "json_schema", "json_schema": PERSON}, "end": "</f>"}
TAGS = {"type": "triggered_tags", "triggers": ["<f>"], "tags": [TAG], "at_least_one": True, "stop_after_first": True}
LEGACY = {
    "type": "structural_tag",
    "structures": [{"begin": "<f>", "schema": PERSON, "end": "</f>"}],
    "triggers": ["<f>"],
}
MESSAGES = [{"role": "user", "content": "Tell me about Ada."}]


def is_person(text: str) -> bool:
    jsonschema.validate(json.loads(text), PERSON)
    return True


KINDS = {
    "json": ({"json": PERSON}, is_person),
    "json as text": ({"json": json.dumps(PERSON)}, is_person),
    "json_object": ({"json_object": True}, lambda text: isinstance(json.loads(text), dict)),
    "regex": ({"regex": r"[0-9]{3}-[a-z]+!"}, re.compile(r"[0-9]{3}-[a-z]+!").fullmatch),
    "choice": ({"choice": ["yes", "no", 'per"haps\n']}, ["yes", "no", 'per"haps\n'].__contains__),
    "ebnf": ({"grammar": 'root ::= "a" [b-d]+ "e"'}, re.compile("a[b-d]+e").fullmatch),
    "lark": ({"grammar": 'start: "x" /[0-9]+/ "y"'}, re.compile("x[0-9]+y").fullmatch),
    "structural_tag": (
        {"structural_tag": json.dumps({"type": "structural_tag", "format": TAGS})},
        lambda text: is_person(text[3:-4]),
    ),
    "legacy structural_tag": (
        {"structural_tag": json.dumps(LEGACY)},
        lambda text: all(is_person(inner) for inner in re.findall("<f>(.*?)</f>", text, re.DOTALL)),
    ),
}


@pytest.fixture(scope="module")
def llm(toy: Path) -> Iterator[Any]:
    options = {"max_model_len": 320, "max_num_batched_tokens": 64, "max_num_seqs": 8, "num_gpu_blocks_override": 6}
    with offline_engine(toy, **options) as engine:
        yield engine


def params(structure: dict[str, Any], max_tokens: int = 48, **others: Any) -> SamplingParams:
    outputs = StructuredOutputsParams(**structure)
    return SamplingParams(structured_outputs=outputs, max_tokens=max_tokens, **{"seed": 1, **others})


def chat(llm: Any, asked: list[SamplingParams], content: str = "Tell me about Ada.") -> list[Any]:
    given = [[{"role": "user", "content": content}] for _ in asked]
    return [each.outputs[0] for each in llm.chat(given, asked, use_tqdm=False)]


@pytest.mark.parametrize("max_tokens", [28, 90])
def test_every_kind_is_complete_and_valid_within_max_tokens(llm: Any, max_tokens: int) -> None:
    asked = [params(structure, max_tokens, temperature=t) for structure, _ in KINDS.values() for t in (0.0, 1.0)]
    outputs = chat(llm, asked)
    checks = [check for _, check in KINDS.values() for _ in range(2)]
    for check, output in zip(checks, outputs, strict=True):
        assert output.finish_reason == "stop"
        assert len(output.token_ids) <= max_tokens
        assert check(output.text), output.text


def test_max_tokens_too_few_for_the_shortest_output_are_refused_with_the_number(llm: Any) -> None:
    from vllm.exceptions import VLLMValidationError

    with pytest.raises(VLLMValidationError, match=r"the shortest output needs (\d+) tokens") as refused:
        chat(llm, [params({"json": PERSON}, 6)])
    assert refused.value.parameter == "max_tokens"
    needed = int(re.findall(r"needs (\d+) tokens", str(refused.value))[0])
    (output,) = chat(llm, [params({"json": PERSON}, needed)])
    assert is_person(output.text)


def test_a_request_can_do_without_the_budget(llm: Any) -> None:
    (output,) = chat(llm, [params({"json": PERSON}, 6, extra_args={"maskwright_token_budget": False})])
    assert output.finish_reason == "length"


def test_the_context_is_a_budget_as_well(llm: Any) -> None:
    (output,) = chat(llm, [params({"json": PERSON}, None, temperature=0.0)], "Tell me about Ada. " * 40)
    assert output.finish_reason == "stop"
    assert is_person(output.text)
