"""The classes of structural tags, as pydantic models with XGrammar's fields.

    >>> tag = StructuralTag(format=TagFormat(begin="<a>", content=AnyTextFormat(), end="</a>"))
    >>> StructuralTag.from_json(tag.model_dump_json()) == tag
    True

What the formats match is said in docs/structural_tags.md: `Grammar.from_structural_tag` and `compile_structural_tag`
check a tag and read it as Maskwright does. Fields that XGrammar does not have, such as `capture`, are kept; a name that
no format has is refused there.
Tested by tests/compat/test_xgrammar_tags.py.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, Union

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from maskwright.compat.xgrammar.exception import as_xgrammar_errors
from maskwright.errors import wrong_argument
from maskwright.inputs.schema_inputs import schema_of
from maskwright.structural_tag.formats.tag import parsed
from maskwright.structural_tag.formats.xml_styles import STYLES

_Count = Annotated[int | None, Field(ge=0, le=2**31 - 1)]
_STYLES: Final = ("json", *STYLES)


def _style(name: str) -> str:
    if name not in _STYLES:
        raise ValueError(f"the style must be one of {', '.join(_STYLES)}")
    return name


class _Format(BaseModel):
    model_config = ConfigDict(extra="allow")


class ConstStringFormat(_Format):
    """Exactly this string."""

    type: Literal["const_string"] = "const_string"
    value: str


class JSONSchemaFormat(_Format):
    """A value that is valid against a JSON Schema, as JSON or in one of the styles in which models write arguments."""

    type: Literal["json_schema"] = "json_schema"
    json_schema: bool | dict[str, Any]
    style: Annotated[str, AfterValidator(_style)] = "json"
    any_order: bool = False
    max_whitespace_cnt: int | None = None
    excludes: list[str] = []


class QwenXMLParameterFormat(_Format):
    """The older name of `json_schema` in the style `qwen_xml`."""

    type: Literal["qwen_xml_parameter"] = "qwen_xml_parameter"
    json_schema: bool | dict[str, Any]


class AnyTextFormat(_Format):
    """Any text in which none of `excludes` occurs, within limits."""

    type: Literal["any_text"] = "any_text"
    excludes: list[str] = []
    max_tokens: _Count = None
    max_chars: _Count = None


class GrammarFormat(_Format):
    """A match of the rule `root` of an EBNF grammar."""

    type: Literal["grammar"] = "grammar"
    grammar: str


class RegexFormat(_Format):
    """A full match of a regular expression."""

    type: Literal["regex"] = "regex"
    pattern: str


class TokenFormat(_Format):
    """One token, by its id or its text."""

    type: Literal["token"] = "token"
    token: int | str


class ExcludeTokenFormat(_Format):
    """One token that is not among these."""

    type: Literal["exclude_token"] = "exclude_token"
    exclude_tokens: list[int | str] = []


class AnyTokensFormat(_Format):
    """Any number of tokens that are not among `exclude_tokens`."""

    type: Literal["any_tokens"] = "any_tokens"
    exclude_tokens: list[int | str] = []
    max_tokens: _Count = None


class SequenceFormat(_Format):
    """These formats in order."""

    type: Literal["sequence"] = "sequence"
    elements: list[Format]


class OrFormat(_Format):
    """One of these formats."""

    type: Literal["or"] = "or"
    elements: list[Format]


class TagFormat(_Format):
    """`begin content end`; any of several ends."""

    type: Literal["tag"] = "tag"
    begin: str | TokenFormat
    content: Format
    end: str | list[str] | TokenFormat


class NamedTagFormat(_Format):
    """`begin content end`, where the name in `end` is that in `begin`; XGrammar has no such format."""

    type: Literal["named_tag"] = "named_tag"
    begin: str
    name: str
    content: Format
    end: str


class TriggeredTagsFormat(_Format):
    """Free text in which a trigger starts a tag."""

    type: Literal["triggered_tags"] = "triggered_tags"
    triggers: list[str]
    tags: list[TagFormat]
    at_least_one: bool = False
    stop_after_first: bool = False
    excludes: list[str] = []


class TokenTriggeredTagsFormat(_Format):
    """As `TriggeredTagsFormat`, with tokens as triggers."""

    type: Literal["token_triggered_tags"] = "token_triggered_tags"
    trigger_tokens: list[int | str]
    tags: list[TagFormat]
    exclude_tokens: list[int | str] = []
    at_least_one: bool = False
    stop_after_first: bool = False


class TagsWithSeparatorFormat(_Format):
    """Tags with a separator between them and no other text."""

    type: Literal["tags_with_separator"] = "tags_with_separator"
    tags: list[TagFormat]
    separator: str
    at_least_one: bool = False
    stop_after_first: bool = False


class OptionalFormat(_Format):
    """The content, or nothing."""

    type: Literal["optional"] = "optional"
    content: Format


class PlusFormat(_Format):
    """The content one or more times."""

    type: Literal["plus"] = "plus"
    content: Format


class StarFormat(_Format):
    """The content any number of times."""

    type: Literal["star"] = "star"
    content: Format


class RepeatFormat(_Format):
    """The content `min` to `max` times; a `max` of -1 means no upper limit."""

    type: Literal["repeat"] = "repeat"
    min: int
    max: int
    content: Format


class DispatchFormat(_Format):
    """Free text in which each pattern must be followed by its format."""

    type: Literal["dispatch"] = "dispatch"
    rules: list[tuple[str, Format]]
    loop: bool = True
    excludes: list[str] = []


class TokenDispatchFormat(_Format):
    """As `DispatchFormat`, with tokens as patterns."""

    type: Literal["token_dispatch"] = "token_dispatch"
    rules: list[tuple[int | str, Format]]
    loop: bool = True
    exclude_tokens: list[int | str] = []


Format = Annotated[
    Union[  # noqa: UP007 (pydantic reads it at run time)
        AnyTextFormat,
        ConstStringFormat,
        JSONSchemaFormat,
        GrammarFormat,
        RegexFormat,
        QwenXMLParameterFormat,
        OrFormat,
        SequenceFormat,
        TagFormat,
        NamedTagFormat,
        TriggeredTagsFormat,
        TokenTriggeredTagsFormat,
        TagsWithSeparatorFormat,
        OptionalFormat,
        PlusFormat,
        StarFormat,
        TokenFormat,
        ExcludeTokenFormat,
        AnyTokensFormat,
        RepeatFormat,
        DispatchFormat,
        TokenDispatchFormat,
    ],
    Field(discriminator="type"),
]
"""Any of the formats."""


class StructuralTagItem(BaseModel):
    """A tag of the older form: JSON between `begin` and `end`."""

    begin: str
    schema_: str | type[BaseModel] | dict[str, Any] = Field(alias="schema")
    end: str


class StructuralTag(BaseModel):
    """A whole output."""

    type: Literal["structural_tag"] = "structural_tag"
    format: Format

    @staticmethod
    @as_xgrammar_errors()
    def from_json(json_str: str | dict[str, Any]) -> StructuralTag:
        """Read JSON text or data.

        Raises:
            pydantic.ValidationError: It is not a structural tag.
        """
        if isinstance(json_str, str):
            return StructuralTag.model_validate_json(json_str)
        if isinstance(json_str, dict):
            return StructuralTag.model_validate(json_str)
        raise wrong_argument("json_str", json_str, "a JSON text or a dict")

    @staticmethod
    @as_xgrammar_errors()
    def from_legacy_structural_tag(tags: list[StructuralTagItem], triggers: list[str]) -> StructuralTag:
        """Return the tag that the older form means: free text in which triggers start tags.

        Raises:
            InvalidJSONError: The text of a schema is not JSON.
        """
        read = [
            TagFormat(begin=each.begin, content=JSONSchemaFormat(json_schema=_schema(each.schema_)), end=each.end)
            for each in tags
        ]
        return StructuralTag(format=TriggeredTagsFormat(triggers=list(triggers), tags=read))


def _schema(given: Any) -> Any:
    return parsed(given) if isinstance(given, str) else schema_of(given)


_models: list[type[BaseModel]] = [*_Format.__subclasses__(), StructuralTag]
for _each in _models:
    _each.model_rebuild()

__all__ = [
    "AnyTextFormat",
    "AnyTokensFormat",
    "ConstStringFormat",
    "DispatchFormat",
    "ExcludeTokenFormat",
    "Format",
    "GrammarFormat",
    "JSONSchemaFormat",
    "NamedTagFormat",
    "OptionalFormat",
    "OrFormat",
    "PlusFormat",
    "QwenXMLParameterFormat",
    "RegexFormat",
    "RepeatFormat",
    "SequenceFormat",
    "StarFormat",
    "StructuralTag",
    "StructuralTagItem",
    "TagFormat",
    "TagsWithSeparatorFormat",
    "TokenDispatchFormat",
    "TokenFormat",
    "TokenTriggeredTagsFormat",
    "TriggeredTagsFormat",
]
