"""The environment of a command in which `import xgrammar` is Maskwright's, and in all Python processes that it starts.

    subprocess.run(["trtllm-serve", "MODEL"], env=environment_as_xgrammar(os.environ))

Engines start workers in many ways: `multiprocessing`, MPI, Ray. What they have in common is the environment, and each
Python imports `sitecustomize` from `PYTHONPATH` when it starts: that of the folder at_start.
Tested by tests/compat/test_launching.py.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_AT_START: Final = str(Path(__file__).parent / "at_start")


def environment_as_xgrammar(given: Mapping[str, str]) -> dict[str, str]:
    """Return an environment like the given one, in which Maskwright stands in for XGrammar.

    Python that is started with `-E`, `-I` or `-S` does not look at it.
    """
    folders = [folder for folder in given.get("PYTHONPATH", "").split(os.pathsep) if folder and folder != _AT_START]
    return {**given, "PYTHONPATH": os.pathsep.join([_AT_START, *folders])}
