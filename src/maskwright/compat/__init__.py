"""Other engines' Python interfaces on Maskwright's engine.

    import maskwright.compat

    maskwright.compat.install()
    import xgrammar as xgr          # is maskwright.compat.xgrammar

`install` stands for the imports of one process. With `MASKWRIGHT_AS_XGRAMMAR=1` in the environment, the plugins that
vLLM and SGLang load in each of their processes call it (plugins.py); `maskwright as-xgrammar COMMAND` has it called in
all Python processes of a command (launching.py).
Tested by tests/compat/test_install.py.
"""

from __future__ import annotations

from maskwright.compat.substitution import install as install
from maskwright.compat.substitution import is_installed as is_installed
from maskwright.compat.substitution import uninstall as uninstall

__all__ = ["install", "is_installed", "uninstall"]
