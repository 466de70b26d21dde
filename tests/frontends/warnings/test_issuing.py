"""Where warnings are issued, and that what Python remembers of them stays bounded."""

from __future__ import annotations

import warnings

import pytest

from maskwright import Grammar, SchemaWarning
from maskwright.frontends.warnings import issuing


def test_a_text_is_shown_once(capfd: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = lambda message, *_args: print(message)
        for _ in range(3):
            Grammar.from_json_schema({"requird": []})
    assert capfd.readouterr().out == "at #/requird: unknown keyword 'requird'; did you mean 'required'?\n"


def test_what_is_remembered_stays_bounded() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = lambda *_args: None
        for i in range(2 * issuing._MOST_REMEMBERED + 10):
            issuing.issue([SchemaWarning("unknown", pointer=f"/{i}", keyword="x")])
            assert len(issuing._shown) <= issuing._MOST_REMEMBERED + 1
    assert "/" not in str(globals().get("__warningregistry__", ""))
