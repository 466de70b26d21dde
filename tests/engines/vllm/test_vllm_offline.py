"""A real vLLM in one process, with the backend `maskwright` and random weights: what it takes, it completes.

The engine schedules asynchronously and by priority. It has little room, so that prompts are read in chunks and requests
are preempted, which vLLM's own metrics show. One that schedules synchronously is in test_vllm_reasoning.py.
"""

from __future__ import annotations

import itertools
import json
import re
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

pytest.importorskip("vllm", reason="vLLM is not installed: make engines")

from vllm.sampling_params import SamplingParams, StructuredOutputsParams

from engines.vllm.engine import offline_engine
from engines.vllm.kinds import KINDS, PERSON, is_person
from maskwright.integrations.vllm.backend import MaskwrightBackend

NUMBERS = {"type": "array", "items": {"type": "integer", "minimum": 10}, "minItems": 16, "maxItems": 24}
CHUNK = 64
BLOCK = 128

# What vLLM's page on structured outputs asks for offline, and its example structured_outputs_offline.py.
DOCUMENTED = {
    "choice": ({"choice": ["Positive", "Negative"]}, 16, "Positive|Negative"),
    "json": (
        {
            "json": {
                "$defs": {"CarType": {"enum": ["sedan", "SUV", "Truck", "Coupe"], "type": "string"}},
                "properties": {
                    "brand": {"type": "string"},
                    "model": {"type": "string"},
                    "car_type": {"$ref": "#/$defs/CarType"},
                },
                "required": ["brand", "model", "car_type"],
                "type": "object",
            }
        },
        50,
        r'(?s)\{\s*"brand"\s*:.*"model"\s*:.*"car_type"\s*:\s*"(sedan|SUV|Truck|Coupe)".*\}',
    ),
    "regex": ({"regex": r"\w+@\w+\.com\n"}, 50, r"\w+@\w+\.com"),
    "grammar": (
        {
            "grammar": """
root ::= select_statement
select_statement ::= "SELECT " column " from " table " where " condition
column ::= "col_1 " | "col_2 "
table ::= "table_1 " | "table_2 "
condition ::= column "= " number
number ::= "1 " | "2 "
"""
        },
        50,
        "SELECT col_[12]  from table_[12]  where col_[12] = [12] ",
    ),
}


@pytest.fixture(scope="module")
def llm(toy: Path) -> Iterator[Any]:
    with offline_engine(
        toy,
        max_model_len=320,
        max_num_batched_tokens=CHUNK,
        max_num_seqs=8,
        num_gpu_blocks_override=6,
        asynchronous=True,
        scheduling_policy="priority",
        logprobs_mode="processed_logprobs",
        disable_log_stats=False,
    ) as engine:
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


@pytest.mark.parametrize("name", DOCUMENTED)
def test_the_documented_offline_requests(llm: Any, name: str) -> None:
    structure, max_tokens, pattern = DOCUMENTED[name]
    asked = params(structure, max_tokens, stop=["\n"] if name == "regex" else None, temperature=1.0)
    (answer,) = llm.generate("Classify this sentiment: vLLM is wonderful!", asked, use_tqdm=False)
    assert re.fullmatch(pattern, answer.outputs[0].text)


# Without a seed: vLLM 0.32 on a CPU fails at requests that have one where a prompt is read in chunks.
def numbers(**others: Any) -> SamplingParams:
    return params({"json": NUMBERS}, 100, seed=None, temperature=1.0, **others)


def metric(llm: Any, name: str) -> int:
    return sum(each.value for each in llm.get_metrics() if each.name == f"vllm:{name}")


def are_numbers(text: str) -> bool:
    jsonschema.validate(json.loads(text), NUMBERS)
    return True


def step_through(llm: Any, prompt: str, asked: list[SamplingParams], *, aborted: Collection[int] = ()) -> list[int]:
    """Run requests, the later the more urgent; return their numbers in the order in which they end.

    Those that are aborted are so after ten steps; all others must be complete and valid.
    """
    engine = llm.llm_engine
    ids = [engine.add_request(str(i), prompt, each, priority=-i) for i, each in enumerate(asked)]
    ended = []
    for step in itertools.count():
        if not engine.has_unfinished_requests():
            return ended
        if step == 10:
            engine.abort_request([ids[i] for i in aborted])
        for output in engine.step():
            if output.finished:
                number = int(output.request_id.split("-")[0])
                assert number in aborted or are_numbers(output.outputs[0].text)
                ended.append(number)
    raise AssertionError


def test_requests_that_are_preempted_go_on_where_they_were(llm: Any) -> None:
    prompt = "Count. " * 50
    num_prompt_tokens = len(llm.get_tokenizer()(prompt).input_ids)
    assert CHUNK < num_prompt_tokens < BLOCK  # read in chunks; the output needs a second block
    before = metric(llm, "num_preemptions")
    ended = step_through(llm, prompt, [numbers() for _ in range(8)])
    assert sorted(ended) == list(range(8))
    assert metric(llm, "num_preemptions") > before
    assert sum(ended.index(number) for number in (6, 7)) < sum(ended.index(number) for number in (0, 1))


def test_prefixes_that_are_cached_are_taken_from_the_cache(llm: Any) -> None:
    prompt = "Count the numbers. " * 40
    before = metric(llm, "prefix_cache_hits")
    for _ in range(2):
        step_through(llm, prompt, [numbers()])
    assert metric(llm, "prefix_cache_hits") - before >= BLOCK


def test_requests_that_are_aborted_do_not_disturb_the_others(llm: Any) -> None:
    ended = step_through(llm, "Count.", [numbers() for _ in range(6)], aborted={0, 3, 5})
    assert {1, 2, 4} <= set(ended)
    assert is_person(chat(llm, [params({"json": PERSON})])[0].text)


def test_several_outputs_of_one_prompt(llm: Any) -> None:
    (answer,) = llm.generate("Count.", numbers(n=4), use_tqdm=False)
    assert all(are_numbers(output.text) for output in answer.outputs)
    assert len({output.text for output in answer.outputs}) == 4


def test_beams(llm: Any) -> None:
    from vllm.sampling_params import BeamSearchParams

    # Few tokens are allowed: where they are over 1,024, vLLM picks from the model's best ones those that are allowed.
    structure = StructuredOutputsParams(regex="[ab]{3}-[cd]{2}")
    asked = BeamSearchParams(beam_width=3, max_tokens=12, structured_outputs=structure)
    (answer,) = llm.beam_search([{"prompt": "Number: "}], asked)
    texts = [sequence.text.removeprefix("Number: ") for sequence in answer.sequences]
    assert len(texts) == 3
    assert all(re.fullmatch("[ab]{3}-[cd]{2}", text) for text in texts), texts


def test_a_request_whose_grammar_is_ready_in_time_is_in_the_next_step(
    llm: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its compiling takes a moment, in which the next step would have been scheduled."""

    def compile_slowly(self: Any, request: Any, **options: Any) -> Any:
        time.sleep(0.2)
        return compile_at_once(self, request, **options)

    compile_at_once = MaskwrightBackend.grammar_for
    monkeypatch.setattr(MaskwrightBackend, "grammar_for", compile_slowly)
    monkeypatch.setattr("maskwright.integrations.vllm.hooks.READY_WITHIN_S", 60)
    engine = llm.llm_engine
    engine.add_request("waits for no step", "Numbers: ", params({"json": {"enum": list(range(10**4, 10**4 + 9))}}))
    engine.step()
    assert [each.status.name for each in engine.engine_core.engine_core.scheduler.running] == ["RUNNING"]
    while engine.has_unfinished_requests():
        engine.step()
