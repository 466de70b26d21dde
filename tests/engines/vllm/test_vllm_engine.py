"""`VllmEngine` with a real vLLM server: the requests that the other engines get, and what comes back."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from maskwright import GrammarCompiler
from maskwright.engine import Completion, Output, Request, SamplingParams, VllmEngine, complete, generate
from maskwright.errors import RequestError, UnsatisfiableError

pytest.importorskip("vllm", reason="vLLM is not installed: make engines")
transformers = pytest.importorskip("transformers", reason="transformers is not installed: make engines")

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 30},
        "capital_city_of_the_country": {"type": "string", "maxLength": 30},
        "number_of_inhabitants": {"type": "integer", "minimum": 0, "maximum": 999},
    },
    "required": ["name", "capital_city_of_the_country", "number_of_inhabitants"],
    "additionalProperties": False,
}
MESSAGES = [{"role": "user", "content": "Describe France as JSON."}]


@pytest.fixture(scope="module")
def engine(client: Any, thinking_toy: Path) -> Iterator[VllmEngine]:
    tokenizer = transformers.AutoTokenizer.from_pretrained(thinking_toy)
    with VllmEngine(str(client.base_url).removesuffix("/v1/"), tokenizer, max_running=6, timeout_s=120) as engine:
        yield engine


def prompt(engine: VllmEngine) -> list[int]:
    return engine.apply_chat_template(MESSAGES, enable_thinking=False)


def ask(engine: VllmEngine, grammar: Any = None, **params: Any) -> Request:
    return Request(prompt(engine), SamplingParams(**{"max_tokens": 60, "seed": 1, **params}), grammar=grammar)


def person(engine: VllmEngine) -> Any:
    return GrammarCompiler(engine.tokenizer_info).compile_json_schema(SCHEMA)


def test_facts_of_the_server(engine: VllmEngine) -> None:
    assert (engine.model_name, engine.max_model_len, engine.has_chat_template) == ("model", 1024, True)
    assert engine.encode("Hi", add_special_tokens=False)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_an_output_follows_its_schema(engine: VllmEngine, temperature: float) -> None:
    whole = complete(engine, ask(engine, person(engine), temperature=temperature))
    assert list(json.loads(whole.text)) == SCHEMA["required"]
    assert whole.finish_reason == "stop"
    assert whole.usage.completion_tokens == len(whole.token_ids) <= 60
    assert whole.usage.prompt_tokens == len(prompt(engine))
    assert 0 < whole.timing.first_token_s < whole.timing.last_token_s <= whole.timing.total_s


@pytest.mark.parametrize("max_tokens", [8, 12])
def test_an_output_is_complete_within_its_tokens(engine: VllmEngine, max_tokens: int) -> None:
    grammar = GrammarCompiler(engine.tokenizer_info).compile_regex(r"[a-z ]{3,200};[0-9]{3}-[0-9]{3}!")
    for seed in range(4):
        whole = complete(engine, ask(engine, grammar, max_tokens=max_tokens, seed=seed))
        assert re.fullmatch(r"[a-z ]{3,200};[0-9]{3}-[0-9]{3}!", whole.text)
        assert len(whole.token_ids) <= max_tokens
        assert whole.finish_reason == "stop"


def test_a_budget_that_nothing_fits_is_refused_at_once(engine: VllmEngine) -> None:
    grammar = GrammarCompiler(engine.tokenizer_info).compile_regex("(one|two){20}")
    with pytest.raises(UnsatisfiableError):
        complete(engine, ask(engine, grammar, max_tokens=3))


def test_many_at_once_each_follow(engine: VllmEngine) -> None:
    compiler = GrammarCompiler(engine.tokenizer_info)
    pending = compiler.compile_json_schema_async(SCHEMA)
    grammars = [person(engine), None, pending, compiler.compile_regex("[0-9]{5}")]

    def run(seed: int) -> Completion:
        return complete(engine, ask(engine, grammars[seed % 4], seed=seed, temperature=1.0))

    with ThreadPoolExecutor(8) as threads:
        outputs = list(threads.map(run, range(8)))
    for seed, output in enumerate(outputs):
        if seed % 4 in (0, 2):
            assert list(json.loads(output.text)) == SCHEMA["required"]
        if seed % 4 == 3:
            assert re.fullmatch("[0-9]{5}", output.text)
    assert engine.stats().num_running == 0


def test_parameters_reach_the_server(engine: VllmEngine) -> None:
    free = complete(engine, ask(engine, temperature=0.0, max_tokens=12, ignore_eos=True))
    assert free.finish_reason == "length"
    assert complete(engine, ask(engine, temperature=0.0, max_tokens=12, ignore_eos=True)).token_ids == free.token_ids
    first = free.token_ids[0]
    biased = complete(engine, ask(engine, temperature=0.0, max_tokens=3, logit_bias={first: -100.0}))
    assert first not in biased.token_ids
    chosen = complete(engine, ask(engine, temperature=0.0, max_tokens=4, ignore_eos=True, logit_bias={500: 100.0}))
    assert chosen.token_ids == [500] * 4
    seeds = [complete(engine, ask(engine, max_tokens=8, seed=seed)).token_ids for seed in (3, 3, 4)]
    assert seeds[0] == seeds[1] != seeds[2]


def test_stop_strings_and_stop_tokens(engine: VllmEngine) -> None:
    grammar = GrammarCompiler(engine.tokenizer_info).compile_regex("[0-9]{9}END[0-9]{9}")
    whole = complete(engine, ask(engine, grammar, stop=["END"]))
    assert re.fullmatch("[0-9]{9}", whole.text)
    assert (whole.finish_reason, whole.stop_reason) == ("stop", "END")
    free = complete(engine, ask(engine, max_tokens=9, logit_bias={500: 100.0}, stop_token_ids=[500]))
    assert (free.finish_reason, free.stop_reason) == ("stop", 500)


def test_events_are_read_from_the_matcher(engine: VllmEngine) -> None:
    from maskwright.events import CallDone
    from maskwright.structural_tag import get_model_structural_tag

    parameters = {"type": "object", "properties": {"city": {"enum": ["Rome", "Paris"]}}, "required": ["city"]}
    tools = [{"type": "function", "function": {"name": "get_weather", "parameters": parameters}}]
    tag = get_model_structural_tag("hermes", tools, "required")
    grammar = GrammarCompiler(engine.tokenizer_info).compile_structural_tag(tag)
    asked = Request(prompt(engine), SamplingParams(max_tokens=80, seed=2), grammar=grammar, read_events=True)
    calls = [event for event in complete(engine, asked).events if isinstance(event, CallDone)]
    assert calls
    assert {call.name for call in calls} == {"get_weather"}


def test_a_cancelled_output_ends_and_frees_its_place(engine: VllmEngine) -> None:
    """Six run at a time here: as many are cancelled, and another six are answered at once."""
    for _ in range(6):
        outputs = generate(engine, ask(engine, max_tokens=900, ignore_eos=True))
        assert next(outputs).token_ids
        outputs.close()
    received: list[Output] = []
    over = threading.Event()

    def receive(output: Output) -> None:
        received.append(output)
        if output.finish_reason is not None:
            over.set()

    handle = engine.submit(ask(engine, max_tokens=900, ignore_eos=True), receive)
    time.sleep(0.2)
    engine.cancel(handle)
    assert over.wait(20)
    assert received[-1].finish_reason == "cancelled"
    assert sum(len(output.token_ids) for output in received) < 900
    with ThreadPoolExecutor(6) as threads:
        outcomes = threads.map(lambda seed: complete(engine, ask(engine, max_tokens=4, seed=seed)), range(6))
        assert [len(each.token_ids) <= 4 for each in outcomes] == [True] * 6


def test_what_the_server_refuses_is_an_error_in_its_words(engine: VllmEngine) -> None:
    with pytest.raises(RequestError, match=r"(?i)token"):
        complete(engine, Request([10**6], SamplingParams(max_tokens=3)))
