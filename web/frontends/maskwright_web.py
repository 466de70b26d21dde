"""What the worker calls in Pyodide: a structure as text in, a grammar file out (maskwright/ir/portable.py).

    result = compile_structure('{"kind": "regex", "source": "[a-z]+", "options": {}, "specialTokens": []}')
    result["file"], result["report"]        or, where it is refused:  result["error"]

With `"as": "ebnf"` in the request, `result["ebnf"]` is the grammar as text.

Tested by web/tests/frontends.test.js.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from maskwright import errors
from maskwright.grammar import Grammar
from maskwright.ir.portable import to_bytes
from maskwright.tokenizer.info import TokenizerInfo

_FIELDS = ("hint", "pointer", "pointers", "line", "column", "span", "rule", "keyword", "option", "limit", "argument")
_EXPECTED = (errors.MaskwrightError, RecursionError)


def compile_structure(request: str) -> dict[str, Any]:
    """Compile a structure, or say why not."""
    data = json.loads(request)
    options = {_snake_case(name): value for name, value in data["options"].items()}
    try:
        grammar = _READERS[data["kind"]](data["source"], _tokenizer(data["specialTokens"]), options)
        if data.get("as") == "ebnf":
            return {"ebnf": grammar.to_ebnf()}
        return {"file": to_bytes(grammar.compact_ir), "report": [str(finding) for finding in grammar.report]}
    except _EXPECTED as error:
        return {"error": json.dumps(_described(error))}


def _described(error: Exception) -> dict[str, Any]:
    if isinstance(error, RecursionError):
        return {"type": "LimitError", "message": "the structure nests too deep", "fields": {"limit": "depth"}}
    fields = {name: getattr(error, name, None) for name in _FIELDS}
    given = {name: value for name, value in fields.items() if value is not None}
    return {"type": type(error).__name__, "message": str(error), "fields": given}


def _tokenizer(special_tokens: list[tuple[int, str]]) -> TokenizerInfo:
    """The special tokens alone: what structural tags look up. Other tokens are looked up by the kernel."""
    tokens = [b""] * (max((i for i, _ in special_tokens), default=0) + 1)
    for token_id, name in special_tokens:
        tokens[token_id] = name.encode()
    special = [token_id for token_id, _ in special_tokens]
    return TokenizerInfo.from_vocab(tokens, special_token_ids=special, stop_token_ids=[])


def _snake_case(name: str) -> str:
    return re.sub("([A-Z])", lambda match: "_" + match[1].lower(), name)


def _schema(source: str, info: TokenizerInfo, options: dict[str, Any]) -> Grammar:
    return Grammar.from_json_schema(source, **options)


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
    "json_schema": _schema,
    "regex": lambda source, info, options: Grammar.from_regex(source, **options),
    "ebnf": lambda source, info, options: Grammar.from_ebnf(source, **options),
    "lark": _lark,
    "choices": lambda source, info, options: Grammar.from_choices(json.loads(source)),
    "structural_tag": _tag,
    "tools": _tools,
}
