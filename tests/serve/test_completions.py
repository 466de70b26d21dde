"""Completions: prompts of all kinds, echo, logprobs, streams."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from serve.requests_of_tests import CITY, schema_format, sse


def post(http: httpx.Client, **fields: Any) -> dict[str, Any]:
    response = http.post("/v1/completions", json={"prompt": "An order: ", "max_tokens": 60, "seed": 1, **fields})
    assert response.status_code == 200, response.text
    made: dict[str, Any] = response.json()
    return made


def test_text(http: httpx.Client) -> None:
    made = post(http, max_tokens=5)
    assert made["object"] == "text_completion"
    assert made["choices"][0]["finish_reason"] == "length"
    assert made["usage"]["completion_tokens"] == 5


def test_prompts_and_choices_in_order(http: httpx.Client) -> None:
    ids = http.post("/tokenize", json={"prompt": "b"}).json()["tokens"]
    made = post(http, prompt=["a", "b"], n=2, regex="[0-9]{4}", echo=True)
    assert [choice["index"] for choice in made["choices"]] == [0, 1, 2, 3]
    assert [choice["text"][0] for choice in made["choices"]] == ["a", "a", "b", "b"]
    assert all(re.fullmatch("[ab][0-9]{4}", choice["text"]) for choice in made["choices"])
    assert len({choice["text"] for choice in made["choices"]}) == 4
    by_ids = post(http, prompt=ids, regex="[0-9]{4}", echo=True)
    assert by_ids["choices"][0]["text"].startswith("b")


@pytest.mark.parametrize("fields", [{"response_format": schema_format(CITY)}, {"structured_outputs": {"json": CITY}}])
def test_structures(http: httpx.Client, fields: dict[str, Any]) -> None:
    assert post(http, **fields)["choices"][0]["text"].lstrip().startswith("{")


def test_logprobs(http: httpx.Client) -> None:
    (choice,) = post(http, regex="[0-9]{6}", logprobs=2, echo=True)["choices"]
    given = choice["logprobs"]
    assert "An order: " + "".join(given["tokens"]) == choice["text"]
    assert given["text_offset"][0] == len("An order: ")
    assert len(given["token_logprobs"]) == len(given["tokens"]) == len(given["top_logprobs"])
    assert all(1 <= len(each) <= 2 for each in given["top_logprobs"])


def test_a_stream_is_the_whole(http: httpx.Client) -> None:
    fields: dict[str, Any] = {"n": 2, "regex": "[0-9]{9}", "logprobs": 1, "echo": True}
    asked = {"prompt": "x", "max_tokens": 60, "seed": 1, "stream": True, "stream_options": {"include_usage": True}}
    *chunks, last = sse(http.post("/v1/completions", json={**asked, **fields}).text)
    assert last == "[DONE]"
    whole = post(http, prompt="x", **fields)
    for expected in whole["choices"]:
        own = [c["choices"][0] for c in chunks if c["choices"] and c["choices"][0]["index"] == expected["index"]]
        assert "".join(choice["text"] for choice in own) == expected["text"]
        assert own[-1]["finish_reason"] == "stop"
        tokens = [token for choice in own for token in (choice["logprobs"] or {"tokens": []})["tokens"]]
        assert tokens == expected["logprobs"]["tokens"]
        offsets = [at for choice in own for at in (choice["logprobs"] or {"text_offset": []})["text_offset"]]
        assert offsets == expected["logprobs"]["text_offset"]
    assert chunks[-1]["usage"] == whole["usage"]


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"prompt": [10**6]}, "/prompt/0"),
        ({"prompt": ["a", ""], "max_tokens": 0}, "/max_tokens"),
        ({"prompt": ["a"] * 9, "n": 2}, "/n"),
        ({"regex": "("}, "/regex"),
        ({"regex": "a{50}", "max_tokens": 3}, "/max_tokens"),
        ({"stop_token_ids": [-1]}, "/stop_token_ids"),
        ({"stop": [""]}, "/stop"),
        ({"logit_bias": {"x": 1}}, "/logit_bias"),
        ({"tools": []}, "/tools"),
    ],
)
def test_refused(http: httpx.Client, fields: dict[str, Any], param: str) -> None:
    response = http.post("/v1/completions", json={"prompt": "x", "max_tokens": 60, **fields})
    assert (response.status_code, response.json()["error"]["param"]) == (400, param)


def test_biased_tokens(http: httpx.Client) -> None:
    (token,) = http.post("/tokenize", json={"prompt": "7"}).json()["tokens"]
    made = post(http, regex="[0-9]{5}", logit_bias={str(token): 100})
    assert made["choices"][0]["text"] == "77777"
