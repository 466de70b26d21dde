"""The embedded model: deterministic, quick to make, finite logits, and it has learnt something."""

from __future__ import annotations

import time

import numpy as np
import pytest

from maskwright.lm import EmbeddedModel, load_embedded_model
from maskwright.lm.model import _key, _nesting, _nestings, _shape


@pytest.fixture(scope="module")
def model() -> EmbeddedModel:
    return load_embedded_model()


def test_it_is_made_once_a_process(model: EmbeddedModel) -> None:
    assert load_embedded_model() is model


def test_making_it_is_deterministic_and_quick(model: EmbeddedModel) -> None:
    started = time.process_time()
    other = EmbeddedModel()
    assert time.process_time() - started < 3
    context = model.encode('Write an order as JSON.\n{"order_id": "')
    assert other.token_bytes == model.token_bytes
    assert (other.logits(context) == model.logits(context)).all()


def test_encoding_is_reversible(model: EmbeddedModel) -> None:
    for text in ("", "Zürich, 21 °C\n", '{"items": [{"sku": "AB-1234"}]}', "日本"):
        assert model.decode(model.encode(text)) == text


def test_the_vocabulary_has_every_byte_and_one_stop_token(model: EmbeddedModel) -> None:
    assert {bytes((b,)) for b in range(256)} <= set(model.token_bytes)
    assert model.token_bytes[model.end_id] == b"<|end|>"
    assert model.decode([model.end_id]) == ""
    info = model.tokenizer_info
    assert info.vocab_size == model.vocab_size == len(model.token_bytes)
    assert info.stop_token_ids == info.special_token_ids == (model.end_id,)
    assert list(info.token_bytes) == model.token_bytes


@pytest.mark.parametrize("text", ["", "x", '{"name": "', '{"unheard_of": "', "\x00\xff 日本", "word " * 300])
def test_logits_are_finite_float32_of_a_distribution(model: EmbeddedModel, text: str) -> None:
    logits = model.logits(model.encode(text))
    assert logits.dtype == np.float32
    assert logits.shape == (model.vocab_size,)
    assert np.isfinite(logits).all()
    assert np.exp(logits.astype(np.float64)).sum() == pytest.approx(1, abs=1e-4)


def test_it_has_learnt_what_follows(model: EmbeddedModel) -> None:
    def likeliest(text: str) -> bytes:
        return model.token_bytes[int(model.logits(model.encode(text)).argmax())]

    assert likeliest('{"temperature": 21, "conditions').startswith(b'":')
    assert likeliest('{"order_id": "').startswith(b"ORD")
    assert likeliest("SELECT name FROM") == b" users"


def test_the_key_that_a_text_is_under() -> None:
    assert _key(b'{"city": "Par') == b"city"
    assert _key(b'{"a": 1, "b": [2, ') == b"b"
    assert _key(b"no JSON") == _key(b"") == _key(b'":') == b""


def test_the_shape_of_a_texts_end() -> None:
    shapes = [_shape(text, 0, 0) for text in (b"", b"12", b"1.2", b"word", "é".encode(), b'"', b" ")]
    assert len(set(shapes)) == 6
    assert _shape(b"word", 0, 0) == _shape("é".encode(), 0, 0)
    assert _shape(b"v.2", 0, 0) == _shape(b"2", 0, 0)
    assert len({_shape(b"x", quotes, depth) for quotes in range(4) for depth in range(-1, 3)}) == 4
    assert (
        len({_shape(bytes((last,)), quotes, depth) for last in b'a0"' for quotes in (0, 1) for depth in (0, 1)}) == 12
    )


def test_nesting_is_the_same_for_all_beginnings_at_once() -> None:
    text = b'{"a": [1, {"b": "]"}], "c": '
    quotes, depths = _nestings(text)
    assert list(zip(quotes, depths, strict=True)) == [_nesting(text[:end]) for end in range(len(text) + 1)]
    assert _nestings(b"") == ([0], [0])
