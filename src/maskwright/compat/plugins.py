"""What engines call that load plugins: with `MASKWRIGHT_AS_XGRAMMAR=1`, they run on Maskwright in XGrammar's place.

    MASKWRIGHT_AS_XGRAMMAR=1 vllm serve MODEL

The entry points `maskwright_as_xgrammar` of the groups `vllm.general_plugins` and `sglang.srt.plugins` lead here. An
engine may have imported XGrammar before it loads plugins, so the references that it holds are replaced.
Tested by tests/compat/test_install.py, tests/engines/vllm/test_vllm_as_xgrammar.py.
"""

from __future__ import annotations

import logging
import os
from typing import Final

from maskwright.compat.substitution import install, is_installed
from maskwright.errors import OptionError

VARIABLE: Final = "MASKWRIGHT_AS_XGRAMMAR"
_YES: Final = ("1", "true", "yes", "on")
_NO: Final = ("", "0", "false", "no", "off")
_logger = logging.getLogger("maskwright")


def install_if_asked() -> None:
    """Install the stand-in if the environment asks for it.

    Raises:
        OptionError: The variable has another value than 1 or 0.
    """
    value = os.environ.get(VARIABLE, "").strip().lower()
    if value not in (*_YES, *_NO):
        raise OptionError(f"{VARIABLE} must be 1 or 0, not {value!r:.60}", option=VARIABLE)
    if value in _YES and not is_installed():
        replaced = install(replace=True)
        _logger.info("xgrammar is maskwright.compat.xgrammar; references replaced in %d modules", len(replaced))
