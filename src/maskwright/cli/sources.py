"""The structure that the user gave, read and compiled.

`--schema`, `--tag`, `--tools`, `--grammar` and `--lark` take a file, `-` for stdin, or the text itself: a JSON text
that begins with `{` or is `true` or `false`, tools that begin with `[`, a grammar that holds `::=`, a Lark grammar
that holds `: ` or a line break. `--regex` takes a pattern, unless it is the name of a file that exists and ends in
`.regex` or `.re`. A file given alone is read by its extension.

Invariants: every mistake becomes a `CommandError` or one of the library's typed errors, with the file's name in
front.
Tested by tests/cli/test_sources.py.
"""

from __future__ import annotations

import argparse
import codecs
import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

from maskwright import CompiledGrammar, Grammar, GrammarCompiler, TokenizerInfo
from maskwright.errors import GrammarError, MaskwrightError, OptionError
from maskwright.ir.portable import MAGIC
from maskwright.support import entrances
from maskwright.support.json_mistakes import hint_for

from .errors import CommandError

_MAX_SHOWN = 100
_IN_OPTIONS = (
    (entrances.RELAX, "pass --relax"),
    (entrances.USE_LARK, "use --lark"),
    (entrances.USE_EBNF, "use --grammar"),
    (entrances.USE_SCHEMA, "use --schema"),
    (entrances.USE_TAG, "use --tag"),
    (entrances.USE_REGEX, "use --regex"),
    (entrances.USE_TOOLS, "use --tools"),
    (entrances.PASS_GRAMMARS, "write its rules here"),
    *entrances.ONLY_IN_PYTHON,
)
# The same for commands that are told the language of their file by --from.
_WITH_FROM = (
    ("use --lark", "use --from lark"),
    ("use --grammar", "use --from ebnf"),
    ("use --schema", "use --from schema"),
    ("use --regex", "use --from regex"),
    ("use --tag", "use `maskwright compile --from tag`"),
    ("use --tools", "use `maskwright compile --from tools`"),
)
_ENDINGS = {".ebnf": "ebnf", ".gbnf": "ebnf", ".lark": "lark", ".regex": "regex", ".re": "regex", ".json": "schema"}
ENDINGS = ", ".join(_ENDINGS)


class Structure(NamedTuple):
    """What the output must follow: a name for messages, the front-end that reads it, and how to compile it."""

    label: str
    front_end: str
    compile: Callable[[GrammarCompiler], CompiledGrammar]

    def compiled(self, tokenizer_info: TokenizerInfo) -> tuple[CompiledGrammar, float]:
        """Compile; return the grammar and the time it took in µs.

        Raises:
            CommandError: the schema, regex or grammar is wrong.
        """
        compiler = GrammarCompiler(tokenizer_info)
        import_module(f"maskwright.frontends.{self.front_end}")  # loaded once a process, so it is no part of the time
        started = time.perf_counter_ns()
        try:
            compiled = self.compile(compiler)
        except MaskwrightError as error:
            raise CommandError(placed(self.label, error)) from error
        compile_us = (time.perf_counter_ns() - started) / 1e3
        print_warnings(compiled.grammar)
        return compiled, compile_us


def read_structure(arguments: argparse.Namespace) -> Structure:
    """Read the one structure option that is set.

    Raises:
        CommandError: a file cannot be read, a schema is not JSON, or options do not go
            together, such as a layout without a schema.
    """
    layout = json_options(arguments)
    if arguments.tools is None and (arguments.model_family or arguments.tool_choice):
        option = "--model-family" if arguments.model_family else "--tool-choice"
        raise CommandError(f"{option} needs --tools\n  hint: pass --tools FILE")
    given = _by_ending(arguments.file) or _by_option(arguments)
    if given is not None and given.language == "schema":
        return _schema(given, layout)
    if given is not None and given.language == "tag":
        return _tag(given, layout)
    if given is not None and given.language == "tools":
        return _tools(given, arguments, layout)
    if layout:
        raise CommandError("layout and schema options need --schema, --tag or --tools\n  hint: leave them out")
    if given is not None:
        return _grammar(given)
    choices: list[str] = arguments.choice
    return Structure("--choice", "charset", lambda compiler: compiler.compile_choices(choices))


class _Given(NamedTuple):
    """What was given: its language, a label for messages, and the text."""

    language: str
    label: str
    text: str


def language_of(name: str) -> str | None:
    """The language of a file by its ending."""
    return _ENDINGS.get(Path(name).suffix)


