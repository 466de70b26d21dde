"""`$vocabulary`: which keywords mean something, where `$schema` names a metaschema of the registry that says so.

    {"$vocabulary": {".../vocab/core": true, ".../vocab/applicator": true}}   →   `minimum` and `type` are annotations

Keywords of the vocabularies that are not listed are ignored. A vocabulary that is not known is ignored if it is
optional; a required one refuses the schema.
Source: JSON Schema 2020-12 core, section 8.1.2. Tested by tests/frontends/json_schema/read/test_schema_references.py.
"""

from __future__ import annotations

from typing import Final

from maskwright.errors import UnsupportedSchemaError
from maskwright.frontends.json_schema.read.documents import Document
from maskwright.frontends.json_schema.read.keyword_table import KEYWORDS

_OF_VOCABULARY: Final = {
    vocabulary: frozenset(name for name, row in KEYWORDS.items() if row.vocabulary == vocabulary.partition("-")[0])
    for vocabulary in ("applicator", "validation", "unevaluated", "format", "format-annotation", "format-assertion")
}
_OTHERS: Final = frozenset(("core", "meta-data", "content"))  # they assert nothing, or always hold
_STANDARD: Final = ("http://json-schema.org/", "https://json-schema.org/")


def ignored_keywords(document: Document) -> frozenset[str]:
    """Return the keywords that the metaschema of a document leaves without a meaning.

    Raises:
        UnsupportedSchemaError: It requires a vocabulary that is not known.
    """
    uri = document.root.get("$schema") if isinstance(document.root, dict) else None
    if document.draft < 2019 or not isinstance(uri, str) or uri.startswith(_STANDARD):
        return frozenset()
    metaschema = document.retrieved(uri)
    vocabularies = metaschema.get("$vocabulary") if isinstance(metaschema, dict) else None
    if not isinstance(vocabularies, dict):
        return frozenset()
    meant: set[str] = set()
    for vocabulary, is_required in vocabularies.items():
        name = vocabulary.rpartition("/vocab/")[2] if vocabulary.startswith(_STANDARD) else ""
        if name in _OF_VOCABULARY:
            meant |= _OF_VOCABULARY[name]
            if name == "applicator" and document.draft == 2019:
                meant |= _OF_VOCABULARY["unevaluated"]
        elif is_required and name not in _OTHERS:
            raise UnsupportedSchemaError(
                f"{uri} requires a vocabulary that is not known: {vocabulary}",
                pointer="/$schema",
                keyword="$schema",
                hint="let the metaschema require the standard's vocabularies only",
            )
    return frozenset().union(*_OF_VOCABULARY.values()) - meant
