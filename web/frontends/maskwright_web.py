"""What the worker calls in Pyodide: a structure as text in, a grammar file out (maskwright/ir/portable.py).

    result = compile_structure('{"kind": "regex", "source": "[a-z]+", "options": {}, "specialTokens": []}')
    result["file"], result["report"]        or, where it is refused:  result["error"]

With `"as": "ebnf"` in the request, `result["ebnf"]` is the grammar as text.

Tested by web/tests/frontends.test.js.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable
from typing import Any

from maskwright import errors
from maskwright.grammar import Grammar
from maskwright.ir.portable import to_bytes
from maskwright.support import entrances
from maskwright.tokenizer.info import TokenizerInfo

# The worker writes them to the console, where the line of Python that they are about says nothing.
warnings.formatwarning = lambda message, *_, **__: f"maskwright: {message}\n"

_FIELDS = ("hint", "pointer", "pointers", "line", "column", "span", "rule", "keyword", "option", "limit", "argument")
_EXPECTED = (errors.MaskwrightError, RecursionError)
_WAYS_OUT = (
    (entrances.USE_LARK, "use compileLark"),
    (entrances.USE_EBNF, "use compileGrammar"),
    (entrances.USE_SCHEMA, "use compileJsonSchema"),
    (entrances.USE_TAG, "use compileStructuralTag"),
    (entrances.USE_REGEX, "use compileRegex"),
    (entrances.USE_TOOLS, "use compileTools(family, tools)"),
    (entrances.A_DICT_OR_TEXT, "pass an object, or its JSON text"),
    (entrances.FROM_YAML, "parse the YAML, and pass the object"),
    (entrances.A_SCHEMA, "pass an object, a boolean, or a JSON text"),
    (entrances.OR_PASS_ROOT, ", or pass rootRuleName"),
    (entrances.OR_PASS_REGISTRY, ", or pass it in registry, an object of documents by their URIs"),
    (entrances.OR_OPENAI_SHAPES, ""),
    (entrances.PASS_GRAMMARS, "write its rules here"),
    (entrances.RELAX, 'pass { onUnsupported: "relax" }'),
)
# Of values and types, wherever a message about an option or a schema names them.
_IN_JAVASCRIPT = {
    "=True": ": true",
    "=False": ": false",
    "True or False": "true or false",
    "an int": "an integer",
    "None": "undefined",
    "not NoneType": "not null",
    "not dict": "not an object",
    "not list": "not an array",
    "not str": "not a string",
    "not bool": "not a boolean",
    "not int": "not a number",
    "not float": "not a number",
}
_PYTHON_WORDS = re.compile(rf"(?:{'|'.join(_IN_JAVASCRIPT)})\b")


def compile_structure(request: str) -> dict[str, Any]:
    """Compile a structure, or say why not."""
    data = json.loads(request)
    options = {_snake_case(name): value for name, value in data["options"].items()}
    try:
        if "registry" in options:
            options["registry"] = _registry(options["registry"])
        grammar = _READERS[data["kind"]](data["source"], _tokenizer(data["specialTokens"]), options)
        if data.get("as") == "ebnf":
            return {"ebnf": grammar.to_ebnf()}
        return {"file": to_bytes(grammar.compact_ir), "report": [finding._asdict() for finding in grammar.report]}
    except _EXPECTED as error:
        return {"error": json.dumps(_described(error))}


def _described(error: Exception) -> dict[str, Any]:
    if isinstance(error, RecursionError):
        return {"type": "LimitError", "message": "the structure nests too deep", "fields": {"limit": "depth"}}
    fields = {name: getattr(error, name, None) for name in _FIELDS}
    given = {name: value for name, value in fields.items() if value is not None}
    if isinstance(error, errors.GrammarError) and error.source is not None and error.span is not None:
        given["span"] = [_units_before(offset, error.source) for offset in error.span]
    return {"type": type(error).__name__, **_for_javascript(error, given)}


def _units_before(offset: int, text: str) -> int:
    """An offset as JavaScript counts it, in units of UTF-16."""
    return len(text[:offset].encode("utf-16-le", "surrogatepass")) // 2


def _for_javascript(error: Exception, fields: dict[str, Any]) -> dict[str, Any]:
    """Message and fields, with options and ways out as a caller from JavaScript has them."""
    message, hint = str(error), fields.get("hint", "")
    if isinstance(error, errors.OptionError):
        named = {name: _of_option(value) if isinstance(value, str) else value for name, value in fields.items()}
        return {"message": _of_option(message), "fields": named}
    here = entrances.in_words_of(_WAYS_OUT, hint)
    if here != hint:
        message, fields = message.replace(hint, here), {**fields, "hint": here}
    return {"message": _words(message) if isinstance(error, errors.SchemaError) else message, "fields": fields}


def _of_option(text: str) -> str:
    return _words(_camel_case(text))


def _words(message: str) -> str:
    """A message with JavaScript's words for values and types."""
    return _PYTHON_WORDS.sub(lambda found: _IN_JAVASCRIPT[found[0]], message)


def _tokenizer(special_tokens: list[tuple[int, str]]) -> TokenizerInfo:
    """The special tokens alone: what structural tags look up. Other tokens are looked up by the kernel."""
    tokens = [b""] * (max((i for i, _ in special_tokens), default=0) + 1)
    for token_id, name in special_tokens:
        tokens[token_id] = name.encode()
    special = [token_id for token_id, _ in special_tokens]
    return TokenizerInfo.from_vocab(tokens, special_token_ids=special, stop_token_ids=[])


def _snake_case(name: str) -> str:
    return re.sub("([A-Z])", lambda match: "_" + match[1].lower(), name)


def _camel_case(text: str) -> str:
    return re.sub("(?<=[a-z])_([a-z])", lambda match: match[1].upper(), text)


def _registry(documents: dict[str, Any]) -> Any:
    """Documents by their URIs, in which references are looked up."""
    from referencing import Registry, Resource
    from referencing.jsonschema import DRAFT202012

    if not isinstance(documents, dict) or not all(isinstance(each, (dict, bool)) for each in documents.values()):
        raise errors.OptionError("registry must be an object of documents by their URIs", option="registry")
    read = Resource.from_contents
    resources = [(uri, read(each, default_specification=DRAFT202012)) for uri, each in documents.items()]
    return Registry().with_resources(resources)


def _lark(source: str, info: TokenizerInfo, options: dict[str, Any]) -> Grammar:
    start: str = options.pop("start", "start")
    return Grammar.from_lark(source, start, **options)


def _tag(source: str, info: TokenizerInfo, options: dict[str, Any]) -> Grammar:
    return Grammar.from_structural_tag(source, tokenizer_info=info, **options)


def _tools(source: str, info: TokenizerInfo, options: dict[str, Any]) -> Grammar:
    from maskwright.structural_tag import get_model_structural_tag

    request = json.loads(source)
    tag = get_model_structural_tag(request["family"], request["tools"], request["toolChoice"], **options)
    return Grammar.from_structural_tag(tag, tokenizer_info=info)


_READERS: dict[str, Callable[[str, TokenizerInfo, dict[str, Any]], Grammar]] = {
    "json_schema": lambda source, info, options: Grammar.from_json_schema(source, **options),
    "regex": lambda source, info, options: Grammar.from_regex(source, **options),
    "ebnf": lambda source, info, options: Grammar.from_ebnf(source, **options),
    "lark": _lark,
    "choices": lambda source, info, options: Grammar.from_choices(json.loads(source)),
    "structural_tag": _tag,
    "tools": _tools,
}
