"""Names that are like others, and those that only look so."""

from __future__ import annotations

import pytest

from maskwright.support.near_names import nearest

KNOWN = ["max_tokens", "max_completion_tokens", "skip_special_tokens", "min_p", "maxItems", "--max-tokens", "top_k"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("max_token", "max_tokens"),
        ("maxtokens", "max_tokens"),
        ("mn_p", "min_p"),
        ("min_tokens", None),
        ("min_completion_tokens", None),
        ("minItems", None),
        ("--min-tokens", None),
        ("add_special_tokens", None),
        ("skip_special_token", "skip_special_tokens"),
        ("minp", "min_p"),
        ("TOP-K", "top_k"),
        ("", None),
        ("x" * 10_000, None),
    ],
)
def test_the_opposite_is_never_meant(name: str, meant: str | None) -> None:
    assert nearest(name, KNOWN, 0.7) == meant
