"""Tokenizing and detokenizing."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

TEXT = 'Größe: {"a": 1} 😀\n'


def test_there_and_back(http: httpx.Client) -> None:
    made = http.post("/tokenize", json={"prompt": TEXT, "return_token_strs": True}).json()
    assert made["count"] == len(made["tokens"]) == len(made["token_strs"])
    assert http.post("/detokenize", json={"tokens": made["tokens"]}).json() == {"prompt": TEXT}


def test_a_chat(http: httpx.Client) -> None:
    made = http.post("/tokenize", json={"messages": [{"role": "user", "content": "Hi"}]}).json()
    assert "Hi" in http.post("/detokenize", json={"tokens": made["tokens"]}).json()["prompt"]


@pytest.mark.parametrize(
    ("path", "body", "param"),
    [
        ("/tokenize", {}, "/prompt"),
        ("/tokenize", {"prompt": "a", "messages": [{"role": "user", "content": "a"}]}, "/prompt"),
        ("/tokenize", {"prompt": 3}, "/prompt"),
        ("/tokenize", {"messages": [{"role": "user", "content": "a"}], "tools": 3}, "/tools"),
        ("/tokenize", {"messages": [{"role": "user", "content": "a"}], "tools": [3]}, "/tools/0"),
        ("/detokenize", {}, "/tokens"),
        ("/detokenize", {"tokens": [0, 10**6]}, "/tokens/1"),
        ("/detokenize", {"tokens": [-1]}, "/tokens/0"),
        ("/detokenize", {"tokens": ["a"]}, "/tokens/0"),
    ],
)
def test_refused(http: httpx.Client, path: str, body: Any, param: str) -> None:
    response = http.post(path, json=body)
    assert (response.status_code, response.json()["error"]["param"]) == (400, param)
