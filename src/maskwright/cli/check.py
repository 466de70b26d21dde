"""`maskwright check`: how each keyword of one schema, or of folders of them, is handled.

`check_files` makes a `CheckedFile` of each file; `_text` and `_json` write them. The progress bar is on stderr, where
that is a terminal and rich is installed.
Tested by tests/cli/test_check_command.py.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from maskwright.errors import MaskwrightError
from maskwright.report.schema_report import KeywordOutcome, SchemaReport, and_warnings, check

from .errors import EXIT_BAD_INPUT, EXIT_OK, EXIT_PROBLEMS, CommandError
from .sources import check_schema_text, in_options, is_inline_json, language_of, read_text
from .texts import printable

VERDICTS = ("enforced", "relaxed", "refused", "unreadable")
_ALARMING = ("relaxed", "refused")
_BAR_FROM = 8  # files


class CheckedFile(NamedTuple):
    """A file and its report; or why there is none."""

    file: str
    report: SchemaReport | None
    error: str | None

    @property
    def verdict(self) -> str:
        return "unreadable" if self.report is None else self.report.verdict

    @property
    def num_warnings(self) -> int:
        return 0 if self.report is None else len(self.report.warnings)

    def to_dict(self) -> dict[str, Any]:
        nothing = {"complete": None, "warnings": None, "keywords": None}
        report = nothing if self.report is None else self.report.to_dict()
        return {"file": self.file, **report, "verdict": self.verdict, "error": self.error}


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return the exit code."""
    names = list(_expanded(arguments.files))
    checked = list(check_files(_with_progress(names), on_unsupported="relax" if arguments.relax else "error"))
    if arguments.json:
        print(json.dumps(_json(checked), indent=2))
    else:
        print("\n".join(printable(each) for line in _text(checked) for each in line.split("\n")))
    verdicts = {file.verdict for file in checked}
    if "unreadable" in verdicts:
        return EXIT_BAD_INPUT
    fails = verdicts != {"enforced"} or (arguments.strict and any(file.num_warnings for file in checked))
    return EXIT_PROBLEMS if fails else EXIT_OK


def _expanded(arguments: Sequence[str]) -> Iterator[str]:
    """The files that the arguments name; of folders, all that end in .json, at any depth.

    Raises:
        CommandError: A folder has none.
    """
    for argument in arguments:
        if not argument or is_inline_json(argument) or not Path(argument).is_dir():
            yield argument
            continue
        files = sorted(str(path) for path in Path(argument).rglob("*.json") if path.is_file())
        if not files:
            raise CommandError(f"{argument}: no file in this folder ends in .json")
        yield from files


def check_files(names: Iterable[str], **options: Any) -> Iterator[CheckedFile]:
    """Check each of these files; a mistake in one does not end the others."""
    for name in names:
        yield _check_file(name, options)


def _check_file(name: str, options: dict[str, Any]) -> CheckedFile:
    try:
        ways = "a file, - for stdin, a folder, or JSON that begins with '{'"
        label, text = ("FILE", name) if is_inline_json(name) else read_text(name, "FILE", ways)
        if language_of(name) not in ("schema", None):
            raise CommandError(f"{label}: check reads JSON Schemas\n  hint: for this file, use maskwright lint")
        check_schema_text(label, text)  # shows the line that is wrong
        return CheckedFile(label, check(text, **options), None)
    except (CommandError, MaskwrightError) as error:
        return CheckedFile("FILE" if is_inline_json(name) else name, None, str(error))


def _with_progress(names: Sequence[str]) -> Iterable[str]:
    """The names again, with a bar on the terminal while they are worked on."""
    if len(names) < _BAR_FROM or not sys.stderr.isatty():
        return names
    try:
        from rich.console import Console
        from rich.progress import track
    except ImportError:
        return names
    return track(names, "checking", console=Console(stderr=True), transient=True)


def _json(checked: list[CheckedFile]) -> dict[str, Any]:
    return {"files": [file.to_dict() for file in checked], "summary": _summary(checked)}


def _summary(checked: list[CheckedFile]) -> dict[str, int]:
    counter = Counter(file.verdict for file in checked)
    num_with_warnings = sum(1 for file in checked if file.num_warnings)
    return {**{verdict: counter[verdict] for verdict in VERDICTS}, "with_warnings": num_with_warnings}


def _text(checked: list[CheckedFile]) -> Iterator[str]:
    for file in checked:
        yield from _lines_of(file, everything=len(checked) == 1)
    if len(checked) > 1:
        yield from _table(checked)
        counts = [f"{n} {name.replace('_', ' ')}" for name, n in _summary(checked).items()]
        yield f"{len(checked)} schemas: {', '.join(counts)}"


def _lines_of(file: CheckedFile, everything: bool) -> Iterator[str]:
    if file.report is None:
        yield f"{file.file}: unreadable"
        yield from (f"  {line}" for line in (file.error or "").splitlines())
        return
    if everything:
        yield in_options(f"{file.file}: {file.report}")
        return
    alarming = [k for k in file.report.keywords if _is_alarming(k)]
    if alarming:
        yield f"{file.file}: {file.verdict}{and_warnings(file.num_warnings)}"
    for keyword in alarming:
        yield from (f"  {line}" for line in in_options(str(keyword)).split("\n"))


def _table(checked: list[CheckedFile]) -> Iterator[str]:
    """How many schemas each reason concerns, the commonest first."""
    counter = Counter(reason for file in checked for reason in _reasons(file))
    if counter:
        yield f"\n{'schemas':>7}  {'outcome':<10}  {'keyword':<20}  reason"
    for (outcome, keyword, reason), count in counter.most_common():
        yield f"{count:>7}  {outcome:<10}  {keyword:<20}  {reason}"
    if counter:
        yield ""


def _reasons(file: CheckedFile) -> set[tuple[str, str, str]]:
    if file.report is None:
        return set()
    return {(k.label, k.keyword or "", k.reason or "") for k in file.report.keywords if _is_alarming(k)}


def _is_alarming(keyword: KeywordOutcome) -> bool:
    return keyword.outcome in _ALARMING or keyword.is_mistake
