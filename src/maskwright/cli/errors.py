"""What ends a command early, with the text to show. The exit codes of the program are here and nowhere else."""

from __future__ import annotations

EXIT_OK = 0
EXIT_PROBLEMS = 1  # of lint, check and explain, which found some
EXIT_BAD_INPUT = 2  # also what argparse uses
EXIT_INCOMPLETE = 3  # of demo, where a structure did not hold
EXIT_NOT_WRITTEN = 74  # EX_IOERR of sysexits.h
EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells have it
EXIT_CLOSED_PIPE = 141  # 128 + SIGPIPE


class CommandError(Exception):
    """The command cannot go on with what it was given. The message is one paragraph for the user."""
