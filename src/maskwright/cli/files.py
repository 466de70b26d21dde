"""Writing what `-o` names.

    write_output("page.html", data)    page.html: 13,991 bytes, on stderr

Tested by tests/cli/test_show_command.py, tests/cli/test_compile.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

from .errors import CommandError


def write_output(path: str, data: bytes) -> None:
    """Write a file, or stdout for `-`, and say on stderr what was written.

    Raises:
        CommandError: the file cannot be written.
    """
    if path == "-":
        sys.stdout.buffer.write(data)
    else:
        try:
            Path(path).write_bytes(data)
        except OSError as error:
            raise CommandError(f"--output: cannot write {path!r}: {error.strerror or error}") from error
    print(f"{'<stdout>' if path == '-' else path}: {len(data):,} bytes", file=sys.stderr)
