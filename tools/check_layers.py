"""Check that the kernel's folders include only what lies below them, and that no two files include each other.

    python tools/check_layers.py

A folder may include itself and the folders below it in this list. Folders inside a folder are of the same layer.
For the Python packages, import-linter reads the same kind of list from pyproject.toml.
"""

from __future__ import annotations

import re
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

CPP = Path(__file__).resolve().parent.parent / "cpp"
LAYERS = (
    "bindings",
    *("engine", "budget", "masks", "recognizer", "linker", "rules", "automata", "grammar", "vocabulary", "support"),
)
_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def main() -> int:
    files = {include_name(path): path for folder in ("kernel", "bindings") for path in (CPP / folder).rglob("*.[hc]*")}
    included = {
        name: [resolve(name, each) for each in _INCLUDE.findall(path.read_text())] for name, path in files.items()
    }
    findings = [
        f"{name}: includes {each}, which does not exist"
        for name in files
        for each in included[name]
        if each not in files
    ]
    findings += [
        f"{name}: includes {each}, which lies above it"
        for name in files
        for each in included[name]
        if LAYERS.index(layer(each)) < LAYERS.index(layer(name))
    ]
    try:
        TopologicalSorter({name: each for name, each in included.items() if name.endswith(".h")}).prepare()
    except CycleError as error:
        findings.append("headers include each other: " + " → ".join(error.args[1]))
    print("\n".join(findings), end="\n" if findings else "")
    return bool(findings)


def include_name(path: Path) -> str:
    """Return the name by which a file is included: from `cpp/kernel`, or from `cpp` for the bindings."""
    relative = path.relative_to(CPP)
    return relative.relative_to("kernel").as_posix() if relative.parts[0] == "kernel" else relative.as_posix()


def resolve(includer: str, name: str) -> str:
    """The bindings include each other by bare names."""
    return f"bindings/{name}" if layer(includer) == "bindings" and "/" not in name else name


def layer(name: str) -> str:
    return name.split("/")[0]


if __name__ == "__main__":
    sys.exit(main())
