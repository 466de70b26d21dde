"""The decoding loop with a transformers model gives what `model.generate` gives, wherever that has the same option.

The toy has random weights and Llama 3's vocabulary, so every logit depends on the whole context: an output is the same
only if the cache held exactly the tokens before it. Weights are made larger, which makes the model depend on more than
its last token.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from maskwright import GrammarCompiler, GrammarMatcher, allocate_token_bitmask, apply_token_bitmask_inplace
from maskwright.engine import Completion, LocalEngine, Request, SamplingParams, complete, generate, prompt_lookup
from maskwright.engine.sampling import Chooser

torch = pytest.importorskip("torch", reason="torch is not installed: make engines")
transformers = pytest.importorskip("transformers", reason="transformers is not installed: make engines")

PROMPT = "A list of names: Ada, Bob, Chloe, Dan, Ada, Bob,"


@pytest.fixture(scope="module")
def model(toy: Path) -> Any:
    model = transformers.AutoModelForCausalLM.from_pretrained(toy).float().eval()
    with torch.no_grad():
        for layer in model.model.layers:
            for weights in layer.parameters():
                weights.mul_(8.0)
    return model


@pytest.fixture(scope="module")
def engine(model: Any, toy: Path) -> Iterator[LocalEngine]:
    from maskwright.engine.models.transformers import TransformersModel

    tokenizer = transformers.AutoTokenizer.from_pretrained(toy)
    with LocalEngine(TransformersModel(model, tokenizer, num_slots=4)) as engine:
        yield engine


def generated(model: Any, prompt: list[int], **options: Any) -> Any:
    ids = torch.tensor([prompt])
    defaults = {"do_sample": False, "max_new_tokens": 24, "eos_token_id": None, "pad_token_id": 0}
    return model.generate(ids, attention_mask=torch.ones_like(ids), **{**defaults, **options})


def ours(engine: LocalEngine, prompt: list[int], **params: Any) -> Completion:
    defaults = {"temperature": 0.0, "max_tokens": 24, "ignore_eos": True}
    return complete(engine, Request(prompt, SamplingParams(**{**defaults, **params})))


@pytest.mark.parametrize("penalty", [1.0, 1.3, 0.8])
def test_greedy_text_with_a_repetition_penalty(model: Any, engine: LocalEngine, penalty: float) -> None:
    prompt = engine.encode(PROMPT)
    expected = generated(model, prompt, repetition_penalty=penalty)[0, len(prompt) :].tolist()
    assert ours(engine, prompt, repetition_penalty=penalty).token_ids == expected
    assert len(set(expected)) > 1


def test_drafts_give_greedy_text(model: Any, engine: LocalEngine) -> None:
    prompt = engine.encode(PROMPT)
    expected = generated(model, prompt, max_new_tokens=40)[0, len(prompt) :].tolist()

    def propose(ids: Any) -> list[int]:
        """Three tokens that are right, then one that is not."""
        at = len(ids) - len(prompt)
        return [*expected[at : at + 3], 7]

    params = SamplingParams(temperature=0.0, max_tokens=40, ignore_eos=True)
    for drafts in (propose, prompt_lookup()):
        assert complete(engine, Request(prompt, params, propose=drafts)).token_ids == expected
    usage = complete(engine, Request(prompt, params, propose=propose)).usage
    assert 0 < usage.accepted_draft_tokens < usage.drafted_tokens


def test_stop_strings(model: Any, engine: LocalEngine, toy: Path) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(toy)
    prompt = engine.encode(PROMPT)
    whole = ours(engine, prompt).text
    stop = whole[len(whole) // 2 :][:3]
    ids = generated(model, prompt, stop_strings=[stop], tokenizer=tokenizer)[0, len(prompt) :]
    found = ours(engine, prompt, stop=[stop], include_stop=True)
    assert found.token_ids == ids.tolist()
    assert found.finish_reason == "stop"
    assert found.text.endswith(stop)
    assert ours(engine, prompt, stop=[stop]).text == found.text[: -len(stop)]


def test_logprobs_are_the_models_own(model: Any, engine: LocalEngine) -> None:
    prompt = engine.encode(PROMPT)
    out = generated(model, prompt, max_new_tokens=8, output_logits=True, return_dict_in_generate=True)
    found = ours(engine, prompt, max_tokens=8, logprobs=5, repetition_penalty=1.0)
    assert len(found.logprobs) == 8
    for logits, token, each in zip(out.logits, found.token_ids, found.logprobs, strict=True):
        expected = logits[0].double().log_softmax(-1)
        assert each.token_id == token
        assert each.logprob == pytest.approx(float(expected[token]), abs=1e-4)
        assert [i for i, _ in each.top] == expected.topk(5).indices.tolist()


@pytest.mark.parametrize(
    "options", [{"top_k": 7}, {"top_p": 0.3}, {"min_p": 0.4}, {"top_k": 20, "top_p": 0.5}, {"temperature": 0.3}]
)
def test_samples_are_drawn_from_the_distribution_of_generate(model: Any, options: dict[str, Any]) -> None:
    """As often as they should be, by the mean of the log-probability, and never what is left out."""
    prompt = list(range(1000, 1020))
    wanted = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, **options}
    more = {"output_scores": True, "output_logits": True, "return_dict_in_generate": True}
    out = generated(model, prompt, max_new_tokens=1, do_sample=True, **wanted, **more)
    p = out.scores[0][0].double().softmax(-1).numpy()
    logits = out.logits[0][0].numpy()
    drawn = [Chooser(SamplingParams(seed=seed, **options))(logits.copy(), []) for seed in range(300)]
    assert p[drawn].min() > 0
    known = p[p > 0]
    mean, variance = (known * np.log(known)).sum(), (known * np.log(known) ** 2).sum()
    spread = math.sqrt(max(0.0, variance - mean**2) / len(drawn))
    assert np.log(p[drawn]).mean() == pytest.approx(mean, abs=4 * spread + 1e-6)


GRAMMARS = {
    "long names": r'\{"customer_identification": ("[a-z]{1,9}"|[0-9]{1,6}), "is_accepting": (true|false)\}',
    "words that begin alike": r"(( (un|re)?identification| (un|in)?applicable| (re)?application)[,;]){6}",
}


@pytest.mark.parametrize("kind", GRAMMARS)
@pytest.mark.parametrize("with_drafts", [False, True])
def test_the_model_saw_the_tokens_of_the_output(model: Any, engine: LocalEngine, kind: str, with_drafts: bool) -> None:
    """Every token that was sampled is the most likely one that is allowed behind those before it, calculated afresh.

    Forced text is retokenised together with what was sampled before: a token begins with the one that was sampled.
    """
    prompt = engine.encode(PROMPT)
    grammar = GrammarCompiler(engine.tokenizer_info).compile_regex(GRAMMARS[kind])
    params = SamplingParams(temperature=0.0)
    propose = prompt_lookup() if with_drafts else None
    outputs = list(generate(engine, Request(prompt, params, grammar=grammar, propose=propose)))
    whole = Completion()
    for output in outputs:
        whole.add(output)
    assert whole.data == engine.tokenizer_info.decode(whole.token_ids)
    with torch.inference_mode():
        rows = model(torch.tensor([[*prompt, *whole.token_ids]])).logits[0, len(prompt) - 1 : -1].numpy()
    matcher = GrammarMatcher(grammar)
    bitmask = allocate_token_bitmask(1, engine.tokenizer_info.vocab_size)
    for token, forced, row in zip(whole.token_ids, whole.forced, rows, strict=True):
        matcher.fill_next_token_bitmask(bitmask)
        apply_token_bitmask_inplace(row[None], bitmask)
        token_bytes = engine.tokenizer_info.token_bytes
        assert forced or token_bytes[token].startswith(token_bytes[int(row.argmax())])
        assert matcher.accept_token(token)
    assert matcher.is_completed()
    assert any(whole.forced)
