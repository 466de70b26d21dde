"""XGrammar's exceptions, and Maskwright's errors in a form that code written for XGrammar catches.

    >>> try:
    ...     with as_xgrammar_errors():
    ...         raise errors.RegexSyntaxError("unmatched ')'")
    ... except RuntimeError as error:
    ...     type(error).__mro__[1].__name__
    'RegexSyntaxError'

XGrammar raises RuntimeError for nearly everything, ValueError and TypeError for some arguments. Every error that comes
out of this package is the `MaskwrightError` that it is elsewhere, with all its fields, and a RuntimeError and a
ValueError as well; one about an argument's type is also a TypeError.
Tested by tests/compat/test_xgrammar_errors.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from json import JSONDecodeError
from typing import Final

from maskwright import errors


class InvalidJSONError(errors.MaskwrightError, RuntimeError, ValueError):
    """A text that should be JSON is not."""


class InvalidStructuralTagError(errors.StructuralTagError, RuntimeError):
    """A structural tag is malformed or contradicts itself; `pointer` says where."""


class DeserializeFormatError(errors.MaskwrightError, RuntimeError, ValueError):
    """A serialized object does not have the form of what is to be read from it."""


class DeserializeVersionError(errors.MaskwrightError, RuntimeError, ValueError):
    """A serialized object has no version, or that of another engine or release."""


class _Argument(errors.ArgumentError, ValueError, RuntimeError):
    pass


class _Grammar(errors.GrammarError, RuntimeError):
    pass


class _Regex(errors.RegexSyntaxError, RuntimeError):
    pass


class _Ebnf(errors.EbnfSyntaxError, RuntimeError):
    pass


class _Lark(errors.LarkSyntaxError, RuntimeError):
    pass


class _Unsatisfiable(errors.UnsatisfiableError, RuntimeError):
    pass


class _Schema(errors.SchemaError, RuntimeError):
    pass


class _UnsupportedSchema(errors.UnsupportedSchemaError, RuntimeError):
    pass


class _Option(errors.OptionError, RuntimeError):
    pass


class _Request(errors.RequestError, RuntimeError):
    pass


class _Tokenizer(errors.TokenizerError, RuntimeError):
    pass


class _Bitmask(errors.BitmaskError, RuntimeError):
    pass


class _MissingPackage(errors.MissingPackageError, RuntimeError, ValueError):
    pass


class _Engine(errors.EngineError):
    pass


class _Limit(errors.LimitError, ValueError):
    pass


class _Matcher(errors.MatcherError, ValueError):
    pass


_KNOWN: Final[dict[type[errors.MaskwrightError], type[errors.MaskwrightError]]] = {
    errors.StructuralTagError: InvalidStructuralTagError,
    **{
        each.__bases__[0]: each
        for each in (
            _Argument,
            _Grammar,
            _Regex,
            _Ebnf,
            _Lark,
            _Unsatisfiable,
            _Schema,
            _UnsupportedSchema,
            _Option,
            _Request,
            _Tokenizer,
            _Bitmask,
            _MissingPackage,
            _Engine,
            _Limit,
            _Matcher,
        )
    },
}


@contextmanager
def as_xgrammar_errors() -> Iterator[None]:
    """Let the errors of the block be those that XGrammar's callers catch. Also usable as a decorator."""
    try:
        yield
    except errors.MaskwrightError as error:
        convert(error)
        raise


def convert(error: errors.MaskwrightError) -> None:
    """Let an error be one that XGrammar's callers catch: the same object, with its fields, traceback and cause."""
    error.__class__ = _class_of(error)


def _class_of(error: errors.MaskwrightError) -> type[errors.MaskwrightError]:
    if isinstance(error, errors.StructuralTagError) and isinstance(error.__cause__, JSONDecodeError):
        return InvalidJSONError
    return _KNOWN.get(type(error), type(error))
