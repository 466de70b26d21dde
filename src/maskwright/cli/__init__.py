"""The command line: `maskwright generate`, `explain`, `show`, `check`, `lint`, `convert`, `compile`, `demo`, `serve`,
`as-xgrammar`.

    maskwright generate --regex '[0-9]{4}-[0-9]{2}' --prompt 'Date: '

`sources.py` reads what the user gave, `maskwright.engine` runs a model, `output.py` writes text and figures;
each command is a module of its name, with `_` for `-`; `parser.py` is argparse's with hints;
`structure_arguments.py`, `texts.py` and `tokenizers.py` are options that several have, and `grammar_files.py` reads for
lint, convert and compile.
Importing this module is light: each command imports what it needs.

Invariants: text goes to stdout, everything else to stderr; a mistake of the user ends with one paragraph and exit
code 2, a full disk with 74, Ctrl-C with 130, a closed pipe in silence with 141; no traceback in any of these.
Tested by tests/cli/.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
import warnings
from collections.abc import Sequence

from .errors import EXIT_BAD_INPUT, EXIT_CLOSED_PIPE, EXIT_INTERRUPTED, EXIT_NOT_WRITTEN, CommandError

__all__ = ["main"]

_FULL = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", None))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    _replace_what_cannot_be_encoded()
    try:
        from maskwright.errors import GrammarWarning, MaskwrightError, SchemaWarning

        # `print_findings` and `print_warnings` show all that is found.
        warnings.filterwarnings("ignore", category=SchemaWarning)
        warnings.filterwarnings("ignore", category=GrammarWarning)
        from .arguments import parse

        command = parse(argv)
        try:
            code = command()
        except (CommandError, MaskwrightError) as error:
            print(f"maskwright: error: {error}", file=sys.stderr)
            code = EXIT_BAD_INPUT
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        with contextlib.suppress(OSError):
            print("\nmaskwright: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        _discard_output()
        return EXIT_CLOSED_PIPE
    except OSError as error:
        if error.errno not in _FULL:
            raise
        _discard_output()
        print(f"maskwright: error: the output cannot be written: {error.strerror}", file=sys.stderr)
        return EXIT_NOT_WRITTEN


def _replace_what_cannot_be_encoded() -> None:
    """A check mark must not end the program in a terminal that has none."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _discard_output() -> None:
    """Point the stream that takes no more at nothing, or the interpreter would complain when it flushes at exit."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            try:
                stream.flush()
            except OSError:
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
