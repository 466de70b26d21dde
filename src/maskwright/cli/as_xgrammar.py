"""`maskwright as-xgrammar`: run an engine in which Maskwright stands in for XGrammar.

Tested by tests/compat/test_launching.py.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys

from maskwright.compat.launching import environment_as_xgrammar

from .errors import CommandError


def run(arguments: argparse.Namespace) -> int:
    """Become the command; where a process cannot, run it and return its exit code."""
    words = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    if not words:
        raise CommandError("say which command to run, such as: maskwright as-xgrammar python program.py")
    name, *rest = words
    program = shutil.which(name)
    if program is None:
        hint = f": to run a file, write python {name}" if name.endswith(".py") else ""
        raise CommandError(f"there is no command {name!r}{hint}")
    environment = environment_as_xgrammar(os.environ)
    if sys.platform == "win32":
        return subprocess.run([program, *rest], env=environment, check=False).returncode
    os.execve(program, [name, *rest], environment)
