"""`maskwright compile`: a grammar file, a structural tag or tools as the bytes that the WebAssembly kernel reads.

    maskwright compile schema.json -o grammar.mwg
    maskwright compile tools.json --from tools --model-family hermes --tokenizer tokenizer.json -o calls.mwg

Tested by tests/cli/test_compile.py.
"""

from __future__ import annotations

import argparse
from typing import Any

from maskwright import Grammar, TokenizerInfo
from maskwright.errors import MaskwrightError
from maskwright.ir.emptiness import admits_nothing
from maskwright.ir.portable import to_bytes
from maskwright.report.unproductive import why_nothing

from .errors import EXIT_OK, CommandError
from .grammar_files import read_grammar_file
from .output import write_output
from .sources import json_options, parse_json, placed, print_warnings, read_family, read_text, read_tool_tag
from .texts import print_findings


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return the exit code."""
    label, grammar = _read(arguments)
    print_findings(grammar.report)
    print_warnings(grammar, with_from=True)
    try:
        data = to_bytes(grammar.compact_ir)
        if admits_nothing(grammar.compact_ir):
            raise _nothing(label, grammar)
    except MaskwrightError as error:
        raise CommandError(placed(label, error, with_from=True)) from error
    write_output(arguments.output, data)
    return EXIT_OK


def _nothing(label: str, grammar: Grammar) -> CommandError:
    if grammar.source is not None and grammar.source.kind in ("ebnf", "lark"):
        return CommandError(placed(label, why_nothing(grammar.compact_ir, grammar.source)))
    return CommandError(f"{label}: no output satisfies it")


def _read(arguments: argparse.Namespace) -> tuple[str, Grammar]:
    language: str | None = arguments.language
    if language in ("tag", "tools"):
        return _read_tag(arguments)
    for option in ("model_family", "tool_choice", "tokenizer"):
        if getattr(arguments, option) is not None:
            needed = "--from tag or --from tools" if option == "tokenizer" else "--from tools"
            raise CommandError(f"--{option.replace('_', '-')} needs {needed}")
    file = read_grammar_file(arguments.file, language, json_options(arguments), tools="--from tools")
    return file.label, file.grammar


def _read_tag(arguments: argparse.Namespace) -> tuple[str, Grammar]:
    label, text = read_text(arguments.file, "FILE", "a file, or - for stdin")
    options = json_options(arguments)
    info = _special_tokens(arguments.tokenizer)
    tag: Any = parse_json(label, text)
    try:
        if arguments.language == "tools":
            family = read_family(arguments, "--from tools")
            tag, options = read_tool_tag(tag, family, arguments.tool_choice, options), {}
        return label, Grammar.from_structural_tag(tag, tokenizer_info=info, **options)
    except MaskwrightError as error:
        raise CommandError(placed(label, error, with_from=True)) from error


def _special_tokens(path: str | None) -> TokenizerInfo | None:
    """The special tokens of a tokenizer.json, which strings of a tag may name; other tokens do not matter here."""
    if path is None:
        return None
    label, text = read_text(path, "--tokenizer", "the path of a tokenizer.json")
    data = parse_json(label, text)
    added = data.get("added_tokens") if isinstance(data, dict) else None
    try:
        names = {token["id"]: token["content"].encode() for token in added or () if token["special"]}
        tokens = [names.get(i, b"") for i in range(max(names, default=-1) + 1)]
        return TokenizerInfo.from_vocab(tokens or [b""], special_token_ids=list(names), stop_token_ids=[])
    except (KeyError, TypeError, AttributeError, MaskwrightError) as error:
        raise CommandError(f"{label}: it is not a valid tokenizer.json: {error}") from error
