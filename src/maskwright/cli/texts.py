"""The text of `--text` or `--text-file`, as bytes, and places in it.

Tested by tests/cli/test_explain_command.py.
"""

from __future__ import annotations

import argparse
import codecs
import sys
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import CommandError

if TYPE_CHECKING:
    from maskwright.frontends.json_schema import Finding

_STRUCTURES = ("schema", "grammar", "lark", "tag", "tools")
_REACH = 48  # characters shown on either side of a place


def add_text(command: argparse.ArgumentParser, *, required: bool) -> argparse._MutuallyExclusiveGroup:
    """Add the options, and return the group that they exclude each other in."""
    text = command.add_argument_group("text").add_mutually_exclusive_group(required=required)
    text.add_argument("--text", metavar="TEXT", help="the text itself")
    text.add_argument(
        "--text-file",
        metavar="FILE",
        help="a file, - for stdin; a final line break is ignored if the structure has none there",
    )
    return text


def read_output(arguments: argparse.Namespace) -> bytes:
    """Read the text.

    Raises:
        CommandError: The file cannot be read, is not UTF-8 by its mark, or the structure comes from stdin too.
    """
    if arguments.text is not None:
        return str(arguments.text).encode("utf-8", "surrogateescape")
    name: str = arguments.text_file
    if name == "-":
        both = [option for option in _STRUCTURES if getattr(arguments, option) == "-"]
        if both:
            raise CommandError(f"--{both[0]} and --text-file cannot both be stdin\n  hint: give one of them as a file")
        return sys.stdin.buffer.read()
    try:
        data = Path(name).read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise CommandError(
            f"--text-file: cannot read {name[:100]!r}: {reason}\n  hint: give a file, or - for stdin"
        ) from error
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise CommandError(f"--text-file: {name[:100]}: this is UTF-16\n  hint: save it as UTF-8")
    return data.removeprefix(codecs.BOM_UTF8)


def print_findings(report: Iterable[Finding]) -> None:
    """Say on stderr what of a JSON Schema does not constrain the output, but for extensions such as `x-order`."""
    for found in report:
        if found.is_extension:
            continue
        print(f"warning: {printable(f'#{found.pointer}: {found.reason}')}", file=sys.stderr)


def without_last_line_break(data: bytes) -> bytes:
    """The same without the line break at its end, as editors and `echo` write one."""
    return data[:-2] if data.endswith(b"\r\n") else data[:-1] if data.endswith(b"\n") else data


def marked(data: bytes, offset: int) -> tuple[str, str]:
    """The line in which a byte stands, cut to what is near, and a line with a caret under it.

    >>> marked(b'{"a":\\n  x}', 8)
    ('  x}', '  ^')
    """
    start = data.rfind(b"\n", 0, offset) + 1
    end = data.find(b"\n", offset)
    before = _visible(data[start:offset])
    after = _visible(data[offset : len(data) if end < 0 else end])
    if len(before) > _REACH:
        before = "…" + before[-_REACH:]
    if len(after) > _REACH:
        after = after[:_REACH] + "…"
    return before + after, " " * sum(map(_width, before)) + "^"


def printable(text: str) -> str:
    """A text with control characters escaped, so that it cannot write to the terminal what it likes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _visible(data: bytes) -> str:
    return printable(data.decode("utf-8", "backslashreplace").replace("\t", " "))


def _width(character: str) -> int:
    """How many columns a terminal gives a character."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
