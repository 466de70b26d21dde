"""The format classes: what a structural tag is made of.

    {"type": "structural_tag", "format": {"type": "tag", "begin": "<a>", "content": {"type": "any_text"}, "end": "<"}}
    StructuralTag(format=TagFormat(begin="<a>", content=AnyTextFormat(), end="<"))

Both forms mean the same; names and fields are those of the interchange format of vLLM, SGLang and TensorRT-LLM. A class
lists its fields and their readers; where a format is expected, its dict is accepted as well.

Invariants: formats are immutable and checked when made; lists become tuples. Errors have a JSON pointer.
The docstring of a class says what its format matches; docs/structural_tags.md has examples.
Tested by tests/structural_tag/formats/test_formats.py.
"""

# ruff: noqa: RUF009 (read_by makes a field)

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final

from maskwright.errors import OptionError, StructuralTagError
from maskwright.frontends.json_schema.options import LAYOUT_OPTIONS, JsonSchemaOptions, read_options
from maskwright.ir import GrammarIR
from maskwright.structural_tag.formats.base import Format, altered, read_by, readers_of
from maskwright.structural_tag.formats.fields import (
    Reader,
    boolean,
    count,
    count_or_any,
    filled,
    one_of,
    optional,
    optional_count,
    optional_name,
    optional_string,
    schema,
    several,
    string,
    token,
    tokens,
    wrong,
)
from maskwright.structural_tag.formats.named_tag import NamedTagFormat
from maskwright.structural_tag.formats.reading import read_format, read_tags
from maskwright.structural_tag.formats.schemas import OwnSchema
from maskwright.structural_tag.formats.xml_styles import STYLES


def _several_formats(value: Any, pointer: str) -> Any:
    return several(read_format, at_least=1)(value, pointer)


def _token_format(value: Any, pointer: str) -> TokenFormat:
    read = read_format(value, pointer)
    if not isinstance(read, TokenFormat):
        raise StructuralTagError(f"expected a string or a token, found {read.type}", pointer=pointer)
    return read


def _begin(value: Any, pointer: str) -> str | TokenFormat:
    return string(value, pointer) if isinstance(value, str) else _token_format(value, pointer)


def _end(value: Any, pointer: str) -> Any:
    if not isinstance(value, (list, tuple)):
        return _begin(value, pointer)
    ends = several(string, at_least=1)(value, pointer)
    return ends[0] if len(ends) == 1 else ends


def _tags(value: Any, pointer: str) -> tuple[TagFormat, ...]:
    if type(value) in (list, tuple) and set(map(type, value)) == {TagFormat}:  # as when families or known tags are read
        return tuple(value)
    return read_tags(value, pointer)  # type: ignore[return-value]


def _any_tags(value: Any, pointer: str) -> tuple[TagFormat | NamedTagFormat, ...]:
    if type(value) in (list, tuple) and set(map(type, value)) == {TagFormat}:
        return tuple(value)
    return read_tags(value, pointer, ("tag", "named_tag"))  # type: ignore[return-value]


def _rule(first: Reader) -> Reader:
    def read(value: Any, pointer: str) -> tuple[Any, Format]:
        if not isinstance(value, (list, tuple)) or len(value) != 2:
            raise wrong("a pair [pattern, format]", value, pointer)
        return first(value[0], f"{pointer}/0"), read_format(value[1], f"{pointer}/1")

    return read


@dataclass(frozen=True)
class ConstStringFormat(Format):
    """Exactly this string."""

    type = "const_string"
    value: str = read_by(string)


