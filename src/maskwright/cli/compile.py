"""`maskwright compile`: a grammar file as the bytes that the WebAssembly kernel reads.

Tested by tests/cli/test_compile.py.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from maskwright.emptiness import admits_nothing
from maskwright.errors import MaskwrightError
from maskwright.ir.portable import to_bytes

from .errors import EXIT_OK, CommandError
from .grammar_files import read_grammar_file


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return the exit code."""
    file = read_grammar_file(arguments.file, arguments.language, strict=arguments.strict, relax=arguments.relax)
    try:
        data = to_bytes(file.grammar.compact_ir)
        if admits_nothing(file.grammar.compact_ir):
            raise CommandError(f"{file.label}: no output satisfies it")
    except MaskwrightError as error:
        raise CommandError(f"{file.label}: {error}") from error
    try:
        Path(arguments.output).write_bytes(data)
    except OSError as error:
        raise CommandError(f"--output: cannot write {arguments.output!r}: {error.strerror or error}") from error
    print(f"{arguments.output}: {len(data):,} bytes", file=sys.stderr)
    return EXIT_OK
