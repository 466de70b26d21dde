"""Every exception that Maskwright raises, and the tree they form.

    MaskwrightError
    ├── ArgumentError           an argument of the wrong type                     (also TypeError)
    ├── GrammarError            a grammar text or a grammar as a whole is wrong   (also ValueError)
    │   ├── RegexSyntaxError
    │   ├── EbnfSyntaxError
    │   ├── LarkSyntaxError
    │   └── UnsatisfiableError  the grammar or schema admits no output at all
    ├── SchemaError             a JSON Schema is wrong, at a JSON pointer         (also ValueError)
    │   └── UnsupportedSchemaError
    ├── OptionError             an option is wrong, or contradicts another one    (also ValueError)
    ├── StructuralTagError      a structural tag is wrong, at a JSON pointer      (also ValueError)
    ├── RequestError            tools, tool_choice or a response format is wrong  (also ValueError)
    ├── TokenizerError          a tokenizer cannot be turned into token bytes     (also ValueError)
    ├── BitmaskError            a bitmask or logits buffer of the wrong form      (also ValueError)
    ├── MissingPackageError     an optional package is not installed              (also ModuleNotFoundError)
    ├── EngineError             a model cannot be loaded, or an engine is closed  (also RuntimeError)
    ├── LimitError              a limit on depth, size or work was reached        (also RuntimeError)
    └── MatcherError            a call that a matcher cannot carry out             (also RuntimeError)

There are two warnings. `GrammarWarning` is for grammars that compile but surely do not do what they were written for.
`SchemaWarning` is for JSON Schemas with a misspelled keyword or format, with no keyword at all, of an unknown draft, or
with constraints that their draft drops. Regular expressions with an escape that the string around them has read are
given the one or the other. What a `GrammarWarning` would say of a grammar in a structural tag, or in a JSON Schema's
`x-grammar`, is a `SchemaWarning` with its JSON pointer.

Errors are data: whatever a program may want to act on is a field, and the message is made from the fields.
A message never holds more than one line of the user's source, so that logs do not leak whole schemas.
Tested by tests/test_errors.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing_extensions import Self

_MAX_SHOWN = 120


class Span(NamedTuple):
    """Where in a source text: offsets in characters, end exclusive."""

    start: int
    end: int


class MaskwrightError(Exception):
    """Base of all errors. `hint` says what to do about it."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        self.message = message
        self.hint = hint
        super().__init__(self._text())

    @property
    def message_with_place(self) -> str:
        """The message for an error about what contains the text that is wrong: `the group is not closed (column 3)`."""
        return self.message

    def rename(self, name: str, other: str) -> None:
        """Let the message call something by another name."""
        self.restate(self.message.replace(name, other), self.hint)

    def restate(self, message: str, hint: str | None) -> None:
        """Give the error another message and hint."""
        self.message, self.hint = message, hint
        self.args = (self._text(),)

    def _text(self) -> str:
        return self.message if self.hint is None else f"{self.message}\n  hint: {self.hint}"


class ArgumentError(MaskwrightError, TypeError):
    """An argument has the wrong type, or a wrong name. `argument` names it; the message says what to pass instead."""

    def __init__(self, message: str, *, argument: str, hint: str | None = None) -> None:
        self.argument = argument
        super().__init__(message, hint=hint)


def wrong_argument(argument: str, value: object, expected: str, hint: str | None = None) -> ArgumentError:
    """Make the error for an argument that is not what is expected.

    >>> print(wrong_argument("pattern", 3, "a str"))
    pattern must be a str, not int
    >>> print(wrong_argument("token_id", [3], "an int"))
    token_id must be an int, not list
      hint: pass one item, such as int(value[0])
    """
    way_out = hint or _usual_hint(argument, expected, value)
    return ArgumentError(f"{argument} must be {expected}, not {type_name(value)}", argument=argument, hint=way_out)


_FLAT = "pass one dimension, such as value.flatten()"


def _usual_hint(argument: str, expected: str, value: object) -> str | None:
    """What to pass where numbers, lists of them and texts are confused."""
    is_text = isinstance(value, str | bytes | bytearray)
    if argument == "token_id" and is_text:
        return "pass a token's id; accept_string accepts text"
    shape = getattr(value, "shape", None)
    if expected == "an int" and type_name(value) in ("bool", "numpy.bool", "numpy.bool_"):
        is_item = argument.startswith("each of ")
        return "pass numbers instead of a mask: numpy.flatnonzero(mask)" if is_item else None
    if expected == "an int" and isinstance(value, float):
        return "pass int(value)"
    if expected == "an int" and isinstance(shape, tuple) and all(size == 1 for size in shape):
        return "pass int(value.item())"
    if expected == "an int" and hasattr(value, "__len__") and not is_text:
        place = ", ".join("0" for _ in shape) if isinstance(shape, tuple) else "0"
        return f"pass one item, such as int(value[{place}])"
    if expected == "a sequence of ints" and isinstance(shape, tuple):
        return ("pass [value]", "pass [int(each) for each in value]")[len(shape)] if len(shape) < 2 else _FLAT
    return "pass [value]" if expected == "a sequence of ints" and isinstance(value, int) else None


