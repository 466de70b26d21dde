"""The loop over a model whose logits are tensors: tokens are drawn by `masked_sample`, here on the CPU."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="an optional dependency")

from fake_models import FakeModel, scattered  # noqa: E402

from maskwright import CompiledGrammar, GrammarCompiler  # noqa: E402
from maskwright.bitmask import sampling  # noqa: E402
from maskwright.engine import Completion, LocalEngine, Request, SamplingParams, complete, prompt_lookup  # noqa: E402
from maskwright.engine import loop as loop_module  # noqa: E402
from maskwright.engine.models import Step  # noqa: E402
from maskwright.errors import MatcherError  # noqa: E402

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
Start = Callable[..., LocalEngine]
TOKENS = [bytes([c]) for c in range(32, 127)] + [b"%d" % i for i in range(100, 400)]
PATTERNS = ["[A-Z]{2,30}", "(one|two|three| )+!", "[^x]{9}", "[0-9]{4} [a-d]*", None]
WAYS: list[dict[str, Any]] = [
    {},
    {"temperature": 0.0},
    {"temperature": 0.3, "top_p": 0.8},
    {"top_k": 5},
    {"top_k": 1},
    {"seed": 2**64 - 1},
    {"min_p": 0.01},
    {"frequency_penalty": 1.0},
    {"logit_bias": {3: 2.0}},
    {"logprobs": 2},
    {"stop": ["7"]},
]


class TensorModel(FakeModel):
    """Its logits are tensors on a device, which may not be changed there."""

    device = torch.device("cpu")

    def forward(self, steps: Sequence[Step]) -> Any:
        with torch.inference_mode():
            return torch.from_numpy(super().forward(steps)).clone()


def made(kind: type[FakeModel]) -> FakeModel:
    return kind(TOKENS, scattered(len(TOKENS) + 1), num_slots=4)


@pytest.fixture(autouse=True)
def kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tokens are drawn by the Triton kernel, if its interpreter is on, and else by torch's expressions."""
    if INTERPRETED:
        monkeypatch.setattr(sampling, "uses_triton", lambda logits: True)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many tokens were drawn on the device, by step."""
    counts: list[int] = []
    real = loop_module.drawn_on_device

    def watched(*arguments: Any) -> dict[int, int]:
        found = real(*arguments)
        counts.append(len(found))
        return found

    monkeypatch.setattr(loop_module, "drawn_on_device", watched)
    return counts


@pytest.mark.parametrize("held", PATTERNS)
def test_outputs_are_those_of_logits_in_memory(start: Start, drawn: list[int], held: str | None) -> None:
    outputs: list[list[Completion]] = []
    for kind in (FakeModel, TensorModel):
        engine = start(made(kind))
        grammar = None if held is None else GrammarCompiler(engine.tokenizer_info).compile_regex(held)

        def ask(seed: int, engine: LocalEngine = engine, grammar: Any = grammar) -> Completion:
            params = SamplingParams(**{"seed": seed, "max_tokens": 20, **WAYS[seed]})
            return complete(engine, Request([0], params, grammar=grammar, jump_forward=seed % 2 == 0))

        with ThreadPoolExecutor(6) as threads:
            outputs.append(list(threads.map(ask, range(len(WAYS)))))
    here, there = outputs
    same = [i for i, way in enumerate(WAYS) if way.get("top_k", 0) < 2 and "top_p" not in way]
    assert [here[i].token_ids for i in same] == [there[i].token_ids for i in same]
    assert [here[i].finish_reason for i in same] == [there[i].finish_reason for i in same]
    assert here[9].logprobs == there[9].logprobs
    if held is not None:
        assert all(re.fullmatch(held, each.text) for each in there if each.stop_reason is None)
    assert sum(drawn) >= sum(len(each.token_ids) for each in there[:6]) / 3, "most are drawn on the device"


def test_drafts_are_read_and_masked(start: Start, drawn: list[int]) -> None:
    engine = start(made(TensorModel))
    grammar = GrammarCompiler(engine.tokenizer_info).compile_regex("(abcdefg){4}x?")
    asked = Request([0], SamplingParams(seed=1), grammar=grammar, jump_forward=False, propose=prompt_lookup())
    assert re.fullmatch("(abcdefg){4}x?", complete(engine, asked).text)
    assert sum(drawn) == 0


def test_a_grammar_that_comes_later(start: Start) -> None:
    texts = []
    for kind in (FakeModel, TensorModel):
        engine, pending = start(made(kind)), Future[CompiledGrammar]()
        with ThreadPoolExecutor(1) as threads:
            params = SamplingParams(seed=4, max_tokens=30)
            found = threads.submit(complete, engine, Request([0, 1], params, grammar=pending))
            complete(engine, Request([0], SamplingParams(max_tokens=3, ignore_eos=True)))
            pending.set_result(GrammarCompiler(engine.tokenizer_info).compile_regex("[a-z]{9} [0-9]{4}"))
            texts.append(found.result(20).text)
    assert re.fullmatch("[a-z]{9} [0-9]{4}", texts[1])
    assert texts[0] == texts[1]


def test_a_step_without_logits(start: Start) -> None:
    """The first part of a long prompt."""
    fake = made(TensorModel)
    fake.max_model_len = 4096
    assert len(complete(start(fake), Request([0] * 1200, SamplingParams(seed=1, max_tokens=1))).token_ids) <= 1
    assert [step.num_logits for (step,) in fake.asked] == [0, 0, 1]


def test_logits_that_are_not_finite_end_one_output(start: Start) -> None:
    fake = made(TensorModel)
    usual = scattered(len(TOKENS) + 1)
    fake.logits = lambda ids: np.full(len(TOKENS) + 1, np.nan) if ids[0] == 9 else usual(ids)
    engine = start(fake)
    with pytest.raises(MatcherError, match="finite logit"):
        complete(engine, Request([9], SamplingParams(seed=1)))
    assert complete(engine, Request([1], SamplingParams(seed=1, max_tokens=3, ignore_eos=True))).token_ids


@pytest.mark.long
@pytest.mark.skipif(INTERPRETED, reason="this is the test of the test")
def test_the_kernel_by_tritons_interpreter() -> None:
    """In a process of its own, as `TRITON_INTERPRET` counts when triton is imported."""
    pytest.importorskip("triton", reason="an optional dependency")
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        __file__,
        "-k",
        "memory and one or later",
    ]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert ".." in done.stdout  # both of them


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_on_a_gpu(start: Start) -> None:
    class OnGpu(TensorModel):
        device = torch.device("cuda")

        def forward(self, steps: Sequence[Step]) -> Any:
            return super().forward(steps).to(self.device)

    engine = start(made(OnGpu))
    compiler = GrammarCompiler(engine.tokenizer_info)

    def ask(seed: int) -> str:
        grammar = compiler.compile_regex("[a-z]{9} [0-9]{4}")
        return complete(engine, Request([0], SamplingParams(seed=seed), grammar=grammar)).text

    with ThreadPoolExecutor(8) as threads:
        assert all(re.fullmatch("[a-z]{9} [0-9]{4}", text) for text in threads.map(ask, range(32)))
