"""Our own engine with a real model: by llama.cpp, and by transformers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from engines import models
from maskwright import GrammarCompiler
from maskwright.engine import Completion, LocalEngine, Request, SamplingParams, complete, load_engine, prompt_lookup
from maskwright.engine.models import Step
from maskwright.errors import EngineError

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


@pytest.fixture(scope="module", params=["llama.cpp", "transformers"])
def engine(request: pytest.FixtureRequest) -> Iterator[LocalEngine]:
    if request.param == "llama.cpp":
        pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed: make engines")
    try:
        name = models.smollm2_gguf() if request.param == "llama.cpp" else models.smollm2()
    except models.MissingModel as missing:
        pytest.skip(str(missing))
    with load_engine(name, num_slots=3, max_model_len=256) as engine:
        yield engine


def ask(engine: LocalEngine, seed: int = 0, held: bool = True, **more: Any) -> Request:
    grammar = GrammarCompiler(engine.tokenizer_info).compile_json_schema(SCHEMA) if held else None
    params = SamplingParams(max_tokens=60, temperature=more.pop("temperature", 0.7), seed=seed)
    return Request(engine.apply_chat_template(MESSAGES), params, grammar=grammar, **more)


def test_an_output_follows_its_schema_and_forced_text_costs_no_steps(engine: LocalEngine) -> None:
    whole = complete(engine, ask(engine, temperature=0.0))
    assert list(json.loads(whole.text)) == SCHEMA["required"]
    assert whole.finish_reason == "stop"
    assert whole.usage.forced_tokens > 10
    assert whole.timing.num_steps <= whole.usage.completion_tokens - whole.usage.forced_tokens + 1
    plain = complete(engine, ask(engine, temperature=0.0, jump_forward=False))
    assert plain.usage.forced_tokens == 0
    assert plain.timing.num_steps > whole.timing.num_steps


def test_many_at_once_each_follow(engine: LocalEngine) -> None:
    def run(seed: int) -> Completion:
        propose = prompt_lookup() if seed % 2 else None
        return complete(engine, ask(engine, seed, held=seed != 2, propose=propose))

    with ThreadPoolExecutor(5) as threads:
        outputs = list(threads.map(run, range(5)))
    for seed, output in enumerate(outputs):
        if seed != 2:
            assert list(json.loads(output.text)) == SCHEMA["required"]
    assert engine.stats().num_running == 0


def test_greedy_text_is_that_of_llama_cpp_itself() -> None:
    llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed: make engines")
    from maskwright.engine.models.llama_cpp import LlamaCppModel

    try:
        path = str(models.smollm2_gguf())
    except models.MissingModel as missing:
        pytest.skip(str(missing))
    llama = llama_cpp.Llama(path, n_ctx=256, verbose=False)
    expected = llama.create_completion("The capital of France is", max_tokens=12, temperature=0.0)["choices"][0]["text"]
    with LocalEngine(LlamaCppModel.load(path, num_slots=2, max_model_len=256)) as engine:
        ids = engine.encode("The capital of France is")
        assert complete(engine, Request(ids, SamplingParams(max_tokens=12, temperature=0))).text == expected


def test_llama_cpp_cuts_slots_back_and_reads_long_prompts() -> None:
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed: make engines")
    import numpy as np

    from maskwright.engine.models.llama_cpp import LlamaCppModel

    try:
        model = LlamaCppModel.load(str(models.smollm2_gguf()), num_slots=2, max_model_len=1024)
    except models.MissingModel as missing:
        pytest.skip(str(missing))
    ids = model.encode("One two three four five. " * 100)
    assert len(ids) > 512
    # llama.cpp rounds by how the tokens lie in its batches, so both sides have the same batches.
    long = model.forward([Step(0, ids)])
    model.forward([Step(1, ids[:512])])
    assert np.abs(long - model.forward([Step(1, ids[512:])])).max() < 1e-3
    model.free(1)
    model.forward([Step(1, [*ids[:40], 7, 8, 9]), Step(0, [3])])
    model.truncate(1, 40)
    cut_back = model.forward([Step(1, ids[40:100])])
    model.free(0)
    model.forward([Step(0, ids[:40])])
    assert np.abs(cut_back - model.forward([Step(0, ids[40:100])])).max() < 1e-3
    model.free(0)
    first = model.forward([Step(0, ids[:5], 2)])
    assert first.shape == (2, model.tokenizer_info.vocab_size)
    model.close()


def test_a_file_that_is_not_a_model_is_a_typed_error(tmp_path: Any) -> None:
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed: make engines")
    (tmp_path / "x.gguf").write_bytes(b"no")
    with pytest.raises(EngineError, match="cannot load"):
        load_engine(tmp_path / "x.gguf")
