"""Compiled front-ends keep the interpreter to themselves; here they let other threads and signal handlers have it.

CPython looks for both whenever a Python function is entered, so this module is not compiled. Who loops for long, or is
called for each of many parts, calls `let_others_in` as it goes.
Tested by tests/test_turns.py.
"""

from __future__ import annotations


def let_others_in() -> None:
    """Let other threads run, and handlers of signals, which may raise, if it is their turn."""