def _by_ending(file: str | None) -> _Given | None:
    """A file that was given alone."""
    if file is None:
        return None
    language = language_of(file)
    if language is None:
        hint = f"pass --schema, --grammar, --lark, --regex or --tag, or a file that ends in {ENDINGS}"
        raise CommandError(f"{file[:_MAX_SHOWN]}: unknown language\n  hint: {hint}")
    label, text = read_text(file, "FILE", "the path of a file, or a structure by its option, such as --schema")
    return _Given(language, label, text)


def _by_option(arguments: argparse.Namespace) -> _Given | None:
    """The value of the option for a language, or the file that it names."""
    for language, option, is_inline, ways in _OPTIONS:
        argument: str | None = getattr(arguments, option.removeprefix("--"))
        if argument is not None:
            label, text = (option, argument) if is_inline(argument) else read_text(argument, option, ways)
            return _Given(language, label, text)
    return None


def json_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options of JSON Schema that are not at their defaults."""
    layout: dict[str, Any] = {name: True for name in ("any_order", "ensure_ascii") if getattr(arguments, name)}
    if arguments.strict:
        layout["strict_mode"] = True
    if arguments.relax:
        layout["on_unsupported"] = "relax"
    if arguments.numbers != "plain":
        layout["numbers"] = arguments.numbers
    if arguments.indent is not None:
        layout.update(any_whitespace=False, indent=arguments.indent)
    elif arguments.compact:
        layout.update(any_whitespace=False, separators=(",", ":"))
    elif arguments.whitespace is not None:
        layout.update(whitespace_pattern=_pattern(arguments.whitespace))
    return layout


def _pattern(pattern: str) -> str:
    from maskwright.frontends.json_schema import JsonSchemaOptions

    try:
        JsonSchemaOptions(whitespace_pattern=pattern)
    except OptionError as error:
        raise CommandError(f"--whitespace: {error}") from error
    return pattern


def _schema(given: _Given, layout: dict[str, Any]) -> Structure:
    check_schema_text(given.label, given.text, tools="--tools FILE")
    return Structure(given.label, "json_schema", lambda compiler: compiler.compile_json_schema(given.text, **layout))


def _tag(given: _Given, layout: dict[str, Any]) -> Structure:
    tag = parse_json(given.label, given.text)
    return Structure(given.label, "json_schema", lambda compiler: compiler.compile_structural_tag(tag, **layout))


def _tools(given: _Given, arguments: argparse.Namespace, layout: dict[str, Any]) -> Structure:
    tools = parse_json(given.label, given.text)
    family, choice = read_family(arguments, "--tools"), arguments.tool_choice

    def compile_tools(compiler: GrammarCompiler) -> CompiledGrammar:
        return compiler.compile_structural_tag(read_tool_tag(tools, family, choice, layout))

    return Structure(given.label, "json_schema", compile_tools)


def read_tool_tag(tools: Any, family: str, choice: str | None, options: dict[str, Any]) -> Any:
    """The structural tag of calls of tools; `choice` is auto, required, none, or the name of a tool.

    Raises:
        RequestError, SchemaError, OptionError: As `get_model_structural_tag` raises them.
    """
    from maskwright.structural_tag import get_model_structural_tag

    wanted: Any = choice or "auto"
    if wanted not in ("auto", "required", "none"):
        wanted = {"type": "function", "function": {"name": wanted}}
    return get_model_structural_tag(family, tools, wanted, **options)


def read_family(arguments: argparse.Namespace, option: str) -> str:
    """`--model-family`, which `option` needs."""
    family: str | None = arguments.model_family
    if family is None:
        hint = "pass --model-family NAME, such as hermes or qwen_3_coder"
        raise CommandError(f"{option} needs --model-family, the format in which tools are called\n  hint: {hint}")
    return family


def _grammar(given: _Given) -> Structure:
    label, text = given.label, given.text
    if given.language == "ebnf":
        return Structure(label, "ebnf", lambda compiler: compiler.compile_grammar(text))
    if given.language == "lark":
        return Structure(label, "lark", lambda compiler: compiler.compile_lark(text))
    pattern = text if label == "--regex" else pattern_of_file(text)
    return Structure(label, "regex", lambda compiler: compiler.compile_regex(pattern))


def pattern_of_file(text: str) -> str:
    """The pattern in a file, without the line breaks at its end, which editors write."""
    return text.rstrip("\r\n")


def is_inline_json(argument: str) -> bool:
    """Whether this is the text of a JSON object, and not the name of a file."""
    return argument.lstrip().startswith("{")


def _is_schema(argument: str) -> bool:
    return is_inline_json(argument) or argument.strip() in ("true", "false")


def _are_tools(argument: str) -> bool:
    return argument.lstrip().startswith("[")


def _is_ebnf(argument: str) -> bool:
    return "::=" in argument


def _is_lark(argument: str) -> bool:
    return "\n" in argument or ": " in argument


def _is_pattern(argument: str) -> bool:
    return language_of(argument) != "regex" or not Path(argument).is_file()


# By language: its option, whether a value is the text itself, and else what may be given.
_OPTIONS: Final = (
    ("schema", "--schema", _is_schema, "a file, - for stdin, or JSON that begins with '{'"),
    ("tag", "--tag", is_inline_json, "a file, - for stdin, or JSON that begins with '{'"),
    ("tools", "--tools", _are_tools, "a file, - for stdin, or JSON that begins with '['"),
    ("ebnf", "--grammar", _is_ebnf, "a file, - for stdin, or rules with '::='"),
    ("lark", "--lark", _is_lark, "a file, - for stdin, or rules with ': '"),
    ("regex", "--regex", _is_pattern, "a pattern, or a file that ends in .regex or .re"),
)


def read_text(argument: str, option: str, ways: str) -> tuple[str, str]:
    """Read a file, or stdin for `-`; return a label for messages and the text. `ways` says what may be given.

    Raises:
        CommandError: it cannot be read.
    """
    if argument == "-":
        return "<stdin>", _decode("<stdin>", sys.stdin.buffer.read())
    try:
        if not argument:
            raise ValueError("no name is given")
        data = Path(argument).read_bytes()
    except (OSError, ValueError) as error:  # ValueError: also a NUL in the name
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        shown = argument if len(argument) <= _MAX_SHOWN else argument[:_MAX_SHOWN] + "…"
        raise CommandError(f"{option}: cannot read {shown!r}: {reason}\n  hint: give {ways}") from error
    return argument, _decode(argument, data)


def _decode(label: str, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if data.startswith(MAGIC):
            hint = "give the file that it was compiled from"
            raise CommandError(f"{label}: this is a compiled grammar\n  hint: {hint}") from error
        is_utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        found = "this is UTF-16" if is_utf16 else f"not UTF-8: {error.reason} at byte {error.start}"
        raise CommandError(f"{label}: {found}\n  hint: save it as UTF-8") from error


def parse_json(label: str, text: str) -> Any:
    """Parse a JSON text, strictly.

    Raises:
        CommandError: says the line and column, and shows the line.
    """
    if not text.strip():
        raise CommandError(f"{label} is empty\n  hint: give a JSON text")
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        line = (text.splitlines() or [""])[min(error.lineno, text.count("\n") + 1) - 1 :][:1]
        start = max(0, error.colno - 1 - _MAX_SHOWN // 2)
        shown = "".join(c if c.isprintable() else " " for c in "".join(line)[start : start + _MAX_SHOWN])
        caret = " " * (error.colno - 1 - start) + "^"
        hint = hint_for(text, error.pos)
        advice = f"\n  hint: {hint}" if hint else ""
        raise CommandError(
            f"{label}:{error.lineno}:{error.colno}: not valid JSON: {error.msg}{advice}\n    {shown}\n    {caret}"
        ) from error
    except (RecursionError, ValueError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise CommandError(f"{label}: not valid JSON: {reason}") from error


def check_schema_text(label: str, text: str, *, tools: str | None = None) -> None:
    """Check that a text is JSON of a kind that a schema can be. `tools` is how the command takes tools, if it does.

    Raises:
        CommandError: it is not; it says where.
    """
    data = parse_json(label, text)
    if not isinstance(data, dict | bool):
        kind = "an array" if isinstance(data, list) else f"{text.strip()[:_MAX_SHOWN]}"
        hint = "a schema begins with '{'" + (f", and tools are given as {tools}" if tools else "")
        raise CommandError(f"{label}: a schema is an object, true or false, not {kind}\n  hint: {hint}")


def placed(label: str, error: MaskwrightError, *, with_from: bool = False) -> str:
    """The message of an error behind the name of what was read; its hint names the options of the command line."""
    separator = ":" if isinstance(error, GrammarError) and error.line is not None else ": "
    return in_options(f"{label}{separator}{error}", with_from=with_from)


def print_warnings(grammar: Grammar, *, with_from: bool = False) -> None:
    """Say on stderr what of a grammar or regex surely does not do what it was written for."""
    for warning in grammar.warnings:
        print(f"warning: {in_options(str(warning), with_from=with_from)}", file=sys.stderr)


def in_options(message: str, *, with_from: bool = False) -> str:
    """A message that names an option of the library, with that of the command line instead.

    `with_from`: of a command that takes the language of its file as `--from`.
    """
    return entrances.in_words_of(_IN_OPTIONS + (_WITH_FROM if with_from else ()), message)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")
