"""Forced text comes in the tokenizer's own tokens, without asking the model, and the cache is cut back for it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from fake_models import FakeModel, scattered, with_all_bytes

from maskwright import GrammarCompiler
from maskwright.engine import LocalEngine, Request, SamplingParams, complete
from maskwright.lm import load_embedded_model

Start = Callable[..., LocalEngine]
TOKENS = with_all_bytes(b"n", b"a", b"m", b"e", b'"', b"{", b":", b"name", b'":', b"b", b"c")


def prefers(*wanted: bytes) -> Callable[[list[int]], np.ndarray]:
    """Logits that are high for these tokens."""
    values = np.array([5.0 if token in wanted else 0.0 for token in [*TOKENS, b"<end>"]])
    return lambda ids: values


def run(engine: LocalEngine, pattern: str, **more: object) -> object:
    grammar = GrammarCompiler(engine.tokenizer_info).compile_regex(pattern)
    return complete(engine, Request([9], SamplingParams(temperature=0), grammar=grammar, **more))


def spelled(engine: LocalEngine, ids: list[int]) -> list[bytes]:
    return [engine.tokenizer_info.token_bytes[i] for i in ids]


def test_forced_text_is_written_without_asking_the_model(start: Start) -> None:
    fake = FakeModel(TOKENS)
    engine = start(fake)
    whole = run(engine, '\\{"name":(b|c)')
    assert whole.text in ('{"name":b', '{"name":c')
    assert spelled(engine, whole.token_ids)[:4] == [b"{", b'"', b"name", b'":']
    assert whole.forced == [True, True, True, True, False]
    assert len(fake.asked) == 1
    assert whole.usage.forced_tokens == 4


def test_without_jump_forward_the_model_is_asked_for_every_token(start: Start) -> None:
    fake = FakeModel(TOKENS)
    engine = start(fake)
    whole = run(engine, '\\{"name":(b|c)', jump_forward=False)
    assert not any(whole.forced)
    assert len(fake.asked) == len(whole.token_ids)


def test_what_was_sampled_is_cut_together_with_what_is_forced(start: Start) -> None:
    """`n` is sampled, `ame` is forced: the tokenizer writes `name`."""
    fake = FakeModel(TOKENS, prefers(b"n"))
    engine = start(fake)
    whole = run(engine, "(name|b):[bc]")
    assert spelled(engine, whole.token_ids)[:2] == [b"name", b":"]
    assert whole.text[:5] == "name:"
    assert whole.forced[:2] == [False, True]


def test_the_cache_is_cut_back_to_where_tokens_differ(start: Start) -> None:
    """`n` and `a` are sampled and read by the model, then `me` is forced."""
    fake = FakeModel(TOKENS, prefers(b"n", b"a"))
    engine = start(fake)
    whole = run(engine, "(name|nb|b|c):[bc][bc]")
    assert whole.text[:5] == "name:"
    assert spelled(engine, whole.token_ids)[:2] == [b"name", b":"]
    assert fake.truncated == [(fake.truncated[0][0], 1)]
    last = fake.asked[-1][0]
    assert list(last.token_ids) == [whole.token_ids[-2]]
    assert whole.data == engine.tokenizer_info.decode(whole.token_ids)


@pytest.mark.parametrize("seed", range(20))
def test_outputs_are_whole_and_canonical_whatever_is_sampled(start: Start, seed: int) -> None:
    fake = FakeModel(TOKENS, scattered(len(TOKENS) + 1))
    engine = start(fake)
    grammar = GrammarCompiler(engine.tokenizer_info).compile_regex('(name|nam|b)+:("name"|"bb")(:(name|bc)){2}')
    whole = complete(engine, Request([9], SamplingParams(seed=seed, max_tokens=40), grammar=grammar))
    matcher_text = whole.text
    assert whole.finish_reason == "stop"
    assert whole.data == engine.tokenizer_info.decode(whole.token_ids)
    assert len(whole.forced) == len(whole.token_ids) == whole.usage.completion_tokens
    again = GrammarCompiler(engine.tokenizer_info).compile_regex('(name|nam|b)+:("name"|"bb")(:(name|bc)){2}')
    from maskwright import GrammarMatcher

    matcher = GrammarMatcher(again)
    assert matcher.accept_string(matcher_text)
    assert matcher.is_completed()
    read = [token for steps in fake.asked for step in steps for token in step.token_ids]
    assert read[0] == 9


def test_the_embedded_model_sees_its_own_tokens() -> None:
    from maskwright.engine import load_engine

    model = load_embedded_model()
    with load_engine() as engine:
        grammar = GrammarCompiler(engine.tokenizer_info).compile_regex('"customer_identification": [0-9]{3}')
        whole = complete(engine, Request(engine.encode("A: "), SamplingParams(seed=1), grammar=grammar))
    forced = [i for i, f in zip(whole.token_ids, whole.forced, strict=True) if f]
    text = model.decode(forced)
    assert text.startswith('"customer_identification":')
    assert forced == model.encode(text)[: len(forced)]


def test_stop_strings_are_found_in_forced_text(start: Start) -> None:
    engine = start(FakeModel(TOKENS))
    grammar = GrammarCompiler(engine.tokenizer_info).compile_regex('\\{"name":(b|c)')
    whole = complete(engine, Request([9], SamplingParams(stop=["me"]), grammar=grammar))
    assert (whole.text, whole.finish_reason, whole.stop_reason) == ('{"na', "stop", "me")


def test_with_logprobs_nothing_is_inserted(start: Start) -> None:
    engine = start(FakeModel(TOKENS))
    grammar = GrammarCompiler(engine.tokenizer_info).compile_regex('\\{"name":(b|c)')
    whole = complete(engine, Request([9], SamplingParams(logprobs=1), grammar=grammar))
    assert len(whole.logprobs) == len(whole.token_ids)
    assert [each.token_id for each in whole.logprobs] == whole.token_ids
    assert not any(whole.forced)
