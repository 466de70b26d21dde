"""What an output is to be, as Python names it: the grammar for it, and the object that comes of its text.

    >>> wanted = output_type_of(list[int])
    >>> wanted.read("[1, 2]")
    [1, 2]
    >>> output_type_of(Literal["yes", "no"]).read("yes")
    'yes'

    a pydantic model, TypeAdapter, dataclass, TypedDict, int, bool, list[...]   JSON, validated by pydantic
    Literal or Enum of strings                                    one of the texts, without quotes
    str                                                           any text
    a NewType, or an alias (`type Name = …`)                      what it stands for
    re.Pattern, Grammar, CompiledGrammar, StructuralTag           the text
    a dict or bool                                                JSON of that schema, an OpenAI `response_format`
                                                                  or a structural tag
Tools are in tool_outputs.py. Tested by tests/outputs/test_output_types.py.
"""

from __future__ import annotations

import enum
import inspect
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, get_args, get_origin

from maskwright.compiling.compiled_grammar import CompiledGrammar
from maskwright.compiling.compiler import GrammarCompiler
from maskwright.errors import ArgumentError, OptionError, wrong_argument
from maskwright.grammar import Grammar
from maskwright.inputs.schema_inputs import class_instead, meaning_of, schema_of
from maskwright.structural_tag import StructuralTag

_HINT = (
    "pass a type such as a pydantic model, a dataclass, Literal['a', 'b'] or list[int], a JSON Schema as a dict, "
    "re.compile(...), a Grammar, or a list of tools"
)
_REGEX_FLAGS = {re.IGNORECASE: "i", re.MULTILINE: "m", re.DOTALL: "s", re.VERBOSE: "x", re.ASCII: "a"}
_RESPONSE_FORMATS = ("json_schema", "json_object", "text")


class OutputType(NamedTuple):
    """A structure, and what its text means."""

    compile: Callable[[GrammarCompiler], CompiledGrammar]
    read: Callable[[str], Any]  # of a complete output
    read_partial: Callable[[str], Any] = str  # of its beginning; None if that has no value yet


_ANY_TEXT = OutputType(lambda compiler: compiler.compile_regex(".*", flags="s"), str)


def output_type_of(wanted: Any, schema_options: Mapping[str, Any] | None = None) -> OutputType:
    """Return the structure that an output type stands for.

    Args:
        wanted: See above.
        schema_options: The fields of `JsonSchemaOptions`, for what becomes JSON.

    Raises:
        ArgumentError: It is nothing that an output can be.
        OptionError: `schema_options` are given for what is not JSON.
        RequestError, SchemaError, StructuralTagError: It is malformed, or cannot be enforced; some only when compiled.
    """
    options = dict(schema_options or {})
    plain = _plain_text(meaning_of(wanted))
    if plain is not None:
        if options:
            raise OptionError(
                "schema_options require an output type that becomes JSON",
                option="schema_options",
                hint="leave them out, or pass a JSON Schema or a Python type",
            )
        return plain
    if isinstance(wanted, dict) and wanted.get("type") in _RESPONSE_FORMATS:
        return _response_format(wanted, options)
    if isinstance(wanted, dict | bool):
        return OutputType(lambda compiler: compiler.compile_json_schema(wanted, **options), json.loads, partial_json)
    return _typed_json(wanted, options)


def _plain_text(wanted: Any) -> OutputType | None:
    """Outputs whose text is the value, or stands for one."""
    if isinstance(wanted, CompiledGrammar):
        return OutputType(lambda compiler: _same_tokenizer(wanted, compiler), str)
    if isinstance(wanted, Grammar):
        return OutputType(lambda compiler: compiler.compile_grammar(wanted), str)
    if isinstance(wanted, re.Pattern):
        pattern, flags = _pattern(wanted)
        return OutputType(lambda compiler: compiler.compile_regex(pattern, flags=flags), str)
    if isinstance(wanted, StructuralTag) or (isinstance(wanted, dict) and wanted.get("type") == "structural_tag"):
        return OutputType(lambda compiler: compiler.compile_structural_tag(wanted), str)
    if wanted is str:
        return _ANY_TEXT
    texts = _choices(wanted)
    if texts:
        return OutputType(lambda compiler: compiler.compile_choices(texts), texts.__getitem__)
    return None


