"""What is to be compiled: for each kind of structure, a key that tells it from others, and how its grammar is made.

    json_schema_task({"type": "string"}, {})  # Task(key=("json_schema data", b"...", None), read=..., ...)

Arguments of the wrong type are refused here, before anything waits. Everything else that is wrong with a structure is
found when `read` is called, by the caller or by a worker; such a task may have no key.
A key keeps what a structure says and not the caller's objects, which may change; a `Grammar` goes by its identity.
Tested by tests/contract and tests/saved.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from maskwright import _kernel
from maskwright.compiling.compiled_grammar import CompiledGrammar
from maskwright.errors import MaskwrightError, UnsatisfiableError, wrong_argument
from maskwright.frontends.warnings.schema_warnings import warn_of
from maskwright.grammar import Grammar, by_name, checked_choices
from maskwright.inputs.schema_inputs import schema_of
from maskwright.report.sources import Source
from maskwright.support.arguments import check_pattern, instance, text_hint
from maskwright.tokenizer import TokenizerInfo

if TYPE_CHECKING:
    from maskwright.frontends.json_schema import JsonSchemaKeywords
    from maskwright.structural_tag import StructuralTag


class Task(NamedTuple):
    """Something to compile: what tells it from others (None: nothing does), and how its grammar is made.

    `read_again` makes the grammar from what cannot change, if that is at hand, and `source` gives that.
    `why_unsatisfiable` makes the error for a grammar that turns out to admit nothing, if more can be said than that.
    `is_by_content` says that the key means the same in other processes.
    """

    key: Hashable
    read: Callable[[], Grammar]
    read_again: Callable[[], Grammar] | None = None
    source: Callable[[], Source] | None = None
    why_unsatisfiable: Callable[[], UnsatisfiableError] | None = None
    is_by_content: bool = True


def json_schema_task(schema: Any, given: JsonSchemaKeywords) -> Task:
    from maskwright.frontends.json_schema import read_options, why_unsatisfiable

    try:
        data = schema_of(schema)  # a class is known by its schema: another one may have its name
        options = read_options(given)
    except MaskwrightError:
        return Task(None, lambda: Grammar.from_json_schema(schema, **given))
    # What a registry of the caller's holds is not known here.
    is_text = isinstance(data, (str, bytes))
    content = None if options.registry is not None else data if is_text else _kernel.canonical_bytes(data)

    def read() -> Grammar:
        return Grammar.from_json_schema(data, **given)

    def why() -> UnsatisfiableError:
        return why_unsatisfiable(data, options)

    if content is None:
        return Task(None, read, why_unsatisfiable=why)

    # These keep the content alone, not the caller's data.
    kept = content, is_text, given
    kind = "json_schema" if is_text else "json_schema data"  # whose content no text can be taken for
    key = kind, content, options if given else None
    return Task(key, read, partial(_read_content, *kept), partial(_source_of_content, *kept), why)


def _read_content(content: str | bytes, is_text: bool, given: JsonSchemaKeywords) -> Grammar:
    return Grammar.from_known_schema(_content_data(content, is_text), given)


def _source_of_content(content: str | bytes, is_text: bool, given: JsonSchemaKeywords) -> Source:
    return Source("json_schema", _content_data(content, is_text), given, is_certain=True)


def _content_data(content: Any, is_text: bool) -> Any:
    return content if is_text else _kernel.from_canonical_bytes(content)


def regex_task(pattern: str, flags: str) -> Task:
    check_pattern(pattern, flags)
    return Task(("regex", pattern, flags), lambda: Grammar.from_regex(pattern, flags=flags))


def grammar_task(grammar: Grammar | str, root_rule_name: str) -> Task:
    if isinstance(grammar, Grammar):
        # By identity: what is kept holds the grammar, so the id stays its own.
        return Task(("grammar", id(grammar)), lambda: grammar, is_by_content=False)
    if not isinstance(grammar, str):
        raise wrong_argument("grammar", grammar, "a Grammar or an EBNF text", _instead_of_a_grammar(grammar))
    instance("root_rule_name", root_rule_name, str)
    return Task(("ebnf", grammar, root_rule_name), lambda: Grammar.from_ebnf(grammar, root_rule_name))


def _instead_of_a_grammar(given: Any) -> str | None:
    if isinstance(given, Mapping):
        return "use compile_json_schema for schemas"
    if isinstance(given, CompiledGrammar):
        return "it is compiled already: pass it to GrammarMatcher"
    if isinstance(given, re.Pattern):
        return "use compile_regex(pattern.pattern)"
    return "use compile_structural_tag" if type(given).__name__ == "StructuralTag" else text_hint(given)


def choices_task(choices: Iterable[str | bytes]) -> Task:
    options = checked_choices(choices)
    return Task(("choices", options), lambda: Grammar.from_choices(options))


def lark_task(
    source: str,
    start: str,
    grammars: Mapping[str, Grammar] | None,
    modules: Mapping[str, str] | None,
    given: JsonSchemaKeywords,
) -> Task:
    instance("source", source, str)
    instance("start", start, str)
    options = _options_key(given)
    has_key = options is not None and not by_name("grammars", grammars) and not by_name("modules", modules)

    def read() -> Grammar:
        return Grammar.from_lark(source, start, grammars=grammars, modules=modules, **given)

    return Task(("lark", source, start, options) if has_key else None, read)


def structural_tag_task(
    tag: StructuralTag | str | bytes | Mapping[str, Any], info: TokenizerInfo, given: JsonSchemaKeywords
) -> Task:
    from maskwright.structural_tag.formats.content_keys import content_key
    from maskwright.structural_tag.formats.defaults import read_tag
    from maskwright.structural_tag.lowering.lower import lower_tag
    from maskwright.structural_tag.texts.tokens import tokens_of

    def read() -> Grammar:
        return Grammar.from_structural_tag(tag, tokenizer_info=info, **given)

    if isinstance(tag, (str, bytes)):
        options = _options_key(given)
        return Task(None if options is None else ("structural_tag", tag, options), read)
    try:
        known = read_tag(tag, given)
    except MaskwrightError:
        return Task(None, read)
    content = content_key(known.format)
    key = None if content is None else ("structural_tag", content)

    def read_known() -> Grammar:
        grammar = Grammar(*lower_tag(known, tokens_of(info)), source=Source("structural_tag", known))
        warn_of(grammar.report)
        return grammar

    return Task(key, read_known)


def _options_key(given: JsonSchemaKeywords) -> Hashable:
    """A key that identifies the options; None if there is none, or they are invalid."""
    if not given:
        return ()
    from maskwright.frontends.json_schema import read_options

    try:
        options = read_options(given)
    except MaskwrightError:
        return None
    return None if options.registry is not None else options  # what the caller's registry holds is not known here
