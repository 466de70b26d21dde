"""argparse's parser, with a way out in its errors.

    $ maskwright generate --schem person.json
    maskwright generate: error: unrecognized arguments: --schem person.json
      hint: did you mean --schema?

Without the hint, a misspelled option would be hidden behind the complaint that the option meant is missing. The usage
is not printed before the error, as it has nine lines for some commands; `--help` prints it.
Tested by tests/cli/test_parser.py.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, Final, NoReturn

from maskwright.support.near_names import nearest

from .errors import EXIT_BAD_INPUT

_STRUCTURES: Final = ("--schema", "--regex", "--grammar", "--lark", "--tag")  # of commands that take text, too


class Parser(argparse.ArgumentParser):
    """Also the class of the commands' parsers, as argparse makes subparsers of their parent's class."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._given: list[str] = []

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        self._given = list(sys.argv[1:] if args is None else args)
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:  # here, where the command's own options are known
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return known, unknown

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_BAD_INPUT, f"{self.prog}: error: {message}\n  hint: {self._hint(message)}\n")

    def _hint(self, message: str) -> str:
        return self._specific_hint(message) or f"see {self.prog} --help"

    def _specific_hint(self, message: str) -> str | None:
        if self._subparsers is not None and self._given and not self._given[0].startswith("-"):
            return self._command_hint()  # its options are not known here
        for given in self._given:
            option = given.partition("=")[0]
            if option.startswith("--") and option not in self._option_string_actions:
                return self._meant_by(option) or f"there is no {option}; see {self.prog} --help"
        if self._subparsers is not None:
            return self._command_hint()
        return self._hint_by_message(message)

    def _meant_by(self, option: str) -> str | None:
        """What to give instead of an option that the command does not have."""
        if option in _STRUCTURES and any(action.metavar == "FILE" for action in self._actions):
            return f"give the structure as FILE; see {self.prog} --help"
        longer = [known for known in self._option_string_actions if known.startswith(f"{option}-")]
        near = longer[0] if len(longer) == 1 else nearest(option, self._option_string_actions, 0.7)
        return f"did you mean {near}?" if near else None

    def _hint_by_message(self, message: str) -> str | None:
        if message.endswith("required: -o/--output"):
            return "say which file to write: -o FILE"
        if ("unrecognized" in message or message.startswith("argument FILE: not allowed")) and (
            way := self._repeated()
        ):
            return way
        if "not allowed with argument" in message:
            return "give one of them"
        option = message.removeprefix("argument ").partition(":")[0].rpartition("/")[2]
        if message.endswith("expected one argument") and self._has_dashed_value(option):
            return f"a value that begins with - is written {option}='-…'"
        return None

    def _has_dashed_value(self, option: str) -> bool:
        """Whether what was given behind an option begins as options do, but is none."""
        values = [value for given, value in zip(self._given, self._given[1:], strict=False) if given == option]
        return any(value.startswith("-") and value not in self._option_string_actions for value in values)

    def _command_hint(self) -> str:
        actions = [action for action in self._actions if isinstance(action, argparse._SubParsersAction)]
        names = [name for action in actions for name in action.choices]
        near = get_close_matches(self._given[0], names, 1) if self._given else []
        return f"did you mean {near[0]}?" if near else f"{self.prog} --help lists the commands"

    def _repeated(self) -> str | None:
        """How to give a second value to an option that takes one at a time, if that was tried."""
        for place, option in enumerate(self._given):
            second = self._given[place + 2 : place + 3]
            if isinstance(self._option_string_actions.get(option), argparse._AppendAction) and second:
                return f"repeat the option: {option} {second[0]}" if not second[0].startswith("-") else None
        return None