def _same_tokenizer(compiled: CompiledGrammar, compiler: GrammarCompiler) -> CompiledGrammar:
    if compiled.tokenizer_info != compiler.tokenizer_info:
        raise ArgumentError(
            "output_type is compiled for another tokenizer, vocabulary size or other stop tokens",
            argument="output_type",
            hint="pass the Grammar: output_type.grammar",
        )
    return compiled


def _pattern(wanted: re.Pattern[Any]) -> tuple[str, str]:
    """A compiled pattern as text and flags."""
    if not isinstance(wanted.pattern, str):
        raise wrong_argument("the pattern of output_type", wanted.pattern, "a str", "compile a str, not bytes")
    return wanted.pattern, "".join(letter for flag, letter in _REGEX_FLAGS.items() if wanted.flags & flag)


def _choices(wanted: Any) -> dict[str, Any]:
    """The values of a Literal or an Enum by their texts, if all of them are strings."""
    if get_origin(wanted) is Literal:
        values = [(value, value) for value in get_args(wanted)]
    elif isinstance(wanted, type) and issubclass(wanted, enum.Enum):
        values = [(member.value, member) for member in wanted]
    else:
        return {}
    return dict(values) if all(type(text) is str for text, _ in values) else {}


def _response_format(wanted: Mapping[str, Any], options: Mapping[str, Any]) -> OutputType:
    from maskwright.openai_shapes import chat_completion

    grammar = chat_completion({"response_format": wanted}, **options)
    if grammar is None:
        return _ANY_TEXT
    return OutputType(lambda compiler: compiler.compile_grammar(grammar), json.loads, partial_json)


def _typed_json(wanted: Any, options: Mapping[str, Any]) -> OutputType:
    if not _is_type(wanted):
        hint = "for a regular expression pass re.compile(text), for a JSON Schema json.loads(text), for other texts a "
        hint += "Grammar: Grammar.from_ebnf(text), Grammar.from_lark(text)"
        hint = hint if type(wanted) is str else class_instead(wanted) or _HINT
        raise wrong_argument("output_type", wanted, "a type or a structure", hint)
    schema = schema_of(wanted)  # raises what is wrong with the type, or that pydantic is missing
    from pydantic import TypeAdapter

    adapter: Any = wanted if isinstance(wanted, TypeAdapter) else TypeAdapter(wanted)
    return OutputType(
        lambda compiler: compiler.compile_json_schema(schema, **options), adapter.validate_json, partial_json
    )


def partial_json(text: str) -> Any:
    """Return the value of the beginning of a JSON text, or None; strings may be cut, and numbers may lack digits.

    Raises:
        ArgumentError: pydantic, which reads it, is not installed.

    >>> partial_json('{"name": "Os')
    {'name': 'Os'}
    """
    try:
        from pydantic_core import from_json
    except ImportError as error:
        raise ArgumentError(
            "reading JSON that is not complete requires pydantic, which is not installed",
            argument="output_type",
            hint="pip install pydantic",
        ) from error
    try:
        return from_json(text, allow_partial="trailing-strings")
    except ValueError:
        return None


def _is_type(wanted: Any) -> bool:
    if inspect.isfunction(wanted) or inspect.ismethod(wanted):
        raise wrong_argument("output_type", wanted, "a type", "pass [function] for a call of the function")
    module = type(wanted).__module__.partition(".")[0]
    meant = meaning_of(wanted)
    return isinstance(meant, type) or meant is Any or get_origin(meant) is not None or module == "pydantic"
