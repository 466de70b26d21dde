"""Models behind the loop: the same logits whatever was appended, cut back or freed before."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest

from maskwright import GrammarCompiler
from maskwright.engine import Completion, LocalEngine, Request, SamplingParams, complete, prompt_lookup
from maskwright.engine.models import Step
from maskwright.engine.models.embedded import EmbeddedCausalModel
from maskwright.errors import EngineError, RequestError
from maskwright.lm import load_embedded_model
from small_models import PADDED_VOCAB_SIZE, make_model, make_tokenizer


def test_the_embedded_model_remembers_each_slot() -> None:
    plain, model = load_embedded_model(), EmbeddedCausalModel(num_slots=2)
    one, two = model.encode("A name: Ada"), model.encode('{"a": 1')
    logits = model.forward([Step(0, one, 2), Step(1, two)])
    expected = np.stack([plain.logits(one[:-1]), plain.logits(one), plain.logits(two)])
    assert np.array_equal(logits, expected)
    model.truncate(0, 2)
    assert np.array_equal(model.forward([Step(0, [5])])[0], plain.logits([*one[:2], 5]))
    model.free(1)
    assert np.array_equal(model.forward([Step(1, one)])[0], plain.logits(one))
    assert model.forward([Step(1, [3], 0)]).shape == (0, plain.vocab_size)


def test_the_empty_prompt_is_the_beginning_of_a_text() -> None:
    plain, model = load_embedded_model(), EmbeddedCausalModel(num_slots=1)
    assert np.array_equal(model.forward([Step(0, model.encode(""))])[0], plain.logits([]))
    assert model.encode("", add_special_tokens=False) == []


def test_messages_are_lines_for_the_embedded_model() -> None:
    model = EmbeddedCausalModel(num_slots=1)
    messages = [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": [{"type": "text", "text": "A na"}, {"type": "text", "text": "me:"}]},
        {"role": "assistant", "content": None},
    ]
    assert model.apply_chat_template(messages) == model.encode("Be short.\nA name:\n\n")


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    pytest.importorskip("transformers")
    return make_tokenizer()


def tiny(kind: str, tokenizer: Any) -> Any:
    """A model with random weights."""
    transformers = pytest.importorskip("transformers")
    import torch

    if kind in ("gpt2", "llama"):
        return make_model(kind, tokenizer)
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    common = {**sizes, "vocab_size": PADDED_VOCAB_SIZE, "num_key_value_heads": 1, "eos_token_id": 1}
    if kind == "gemma2":  # eager, with layers of two kinds
        config = transformers.Gemma2Config(**common, head_dim=8, sliding_window=4, max_position_embeddings=64)
        return transformers.Gemma2ForCausalLM._from_config(config, attn_implementation="eager").eval()
    config = transformers.MistralConfig(**common, sliding_window=4, max_position_embeddings=64)
    return transformers.MistralForCausalLM(config).eval()


KINDS = ["gpt2", "llama", "gemma2", "mistral"]


@pytest.mark.parametrize("kind", KINDS)
def test_batches_with_a_cache_are_what_generate_gives(kind: str, tokenizer: Any) -> None:
    import torch

    from maskwright.engine.models.transformers import TransformersModel

    model = tiny(kind, tokenizer)
    held = TransformersModel(model, tokenizer, num_slots=6)
    prompts = [[5, 6, 7], list(range(40, 63)), [9], [3, 3, 3, 3]]
    slots = [0, 2, 3, 5]
    logits = held.forward([Step(slot, ids) for slot, ids in zip(slots, prompts, strict=True)])
    outputs: list[list[int]] = [[] for _ in prompts]
    for _ in range(8):
        for output, token in zip(outputs, logits.argmax(-1).tolist(), strict=True):
            output.append(token)
        logits = held.forward([Step(slot, [output[-1]]) for slot, output in zip(slots, outputs, strict=True)])
    for prompt, output in zip(prompts, outputs, strict=True):
        ids = torch.tensor([prompt])
        options = {"do_sample": False, "min_new_tokens": 8, "max_new_tokens": 8, "eos_token_id": None}
        expected = model.generate(ids, attention_mask=torch.ones_like(ids), **options)
        assert output == expected[0, len(prompt) :].tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_logits_do_not_depend_on_how_tokens_came(kind: str, tokenizer: Any) -> None:
    """In pieces of any length, with others or alone, cut back and read again."""
    import torch

    from maskwright.engine.models.transformers import TransformersModel

    model = tiny(kind, tokenizer)
    held = TransformersModel(model, tokenizer, num_slots=5)
    rng = random.Random(1)
    texts: list[list[int]] = [[] for _ in range(5)]
    for _ in range(12):
        chosen = rng.sample(range(5), rng.randint(1, 5))
        steps = []
        for slot in chosen:
            if len(texts[slot]) > 30:
                held.free(slot)
                texts[slot] = []
            elif texts[slot] and rng.random() < 0.5:
                kept = rng.randint(1, len(texts[slot]))
                held.truncate(slot, kept)
                del texts[slot][kept:]
            new = [rng.randrange(300) for _ in range(rng.choice([1, 1, 2, 5, 20]))]
            texts[slot] += new
            steps.append(Step(slot, new, rng.randint(0, len(new))))
        logits = held.forward(steps)
        expected = []
        for step in steps:
            with torch.inference_mode():
                rows = model(torch.tensor([texts[step.slot]])).logits[0].float().numpy()
            expected += list(rows[len(rows) - step.num_logits :])
        assert logits.shape == (len(expected), PADDED_VOCAB_SIZE)
        if expected:
            assert np.allclose(logits, np.stack(expected), atol=1e-4)


def test_the_cache_grows(tokenizer: Any) -> None:
    from maskwright.engine.models.transformers import TransformersModel

    held = TransformersModel(tiny("llama", tokenizer), tokenizer, num_slots=2)
    ids = [i % 200 for i in range(400)]
    expected = held.forward([Step(0, ids)])
    held.forward([Step(1, ids[:200])])
    held.forward([Step(1, ids[200:390])])
    assert np.allclose(held.forward([Step(1, ids[390:])]), expected, atol=1e-4)
    held.close()


def test_facts_of_a_transformers_model(tokenizer: Any) -> None:
    from maskwright.engine.models.transformers import TransformersModel

    held = TransformersModel(tiny("llama", tokenizer), tokenizer, num_slots=1, max_model_len=100)
    assert held.max_model_len == 100
    assert held.tokenizer_info.vocab_size == PADDED_VOCAB_SIZE
    assert held.tokenizer_info.stop_token_ids == (tokenizer.eos_token_id,)
    assert held.encode("") == [tokenizer.bos_token_id]
    assert held.encode("", add_special_tokens=False) == []
    with pytest.raises(RequestError, match="no chat template"):
        held.apply_chat_template([{"role": "user", "content": "Hi"}])


def test_a_chat_template_is_used_and_may_refuse(tokenizer: Any) -> None:
    from maskwright.engine.models.transformers import TransformersModel

    chatty = make_tokenizer()
    chatty.chat_template = (
        "{% for m in messages %}{% if m.role == 'tool' %}{{ raise_exception('no tools here') }}{% endif %}"
        "[{{ m.role }}]{{ m.content }}{% endfor %}{% if add_generation_prompt %}[{{ who or 'assistant' }}]{% endif %}"
    )
    held = TransformersModel(tiny("llama", tokenizer), chatty, num_slots=1)
    messages = [{"role": "user", "content": "Hi"}]
    assert chatty.decode(held.apply_chat_template(messages)) == "[user]Hi[assistant]"
    assert chatty.decode(held.apply_chat_template(messages, who="me")) == "[user]Hi[me]"
    assert chatty.decode(held.apply_chat_template(messages, add_generation_prompt=False)) == "[user]Hi"
    with pytest.raises(RequestError, match="no tools here"):
        held.apply_chat_template([{"role": "tool", "content": "x"}])


def test_models_that_cannot_forget_are_refused(tokenizer: Any) -> None:
    transformers = pytest.importorskip("transformers")
    from maskwright.engine.models.transformers import TransformersModel

    config = transformers.MambaConfig(vocab_size=320, hidden_size=16, num_hidden_layers=1, state_size=4)
    with pytest.raises(EngineError, match="cannot drop"):
        TransformersModel(transformers.MambaForCausalLM(config), tokenizer)


def test_models_that_take_no_positions_are_refused_by_name(tokenizer: Any) -> None:
    transformers = pytest.importorskip("transformers")
    from maskwright.engine.models.transformers import TransformersModel

    config = transformers.BloomConfig(vocab_size=PADDED_VOCAB_SIZE, hidden_size=16, n_layer=1, n_head=2)
    with pytest.raises(EngineError, match="no argument position_ids") as raised:
        TransformersModel(transformers.BloomForCausalLM(config), tokenizer)
    assert "maskwright.generate" in (raised.value.hint or "")


@pytest.mark.parametrize("jump_forward", [True, False])
@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_an_engine_over_transformers(kind: str, jump_forward: bool, tokenizer: Any) -> None:
    """Many outputs at once, each what it is alone, with forced text and drafts."""
    from maskwright.engine.models.transformers import TransformersModel

    schema = {"properties": {"a": {"enum": ["abc", 12]}, "long_name": {"type": "integer", "maximum": 99}}}
    schema |= {"type": "object", "required": ["a", "long_name"], "additionalProperties": False}
    with LocalEngine(TransformersModel(tiny(kind, tokenizer), tokenizer, num_slots=3)) as engine:
        grammar = GrammarCompiler(engine.tokenizer_info).compile_json_schema(schema)

        def ask(seed: int) -> Request:
            held = grammar if seed % 4 else None
            params = SamplingParams(seed=seed, max_tokens=60, temperature=1.5)
            propose = prompt_lookup() if seed % 2 else None
            ids = engine.encode("x" * (1 + 7 * seed))
            return Request(ids, params, grammar=held, jump_forward=jump_forward, propose=propose)

        alone = [complete(engine, ask(seed)) for seed in range(8)]
        outputs: list[Completion] = [Completion() for _ in range(8)]
        for seed in range(8):
            engine.submit(ask(seed), outputs[seed].add)
        assert engine.drain(60)
    assert [each.token_ids for each in outputs] == [each.token_ids for each in alone]
    for seed, output in enumerate(outputs):
        if seed % 4:
            assert set(json.loads(output.text)) == {"a", "long_name"}
            assert any(output.forced) == jump_forward
