"""`Grammar`: a structure before a tokenizer is known, with XGrammar's constructors and defaults.

    >>> str(Grammar.from_regex("[ab]c?"))
    'root ::= [a-b] "c"?'

A grammar remembers what it was made from, and that is what `serialize_json` writes: the text goes through the same
checks again when it is read. XGrammar's defaults for JSON Schemas: undeclared members are forbidden, members come in
declared order, white space between tokens is free and unbounded.
Tested by tests/compat/test_xgrammar_objects.py.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from maskwright.compat.xgrammar.base import XGRObject
from maskwright.compat.xgrammar.exception import DeserializeFormatError, as_xgrammar_errors
from maskwright.compat.xgrammar.reading import (
    REGEX_FLAGS,
    TAG_OPTIONS,
    schema_data,
    schema_options,
    schema_text,
    tag_data,
)
from maskwright.compat.xgrammar.serialization import dumped, field, loaded
from maskwright.compat.xgrammar.structural_tag import StructuralTag, StructuralTagItem
from maskwright.errors import LimitError, MaskwrightError, wrong_argument
from maskwright.grammar import Grammar as _Grammar
from maskwright.support.arguments import as_tuple, instance

if TYPE_CHECKING:
    from maskwright.compat.xgrammar.tokenizer_info import TokenizerInfo

_Source = dict[str, Any]

MAX_NESTING: Final = 64  # of grammars within grammars, when they are read back


class Grammar(XGRObject):
    """A structure that outputs can be held to. Make one with a `from_` method."""

    _grammar: _Grammar
    _source: _Source
    _parts: tuple[tuple[_Grammar, _Source], ...] = ()  # of a union or concatenation that was made here

    @staticmethod
    @as_xgrammar_errors()
    def from_ebnf(ebnf_string: str, *, root_rule_name: str = "root") -> Grammar:
        """Read a grammar in EBNF.

        Raises:
            EbnfSyntaxError: The text is malformed.
        """
        return from_source({"ebnf": ebnf_string, "root_rule_name": root_rule_name})

    @staticmethod
    @as_xgrammar_errors()
    def from_lark(
        lark_string: str,
        *,
        tokenizer_info: TokenizerInfo | None = None,
        named_grammars: dict[str, Grammar | str] | None = None,
    ) -> Grammar:
        """Read a grammar in llguidance's dialect of Lark.

        Args:
            lark_string: The text, with a rule `start`.
            tokenizer_info: Not needed: tokens are looked up when the grammar is compiled.
            named_grammars: What `@name` stands for; texts are in Lark.

        Raises:
            LarkSyntaxError: The text is malformed.
        """
        return from_source(lark_source(lark_string, named_grammars))

    @staticmethod
    @as_xgrammar_errors()
    def from_json_schema(
        schema: str | type | dict[str, Any],
        *,
        any_whitespace: bool = True,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        strict_mode: bool = True,
        max_whitespace_cnt: int | None = None,
        print_converted_ebnf: bool = False,
        any_order: bool = False,
    ) -> Grammar:
        """Read a JSON Schema.

        Args:
            schema: A JSON text, a dict, or a pydantic model.
            any_whitespace: Whether white space may stand between tokens; `indent` and `separators` are then ignored.
            indent: As in `json.dumps`.
            separators: As in `json.dumps`.
            strict_mode: Whether undeclared members and items are forbidden.
            max_whitespace_cnt: The longest run of white space; None for any.
            print_converted_ebnf: Whether to print the grammar to the standard error.
            any_order: Whether members come in any order.

        Raises:
            SchemaError: The schema is malformed, or asks for something that cannot be enforced.
            UnsatisfiableError: No value is valid.
        """
        options = schema_options(any_whitespace, indent, separators, strict_mode, max_whitespace_cnt, any_order)
        return _printed(from_source({"json_schema": schema_text(schema), "options": options}), print_converted_ebnf)

    @staticmethod
    @as_xgrammar_errors()
    def from_regex(regex_string: str, *, print_converted_ebnf: bool = False) -> Grammar:
        """Read a regular expression that the whole output matches.

        Raises:
            RegexSyntaxError: The pattern is malformed or not regular.
        """
        return _printed(from_source({"regex": regex_string}), print_converted_ebnf)

    @staticmethod
    @as_xgrammar_errors()
    def from_structural_tag(*args: Any, **kwargs: Any) -> Grammar:
        """Read a structural tag, or, in the older form, `from_structural_tag(tags, triggers)`.

        Args:
            structural_tag: A `StructuralTag`, its data, or its JSON text.
            tags: `StructuralTagItem`s.
            triggers: The texts that begin a tag.

        Raises:
            InvalidJSONError: The text is not JSON.
            InvalidStructuralTagError: The tag is malformed.
        """
        return from_source({"structural_tag": structural_tag_data("from_structural_tag", args, kwargs)})

    @staticmethod
    def builtin_json_grammar() -> Grammar:
        """Any JSON object or array; no other value, as in XGrammar."""
        return from_source({"builtin": "json"})

    @staticmethod
    @as_xgrammar_errors()
    def concat(*grammars: Grammar) -> Grammar:
        """An output of each grammar, one after the other."""
        return _joined("concat", grammars)

    @staticmethod
    @as_xgrammar_errors()
    def union(*grammars: Grammar) -> Grammar:
        """An output of any of the grammars."""
        return _joined("union", grammars)

    def __str__(self) -> str:
        """The grammar in EBNF, with the root rule `root`."""
        with as_xgrammar_errors():
            return self._grammar.to_ebnf()

    def serialize_json(self) -> str:
        """Write it as JSON, which `deserialize_json` reads."""
        return dumped({"grammar": self._source})

    @staticmethod
    @as_xgrammar_errors()
    def deserialize_json(json_string: str) -> Grammar:
        """Read what `serialize_json` wrote.

        Raises:
            InvalidJSONError: It is not JSON.
            DeserializeVersionError: It was written by another engine or release.
            DeserializeFormatError: It is something else.
        """
        return deserialized(loaded(json_string, "Grammar"))


def deserialized(data: _Source) -> Grammar:
    """Return the grammar of a serialized object."""
    try:
        return from_source(field(data, "grammar", dict))
    except MaskwrightError as error:
        if isinstance(error, DeserializeFormatError):
            raise
        raise DeserializeFormatError(f"the serialized grammar is not valid: {error}") from error


def _joined(kind: str, grammars: tuple[Grammar, ...]) -> Grammar:
    """Join grammars. One that is of this kind itself is joined part by part: adding one after another does not nest."""
    parts: list[tuple[_Grammar, _Source]] = []
    for each in grammars:
        grammar = checked_grammar("each of grammars", each)
        parts += grammar._parts if kind in grammar._source and grammar._parts else [(grammar._grammar, grammar._source)]
    join = _Grammar.union if kind == "union" else _Grammar.concat
    made = of_native(join(*[grammar for grammar, _ in parts]), {kind: [source for _, source in parts]})
    made._parts = tuple(parts)
    return made


def of_native(grammar: _Grammar, source: _Source) -> Grammar:
    """Return a grammar that was read already."""
    made = Grammar()
    made._grammar, made._source = grammar, source
    return made


def from_source(source: _Source) -> Grammar:
    """Return the grammar that a source stands for: its first key says what it is."""
    return of_native(_read(source), source)


def _read(source: _Source, depth: int = 0) -> _Grammar:
    if depth > MAX_NESTING:
        hint = "join fewer grammars within each other"
        raise LimitError(f"grammars nest deeper than {MAX_NESTING} levels", limit="grammar nesting", hint=hint)
    kind = next(iter(instance("grammar", source, dict)), None)
    if kind == "ebnf":
        return _Grammar.from_ebnf(source["ebnf"], source.get("root_rule_name", "root"))
    if kind == "lark":
        named = field(source, "named_grammars", dict)
        return _Grammar.from_lark(
            source["lark"], grammars={name: _read(each, depth + 1) for name, each in named.items()}
        )
    if kind == "json_schema":
        options = field(source, "options", dict)
        return _Grammar.from_json_schema(
            schema_data(source["json_schema"], options.get("strict_mode", False)), **options
        )
    if kind == "regex":
        return _Grammar.from_regex(source["regex"], flags=REGEX_FLAGS)
    if kind == "structural_tag":
        return _Grammar.from_structural_tag(source["structural_tag"], **TAG_OPTIONS)
    if kind == "builtin" and source["builtin"] == "json":
        return _Grammar.from_json_schema({"type": ["object", "array"]})
    if kind in ("union", "concat"):
        parts = [_read(each, depth + 1) for each in field(source, kind, list)]
        return _Grammar.union(*parts) if kind == "union" else _Grammar.concat(*parts)
    raise DeserializeFormatError(f"unknown kind of grammar {kind!r:.60}")


def checked_grammar(name: str, value: Any) -> Grammar:
    """Return a `Grammar`."""
    if isinstance(value, Grammar) and hasattr(value, "_grammar"):
        return value
    raise wrong_argument(name, value, "a Grammar", "make one with Grammar.from_ebnf or another from_ method")


def lark_source(lark_string: str, named_grammars: Mapping[str, Grammar | str] | None) -> _Source:
    """Return the source of a grammar in Lark."""
    named: dict[str, _Source] = {}
    for name, each in (named_grammars or {}).items():
        is_text = isinstance(each, str)
        named[name] = lark_source(each, None) if is_text else checked_grammar("each of named_grammars", each)._source  # type: ignore[arg-type]
    return {"lark": instance("lark_string", lark_string, str), "named_grammars": named}


def structural_tag_data(function: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the data of the structural tag that the arguments of `from_structural_tag` mean."""
    names = ("structural_tag",) if len(args) + len(kwargs) == 1 else ("tags", "triggers")
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    if len(args) > len(names) or given.keys() != set(names):
        raise wrong_argument(function, given.keys(), "called with a structural tag, or with tags and triggers")
    if names == ("tags", "triggers"):
        items = [
            each if isinstance(each, StructuralTagItem) else StructuralTagItem.model_validate(each)
            for each in as_tuple("tags", given["tags"], "a list of StructuralTagItems")
        ]
        triggers = list(as_tuple("triggers", given["triggers"], "a list of texts"))
        tag = StructuralTag.from_legacy_structural_tag(items, triggers)
        return tag_data(tag.model_dump(mode="json"))
    tag = given["structural_tag"]
    if isinstance(tag, StructuralTag):
        return tag_data(tag.model_dump(mode="json"))
    if isinstance(tag, str | Mapping):
        return tag_data(tag)
    raise wrong_argument("structural_tag", tag, "a StructuralTag, a dict or a JSON text")


def _printed(grammar: Grammar, wanted: bool) -> Grammar:
    if wanted:
        print(f"Converted EBNF: {grammar}", file=sys.stderr)
    return grammar
