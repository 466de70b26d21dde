"""Arguments that other engines call something else, or that belong elsewhere: the error says what to write.

    >>> @other_names(max_new_tokens="max_tokens")
    ... def generate(*, max_tokens: int = 1) -> int: ...
    >>> generate(max_new_tokens=64)
    Traceback (most recent call last):
    maskwright.errors.ArgumentError: generate() has no argument max_new_tokens
      hint: use max_tokens

`of_a_grammar` does so for what makes grammars, which know no limit of an output.
Type checkers and editors see the function as it is written. The error is a TypeError, as Python's own would be.
Tested by tests/contract/test_mistakes_of_callers.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Final, ParamSpec, TypeVar

from maskwright.errors import ArgumentError

_P = ParamSpec("_P")
_R = TypeVar("_R")

OF_AN_OUTPUT: Final = ("max_tokens", "max_new_tokens", "budget")
PASS_TO_MATCHER: Final = "pass it to GrammarMatcher: it is an argument of each output, not of the grammar"


def other_names(**names: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Let a function name its arguments where it is called with other names; `names` gives them by these."""
    return _with_hints({name: f"use {own}" for name, own in names.items()})


def of_a_grammar(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Let a function that makes a grammar say where the arguments of an output belong."""
    return _with_hints(dict.fromkeys(OF_AN_OUTPUT, PASS_TO_MATCHER))(function)


def _with_hints(hints: Mapping[str, str]) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    def hinting(function: Callable[_P, _R]) -> Callable[_P, _R]:
        shown = function.__qualname__.removesuffix(".__init__")

        @wraps(function)
        def checked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            try:
                return function(*args, **kwargs)
            except TypeError:
                for name in hints.keys() & kwargs.keys():
                    raise ArgumentError(f"{shown}() has no argument {name}", argument=name, hint=hints[name]) from None
                raise

        return checked

    return hinting
