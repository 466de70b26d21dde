"""Budgets and numbers of outputs; settings that cannot work."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import OptionError
from maskwright.serve import Settings
from maskwright.serve.errors import ApiError
from maskwright.serve.limits.budgets import check_outputs, output_tokens

SETTINGS = Settings(max_output_tokens=100, default_output_tokens=40, max_choices=4, max_running=3)


def budget(num_prompt_tokens: int, wanted: int | None, context: int = 1000) -> int:
    return output_tokens(SETTINGS, context, num_prompt_tokens, wanted, "/max_tokens", "/messages")


def test_budgets() -> None:
    assert budget(10, None) == 40
    assert budget(10, 7) == 7
    assert budget(10, 100) == 100
    assert budget(980, None) == 20
    assert budget(999, 1) == 1


@pytest.mark.parametrize(
    ("prompt", "wanted", "param", "part"),
    [
        (1000, None, "/messages", "shorten the prompt"),
        (1000, 1, "/messages", "shorten the prompt"),
        (990, 11, "/max_tokens", "ask for at most 10"),
        (10, 101, "/max_tokens", "ask for at most 100"),
    ],
)
def test_refused(prompt: int, wanted: int | None, param: str, part: str) -> None:
    with pytest.raises(ApiError, match=part) as caught:
        budget(prompt, wanted)
    assert caught.value.param == param


def test_outputs() -> None:
    check_outputs(SETTINGS, 3)
    with pytest.raises(ApiError, match="at most 3 are allowed"):
        check_outputs(SETTINGS, 4)


@pytest.mark.parametrize(
    "given",
    [
        {"max_running": 0},
        {"max_waiting": -1},
        {"max_request_seconds": 0.0},
        {"drain_seconds": float("inf")},
        {"max_body_bytes": 0},
        {"served_names": ()},
        {"served_names": ("",)},
        {"allowed_hosts": ("",)},
        {"allowed_hosts": ("http://host",)},
        {"allowed_hosts": ("host:8000",)},
        {"allowed_origins": ("https://app.example.com/",)},
        {"allowed_origins": ("https://App.example.com",)},
        {"allowed_origins": ("app.example.com",)},
        {"allowed_origins": ("",)},
        {"api_keys": ("",)},
        {"api_keys": ("with space",)},
        {"api_keys": ("ключ",)},
    ],
)
def test_settings_that_cannot_work(given: dict[str, Any]) -> None:
    with pytest.raises(OptionError) as caught:
        Settings(**given)
    assert caught.value.option == next(iter(given))


@pytest.mark.parametrize(
    "origin", ["*", "null", "https://app.example.com", "http://localhost:3000", "tauri://localhost"]
)
def test_origins(origin: str) -> None:
    assert Settings(allowed_origins=(origin,)).allowed_origins == (origin,)


def test_settings() -> None:
    assert Settings(max_waiting=0, max_waiting_per_key=0, relax=False).max_waiting == 0
