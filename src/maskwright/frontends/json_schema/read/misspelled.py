"""Keywords that nobody knows: a schema with `propertys` would admit every object, and nobody would notice.

    unknown_keywords({"type": "object", "propertys": {}, "label": "a"})   →
    [("propertys", "did you mean 'properties'?"), ("label", None)]

An unknown keyword is an annotation, says the standard, so it is not an error. But one that is nearly the name of a
keyword that asserts something is most likely that one: it differs in capitals, `_` and `-`, or in a letter or two. So
are those that are constraints elsewhere (look_alikes.py). Extensions that are well known, names that begin with `x-`
or `_` unless they are nearly our own, and what is nearer to an annotation are left alone.
Cost: a set operation where all keywords are known.
Tested by tests/frontends/json_schema/read/test_schema_misspelled.py.
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from typing import Any, Final

from maskwright.frontends.json_schema.read.keyword_table import (
    ANNOTATIONS,
    ASSERTING,
    DEFINITIONS,
    EXTENSIONS,
    KEYWORDS,
)
from maskwright.frontends.json_schema.read.look_alikes import bare, is_look_alike, look_alike
from maskwright.support.interruption import interrupt_checkpoint
from maskwright.support.memos import remembered

_MAX_LENGTH: Final = 40
_CUTOFF: Final = 0.8
_MIN_LENGTH: Final = 3
_VENDORS: Final = ("x-", "x_", "_")
_OWN: Final = tuple([bare(keyword)[:2] for keyword in EXTENSIONS])

_EXTENSIONS: Final = frozenset(
    (
        # OpenAPI, and hyper-schemas of old drafts
        *("discriminator", "example", "externalDocs", "xml", "links", "media"),
        # Editors and generators of forms
        *("markdownDescription", "deprecationMessage", "errorMessage", "patternErrorMessage", "defaultSnippets"),
        *("enumNames", "enumDescriptions", "markdownEnumDescriptions", "enumTitles", "propertyOrder"),
        *("propertiesOrder", "form", "multiple", "constraints"),
        *("allowComments", "allowTrailingCommas", "doNotSuggest", "suggestSortText", "headerTemplate"),
        # Ajv
        *("instanceof", "typeof", "exclusiveRange", "transform", "dynamicDefaults"),
        # Generators of code
        *("javaType", "existingJavaType", "javaEnumNames", "tsType", "tsEnumNames", "goType", "parameters", "strict"),
    )
)
_MEANT: Final = ASSERTING | DEFINITIONS
_STANDARD: Final = frozenset(KEYWORDS)
_KNOWN: Final = _STANDARD | _EXTENSIONS
_BY_BARE_NAME: Final = {bare(keyword): keyword for keyword in sorted(_MEANT)}


def is_standard(schema: dict[Any, Any]) -> bool:
    """Whether a schema object has keywords of the standard only."""
    return _STANDARD.issuperset(schema)


def unknown_keywords(schema: dict[Any, Any]) -> list[tuple[str, str | None]]:
    """Return the keywords of one schema object that the standard does not have, each with what to do about it if it was
    surely meant to constrain values.
    """
    if is_standard(schema):
        return []
    return [(keyword, advice_on(keyword, schema)) for keyword in schema if keyword not in _STANDARD]


def advice_on(keyword: Any, schema: dict[Any, Any]) -> str | None:
    """Return what to write instead of an unknown keyword of a schema object; None if nothing is wrong with it."""
    if type(keyword) is not str or len(keyword) > _MAX_LENGTH or _is_foreign(keyword):
        return None
    if is_look_alike(keyword):
        return look_alike(keyword, schema[keyword], schema)
    meant = meant_by(keyword)
    return None if meant is None else f"did you mean {meant!r}?"


def is_unknown_name(keyword: str) -> bool:
    """Whether a keyword is neither the standard's nor an extension, so that it may be the name of a property."""
    return keyword not in _KNOWN and not keyword.startswith(_VENDORS)


@remembered(4096)
def meant_by(keyword: str) -> str | None:
    """Return the keyword that an unknown one is probably meant to be; None if there is none."""
    if keyword in _KNOWN or not _MIN_LENGTH <= len(keyword) <= _MAX_LENGTH:
        return None
    if _is_foreign(keyword) or is_look_alike(keyword):
        return None
    same = _BY_BARE_NAME.get(bare(keyword))
    if same is not None:
        return same
    interrupt_checkpoint()
    near = get_close_matches(keyword, _of_like_length(len(keyword)), 1, _CUTOFF)
    return near[0] if near and near[0] in _MEANT else None


def says_nothing(keyword: str) -> bool:
    """Whether a keyword says nothing of values, in any draft, and does not look misspelled either."""
    return (keyword not in KEYWORDS or keyword in ANNOTATIONS) and meant_by(keyword) is None


def _is_foreign(keyword: str) -> bool:
    """Whether a keyword is plainly an extension of others."""
    return keyword.startswith(_VENDORS) and not bare(keyword).startswith(_OWN)


@cache
def _of_like_length(length: int) -> tuple[str, ...]:
    """The keywords whose length alone does not make them too different."""
    known = _MEANT | ANNOTATIONS
    return tuple([each for each in known if 2 * min(length, len(each)) >= _CUTOFF * (length + len(each))])
