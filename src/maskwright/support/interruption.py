"""Long work hands the interpreter over as it goes, rather than when another thread has waited for it for 5 ms.

Whatever loops for long, or is called for each of many parts, calls `interrupt_checkpoint`. Compiled front-ends would
otherwise keep the interpreter to themselves: CPython looks for other threads and for signals in interpreted functions
only.
Tested by tests/support/test_interruption.py.
"""

from __future__ import annotations

import os

from maskwright import _kernel
from maskwright._kernel import interrupt_checkpoint as interrupt_checkpoint


class Compiling:
    """`with compiling:` while a thread compiles: it takes turns with others that do, and garbage collections wait."""

    def __enter__(self) -> None:
        _kernel.begin_compiling()

    def __exit__(self, *_: object) -> None:
        _kernel.end_compiling()


compiling = Compiling()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_kernel.renew_compiling_in_child)