class _SchemaField:
    """A field that holds an `OwnSchema`. Those who read it get the data.

    It is here, as compiled classes have no `__set__`.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, it: Any, kind: Any = None) -> Any:
        return self if it is None else it.__dict__[self._name].data

    def __set__(self, it: Any, value: Any) -> None:
        it.__dict__[self._name] = value


def _owns_schema(cls: Any) -> Any:
    """Let those who read `json_schema` get the data anew, so that nobody changes what the format holds."""
    cls.json_schema = _SchemaField("json_schema")
    return cls


@_owns_schema
@dataclass(frozen=True)
class JSONSchemaFormat(Format):
    """A value that is valid against a JSON Schema, as JSON or in one of the styles in which models write arguments.

    `excludes` are texts that must not occur in strings written without quotes; in the style json, in any string,
    property names included. `capture` captures a value in JSON under this name, and its outermost members as well; see
    reader.py.

    The other fields, except the last two, are the options of `JsonSchemaOptions`. An option that is None takes the
    value passed to `compile_structural_tag`, or else the default. The layout options (`LAYOUT_OPTIONS`) are taken
    together: a format that sets one of them does not inherit the others. White space options also apply between
    elements; a fixed layout (`any_whitespace=False`) applies to values in JSON only.

    `registry` is that of `JsonSchemaOptions`; it is not part of the tag's JSON. `origin` is the JSON pointer of the
    schema in the caller's request, at which errors point.
    """

    type = "json_schema"
    json_schema: dict[str, Any] | bool = read_by(schema)
    style: str = read_by(one_of("json", *STYLES), "json")
    any_order: bool | None = read_by(optional(boolean), None)
    max_whitespace_cnt: int | None = read_by(optional_count, None)
    excludes: tuple[str, ...] = read_by(several(filled), ())
    strict_mode: bool | None = read_by(optional(boolean), None)
    whitespace_pattern: str | None = read_by(optional_string, None)
    capture: str | None = read_by(optional_name, None)
    any_whitespace: bool | None = read_by(optional(boolean), None)
    indent: int | None = read_by(optional_count, None)
    separators: tuple[str, ...] | None = read_by(optional(several(string)), None)
    on_unsupported: str | None = read_by(optional(one_of("error", "relax")), None)
    formats: str | None = read_by(optional(one_of("assert", "annotate")), None)
    ensure_ascii: bool | None = read_by(optional(boolean), None)
    numbers: str | None = read_by(optional(one_of("plain", "digits", "any")), None)
    registry: Any = field(default=None, compare=False, repr=False)
    origin: str | None = field(default=None, compare=False, repr=False)

    @property
    def own_schema(self) -> OwnSchema:
        """The schema as it is held here."""
        return self.__dict__["json_schema"]  # type: ignore[no-any-return]

    @property
    def choices(self) -> tuple[Any, ...]:
        """All fields but the schema and the registry."""
        return _choices(self)

    @property
    def options(self) -> JsonSchemaOptions:
        """The options; those that are None have their defaults."""
        options = _options(_said(self))
        return options if self.registry is None else replace(options, registry=self.registry)

    @property
    def says_layout(self) -> bool:
        """Whether it sets a layout option."""
        return _layout(self) != _NO_LAYOUT

    def check(self, pointer: str) -> None:
        if _layout(self) == _NO_LAYOUT:
            return  # what else the options may be, the readers of the fields have checked
        try:
            _ = self.options
        except OptionError as error:
            raise StructuralTagError(error.message, pointer=f"{pointer}/{error.option}", hint=error.hint) from error


OPTIONS: Final = tuple(name for name in JsonSchemaOptions.__dataclass_fields__ if name != "registry")
_choices = attrgetter(*[name for name in readers_of(JSONSchemaFormat) if name != "json_schema"])
_said = attrgetter(*OPTIONS)
_layout = attrgetter(*LAYOUT_OPTIONS)
_NO_LAYOUT: Final = (None,) * len(LAYOUT_OPTIONS)


@lru_cache(maxsize=64)
def _options(said: tuple[Any, ...]) -> JsonSchemaOptions:
    return read_options(dict(zip(OPTIONS, said, strict=True)))


@_owns_schema
@dataclass(frozen=True)
class QwenXMLParameterFormat(Format):
    """The older name of `json_schema` in the style `qwen_xml`."""

    type = "qwen_xml_parameter"
    json_schema: dict[str, Any] | bool = read_by(schema)

    @property
    def as_json_schema(self) -> JSONSchemaFormat:
        """The same under its newer name."""
        return altered(_QWEN_XML, json_schema=self.__dict__["json_schema"])


_QWEN_XML: Final = JSONSchemaFormat(True, "qwen_xml")


@dataclass(frozen=True)
class AnyTextFormat(Format):
    """Any text in which none of `excludes` occurs, of at most `max_chars` characters, in at most `max_tokens` tokens.

    As a tag's content it ends where the tag's end string first occurs, whose tokens are not counted. `capture` is the
    name under which the text is captured, without its end.
    """

    type = "any_text"
    excludes: tuple[str, ...] = read_by(several(filled), ())
    max_tokens: int | None = read_by(optional_count, None)
    max_chars: int | None = read_by(optional_count, None)
    capture: str | None = read_by(optional_name, None)


@dataclass(frozen=True)
class GrammarFormat(Format):
    """A match of the rule `root` of an EBNF grammar.

    `rules` are those of the text, if it was read already: in another language, perhaps. `origin` is its JSON pointer in
    the caller's request, at which errors point.
    """

    type = "grammar"
    grammar: str = read_by(string)
    rules: GrammarIR | None = field(default=None, compare=False, repr=False)
    origin: str | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class RegexFormat(Format):
    """A full match of a regular expression, in which none of `excludes` occurs; `origin` is as in `GrammarFormat`."""

    type = "regex"
    pattern: str = read_by(string)
    excludes: tuple[str, ...] = read_by(several(filled), ())
    origin: str | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class TokenFormat(Format):
    """One token, by its id or its text."""

    type = "token"
    token: int | str = read_by(token)


@dataclass(frozen=True)
class ExcludeTokenFormat(Format):
    """One token of the vocabulary, stop tokens aside, that is not among these."""

    type = "exclude_token"
    exclude_tokens: tuple[int | str, ...] = read_by(tokens, ())


@dataclass(frozen=True)
class AnyTokensFormat(Format):
    """Any number of tokens, at most `max_tokens`, that are neither stop tokens nor among `exclude_tokens`."""

    type = "any_tokens"
    exclude_tokens: tuple[int | str, ...] = read_by(tokens, ())
    max_tokens: int | None = read_by(optional_count, None)


@dataclass(frozen=True)
class SequenceFormat(Format):
    """These formats in order."""

    type = "sequence"
    elements: tuple[Format, ...] = read_by(_several_formats)


@dataclass(frozen=True)
class OrFormat(Format):
    """One of these formats."""

    type = "or"
    elements: tuple[Format, ...] = read_by(_several_formats)


@dataclass(frozen=True)
class OptionalFormat(Format):
    """The content, or nothing."""

    type = "optional"
    content: Format = read_by(read_format)


@dataclass(frozen=True)
class PlusFormat(Format):
    """The content one or more times."""

    type = "plus"
    content: Format = read_by(read_format)


@dataclass(frozen=True)
class StarFormat(Format):
    """The content any number of times."""

    type = "star"
    content: Format = read_by(read_format)


@dataclass(frozen=True)
class RepeatFormat(Format):
    """The content `min` to `max` times; a `max` of -1 means no upper limit."""

    type = "repeat"
    min: int = read_by(count)
    max: int = read_by(count_or_any)
    content: Format = read_by(read_format)

    def check(self, pointer: str) -> None:
        if -1 < self.max < self.min:
            raise StructuralTagError("max must be >= min, or -1 for no limit", pointer=f"{pointer}/max")


@dataclass(frozen=True)
class TagFormat(Format):
    """`begin content end`. With several end strings, any of them ends the tag; a single empty string means no end.

    With the empty string among several, the end is optional: the content may also end where the next format begins, or
    where the output ends.

    `capture` is the name under which the content is captured.
    """

    type = "tag"
    begin: str | TokenFormat = read_by(_begin)
    content: Format = read_by(read_format)
    end: str | tuple[str, ...] | TokenFormat = read_by(_end)
    capture: str | None = read_by(optional_name, None)

    @property
    def ends(self) -> tuple[str | TokenFormat, ...]:
        """All ends; empty if the only end is the empty string."""
        each = self.end if isinstance(self.end, tuple) else (self.end,)
        return tuple(end for end in each if end != "")

    @property
    def may_stay_open(self) -> bool:
        """Whether there are ends, and they are optional."""
        return isinstance(self.end, tuple) and "" in self.end and self.ends != ()


@dataclass(frozen=True)
class TriggeredTagsFormat(Format):
    """Free text in which a trigger starts a tag; text may follow the tag.

    Read from the left: where the first trigger ends, a tag has begun whose `begin` starts with that trigger, and the
    output continues with that tag. So no trigger ever occurs in the text, and a tag once begun cannot be text. All
    triggers that end at the same character count; a trigger that contains another can never match first, and is refused
    if a tag needs it. Of a named tag, what stands before the name starts with the trigger. No string of `excludes`
    occurs in the text; triggers and tags may contain them.

    `at_least_one`: the output begins with a tag. `stop_after_first`: nothing follows the first tag.
    `separator` may stand right behind a tag, and text there does not begin with it. `capture` names each text between
    tags.
    """

    type = "triggered_tags"
    triggers: tuple[str, ...] = read_by(several(filled, at_least=1))
    tags: tuple[TagFormat | NamedTagFormat, ...] = read_by(_any_tags)
    at_least_one: bool = read_by(boolean, False)
    stop_after_first: bool = read_by(boolean, False)
    excludes: tuple[str, ...] = read_by(several(filled), ())
    capture: str | None = read_by(optional_name, None)
    separator: str = read_by(string, "")


@dataclass(frozen=True)
class TokenTriggeredTagsFormat(Format):
    """As `triggered_tags`, with tokens as triggers: the text is any tokens but these and `exclude_tokens`."""

    type = "token_triggered_tags"
    trigger_tokens: tuple[int | str, ...] = read_by(several(token, at_least=1))
    tags: tuple[TagFormat, ...] = read_by(_tags)
    exclude_tokens: tuple[int | str, ...] = read_by(tokens, ())
    at_least_one: bool = read_by(boolean, False)
    stop_after_first: bool = read_by(boolean, False)


@dataclass(frozen=True)
class TagsWithSeparatorFormat(Format):
    """Tags with a separator between them and no other text; at most one with `stop_after_first`."""

    type = "tags_with_separator"
    tags: tuple[TagFormat | NamedTagFormat, ...] = read_by(_any_tags)
    separator: str = read_by(string)
    at_least_one: bool = read_by(boolean, False)
    stop_after_first: bool = read_by(boolean, False)


@dataclass(frozen=True)
class DispatchFormat(Format):
    """Free text in which each pattern must be followed by its format; with `loop`, text follows again."""

    type = "dispatch"
    rules: tuple[tuple[str, Format], ...] = read_by(several(_rule(filled), at_least=1))
    loop: bool = read_by(boolean, True)
    excludes: tuple[str, ...] = read_by(several(filled), ())


@dataclass(frozen=True)
class TokenDispatchFormat(Format):
    """As `dispatch`, with tokens as patterns."""

    type = "token_dispatch"
    rules: tuple[tuple[int | str, Format], ...] = read_by(several(_rule(token), at_least=1))
    loop: bool = read_by(boolean, True)
    exclude_tokens: tuple[int | str, ...] = read_by(tokens, ())
