"""Write the tables of docs/json_schema.md: how the front-end does on the official test suite.

    python tools/make_json_schema_page.py

Needs the suite: see tests/frontends/json_schema/suite.py.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "json_schema.md"
FIRST_ROW = "| tests |"

if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests" / "frontends" / "json_schema"))
    from suite import page

    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(text[: text.index(FIRST_ROW)] + page(), encoding="utf-8")
