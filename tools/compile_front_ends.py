"""Write the front-ends and the IR as C, by mypyc, for cmake/front_ends.cmake to compile.

    python tools/compile_front_ends.py DIRECTORY

The C files go to DIRECTORY, and so do `extensions.txt`, a line `name|source|source…` for each extension module, and
`include.txt`, the folders that they include from. The Python files stay the truth: they run as they are where there is
no compiled module beside them.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from mypyc.build import mypycify

SOURCES = Path(__file__).resolve().parent.parent / "src"
SCHEMA = "frontends/json_schema"
FOLDERS = (
    *("ir", "frontends", "frontends/notation", "frontends/warnings", "frontends/regex", SCHEMA),
    *(f"{SCHEMA}/{folder}" for folder in ("text", "read", "sets", "normalise", "emit", "report")),
    *(
        "structural_tag",
        *(f"structural_tag/{folder}" for folder in ("texts", "formats", "arguments", "lowering", "families")),
    ),
    "support",
)
# Packages say where their modules lie. Classes that mypyc does not make: one is a tuple, of one there are weak
# references, some say themselves what they were given wrongly, and formats are copied by their dictionaries, with their
# schemas. Of what supports all else, only the caches that front-ends ask are of use.
INTERPRETED = {
    *(f"{folder}/__init__.py" for folder in FOLDERS),
    *(
        "ir/expr.py",
        "ir/subgrammars.py",
        "ir/parameters.py",
        f"{SCHEMA}/options.py",
        "frontends/warnings/grammar_warnings.py",
    ),
    *(
        f"structural_tag/{name}.py"
        for name in (
            *("formats/base", "formats/classes", "formats/named_tag", "formats/schemas", "formats/tag"),
            *("texts/tokens", "families/registry"),
        )
    ),
    *(
        f"support/{name}.py"
        for name in ("argument_names", "arguments", "interruption", "memos", "numbering", "untracked")
    ),
}
# Not looked into, so that it makes no difference what is installed; calls to them are calls to any object.
FOREIGN = (
    *("mistral_common", "numpy", "pydantic", "rich", "sentencepiece", "tiktoken", "tokenizers", "torch"),
    "transformers",
)
GROUP = "maskwright._front_ends"  # the modules are shims, what they do is in this one


def main() -> None:
    directory = Path(sys.argv[1]).resolve()
    directory.mkdir(parents=True, exist_ok=True)
    os.chdir(SOURCES)
    files = [path for folder in FOLDERS for path in sorted(Path("maskwright", folder).glob("*.py"))]
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    patterns = ",".join(f"{name}.*" for name in FOREIGN)
    config = directory / "mypy.ini"
    config.write_text(f"[mypy]\nignore_missing_imports = True\n[mypy-{patterns}]\nfollow_imports = skip\n")
    extensions = mypycify(
        [f"--config-file={config}", "--follow-imports=silent", f"--python-version={version}"]
        + [str(file) for file in files if file.relative_to("maskwright").as_posix() not in INTERPRETED],
        multi_file=True,
        target_dir=str(directory),
        group_name=GROUP,
    )
    lines = ["|".join([extension.name, *extension.sources]) for extension in extensions]
    (directory / "extensions.txt").write_text("\n".join(lines))
    (directory / "include.txt").write_text("\n".join(extensions[0].include_dirs))


if __name__ == "__main__":
    main()
