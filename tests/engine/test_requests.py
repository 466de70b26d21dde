"""What is asked of an engine is checked when it is made, with typed errors that name the field."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.engine import Request, SamplingParams
from maskwright.errors import ArgumentError, LimitError, OptionError


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("max_tokens", 0, OptionError),
        ("max_tokens", "9", ArgumentError),
        ("max_tokens", 1.5, ArgumentError),
        ("temperature", -0.1, OptionError),
        ("temperature", float("nan"), OptionError),
        ("temperature", float("inf"), OptionError),
        ("temperature", None, ArgumentError),
        ("top_p", 0, OptionError),
        ("top_p", 1.01, OptionError),
        ("top_k", -2, OptionError),
        ("min_p", 1.5, OptionError),
        ("seed", 1 << 64, OptionError),
        ("seed", "x", ArgumentError),
        ("repetition_penalty", 0, OptionError),
        ("presence_penalty", float("-inf"), OptionError),
        ("frequency_penalty", "1", ArgumentError),
        ("logprobs", 65, OptionError),
        ("logprobs", -1, OptionError),
        ("logit_bias", [1], ArgumentError),
        ("logit_bias", {"a": 1}, ArgumentError),
        ("logit_bias", {-1: 1}, OptionError),
        ("logit_bias", dict.fromkeys(range(5000), 1), LimitError),
        ("stop", 3, ArgumentError),
        ("stop", [b"a"], ArgumentError),
        ("stop", [""], OptionError),
        ("stop", ["a"] * 65, LimitError),
        ("stop", "a" * 5000, LimitError),
        ("stop_token_ids", [-1], OptionError),
        ("stop_token_ids", ["a"], ArgumentError),
        ("stop_token_ids", 3, ArgumentError),
    ],
)
def test_what_is_wrong_is_named(name: str, value: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="stop string" if name == "stop" and kind is not ArgumentError else name):
        SamplingParams(**{name: value})


def test_values_are_brought_into_one_form() -> None:
    params = SamplingParams(top_k=-1, stop="end", stop_token_ids=[3], temperature=1, logit_bias={3: 1})
    assert (params.top_k, params.stop, params.stop_token_ids, dict(params.logit_bias)) == (0, ("end",), (3,), {3: 1.0})
    assert params.has_penalties
    assert not SamplingParams().has_penalties


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"prompt_ids": []}, OptionError),
        ({"prompt_ids": [-1]}, OptionError),
        ({"prompt_ids": "abc"}, ArgumentError),
        ({"prompt_ids": 3}, ArgumentError),
        ({"prompt_ids": [1.5]}, ArgumentError),
        ({"prompt_ids": [1], "params": {}}, ArgumentError),
        ({"prompt_ids": [1], "grammar": "a+"}, ArgumentError),
        ({"prompt_ids": [1], "request_id": 3}, ArgumentError),
        ({"prompt_ids": [1], "propose": 3}, ArgumentError),
    ],
)
def test_a_wrong_request_is_a_typed_error(given: dict[str, Any], kind: type[Exception]) -> None:
    with pytest.raises(kind):
        Request(**given)


def test_requests_get_ids_of_their_own() -> None:
    assert Request([1]).request_id != Request([1]).request_id
    assert Request([1], request_id="mine").request_id == "mine"
