"""Check the tree of files: no folder with more code than a reader takes in, no two test modules of one name.

    python tools/check_tree.py

pytest imports test modules outside packages by their bare names, so a second one of a name ends the whole run.
Prints each fault, and nothing otherwise; counts tracked files, and untracked ones that git does not ignore.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
MOST_FILES = 25
CODE = {".py", ".pyi", ".h", ".cpp", ".js", ".mjs", ".ts", ".html", ".css", ".sh"}


def main() -> int:
    files = [path for path in tracked_files() if path.suffix in CODE]
    faults = crowded_folders(files) + repeated_test_names(files)
    print("\n".join(faults), end="\n" if faults else "")
    return bool(faults)


def tracked_files() -> list[PurePosixPath]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    return [PurePosixPath(name) for name in names if name and (ROOT / name).is_file()]


def crowded_folders(files: list[PurePosixPath]) -> list[str]:
    counts = Counter(path.parent for path in files)
    return [
        f"{folder}: {count} files of code, more than {MOST_FILES}: give some of them a folder of their own"
        for folder, count in sorted(counts.items())
        if count > MOST_FILES
    ]


def repeated_test_names(files: list[PurePosixPath]) -> list[str]:
    by_name = defaultdict(list)
    for path in files:
        if path.parts[0] == "tests" and path.match("test_*.py"):
            by_name[path.name].append(str(path))
    return [
        f"{name}: more than one test module of this name: {', '.join(found)}"
        for name, found in sorted(by_name.items())
        if len(found) > 1
    ]


if __name__ == "__main__":
    sys.exit(main())
