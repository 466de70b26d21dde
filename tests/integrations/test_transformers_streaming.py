"""`stream`: values as they grow, the last one what `generate` returns; consumers that stop, and models that fail."""

from __future__ import annotations

import itertools
import re
import threading
from typing import Any, Literal

import pytest

import maskwright as mw
from maskwright.errors import OptionError, UnsatisfiableError
from small_models import make_model

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pydantic = pytest.importorskip("pydantic")
from maskwright.integrations.transformers import stream  # noqa: E402


class City(pydantic.BaseModel):  # type: ignore[misc, unused-ignore]
    name: str
    sizes: list[int] = pydantic.Field(min_length=2)


@pytest.fixture
def model(tokenizer: Any) -> Any:
    return make_model("llama", tokenizer)


@pytest.mark.parametrize("options", [{}, {"prompt_lookup_num_tokens": 4}], ids=str)
def test_json_grows(model: Any, tokenizer: Any, options: dict[str, Any]) -> None:
    *partial, last = stream(model, tokenizer, "abc abc", City, max_new_tokens=60, temperature=0, **options)
    assert last == mw.generate(model, tokenizer, "abc abc", City, max_new_tokens=60, temperature=0)
    assert partial[0] == {}
    assert partial[-1] == last.model_dump()
    names = [value["name"] for value in partial if "name" in value]
    assert names == sorted(names, key=len)
    assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(names))


@pytest.mark.parametrize("output_type", [re.compile("(abc|é){4,9}!"), Literal["abcabc", "abab"], str], ids=repr)
def test_text_grows(model: Any, tokenizer: Any, output_type: Any) -> None:
    *partial, last = stream(model, tokenizer, "abc", output_type, max_new_tokens=30)
    assert partial[-1] == last
    assert all(last.startswith(text) for text in partial)


def test_a_consumer_that_stops_stops_the_model(model: Any, tokenizer: Any) -> None:
    is_left, calls_after = threading.Event(), []

    class Slow(transformers.StoppingCriteria):  # type: ignore[misc, unused-ignore]
        def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
            if input_ids.shape[1] == 10:
                is_left.wait(10)
            calls_after.append(is_left.is_set())
            return torch.zeros(input_ids.shape[0], dtype=torch.bool)

    criteria = transformers.StoppingCriteriaList([Slow()])
    values = stream(model, tokenizer, "abc", re.compile("a{400}"), max_new_tokens=450, stopping_criteria=criteria)
    next(values)
    threading.Timer(0.2, is_left.set).start()
    values.close()
    assert sum(calls_after) < 5
    assert not [thread for thread in threading.enumerate() if thread.name == "maskwright.stream"]


def test_beams_of_the_generation_config_are_not_used(model: Any, tokenizer: Any) -> None:
    model.generation_config.num_beams = model.generation_config.num_return_sequences = 3
    assert list(stream(model, tokenizer, "abc", Literal["ab"]))[-1] == "ab"


def test_errors_of_the_model_come_to_the_consumer(model: Any, tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(model, "forward", fail)
    values = stream(model, tokenizer, "abc", int)
    with pytest.raises(RuntimeError, match="out of memory"):
        next(values)


def test_what_cannot_be_streamed(model: Any, tokenizer: Any) -> None:
    with pytest.raises(OptionError, match=r"tools cannot be streamed as values\n.*EventReader"):
        stream(model, tokenizer, "abc", [City])
    with pytest.raises(OptionError, match="num_beams cannot be combined with stream"):
        stream(model, tokenizer, "abc", City, num_beams=2)
    with pytest.raises(OptionError, match="stream takes one prompt"):
        stream(model, tokenizer, ["abc", "ab"], City)
    with pytest.raises(UnsatisfiableError, match="the shortest output needs"):
        stream(model, tokenizer, "abc", City, max_new_tokens=3)
