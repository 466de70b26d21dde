"""Numbers in options: each function reads one, or says what it must be.

Tested by tests/cli/test_arguments.py.
"""

from __future__ import annotations

import argparse
import math


def positive(text: str) -> int:
    return _integer(text, 1)


def non_negative(text: str) -> int:
    return _integer(text, 0)


def _integer(text: str, least: int) -> int:
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if value >= 1 << 63:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} must be < 2**63")
    if value < least:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number >= {least}")
    return value


def temperature(text: str) -> float:
    value = _number(text)
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} must be a number >= 0")
    return value


def share(text: str) -> float:
    value = _number(text)
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a number > 0 and <= 1")
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
