"""Arguments that other engines call something else: the error says what they are called here.

    >>> @other_names(max_new_tokens="max_tokens")
    ... def generate(*, max_tokens: int = 1) -> int: ...
    >>> generate(max_new_tokens=64)
    Traceback (most recent call last):
    maskwright.errors.ArgumentError: generate() has no argument max_new_tokens
      hint: use max_tokens

Type checkers and editors see the function as it is written. The error is a TypeError, as Python's own would be.
Tested by tests/contract/test_mistakes_of_callers.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from maskwright.errors import ArgumentError

_P = ParamSpec("_P")
_R = TypeVar("_R")


def other_names(**names: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Let a function name its arguments where it is called with other names; `names` gives them by these."""

    def named(function: Callable[_P, _R]) -> Callable[_P, _R]:
        shown = function.__qualname__.removesuffix(".__init__")

        @wraps(function)
        def checked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            try:
                return function(*args, **kwargs)
            except TypeError:
                for name in names.keys() & kwargs.keys():
                    message, hint = f"{shown}() has no argument {name}", f"use {names[name]}"
                    raise ArgumentError(message, argument=name, hint=hint) from None
                raise

        return checked

    return named
