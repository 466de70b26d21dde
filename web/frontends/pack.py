"""Pack the front-ends for Pyodide: `python web/frontends/pack.py OUT.zip LIBRARIES`.

Of the package, what leads from a structure to a grammar file; what that needs beyond the standard library is taken from
the folder LIBRARIES, where pip put it.
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
PACKAGE = HERE.parents[1] / "src" / "maskwright"
PARTS = ("frontends", "grammars", "inputs", "ir", "report", "structural_tag", "support", "tokenizer")
MODULES = ("errors.py", "grammar.py")
LIBRARIES = ("attr", "attrs", "jsonschema_specifications", "referencing")
UNUSED = ("tests", "__pycache__")
DATE = (2020, 1, 1, 0, 0, 0)  # so that the same files give the same archive


def main(out: Path, libraries: Path) -> None:
    files = {f"maskwright/{name}": PACKAGE / name for name in MODULES}
    for root, folders in ((PACKAGE, PARTS), (libraries, LIBRARIES)):
        for path in sorted(path for folder in folders for path in (root / folder).rglob("*")):
            inside = path.relative_to(root)
            if path.is_file() and path.suffix not in (".pyi", ".pyc", ".typed") and not set(inside.parts) & set(UNUSED):
                files[f"maskwright/{inside}" if root == PACKAGE else str(inside)] = path
    files |= {"maskwright/_kernel.py": HERE / "_kernel.py", "rpds.py": HERE / "rpds.py"}
    files["maskwright_web.py"] = HERE / "maskwright_web.py"
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, path in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(name, DATE), path.read_bytes(), zipfile.ZIP_DEFLATED)
        archive.writestr(zipfile.ZipInfo("maskwright/__init__.py", DATE), "")
    print(f"{out}: {out.stat().st_size:,} bytes, {len(files)} files")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
