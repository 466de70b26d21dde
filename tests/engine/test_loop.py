"""What the loop gives the model, step by step, and that masks are filled while the model calculates."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import numpy as np
import pytest
from fake_models import FakeModel, scattered

from maskwright import CompiledGrammar, GrammarCompiler, GrammarMatcher
from maskwright.engine import LocalEngine, Output, Request, SamplingParams, complete
from maskwright.engine.beside import Beside
from maskwright.errors import LimitError

Start = Callable[..., LocalEngine]
LETTERS = [bytes([c]) for c in b"abcdefgh "]


def model(**options: Any) -> FakeModel:
    return FakeModel(LETTERS, scattered(len(LETTERS) + 1), **options)


def test_a_prompt_is_read_once_and_then_a_token_a_step(start: Start) -> None:
    fake = model()
    engine = start(fake)
    whole = complete(engine, Request([0, 1, 2], SamplingParams(max_tokens=4, ignore_eos=True, seed=1)))
    read = [list(step.token_ids) for steps in fake.asked for step in steps]
    assert read == [[0, 1, 2], *([token] for token in whole.token_ids[:-1])]
    assert all(step.num_logits == 1 for steps in fake.asked for step in steps)


def test_a_long_prompt_is_read_in_chunks(start: Start) -> None:
    fake = model()
    fake.max_model_len = 4096
    engine = start(fake)
    complete(engine, Request([0] * 1200, SamplingParams(max_tokens=1)))
    assert [(len(step.token_ids), step.num_logits) for (step,) in fake.asked] == [(512, 0), (512, 0), (176, 1)]


def test_masks_are_filled_while_the_model_calculates(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model is done with a step only once its masks are being filled, and masks only once the model is at work."""
    from maskwright.engine import masks

    both = threading.Barrier(2)

    def fill(self: Any, held: Any, firsts: Any) -> None:
        both.wait(20)
        real_fill(self, held, firsts)

    real_fill = masks.StepMasks._fill
    monkeypatch.setattr(masks.StepMasks, "_fill", fill)
    monkeypatch.setattr(masks.StepMasks, "are_known", lambda self, sequences: False)
    fake = model()
    fake.before_forward = lambda: both.wait(20)
    engine = start(fake)
    grammar = GrammarCompiler(engine.tokenizer_info).compile_regex("[a-h]{40}")
    whole = complete(engine, Request([0], SamplingParams(seed=1), grammar=grammar))
    assert whole.usage.completion_tokens == 40
    assert engine.stats().mask_s > 0