def type_name(value: object) -> str:
    """Name what somebody passed: its type, or the class itself if it is one.

    >>> type_name(None), type_name(1.5), type_name(int)
    ('None', 'float', 'the class int')
    """
    if value is None:
        return "None"
    if isinstance(value, type):
        return f"the class {value.__qualname__[:60]}"
    kind = type(value)
    return (kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}")[:100]


def line_and_column(source: str, span: Span) -> tuple[int, int]:
    """Where a span begins; both count from 1."""
    line_start = source.rfind("\n", 0, span.start) + 1
    return source.count("\n", 0, span.start) + 1, span.start - line_start + 1


class GrammarError(MaskwrightError, ValueError):
    """A grammar text is wrong. `source` and `span` say where, `rule` in which rule; `line`, `column` count from 1."""

    def __init__(
        self,
        message: str,
        *,
        source: str | None = None,
        span: Span | None = None,
        hint: str | None = None,
        rule: str | None = None,
    ) -> None:
        self.source = source
        self.span = span
        self.rule = rule
        super().__init__(message, hint=hint)

    def name_rule(self, rule: str | None) -> Self:
        """Say in which rule it is, unless that is said already."""
        if self.rule is None and rule is not None:
            self.rule = rule
            self.args = (self._text(),)
        return self

    def stands_at(self, source: str, span: Span) -> Self:
        """Say where in a grammar's text stands what is wrong."""
        self.source, self.span = source, span
        self.args = (self._text(),)
        return self

    @property
    def line(self) -> int | None:
        if self.source is None or self.span is None:
            return None
        return line_and_column(self.source, self.span)[0]

    @property
    def column(self) -> int | None:
        if self.source is None or self.span is None:
            return None
        return line_and_column(self.source, self.span)[1]

    @property
    def message_with_place(self) -> str:
        if self.line is None:
            return self.message
        line = f"line {self.line}, " if "\n" in (self.source or "") else ""
        return f"{self.message} ({line}column {self.column})"

    def _text(self) -> str:
        if self.source is None or self.span is None:
            return super()._text()
        line_start = self.source.rfind("\n", 0, self.span.start) + 1
        line_end = self.source.find("\n", self.span.start)
        text = self.source[line_start : line_end if line_end >= 0 else len(self.source)]
        offset = self.span.start - line_start
        cut = max(0, offset - _MAX_SHOWN // 2)
        shown = _printable(text[cut : cut + _MAX_SHOWN])
        width = max(1, min(self.span.end, self.span.start + len(shown) - (offset - cut)) - self.span.start)
        caret = " " * (offset - cut) + "^" * width
        place = f"{self.line}:{self.column}: " + (f"in {self.rule[:60]!r}: " if self.rule else "")
        return f"{place}{super()._text()}\n    {shown}\n    {caret}"


class RegexSyntaxError(GrammarError):
    """A regular expression is malformed; or it is well-formed, and `is_unsupported`: not regular, for example."""

    is_unsupported = False

    def as_unsupported(self) -> Self:
        """Say that the expression is well-formed."""
        self.is_unsupported = True
        return self


class EbnfSyntaxError(GrammarError):
    """An EBNF or GBNF grammar is malformed."""


class LarkSyntaxError(GrammarError):
    """A grammar in Lark's syntax is malformed, or uses something that is not supported."""


class UnsatisfiableError(GrammarError):
    """No output satisfies the structure, or none fits into the token budget.

    For a JSON Schema, `pointers` are the JSON pointers of the keywords that contradict each other: without any one of
    them, some value would be valid. They are empty if that could not be determined.

    If it is about a budget, the shortest output has at least `least_tokens` tokens, stop token apart, and
    `enough_tokens` are enough for one; each is None where it is not known. Both are the same where it is known exactly.
    """

    def __init__(
        self,
        message: str,
        *,
        pointers: tuple[str, ...] = (),
        hint: str | None = None,
        source: str | None = None,
        span: Span | None = None,
        rule: str | None = None,
        least_tokens: int | None = None,
        enough_tokens: int | None = None,
    ) -> None:
        self.pointers = pointers
        self.least_tokens = least_tokens
        self.enough_tokens = enough_tokens
        super().__init__(message, source=source, span=span, hint=hint, rule=rule)


class SchemaError(MaskwrightError, ValueError):
    """A JSON Schema is malformed. `pointer` is the JSON pointer to the place, `keyword` the keyword there.

    `line` and `column`, from 1, say where the schema stands in a grammar's text; they are None elsewhere.
    """

    line: int | None = None
    column: int | None = None

    def __init__(self, message: str, *, pointer: str = "", keyword: str | None = None, hint: str | None = None) -> None:
        self.pointer = pointer
        self.keyword = keyword
        super().__init__(message, hint=hint)

    def stands_at(self, source: str, span: Span) -> Self:
        """Say where in a grammar's text the schema stands."""
        self.line, self.column = line_and_column(source, span)
        self.args = (self._text(),)
        return self

    def _text(self) -> str:
        place = "" if self.line is None else f"{self.line}:{self.column}: in this %json: "
        return place + _at(self.pointer, super()._text())


class UnsupportedSchemaError(SchemaError):
    """A keyword of a JSON Schema cannot be enforced; nothing is dropped silently."""


class OptionError(MaskwrightError, ValueError):
    """An option is wrong, or contradicts another one. `option` is its name."""

    def __init__(self, message: str, *, option: str, hint: str | None = None) -> None:
        self.option = option
        super().__init__(message, hint=hint)


class StructuralTagError(MaskwrightError, ValueError):
    """A structural tag is malformed or contradicts itself. `pointer` is the JSON pointer to the place."""

    def __init__(self, message: str, *, pointer: str = "", hint: str | None = None) -> None:
        self.pointer = pointer
        super().__init__(message, hint=hint)

    def _text(self) -> str:
        return _at(self.pointer, super()._text())


class RequestError(MaskwrightError, ValueError):
    """A request's tools, tool choice or response format is wrong. `pointer` is the JSON pointer to the field."""

    def __init__(self, message: str, *, pointer: str = "", hint: str | None = None) -> None:
        self.pointer = pointer
        super().__init__(message, hint=hint)

    def _text(self) -> str:
        return _at(self.pointer, super()._text())


class TokenizerError(MaskwrightError, ValueError):
    """A tokenizer cannot be turned into token bytes."""


class BitmaskError(MaskwrightError, ValueError):
    """A bitmask or logits buffer has the wrong dtype, shape, device or layout."""


class EngineError(MaskwrightError, RuntimeError):
    """A model cannot be loaded or run, or an engine takes no requests.

    `can_retry` is False if a request would fail again until the engine is configured differently, as with a wrong API
    key. `retry_after_s` is the number of seconds to wait before trying again, None if that is unknown.
    """

    def __init__(
        self, message: str, *, hint: str | None = None, can_retry: bool = True, retry_after_s: float | None = None
    ) -> None:
        self.can_retry = can_retry
        self.retry_after_s = retry_after_s
        super().__init__(message, hint=hint)


class MissingPackageError(MaskwrightError, ModuleNotFoundError):
    """An optional package is not installed. `name` is the package, as it is imported."""

    def __init__(self, message: str, *, package: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.name = package


class LimitError(MaskwrightError, RuntimeError):
    """A limit on depth, size or work was reached. `limit` names it.

    If it is about a token budget, `least_tokens` and `enough_tokens` are as in `UnsatisfiableError`.
    """

    def __init__(
        self,
        message: str,
        *,
        limit: str,
        hint: str | None = None,
        least_tokens: int | None = None,
        enough_tokens: int | None = None,
    ) -> None:
        self.limit = limit
        self.least_tokens = least_tokens
        self.enough_tokens = enough_tokens
        super().__init__(message, hint=hint)


class MatcherError(MaskwrightError, RuntimeError):
    """A matcher cannot carry out a call, such as rolling back more tokens than it has accepted."""


class GrammarWarning(UserWarning):
    """A grammar compiles, but part of it surely does not do what it was written for.

    `rule` is the rule in question, None for a regular expression, which has none; `line` and `column`, from 1, are the
    place of its definition, or of the regular expression in it that is meant, None if that is not in the text that was
    read; `hint` says how to rewrite it.
    """

    def __init__(
        self,
        message: str,
        *,
        rule: str | None,
        line: int | None = None,
        column: int | None = None,
        hint: str | None = None,
    ) -> None:
        self.message = message
        self.rule = rule
        self.line = line
        self.column = column
        self.hint = hint
        place = "" if line is None else f"{line}:{column}: "
        advice = "" if hint is None else f"\n  hint: {hint}"
        within = "" if rule is None else f"in {rule[:60]!r}: "
        super().__init__(f"{place}{within}{message}{advice}")


class SchemaWarning(UserWarning):
    """A part of a JSON Schema does not do what was almost certainly meant, such as a misspelled keyword.

    `pointer` is the JSON pointer to the place, `keyword` the name there. Issued once for a schema: the same holds for
    `num_more` other parts of it, and `Grammar.report` lists them all.
    """

    def __init__(self, message: str, *, pointer: str, keyword: str, num_more: int = 0) -> None:
        self.message = message
        self.pointer = pointer
        self.keyword = keyword
        self.num_more = num_more
        more = f" (and {num_more} more: see Grammar.report)" if num_more else ""
        super().__init__(_at(pointer, message + more))


def _at(pointer: str, message: str) -> str:
    return f"at #{pointer}: {message}" if pointer else message


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
