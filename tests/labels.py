"""Names of a test's cases, the same in each process: both halves of a parallel run must collect the same tests.

@pytest.mark.parametrize("value", [print, object()], ids=label)
"""

from __future__ import annotations

import re

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_LONGEST = 60


def label(value: object) -> str:
    """The value as text, without what differs from process to process: addresses, and the order of a set."""
    if isinstance(value, (set, frozenset)):
        value = sorted(map(str, value))
    return _ADDRESS.sub("", str(value))[:_LONGEST]
