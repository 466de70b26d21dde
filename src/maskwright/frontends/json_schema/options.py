"""What the caller chooses about JSON Schemas, and what the front-end reports.

    read_options({"strict_mode": True})     JsonSchemaOptions(strict_mode=True)
    read_options({"strict": True})          OptionError: unknown option 'strict'; did you mean 'strict_mode'?

Every public function that reads JSON Schemas takes the options as keyword arguments, `**options:
Unpack[JsonSchemaKeywords]`, and None stands for an option's default.
Invariant: `JsonSchemaKeywords` has the fields of `JsonSchemaOptions`.
Tested by tests/frontends/json_schema/test_schema_options.py.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import index
from typing import Any, Final, Literal, NamedTuple, TypedDict

from maskwright.errors import OptionError, type_name
from maskwright.frontends.json_schema.text.separators import separator
from maskwright.frontends.json_schema.text.white_space import white_space
from maskwright.support.argument_names import OF_AN_OUTPUT, PASS_TO_MATCHER
from maskwright.support.near_names import nearest

MAX_INDENT: Final = 100
_USUAL_WHITESPACE_CNT: Final = 32


@dataclass(frozen=True)
class JsonSchemaOptions:
    """How a JSON Schema is read, and how its instances are spelled.

    Attributes:
        any_whitespace: Allow white space between tokens wherever JSON does, up to `max_whitespace_cnt` characters in a
            row; none before or after the whole text. If False, only what `separators` and `indent` say.
        max_whitespace_cnt: The longest run of white space when `any_whitespace` is True; 32 if it is None.
        whitespace_pattern: What stands between any two tokens, where `any_whitespace` would allow white space: one
            match of this regular expression, in the syntax of `from_regex`. One that does not match the empty text asks
            for white space in all these places. It takes the place of the four other options of white space, so it
            goes with none of them; how long its matches are, it says itself.
        indent: As in `json.dumps`, up to 100 spaces; goes with `any_whitespace=False`.
        separators: `(item separator, key separator)` as in `json.dumps`; goes with `any_whitespace=False`. Each may be
            a regular expression, of whose matches those are written that are a comma or a colon with white space.
        ensure_ascii: Characters beyond ASCII are written as escapes only, as by `json.dumps`; otherwise either way.
        strict_mode: Objects have declared members only, and arrays that declare a prefix have no more items, unless the
            schema says `additionalProperties`, `items` or the like. An object that declares nothing is empty; a schema
            that says nothing of the type, such as `true`, still admits any object.
        on_unsupported: `"error"` refuses a schema with an assertion that cannot be enforced, `"relax"` leaves the
            assertion out and reports it.
        any_order: Members come in any order, in objects that declare up to 64; with up to 256, some of the optional
            ones keep their order among themselves; with more, all are in declared order.
        registry: A `referencing.Registry` of the documents that references may lead to. Nothing is ever fetched.
        numbers: `"plain"` writes what every reader of JSON gives back as the same value, of the same type: integers as
            digits alone, up to 2**53 - 1, numbers that a double holds, and the values of `enum` and `const` in the type
            that they have in the schema. `"any"` allows every spelling that the standard does, `1.0` for an integer.
            `"digits"` writes integers as digits alone, but of any length, and other numbers as `"any"` does: for
            identifiers beyond 2**53 and readers that keep them.
        formats: `"assert"` enforces `format`, `"annotate"` only reports it, which is the standard's default.
    """

    any_whitespace: bool = True
    max_whitespace_cnt: int | None = None
    indent: int | None = None
    separators: tuple[str, str] | None = None
    strict_mode: bool = False
    on_unsupported: Literal["error", "relax"] = "error"
    formats: Literal["assert", "annotate"] = "assert"
    any_order: bool = False
    registry: Any = field(default=None, compare=False)
    ensure_ascii: bool = False
    whitespace_pattern: str | None = None
    numbers: Literal["plain", "digits", "any"] = "plain"

    def __post_init__(self) -> None:
        for name in ("any_whitespace", "strict_mode", "any_order", "ensure_ascii"):
            object.__setattr__(self, name, _flag(name, getattr(self, name)))
        for name in ("max_whitespace_cnt", "indent"):
            object.__setattr__(self, name, _count(name, getattr(self, name)))
        if self.on_unsupported not in ("error", "relax"):
            raise _wrong("on_unsupported", f'must be "error" or "relax", not {self.on_unsupported!r:.60}')
        if self.formats not in ("assert", "annotate"):
            raise _wrong("formats", f'must be "assert" or "annotate", not {self.formats!r:.60}')
        if self.numbers not in ("plain", "digits", "any"):
            raise _wrong("numbers", f'must be "plain", "digits" or "any", not {self.numbers!r:.60}')
        if self.max_whitespace_cnt is not None and self.max_whitespace_cnt < 0:
            raise _wrong("max_whitespace_cnt", f"must be >= 0, not {self.max_whitespace_cnt}")
        if self.indent is not None and not 0 <= self.indent <= MAX_INDENT:
            raise _wrong("indent", f"must be None or from 0 to {MAX_INDENT}, not {self.indent!r:.60}")
        if self.separators is not None:
            object.__setattr__(self, "separators", _separators(self.separators))
        if self.registry is not None:
            _check_registry(self.registry)
        if self.whitespace_pattern is not None:
            self._check_pattern(self.whitespace_pattern)
        elif self.max_whitespace_cnt is None:
            object.__setattr__(self, "max_whitespace_cnt", _USUAL_WHITESPACE_CNT)
        if self.any_whitespace and (self.indent is not None or self.separators is not None):
            fixed = "separators" if self.indent is None else "indent"
            raise OptionError(
                f"{fixed} requires any_whitespace=False",
                option=fixed,
                hint="set any_whitespace=False",
            )

    def _check_pattern(self, pattern: str) -> None:
        """Refuse a pattern that no output could follow, and what would otherwise be said twice."""
        if not isinstance(pattern, str):
            raise _wrong("whitespace_pattern", f"must be a string, not {type(pattern).__name__}")
        white_space(pattern)
        others = {
            "any_whitespace=False": not self.any_whitespace,
            "max_whitespace_cnt": self.max_whitespace_cnt is not None,
            "indent": self.indent is not None,
            "separators": self.separators is not None,
        }
        for other, is_said in others.items():
            if is_said:
                raise OptionError(
                    f"whitespace_pattern cannot be combined with {other}",
                    option="whitespace_pattern",
                    hint=f"remove {other} or whitespace_pattern",
                )


class JsonSchemaKeywords(TypedDict, total=False):
    """The options as keyword arguments; None is the default of each."""

    any_whitespace: bool | None
    max_whitespace_cnt: int | None
    indent: int | None
    separators: tuple[str, str] | None
    strict_mode: bool | None
    on_unsupported: Literal["error", "relax"] | None
    formats: Literal["assert", "annotate"] | None
    any_order: bool | None
    registry: Any
    ensure_ascii: bool | None
    whitespace_pattern: str | None
    numbers: Literal["plain", "digits", "any"] | None


# What says together how a value is laid out: whoever says one of these says them all.
LAYOUT_OPTIONS: Final = ("any_whitespace", "max_whitespace_cnt", "whitespace_pattern", "indent", "separators")

_OTHER_NAMES: Final = {
    "strict": "strict_mode",
    "additional_properties": "strict_mode",
    "whitespace": "any_whitespace",
    "relax": "on_unsupported",
    "ordered": "any_order",
    "format": "formats",
    "compact": "separators",
    "enable_thinking": "reasoning",
    "response_format": "content",
}


def read_options(given: Mapping[str, Any]) -> JsonSchemaOptions:
    """Return the options that keyword arguments stand for.

    Raises:
        OptionError: There is no such option, or one is wrong.
    """
    if not given:
        return DEFAULTS
    return JsonSchemaOptions(**chosen_options(given))


def chosen_options(given: Mapping[str, Any], others: Iterable[str] = ()) -> dict[str, Any]:
    """Return the options that are not left to their defaults; their values are not checked.

    Args:
        given: Keyword arguments.
        others: The names of the function's other keyword arguments, for hints.

    Raises:
        OptionError: There is no such option.
    """
    chosen = {name: value for name, value in given.items() if value is not None}
    for name in given.keys() - JsonSchemaOptions.__dataclass_fields__.keys():
        names = [*JsonSchemaOptions.__dataclass_fields__, *others]
        meant = _OTHER_NAMES.get(name)
        near = meant if meant in names else nearest(name, names)
        hint = f"did you mean {near!r}?" if near else f"the options are: {', '.join(names)}"
        if name in OF_AN_OUTPUT:
            hint = PASS_TO_MATCHER
        raise OptionError(f"unknown option {name[:60]!r}", option=name, hint=hint)
    return chosen


def _separators(value: Any) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or len(value) != 2 or not all(isinstance(each, str) for each in value):
        raise OptionError(
            f"separators must be two strings, for items and names, not {value!r:.60}",
            option="separators",
            hint='pass both, such as separators=(",", ":")',
        )
    for each, character in zip(value, ",:", strict=True):
        separator(each, character)
    return tuple(value)


def _flag(option: str, value: Any) -> bool:
    if not isinstance(value, int) or value not in (0, 1):
        raise _wrong(option, f"must be True or False, not {value!r:.60}")
    return bool(value)


def _count(option: str, value: Any) -> int | None:
    if value is None:
        return None
    try:
        return index(value)
    except TypeError:
        raise _wrong(option, f"must be an int or None, not {type(value).__name__}") from None


def _check_registry(value: Any) -> None:
    """Refuse what is no `referencing.Registry`, without importing that library: who has a registry has done so."""
    library = sys.modules.get("referencing")
    if library is None or not isinstance(value, library.Registry):
        raise OptionError(
            f"registry must be a referencing.Registry, not {type_name(value)}",
            option="registry",
            hint="of a dict from URIs to schemas, make one with referencing.Registry().with_contents("
            "documents.items(), default_specification=referencing.jsonschema.DRAFT202012)",
        )


def _wrong(option: str, what: str) -> OptionError:
    return OptionError(f"{option} {what}", option=option)


DEFAULTS: Final = JsonSchemaOptions()


# How the reasons of probable mistakes begin.
UNKNOWN_KEYWORD: Final = "unknown keyword"
NOTHING_USED: Final = "no keyword of JSON Schema is used"
MISSPELLED_FORMAT: Final = "misspelled format"
UNKNOWN_DRAFT: Final = "$schema names no draft that is supported"
LOST_ESCAPE: Final = "a lost escape"
HIDDEN_BY_REF: Final = "a constraint that $ref hides"
OF_LATER_DRAFT: Final = "a constraint of a later draft"
OF_OTHER_TYPE: Final = "a constraint of another type"
UNDECLARED: Final = "required, but not declared"
POSIX_CLASS: Final = "a POSIX class"
IN_SLASHES: Final = "a pattern between slashes"
BLANK_COUNT: Final = "a blank in a count"
IN_GRAMMAR: Final = "probably a mistake"
_MISTAKES: Final = (
    UNKNOWN_KEYWORD,
    NOTHING_USED,
    MISSPELLED_FORMAT,
    UNKNOWN_DRAFT,
    LOST_ESCAPE,
    HIDDEN_BY_REF,
    OF_LATER_DRAFT,
    OF_OTHER_TYPE,
    UNDECLARED,
    POSIX_CLASS,
    IN_SLASHES,
    BLANK_COUNT,
    IN_GRAMMAR,
)
# The reason of a keyword that is no mistake, such as an extension.
NOT_A_KEYWORD: Final = "it is not a keyword of JSON Schema"


def is_mistake(reason: str) -> bool:
    """Whether something that does not do what it says, for this reason, was surely meant to."""
    return reason.startswith(_MISTAKES)


class Finding(NamedTuple):
    """One keyword that does not constrain the output, and why; or that does so otherwise than was surely meant."""

    pointer: str
    keyword: str
    outcome: Literal["annotation", "relaxed", "enforced"]
    reason: str

    @property
    def is_mistake(self) -> bool:
        """Whether it was surely meant to constrain the output, or otherwise: a misspelled keyword, one that `$ref`
        hides, that the draft does not have or that says nothing of the type, a schema that uses none, a pattern with a
        lost escape or a POSIX class or between slashes, a required member that is declared under another name, a part
        of a grammar, in a structural tag or an `x-grammar`, that a `GrammarWarning` would be about.
        """
        return is_mistake(self.reason)

    @property
    def is_extension(self) -> bool:
        """Whether it is a keyword of somebody else's that looks like no constraint."""
        return self.reason.startswith(NOT_A_KEYWORD)
