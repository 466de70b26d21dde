"""Warnings are issued where the caller's code is, and what Python remembers of them stays bounded.

    issue([GrammarWarning("…", rule="root")])

Python shows a warning once for each place and text, and remembers all texts in the module of the place. A server's
texts come from its clients, so they are remembered here instead, and forgotten when they are many.
Tested by tests/frontends/warnings/test_issuing.py.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from types import FrameType
from typing import Any, Final

import maskwright

_PACKAGE: Final = str(Path(maskwright.__file__).parent)
_MOST_REMEMBERED: Final = 1000
_shown: dict[Any, Any] = {}  # as `__warningregistry__` of a module


def issue(found: Iterable[Warning]) -> None:
    """Issue warnings where the caller's code is."""
    for warning in found:
        if len(_shown) >= _MOST_REMEMBERED:
            _shown.clear()
        caller = _caller()
        module = caller.f_globals.get("__name__", "<unknown>")
        warnings.warn_explicit(warning, None, caller.f_code.co_filename, caller.f_lineno, module, _shown)


def _caller() -> FrameType:
    """The innermost frame that is not the package's own; the outermost one if all are."""
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return frame
