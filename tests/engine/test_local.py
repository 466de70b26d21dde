"""An engine as its users see it: outputs, errors, cancelling, draining, figures that add up."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest
from fake_models import FakeModel, Gate, scattered, with_all_bytes

from maskwright import CompiledGrammar, GrammarCompiler, TokenizerInfo
from maskwright.engine import LocalEngine, Output, Request, SamplingParams, complete, generate, load_engine
from maskwright.errors import ArgumentError, EngineError, LimitError, MatcherError, TokenizerError, UnsatisfiableError

Start = Callable[..., LocalEngine]
LETTERS = with_all_bytes(*(bytes([c]) for c in b'abcdefgh "{}:,0123456789'))


def model(**options: Any) -> FakeModel:
    return FakeModel(LETTERS, scattered(len(LETTERS) + 1), **options)


def compiled(engine: LocalEngine, pattern: str) -> CompiledGrammar:
    return GrammarCompiler(engine.tokenizer_info).compile_regex(pattern)


def request(engine: LocalEngine, **more: Any) -> Request:
    params = SamplingParams(**{"max_tokens": 20, "seed": 1, **more.pop("params", {})})
    return Request(engine.encode("ab"), params, **more)


@pytest.mark.parametrize("seed", range(5))
def test_an_output_follows_its_grammar_and_is_complete_within_its_tokens(start: Start, seed: int) -> None:
    engine = start(model())
    grammar = compiled(engine, "[a-h ]*:[0-9]{3}")
    whole = complete(engine, request(engine, grammar=grammar, params={"seed": seed, "max_tokens": 9}))
    assert re.fullmatch("[a-h ]*:[0-9]{3}", whole.text)
    assert whole.finish_reason == "stop"
    assert whole.usage.completion_tokens == len(whole.token_ids) == len(whole.forced) <= 9
    assert whole.data == engine.tokenizer_info.decode(whole.token_ids)


def test_outputs_add_up_and_end_once(start: Start) -> None:
    engine = start(model())
    outputs = list(generate(engine, request(engine, grammar=compiled(engine, "[a-h]{5}"))))
    assert [output.finish_reason for output in outputs] == [None] * (len(outputs) - 1) + ["stop"]
    assert b"".join(output.data for output in outputs) == engine.tokenizer_info.decode(
        [token for output in outputs for token in output.token_ids]
    )
    last = outputs[-1]
    assert last.usage is not None
    assert last.timing is not None
    assert last.usage.prompt_tokens == 2
    assert 0 < last.timing.first_token_s <= last.timing.last_token_s <= last.timing.total_s
    assert 0 <= last.timing.mask_share < 1
    assert all(output.usage is None for output in outputs[:-1])


def test_without_a_grammar_an_output_ends_at_an_end_token_or_is_cut(start: Start) -> None:
    engine = start(FakeModel([b"a", b"b"], lambda ids: [0, 0, 9 if len(ids) > 5 else -9]))
    whole = complete(engine, request(engine))
    assert (whole.finish_reason, len(whole.token_ids)) == ("stop", 4)
    assert complete(engine, request(engine, params={"max_tokens": 3})).finish_reason == "length"
    ignoring = complete(engine, request(engine, params={"ignore_eos": True}))
    assert (ignoring.finish_reason, len(ignoring.token_ids)) == ("length", 20)


def test_stop_strings_and_tokens_end_an_output(start: Start) -> None:
    engine = start(FakeModel([b"a", b"b", b"c"], lambda ids: [3.0 * (len(ids) % 3 == i) for i in range(3)] + [0]))
    free = complete(engine, request(engine, params={"temperature": 0}))
    assert free.text.startswith("cabcabc")
    stopped = complete(engine, request(engine, params={"temperature": 0, "stop": ["bca"]}))
    assert (stopped.text, stopped.finish_reason, stopped.stop_reason) == ("ca", "stop", "bca")
    stopped = complete(engine, request(engine, params={"temperature": 0, "stop_token_ids": [1]}))
    assert (stopped.text, stopped.finish_reason, stopped.stop_reason) == ("ca", "stop", 1)


def test_many_at_once_are_what_each_is_alone(start: Start) -> None:
    engine = start(model(num_slots=3))
    grammars = [None, compiled(engine, "[a-h]{3,30}"), compiled(engine, '"name": [0-9]{2,9}')]

    def ask(seed: int) -> Request:
        return request(engine, grammar=grammars[seed % 3], params={"seed": seed})

    alone = [complete(engine, ask(seed)) for seed in range(12)]
    found: dict[int, Any] = {}
    threads = [
        threading.Thread(target=lambda seed=seed: found.update({seed: complete(engine, ask(seed))}))
        for seed in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert [found[seed].token_ids for seed in range(12)] == [each.token_ids for each in alone]
    assert engine.stats().num_finished == 24


def test_what_can_be_refused_is_refused_at_once(start: Start) -> None:
    engine = start(model())

    def submit(*arguments: Any, **more: Any) -> None:
        engine.submit(Request(*arguments, **more), lambda output: None)

    with pytest.raises(ArgumentError, match="request"):
        engine.submit("a", print)  # type: ignore[arg-type]
    with pytest.raises(LimitError, match="512"):
        submit([0] * 512)
    with pytest.raises(TokenizerError, match="outside the vocabulary"):
        submit([999])
    with pytest.raises(UnsatisfiableError, match="5 tokens"):
        submit([0], SamplingParams(max_tokens=4), grammar=compiled(engine, "a{5}"))
    other = GrammarCompiler(TokenizerInfo.from_vocab([b"a", b"."], stop_token_ids=[1])).compile_regex("a")
    with pytest.raises(TokenizerError, match="another tokenizer"):
        submit([0], grammar=other)
    assert engine.stats().num_running == 0


def test_an_output_fits_the_context(start: Start) -> None:
    engine = start(model())
    request_ = Request([0] * 500, SamplingParams(max_tokens=100, seed=0), grammar=compiled(engine, "[a-h]*!?:"))
    whole = complete(engine, request_)
    assert whole.finish_reason == "stop"
    assert whole.text.endswith(":")
    assert len(whole.token_ids) <= 12
    too_long = Request([0] * 500, SamplingParams(max_tokens=100), grammar=compiled(engine, "[a-h]{13}"))
    with pytest.raises(UnsatisfiableError, match="max_tokens is 12, as the prompt has 500 tokens") as refused:
        engine.submit(too_long, lambda output: None)
    assert refused.value.hint == "shorten the prompt"


def test_a_grammar_may_come_later(start: Start) -> None:
    engine = start(model())
    pending: Future[CompiledGrammar] = Future()
    outputs: list[Output] = []
    over = threading.Event()

    def receive(output: Output) -> None:
        outputs.append(output)
        if output.finish_reason is not None:
            over.set()

    engine.submit(request(engine, grammar=pending), receive)
    other = complete(engine, request(engine, grammar=compiled(engine, "[a-h]{4}")))  # goes on meanwhile
    assert other.finish_reason == "stop"
    assert outputs == []
    pending.set_result(compiled(engine, "b[0-9]{3}"))
    assert over.wait(10)
    text = b"".join(output.data for output in outputs).decode()
    assert re.fullmatch("b[0-9]{3}", text)
    assert outputs[-1].timing is not None
    assert outputs[-1].timing.grammar_s is not None


@pytest.mark.parametrize(("outcome", "kind"), [(ValueError("no"), ValueError), ("not a grammar", ArgumentError)])
def test_a_grammar_that_fails_ends_its_output(start: Start, outcome: Any, kind: type[Exception]) -> None:
    engine = start(model())
    pending: Future[CompiledGrammar] = Future()
    if isinstance(outcome, Exception):
        pending.set_exception(outcome)
    else:
        pending.set_result(outcome)
    with pytest.raises(kind):
        complete(engine, request(engine, grammar=pending))
    assert complete(engine, request(engine)).finish_reason == "length"


def test_a_cancelled_output_frees_its_slot(start: Start) -> None:
    fake = model(num_slots=1)
    engine = start(fake)
    for _ in range(3):
        outputs = generate(engine, request(engine, params={"max_tokens": 400, "ignore_eos": True}))
        next(outputs)
        outputs.close()
    pending: Future[CompiledGrammar] = Future()
    outputs = []
    handle = engine.submit(request(engine, grammar=pending), outputs.append)
    engine.cancel(handle)
    assert engine.drain(10)
    assert [output.finish_reason for output in outputs] == ["cancelled"]
    assert fake.slots == [[]]
    engine.cancel(handle)


def test_a_waiting_output_can_be_cancelled(start: Start) -> None:
    fake = model(num_slots=1)
    gate = fake.before_forward = Gate()
    engine = start(fake)
    first, second = [], []
    engine.submit(request(engine), first.append)
    assert gate.reached.wait(10)
    handle = engine.submit(request(engine), second.append)
    assert engine.stats().num_waiting == 1
    engine.cancel(handle)
    gate.opened.set()
    assert engine.drain(10)
    assert first[-1].finish_reason == "length"
    assert [output.finish_reason for output in second] == ["cancelled"]


def test_an_error_of_the_model_ends_what_it_was_about(start: Start) -> None:
    fake = model()
    engine = start(fake)

    def fail() -> None:
        raise RuntimeError("out of memory")

    fake.before_forward = fail
    with pytest.raises(RuntimeError, match="out of memory"):
        complete(engine, request(engine))
    fake.before_forward = lambda: None
    assert complete(engine, request(engine)).finish_reason == "length"


def test_an_error_of_one_output_leaves_the_others_alone(start: Start) -> None:
    engine = start(FakeModel([b"a", b"b"], lambda ids: [float("nan")] * 3 if ids[0] == 1 else [0.0] * 3))
    found: list[Any] = []

    def bad() -> None:
        try:
            complete(engine, Request([1], SamplingParams(max_tokens=5)))
        except MatcherError as error:
            found.append(error)

    thread = threading.Thread(target=bad)
    thread.start()
    good = complete(engine, Request([0], SamplingParams(max_tokens=300, ignore_eos=True)))
    thread.join(10)
    assert (good.finish_reason, len(good.token_ids), len(found)) == ("length", 300, 1)


def test_a_callback_that_fails_cancels_its_output(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    engine = start(model())

    def fail(output: Output) -> None:
        raise ValueError("my mistake")

    with caplog.at_level(logging.ERROR):
        engine.submit(request(engine, params={"max_tokens": 400, "ignore_eos": True}), fail)
        assert engine.drain(10)
    assert "my mistake" in caplog.text


def test_draining_finishes_what_there_is_and_takes_no_more(start: Start) -> None:
    engine = start(model())
    outputs: list[Output] = []
    engine.submit(request(engine), outputs.append)
    assert engine.drain(10)
    assert outputs[-1].finish_reason == "length"
    with pytest.raises(EngineError, match="no more requests"):
        engine.submit(request(engine), outputs.append)


def test_draining_gives_up_in_time(start: Start) -> None:
    fake = model()
    gate = fake.before_forward = Gate()
    engine = start(fake)
    engine.submit(request(engine), lambda output: None)
    assert not engine.drain(0.05)
    gate.opened.set()


def test_closing_cancels_and_closes_the_model() -> None:
    fake = model()
    engine = LocalEngine(fake)
    outputs: list[Output] = []
    engine.submit(request(engine, params={"max_tokens": 500, "ignore_eos": True}), outputs.append)
    engine.close()
    engine.close()
    assert fake.is_closed
    assert outputs[-1].finish_reason in ("cancelled", "length")
    with pytest.raises(EngineError, match="closed"):
        engine.submit(request(engine), outputs.append)


def test_figures(start: Start) -> None:
    engine = start(model())
    whole = complete(engine, request(engine, grammar=compiled(engine, '"name": [0-9]{9}')))
    stats = engine.stats()
    assert (stats.num_finished, stats.num_running, stats.num_waiting, stats.num_slots) == (1, 0, 0, 4)
    assert (stats.prompt_tokens, stats.completion_tokens) == (2, whole.usage.completion_tokens)
    assert stats.forced_tokens == whole.usage.forced_tokens == sum(whole.forced) > 0
    assert stats.num_steps == whole.timing.num_steps > 0
    assert min(stats.model_s, stats.mask_s, stats.sample_s) > 0
    assert stats.cached_tokens == 0


def test_events_are_read_from_the_matcher() -> None:
    from maskwright.events import CallDone, FieldDone
    from maskwright.structural_tag import get_model_structural_tag

    tools = [
        {
            "type": "function",
            "function": {
                "name": "get_weather",
                "parameters": {
                    "type": "object",
                    "properties": {"city": {"enum": ["Rome", "Paris"]}},
                    "required": ["city"],
                },
            },
        }
    ]
    with load_engine() as engine:
        tag = get_model_structural_tag("hermes", tools, "required")
        grammar = GrammarCompiler(engine.tokenizer_info).compile_structural_tag(tag)
        asked = Request(engine.encode("A call: "), SamplingParams(seed=3), grammar=grammar, read_events=True)
        whole = complete(engine, asked)
    done = [event for event in whole.events if isinstance(event, CallDone)]
    assert done[0].name == "get_weather"
    assert next(event.json for event in whole.events if isinstance(event, FieldDone)) in ('"Rome"', '"Paris"')
    assert whole.text.count("<tool_call>") == len(done)


def test_time_to_the_first_output_does_not_wait_for_the_last(start: Start) -> None:
    fake = model()
    has_come = threading.Event()
    seen = []

    def hold_the_tenth_step() -> None:
        if len(fake.asked) == 9:
            seen.append(has_come.wait(20))

    fake.before_forward = hold_the_tenth_step
    engine = start(fake)
    outputs = generate(engine, request(engine, params={"max_tokens": 20, "ignore_eos": True}))
    next(outputs)
    has_come.set()
    assert list(outputs)
    assert seen == [True]


@pytest.mark.parametrize("is_awaited", [False, True])
def test_an_output_that_may_be_cut_off_comes_with_a_warning(start: Start, is_awaited: bool) -> None:
    engine = start(model())
    grammar: Any = GrammarCompiler(engine.tokenizer_info).compile_grammar(
        'root ::= Distinct(x, ",", min=9)\nx ::= [a-h]+'
    )
    if is_awaited:
        done: Future[CompiledGrammar] = Future()
        done.set_result(grammar)
        grammar = done
    with pytest.warns(UserWarning, match=r"may be cut off at max_tokens; \d+ tokens are enough"):
        complete(engine, request(engine, grammar=grammar, params={"max_tokens": 17}))
    complete(engine, request(engine, grammar=grammar, params={"max_tokens": 40}))