def test_masks_that_are_known_are_filled_at_once(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """Waking a thread takes longer than copying them. Those that must be computed are filled beside the model."""
    from maskwright.engine import masks

    where: list[tuple[bool, str]] = []

    def watched_fill(self: Any, held: Any, firsts: Any) -> None:
        where.append((held[0].matcher.mask_is_known(), threading.current_thread().name))
        real_fill(self, held, firsts)

    real_fill = masks.StepMasks._fill
    monkeypatch.setattr(masks.StepMasks, "_fill", watched_fill)
    monkeypatch.setattr("maskwright.engine.loop._HAND_OVER_S", 1.0)
    monkeypatch.setattr("maskwright.engine.loop._BLOCKED_S", 60.0)  # of the clock, which a busy machine uses up
    engine = start(model(), precompute_us=0)
    grammar = GrammarCompiler(engine.tokenizer_info).compile_regex("([a-d]{2}[e-h]){5}")
    for _ in range(2):
        complete(engine, Request([0], SamplingParams(seed=1), grammar=grammar))
    assert {name for known, name in where if not known} == {"maskwright.beside"}
    assert {name for known, name in where[1:15] if known} <= {"maskwright.engine"}
    assert [name for _, name in where[16:]] == ["maskwright.engine"] * 14


def test_reports_that_block_are_made_beside_the_model(start: Start) -> None:
    """They take no processor time. Now and then it is tried whether they still block."""
    where: list[str] = []
    over = threading.Event()

    def slow(output: Output) -> None:
        where.append(threading.current_thread().name)
        time.sleep(0.003)
        if output.finish_reason is not None:
            over.set()

    start(model()).submit(Request([0], SamplingParams(seed=1, max_tokens=130, ignore_eos=True)), slow)
    assert over.wait(30)
    assert len(where) > 120
    assert where.count("maskwright.engine") <= 5


@pytest.mark.parametrize("held", ["[A-Z]{2,30}", "(one|two|three| )+!", "[^x]{9}"])
def test_few_tokens_are_sampled_as_many_are(start: Start, monkeypatch: pytest.MonkeyPatch, held: str) -> None:
    """Where a mask allows few tokens, these are listed: no other token comes, and the outputs are the same."""
    tokens = [bytes([c]) for c in range(32, 127)] + [b"%d" % i for i in range(100, 4000)]
    outputs = []
    for few in (0.0, 1 / 16):
        monkeypatch.setattr("maskwright.engine.masks._FEW", few)
        engine = start(FakeModel(tokens, scattered(len(tokens) + 1)))
        grammar = GrammarCompiler(engine.tokenizer_info).compile_regex(held)
        params = [
            {"top_p": 0.8},
            {"min_p": 0.01},
            {"temperature": 0.0},
            {"logprobs": 2},
            {"frequency_penalty": 1.0},
            {},
        ]
        for seed, more in enumerate(params):
            asked = SamplingParams(seed=seed, max_tokens=20, **more)
            outputs.append(complete(engine, Request([0], asked, grammar=grammar)))
    assert [each.token_ids for each in outputs[:6]] == [each.token_ids for each in outputs[6:]]
    assert [each.logprobs for each in outputs[:6]] == [each.logprobs for each in outputs[6:]]
    assert all(re.fullmatch(held, each.text) for each in outputs)


def test_first_masks_are_computed_while_the_prompt_is_read(start: Start) -> None:
    known = []
    for budget_us in (0.0, 1e5):
        engine = start(model(), precompute_us=budget_us)
        grammar = GrammarCompiler(engine.tokenizer_info).compile_regex("(a|bc|de[f-h]){5,9} [a-d]{3}")
        complete(engine, Request([0], SamplingParams(stop_token_ids=range(9), seed=1), grammar=grammar))
        known.append(grammar.stats().num_masks)
    assert known[0] <= 2
    assert known[1] > 5


@pytest.mark.parametrize("when", ["before", "while", "after"])
def test_a_grammar_may_be_there_before_the_prompt_is_read_or_later(start: Start, when: str) -> None:
    """Whenever it comes, the output is the same, and no step of the model is wasted."""
    fake = model()
    pending: Future[CompiledGrammar] = Future()
    engine = start(fake)
    grammar = GrammarCompiler(engine.tokenizer_info).compile_regex("[a-h]{6}")

    def come() -> None:
        if not pending.done():
            pending.set_result(grammar)

    if when == "before":
        come()
    elif when == "while":
        fake.before_forward = come
    outputs: list[Output] = []
    request = Request([0, 1], SamplingParams(seed=4), grammar=pending)
    engine.submit(request, outputs.append)
    if when == "after":
        while not fake.asked:
            time.sleep(0.001)
        come()
    assert engine.drain(10)
    expected = complete(start(model()), Request([0, 1], SamplingParams(seed=4), grammar=grammar))
    assert [token for output in outputs for token in output.token_ids] == expected.token_ids
    assert len(fake.asked) == 6


def test_outputs_join_a_running_batch_and_leave_it(start: Start) -> None:
    fake = model(num_slots=2)
    engine = start(fake)
    with_lengths = [(3, [0]), (12, [1, 2]), (5, [3, 4, 5])]
    requests = [Request(ids, SamplingParams(max_tokens=n, ignore_eos=True)) for n, ids in with_lengths]
    held = threading.Event()
    fake.before_forward = lambda: held.wait(10)
    for request in requests:
        engine.submit(request, lambda output: None)
    held.set()
    assert engine.drain(10)
    assert max(len(steps) for steps in fake.asked) == 2
    assert sorted(fake.freed) in ([0, 0, 1], [0, 1, 1])
    assert fake.slots == [[], []]
    assert len(fake.asked) <= 13


def test_a_mask_that_takes_too_much_work_ends_its_output_only(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    class Ambiguous(GrammarMatcher):
        """Reaches a limit at the fourth token of outputs with spaces."""

        def fill_next_token_bitmask(self, bitmask: Any, index: int = 0) -> bool:
            if self.num_accepted_tokens > 3 and self.compiled_grammar is bad:
                raise LimitError("too much", limit="x")
            return bool(super().fill_next_token_bitmask(bitmask, index))

        def fill_draft_bitmask(self, draft: Any, bitmask: Any, index: int = 0) -> int:
            return int(self.fill_next_token_bitmask(bitmask, index))

    class Batch:
        """Fills one after the other, in Python."""

        def __init__(self, matchers: tuple[GrammarMatcher, ...]) -> None:
            self.matchers = matchers

        def fill_next_token_bitmask(self, bitmask: Any, rows: list[int]) -> None:
            for matcher, row in zip(self.matchers, rows, strict=True):
                matcher.fill_next_token_bitmask(bitmask, row)

    monkeypatch.setattr("maskwright.matcher.GrammarMatcher", Ambiguous)
    monkeypatch.setattr("maskwright.engine.masks.BatchGrammarMatcher", Batch)
    fake = model()
    held = threading.Event()
    fake.before_forward = lambda: held.wait(10)
    engine = start(fake)
    compiler = GrammarCompiler(engine.tokenizer_info)
    bad, good = compiler.compile_regex("[a-c ]{30}"), compiler.compile_regex("[d-h]{30}")
    outputs: dict[str, list[Output]] = {"bad": [], "good": []}
    for name, grammar in (("bad", bad), ("good", good)):
        engine.submit(Request([0], SamplingParams(seed=1), grammar=grammar), outputs[name].append)
    held.set()
    assert engine.drain(10)
    assert outputs["good"][-1].finish_reason == "stop"
    assert sum(len(output.token_ids) for output in outputs["good"]) == 30
    assert isinstance(outputs["bad"][-1].error, LimitError)
    assert sum(len(output.token_ids) for output in outputs["bad"]) == 4


def test_an_output_that_may_only_end_is_ended_without_asking_the_model(start: Start) -> None:
    fake = model()
    engine = start(fake)
    grammar = GrammarCompiler(engine.tokenizer_info).compile_regex("[a-h]")
    whole = complete(engine, Request([0], SamplingParams(seed=1), grammar=grammar))
    assert (len(whole.token_ids), len(fake.asked)) == (1, 1)
    empty = GrammarCompiler(engine.tokenizer_info).compile_choices([""])
    whole = complete(engine, Request([0], SamplingParams(seed=1), grammar=empty))
    assert (whole.text, whole.finish_reason, len(fake.asked)) == ("", "stop", 1)


def test_temperatures_of_the_grammar_come_first(start: Start) -> None:
    fake = FakeModel(LETTERS, lambda ids: np.arange(len(LETTERS) + 1) / 10)
    engine = start(fake)
    grammar = GrammarCompiler(engine.tokenizer_info).compile_grammar(
        'root ::= hot cold\nhot ::= [a-h]{20}\ncold[temperature=0.0] ::= " " [a-h]{20}'
    )
    text = complete(engine, Request([0], SamplingParams(temperature=1.0, seed=1), grammar=grammar)).text
    hot, cold = text.split(" ")
    assert cold == "h" * 20
    assert len(set(hot)) > 2


def test_work_beside_raises_where_it_is_waited_for() -> None:
    beside = Beside()
    beside.wait()
    done: list[str] = []
    beside.start(lambda: done.append(threading.current_thread().name))
    beside.wait()
    assert done == ["maskwright.beside"]

    def fail() -> None:
        raise ValueError("no")

    beside.start(fail)
    with pytest.raises(ValueError, match="no"):
        beside.wait()
    beside.close()
