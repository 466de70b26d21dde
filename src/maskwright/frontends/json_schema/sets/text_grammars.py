"""Strings whose texts follow a grammar in a notation of its own, by the keyword `x-grammar`.

    {"syntax": "gbnf", "definition": "root ::= 'a' root?"}   →   string ::= "\\"" root "\\"", root ::= "a" root?

Alone, it may be any grammar, and its rules are escaped (escaped_grammars.py). Beside other constraints of the string,
and where it is excluded, it is one regular expression: if rules call themselves, or remember text, it has none.
Tested by tests/frontends/json_schema/sets/test_grammars_in_strings.py.
"""

from __future__ import annotations

from functools import reduce
from operator import iand, or_
from typing import Final, NamedTuple

from maskwright.errors import LimitError, MaskwrightError, SchemaError, UnsupportedSchemaError
from maskwright.frontends.grammar_readers import READERS, ReadGrammar
from maskwright.frontends.json_schema.read.places import Path
from maskwright.frontends.json_schema.read.pointers import pointer_of
from maskwright.frontends.json_schema.sets.escaped_grammars import (
    NotInStringsError,
    Spelling,
    escaped,
    escaped_grammar,
    held_to,
)
from maskwright.frontends.json_schema.sets.quotes import QUOTE, closed
from maskwright.frontends.regular import is_regular, spelled_out
from maskwright.frontends.texts import ANY_TEXT
from maskwright.ir import (
    ALL_BYTES,
    OP_AND,
    OP_LITERAL,
    OP_NOT,
    OP_SET,
    OP_SUBSTRINGS,
    Expr,
    GrammarIR,
    Rule,
    operands,
    postorder,
    ref,
    seq,
    subgrammar,
    subgrammars,
)
from maskwright.ir.rule_facts import nullable_rules
from maskwright.support.entrances import IN_DEFINITIONS, in_words_of
from maskwright.support.memos import remembered

KEYWORD: Final = "x-grammar"
_MUST_BE_REGULAR: Final = (
    "it must be regular beside other constraints of the string, such as maxLength or enum, in propertyNames, in unique"
    " items, and where it is excluded"
)


class TextGrammar(NamedTuple):
    """A grammar of texts, how strings are written, and where in the schema it stands."""

    syntax: str
    definition: str
    spelling: Spelling
    path: Path


def check_grammar(grammar: TextGrammar) -> str | None:
    """Return why strings cannot be held to a grammar; None if they can.

    Raises:
        SchemaError: Its definition is wrong.
    """
    try:
        _quoted(grammar.syntax, grammar.definition, grammar.spelling)
    except NotInStringsError as why:
        return str(why)
    except LimitError:
        raise
    except MaskwrightError as error:
        is_unsupported = isinstance(error, UnsupportedSchemaError) or getattr(error, "is_unsupported", False)
        kind = UnsupportedSchemaError if is_unsupported else SchemaError
        raise kind(
            f"the grammar cannot be used: {error.message_with_place}",
            pointer=pointer_of(grammar.path),
            keyword=KEYWORD,
            hint=None if error.hint is None else in_words_of(IN_DEFINITIONS, error.hint),
        ) from error
    return None


def remarks(grammar: TextGrammar) -> tuple[str, ...]:
    """Return what a `GrammarWarning` would say of a checked grammar: parts that are surely meant otherwise."""
    found = _read(grammar.syntax, grammar.definition).warnings
    return tuple([in_words_of(IN_DEFINITIONS, str(warning)).replace("\n  hint: ", "; ") for warning in found])


def quoted_text(grammar: TextGrammar) -> Expr:
    """Return the strings of a checked grammar, with their quotes."""
    return _quoted(grammar.syntax, grammar.definition, grammar.spelling)


def bare_text(grammar: TextGrammar) -> Expr:
    """Return the texts of a checked grammar as they are."""
    return _bare(grammar.syntax, grammar.definition)


def regular_text(grammar: TextGrammar, *, in_json: bool = True) -> Expr:
    """Return the texts of a checked grammar as one regular expression, without quotes.

    Raises:
        UnsupportedSchemaError: It has none.
    """
    made = _regular(grammar.syntax, grammar.definition)
    if made is None:
        raise refused(grammar, _MUST_BE_REGULAR, "let no rule call itself, or write all constraints into the grammar")
    return escaped(made, grammar.spelling) if in_json else held_to(ANY_TEXT, made)


def is_regular_text(grammar: TextGrammar) -> bool:
    """Whether a checked grammar has a regular expression."""
    return _regular(grammar.syntax, grammar.definition) is not None


def refused(grammar: TextGrammar, reason: str, hint: str) -> UnsupportedSchemaError:
    """Return the error for a grammar that cannot be kept to where it stands."""
    message = f"{KEYWORD} cannot be enforced: {reason}"
    return UnsupportedSchemaError(message, pointer=pointer_of(grammar.path), keyword=KEYWORD, hint=hint)


def has_empty_text(grammar: TextGrammar) -> bool:
    """Whether the empty text may be one of a checked grammar's."""
    return _has_empty_text(grammar.syntax, grammar.definition)


def bytes_of(grammar: TextGrammar) -> int:
    """Return the bytes that occur in the texts of a checked grammar, as a set of bits; maybe some more."""
    rules = subgrammars.spelled_out(_read(grammar.syntax, grammar.definition).grammar).rules
    return reduce(or_, [_bytes_in(rule.body) for rule in rules])


def _bytes_in(root: Expr) -> int:
    found: dict[int, int] = {}
    for expr in postorder(root):
        op, parts = expr[0], [found[id(part)] for part in operands(expr)]
        if op == OP_SET:
            mask = expr[1]
        elif op == OP_NOT:
            mask = ALL_BYTES
        elif op == OP_AND:
            mask = reduce(iand, parts)
        elif op in (OP_LITERAL, OP_SUBSTRINGS):
            mask = sum(1 << byte for byte in set(expr[1] if op == OP_LITERAL else b"".join(expr[1])))
        else:
            mask = reduce(or_, parts, 0)
        found[id(expr)] = mask
    return found[id(root)]


@remembered(256)
def _read(syntax: str, definition: str) -> ReadGrammar:
    return READERS[syntax](definition)


@remembered(256)
def _quoted(syntax: str, definition: str, spelling: Spelling) -> Expr:
    grammar = escaped_grammar(_read(syntax, definition).grammar, spelling)
    body = grammar.rules[grammar.root].body
    if is_regular(body):
        return subgrammar(GrammarIR((Rule("string", seq(QUOTE, closed(body))),), 0))
    quoted = Rule("string", seq(QUOTE, ref(grammar.root), QUOTE))
    return subgrammar(GrammarIR((*grammar.rules, quoted), len(grammar.rules)))


@remembered(256)
def _bare(syntax: str, definition: str) -> Expr:
    return subgrammar(_read(syntax, definition).grammar)


@remembered(256)
def _regular(syntax: str, definition: str) -> Expr | None:
    grammar = subgrammars.spelled_out(_read(syntax, definition).grammar)
    return spelled_out(ref(grammar.root), lambda index: grammar.rules[index].body)


@remembered(256)
def _has_empty_text(syntax: str, definition: str) -> bool:
    grammar = subgrammars.spelled_out(_read(syntax, definition).grammar)
    return nullable_rules([rule.body for rule in grammar.rules])[grammar.root]
