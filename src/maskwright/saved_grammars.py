"""What a saved grammar says of itself beside its rules, so that it reports, warns and explains as before.

    {"maskwright": "0.1.0", "rules": ["root"], "report": [], "warnings": [],
     "source": {"kind": "regex", "text": "a+", "options": {"flags": ""}},
     "tokenizer": "a2dc…", "captures": false}

It is JSON, the notes of portable.py, which the kernel passes over. `tokenizer` is the fingerprint of the vocabulary, in
compiled grammars only. A source that is not plain data (a schema with a registry) is left out: then no keyword is named
where a text is rejected. `is_unbound` says that the source, a structural tag, is lowered again for each tokenizer.

The notes may be anybody's: what is not as above is refused. What they claim changes messages only, but for the
tokenizer, which is a safeguard against mistakes and no proof: the rules are what masks are made from.
Tested by tests/saved/test_grammars.py, tests/saved/test_hostile_bytes.py.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, TypeVar

import maskwright
from maskwright._kernel import canonical_bytes
from maskwright.errors import GrammarError, GrammarWarning
from maskwright.frontends.json_schema.options import Finding
from maskwright.ir import GrammarIR, spelled_out
from maskwright.ir.portable import MAX_NODES, to_bytes
from maskwright.ir.portable_reading import from_bytes, notes_of, refuse
from maskwright.report.sources import Source
from maskwright.structural_tag import StructuralTag
from maskwright.structural_tag.formats.content_keys import content_key

_T = TypeVar("_T")
_TEXTS = ("ebnf", "lark", "regex")
_OUTCOMES = ("annotation", "relaxed", "enforced")


@dataclass(frozen=True)
class Notes:
    """What is known of a grammar beside its rules; `rules` are their names."""

    report: tuple[Finding, ...] = ()
    warnings: tuple[GrammarWarning, ...] = ()
    source: Source | None = None
    is_unbound: bool = False
    rules: tuple[str, ...] | None = None
    tokenizer: str | None = None
    captures: bool | None = None
    key: str | None = None  # by which a cache knows it


def written(ir: GrammarIR, notes: Notes) -> bytes:
    """Return a grammar as bytes, with these notes and the names of its rules.

    Raises:
        LimitError: It is too large.
        GrammarError: It is a structural tag that is lowered again for each tokenizer, but holds more than plain data.
    """
    spelled = spelled_out(ir)
    data: dict[str, Any] = {"maskwright": maskwright.__version__, "rules": [rule.name for rule in spelled.rules]}
    data["report"] = [list(finding) for finding in notes.report]
    data["warnings"] = [[w.message, w.rule, w.line, w.column, w.hint] for w in notes.warnings]
    for name in ("is_unbound", "tokenizer", "captures", "key"):
        value = getattr(notes, name)
        if value is not None:
            data[name] = value
    source = None if notes.source is None else _source_data(notes.source)
    text = b"" if source is None else _json({**data, "source": source})
    if not text and notes.is_unbound:
        raise GrammarError(
            "the structural tag holds more than plain data, so it cannot be saved before a tokenizer is known",
            hint="pass tokenizer_info to from_structural_tag, or save it compiled",
        )
    return to_bytes(spelled, MAX_NODES, text or _json(data))


def read_notes(data: bytes) -> Notes:
    """Return what saved bytes say of their grammar.

    Raises:
        GrammarError: They are no saved grammar, or were damaged.
        LimitError: They are too many, or nest too deep.
    """
    text = notes_of(data)
    if not text:
        return Notes()
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        refuse("its notes are not JSON")
    found = _are(dict, read)
    rules = found.get("rules")
    return Notes(
        report=tuple([_finding(each) for each in _are(list, found.get("report", []))]),
        warnings=tuple([_warning(each) for each in _are(list, found.get("warnings", []))]),
        source=_source(found["source"]) if "source" in found else None,
        is_unbound=_are(bool, found.get("is_unbound", False)),
        rules=None if rules is None else tuple([_are(str, each) for each in _are(list, rules)]),
        tokenizer=_text_or_none(found.get("tokenizer")),
        captures=_are(bool, found["captures"]) if "captures" in found else None,
        key=_text_or_none(found.get("key")),
    )


def read_ir(data: bytes, notes: Notes) -> GrammarIR:
    """Return the rules of a saved grammar, which has these notes.

    Raises:
        GrammarError, LimitError: As `read_notes`.
    """
    return from_bytes(data, notes.rules)


def _json(data: dict[str, Any]) -> bytes:
    """JSON text; none of data with a number too long to be written."""
    try:
        return json.dumps(data, separators=(",", ":")).encode()
    except ValueError:
        return b""


def _source_data(source: Source) -> dict[str, Any] | None:
    """A source as data; None if it is more than that."""
    text = source.text
    if isinstance(text, StructuralTag):
        if content_key(text.format) is None:  # a registry
            return None
        text = text.to_dict()
    elif isinstance(text, bytes):
        text = text.decode("utf-8", "surrogateescape")
    data = {"kind": source.kind, "text": text, "options": dict(source.options)}
    return None if canonical_bytes(data) is None else data


def _source(value: Any) -> Source:
    data = _are(dict, value)
    kind, text, options = data.get("kind"), data.get("text"), _are(dict, data.get("options", {}))
    if kind in _TEXTS:
        _are(str, text)
        if kind == "regex":
            _are(str, options.get("flags"))
    elif kind == "structural_tag":
        text = StructuralTag.from_json(_are(dict, text))
    elif kind != "json_schema":
        refuse("its source is of an unknown kind")
    return Source(kind, text, options)


def _finding(value: Any) -> Finding:
    fields = _are(list, value)
    if len(fields) != 4 or not all(isinstance(each, str) for each in fields) or fields[2] not in _OUTCOMES:
        refuse("its report is not one")
    return Finding(*fields)


def _warning(value: Any) -> GrammarWarning:
    fields = _are(list, value)
    if len(fields) != 5:
        refuse("its warnings are none")
    message, rule, line, column, hint = fields
    rule, hint = _text_or_none(rule), _text_or_none(hint)
    for number in (line, column):
        if number is not None:
            _are(int, number)
    return GrammarWarning(_are(str, message), rule=rule, line=line, column=column, hint=hint)


def _text_or_none(value: Any) -> str | None:
    return None if value is None else _are(str, value)


def _are(kind: type[_T], value: Any) -> _T:
    if not isinstance(value, kind):
        refuse("its notes are not as they are written")
    return value
