"""Shared settings: deterministic hypothesis runs and the size of the exhaustive tests.

MASKWRIGHT_EXHAUSTIVE multiplies the number of grammars, schemas and walks in modules that use `oracle.comparing.scaled`
(1 = the size of `make test-long`; `make test` has a fifth); MASKWRIGHT_SEED, any text, draws others.
"""

from __future__ import annotations

import hypothesis
import pytest

pytest.register_assert_rewrite("oracle.comparing")

hypothesis.settings.register_profile("default", deadline=None, derandomize=True, max_examples=100)
hypothesis.settings.load_profile("default")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if hasattr(getattr(item, "module", None), "scaled"):
            item.add_marker("exhaustive")
