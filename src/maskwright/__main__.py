"""`python -m maskwright` is `maskwright`."""

from __future__ import annotations

import sys

from maskwright.cli import main

if __name__ == "__main__":
    sys.exit(main())
