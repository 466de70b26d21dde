"""Models behind the loop: the same logits whatever was appended, cut back or freed before."""

from __future__ import annotations

import numpy as np

from maskwright.engine.models import Step
from maskwright.engine.models.embedded import EmbeddedCausalModel
from maskwright.lm import load_embedded_model


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
