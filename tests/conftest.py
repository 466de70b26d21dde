"""Shared settings: deterministic hypothesis runs and the size of the exhaustive tests.

MASKWRIGHT_EXHAUSTIVE multiplies the number of grammars and walks of tests/exhaustive (1 = the size of `make test`);
MASKWRIGHT_SEED, any text, draws others.
"""

from __future__ import annotations

import hypothesis
import pytest

pytest.register_assert_rewrite("oracle.comparing")

hypothesis.settings.register_profile("default", deadline=None, derandomize=True, max_examples=100)
hypothesis.settings.load_profile("default")
