"""The options that give a structure: the same for every command that takes one. `sources.py` reads them.

Tested by tests/cli/test_arguments.py and test_sources.py.
"""

from __future__ import annotations

import argparse

from .numbers import non_negative


def add_structure(command: argparse.ArgumentParser) -> None:
    """Add the structure itself, exactly one, and how tools and JSON are written."""
    structure = command.add_argument_group("structure", "exactly one of these").add_mutually_exclusive_group(
        required=True
    )
    structure.add_argument(
        "file",
        metavar="FILE",
        nargs="?",
        help="a JSON Schema, a grammar or a regex in a file; its extension says which",
    )
    structure.add_argument(
        "--schema", metavar="FILE|JSON", help="a JSON Schema: a file, - for stdin, or the JSON text itself"
    )
    structure.add_argument(
        "--regex",
        metavar="PATTERN",
        help="a regular expression that the whole output must match, or a .regex or .re file",
    )
    structure.add_argument(
        "--grammar", metavar="FILE|EBNF", help="an EBNF or GBNF grammar with a rule named root: a file, -, or the text"
    )
    structure.add_argument(
        "--lark", metavar="FILE|LARK", help="a Lark grammar with a rule named start: a file, -, or the text"
    )
    structure.add_argument("--tag", metavar="FILE|JSON", help="a structural tag: a file, -, or the JSON text")
    structure.add_argument(
        "--tools", metavar="FILE|JSON", help="tools to call, a JSON array: a file, -, or the text; needs --model-family"
    )
    structure.add_argument("--choice", metavar="TEXT", action="append", help="a possible output; give one for each")
    calls = command.add_argument_group("tool calls", "with --tools")
    calls.add_argument(
        "--model-family",
        "--tool-format",
        metavar="NAME",
        help="the format of tool calls, such as hermes or qwen_3_coder",
    )
    calls.add_argument(
        "--tool-choice", metavar="CHOICE", help="auto, required, none, or the name of a tool (default: auto)"
    )
    add_json(command, "with --schema, --tag or --tools")


def add_json(command: argparse.ArgumentParser, when: str) -> None:
    """Add the options of JSON Schema."""
    _add_strictness(command.add_argument_group("JSON Schema", when))
    layout = command.add_argument_group("layout of JSON", f"{when}; by default, white space is free but bounded")
    spaces = layout.add_mutually_exclusive_group()
    spaces.add_argument(
        "--indent", type=non_negative, metavar="N", help="one property per line, indented by N, like json.dumps"
    )
    spaces.add_argument("--compact", action="store_true", help="no white space")
    spaces.add_argument(
        "--whitespace", metavar="PATTERN", help="a regular expression for the white space between any two JSON tokens"
    )
    layout.add_argument("--ensure-ascii", action="store_true", help="escape characters beyond ASCII, like json.dumps")
    layout.add_argument(
        "--numbers",
        choices=("plain", "digits", "any"),
        default="plain",
        help="digits: integers of any length; any: every spelling in JSON Schema, such as 1.0 (default: plain)",
    )
    layout.add_argument("--any-order", action="store_true", help="allow properties in any order, not only the schema's")


def _add_strictness(group: argparse._ActionsContainer) -> None:
    """Add what is done with objects that are open, and with what cannot be enforced."""
    group.add_argument("--strict", action="store_true", help="allow no undeclared properties in JSON objects")
    group.add_argument(
        "--relax", action="store_true", help="leave out keywords that cannot be enforced instead of refusing the schema"
    )
