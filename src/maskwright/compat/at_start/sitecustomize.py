"""What Python runs when it starts, if this folder is on `PYTHONPATH`: then `import xgrammar` is Maskwright's.

`launching.py` puts the folder there. Nothing else is imported before XGrammar is, so that Python starts as fast as
ever. A `sitecustomize` of somebody else's, which this one hides, runs as well.
Tested by tests/compat/test_launching.py.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType


class _UntilImported:
    """Stands at the front of `sys.meta_path` until somebody imports XGrammar."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "xgrammar":
            return None
        sys.meta_path.remove(self)
        try:
            compat = importlib.import_module("maskwright.compat")
        except ModuleNotFoundError as error:
            if error.name != "maskwright":
                raise
            message = f"Maskwright stands in for xgrammar, but is not installed for {sys.executable}"
            raise ImportError(message, name=fullname) from error
        compat.install()
        return find_spec(fullname)


def _run_hidden() -> None:
    here = str(Path(__file__).parent)
    sys.path[:] = [folder for folder in sys.path if folder != here]
    own = sys.modules.pop(__name__)
    try:
        importlib.import_module(__name__)
    except ModuleNotFoundError as error:
        if error.name != __name__:
            raise
        sys.modules[__name__] = own


sys.meta_path.insert(0, _UntilImported())
_run_hidden()
