"""What callers pass, checked where it comes in: each function returns the value, or raises an ArgumentError that says
what to pass instead.

    >>> as_integer("max_threads", 8)
    8
    >>> instance("pattern", 3, str)
    Traceback (most recent call last):
    maskwright.errors.ArgumentError: pattern must be a str, not int

Integers are whatever has `__index__` (numpy's, torch's scalars) except True and False, and arrays of one integer; texts
are str.
Tested by tests/contract/test_argument_types.py.
"""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Iterable
from typing import Any, NoReturn, TypeVar

from maskwright.errors import ArgumentError, OptionError, type_name, wrong_argument

T = TypeVar("T")


def instance(name: str, value: object, kind: type[T], hint: str | None = None) -> T:
    """Return a value of this class."""
    if not isinstance(value, kind):
        expected = "bytes" if kind is bytes else f"a {kind.__name__}"
        raise wrong_argument(name, value, expected, hint or (text_hint(value) if kind is str else None))
    return value


def text_hint(value: object) -> str | None:
    """How to make a text of something that people pass for one."""
    if isinstance(value, bytes | bytearray):
        return "pass a str: value.decode()"
    if isinstance(value, os.PathLike):
        return "pass the file's contents: path.read_text()"
    return "pass the file's contents: file.read()" if hasattr(value, "read") else None


def check_pattern(pattern: object, flags: object) -> None:
    """Check a regular expression and its flags, both texts."""
    hint = "pass pattern.pattern, and flags as letters, such as flags='i'" if isinstance(pattern, re.Pattern) else None
    instance("pattern", pattern, str, hint)
    instance("flags", flags, str, "pass letters, such as flags='i' for re.IGNORECASE")


def as_integer(name: str, value: Any, *, at_least: int | None = None, hint: str | None = None) -> int:
    """Return an int.

    Raises:
        ArgumentError: It is not an integer.
        OptionError: It is less than `at_least`.
    """
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value if not getattr(value, "ndim", 0) else value.item())
    except (TypeError, ValueError, RuntimeError):
        raise wrong_argument(name, value, "an int", hint) from None
    if at_least is not None and number < at_least:
        raise OptionError(f"{name} must be >= {at_least}, not {number}", option=name, hint=hint)
    return number


def as_number(name: str, value: Any) -> float:
    """Return a float: of an int, a float, or what has `__float__`. A text is not a number, nor are True and False."""
    if not isinstance(value, str | bytes | bytearray | bool):
        try:
            return float(value)
        except (TypeError, ValueError, RuntimeError, OverflowError):
            pass
    raise wrong_argument(name, value, "a number")


def as_tuple(name: str, value: Iterable[T], expected: str, hint: str | None = None) -> tuple[T, ...]:
    """Return the items of what can be iterated over, but for a text."""
    if not isinstance(value, str | bytes | bytearray):
        try:
            return tuple(value)
        except TypeError:
            pass
    raise wrong_argument(name, value, expected, hint)


def refuse_pickling(thing: object, hint: str) -> NoReturn:
    """Say what to pickle instead of an object that holds memory of the kernel; what has no `__copy__` is not copied."""
    name = type_name(thing).rpartition(".")[2]
    refused = "pickled" if hasattr(thing, "__copy__") else "copied or pickled"
    raise ArgumentError(f"a {name} cannot be {refused}: it holds memory of this process", argument="obj", hint=hint)
