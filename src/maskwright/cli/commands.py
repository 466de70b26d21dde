"""A command of the program: its parser, and the module that runs it, imported when it is called.

Tested by tests/cli/test_arguments.py.
"""

from __future__ import annotations

import argparse
import importlib
from typing import TypeAlias

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_command(
    commands: Commands, name: str, *, help: str, description: str, epilog: str | None = None
) -> argparse.ArgumentParser:
    """Add a command, which `run` of the module of its name carries out; an epilog of several lines stays as it is."""
    is_laid_out = epilog is not None and "\n" in epilog
    command = commands.add_parser(
        name,
        help=help,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter if is_laid_out else argparse.HelpFormatter,
        allow_abbrev=False,
    )

    def run(arguments: argparse.Namespace) -> int:
        exit_code: int = importlib.import_module(f".{name.replace('-', '_')}", __package__).run(arguments)
        return exit_code

    command.set_defaults(run=run)
    return command
