"""A real vLLM whose n-gram slot is filled with drafts from the grammar: the same outputs in fewer steps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vllm", reason="vLLM is not installed: make engines")
from engines.vllm.engine import offline_engine

CITY = {
    "type": "object",
    "properties": {
        "name_of_the_city": {"type": "string", "maxLength": 20},
        "continent": {"enum": ["Africa", "Asia", "Europe", "North America", "Oceania", "South America"]},
        "is_capital_of_its_country": {"type": "boolean"},
    },
    "required": ["name_of_the_city", "continent", "is_capital_of_its_country"],
    "additionalProperties": False,
}
CITIES = ("Paris", "Tokyo", "Lima", "Cairo", "Sydney", "Toronto")
MAX_TOKENS = 60


@pytest.fixture(scope="module")
def llm(smollm2: Path) -> Iterator[Any]:
    with offline_engine(
        smollm2,
        max_model_len=256,
        max_num_seqs=4,
        disable_log_stats=False,
        speculative_config={
            "method": "ngram",
            "num_speculative_tokens": 8,
            "prompt_lookup_max": 3,
            "prompt_lookup_min": 2,
        },
    ) as engine:
        yield engine


def backend(llm: Any) -> Any:
    return llm.llm_engine.engine_core.engine_core.structured_output_manager.backend


def metric(llm: Any, name: str) -> int:
    return sum(each.value for each in llm.get_metrics() if each.name == f"vllm:{name}")


def outputs(llm: Any, **options: Any) -> list[list[int]]:
    from vllm.sampling_params import SamplingParams, StructuredOutputsParams

    params = SamplingParams(
        max_tokens=MAX_TOKENS, **{"temperature": 0.0, **options}, structured_outputs=StructuredOutputsParams(json=CITY)
    )
    chats = [[{"role": "user", "content": f"Describe the city of {city} as JSON."}] for city in CITIES]
    return [list(each.outputs[0].token_ids) for each in llm.chat(chats, params, use_tqdm=False)]


def accepted(llm: Any, **options: Any) -> tuple[int, list[list[int]]]:
    before = metric(llm, "spec_decode_num_accepted_tokens")
    found = outputs(llm, **options)
    return metric(llm, "spec_decode_num_accepted_tokens") - before, found


def test_the_same_outputs_in_fewer_steps(llm: Any) -> None:
    outputs(llm)  # makes the backend
    drafts, backend(llm)._drafts = backend(llm)._drafts, None
    looked_up, alone = accepted(llm)
    backend(llm)._drafts = drafts
    first, with_drafts = accepted(llm)
    assert with_drafts == alone
    later, again = accepted(llm)
    assert again == alone
    assert first > looked_up
    assert later > 0.6 * sum(map(len, alone))


def test_samples_are_complete(llm: Any) -> None:
    tokenizer = llm.get_tokenizer()
    for ids in outputs(llm, temperature=1.0):
        assert len(ids) <= MAX_TOKENS
        assert list(json.loads(tokenizer.decode(ids, skip_special_tokens=True))) == CITY["required"]
