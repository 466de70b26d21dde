"""Random schemas against python-jsonschema: nothing wrong is accepted, and nothing valid is lost (differential.py).

3,000 values by default; 100,000 with MASKWRIGHT_EXHAUSTIVE=34.
"""

from __future__ import annotations

import pytest

from oracle.comparing import scaled

pytest.importorskip("maskwright._kernel", reason="the kernel is not built", exc_type=ImportError)
from frontends.json_schema.differential import VALUES, Tally, compare_schema
from frontends.json_schema.random_schemas import Maker

ROUNDS = scaled(5)
SCHEMAS = 100


@pytest.mark.parametrize("seed", range(ROUNDS))
@pytest.mark.parametrize("numbers", ["any", "plain"])
def test_random_schemas(seed: int, numbers: str) -> None:
    tally = Tally()
    for i in range(SCHEMAS):
        compare_schema(Maker(seed * SCHEMAS + i), tally, numbers=numbers)
    assert tally.failures == []
    assert tally.counts["valid values"] + tally.counts["invalid values"] >= 0.85 * SCHEMAS * VALUES, str(tally)
