"""What engines call that load plugins: with `MASKWRIGHT_AS_XGRAMMAR=1`, they run on Maskwright in XGrammar's place.

    MASKWRIGHT_AS_XGRAMMAR=1 vllm serve MODEL

The entry points `maskwright_as_xgrammar` of the groups `vllm.general_plugins` and `sglang.srt.plugins` lead here. An
engine may have imported XGrammar before it loads plugins, so the references that it holds are replaced.
Tested by tests/compat/test_install.py, tests/engines/vllm/test_vllm_as_xgrammar.py.
"""

from __future__ import annotations

import logging
from typing import Final

from maskwright.compat.substitution import install, is_installed
from maskwright.integrations.environment import is_on

VARIABLE: Final = "MASKWRIGHT_AS_XGRAMMAR"
_logger = logging.getLogger("maskwright")


def install_if_asked() -> None:
    """Install the stand-in if the environment asks for it.

    Raises:
        OptionError: The variable has another value than 1 or 0.
    """
    if is_on(VARIABLE) and not is_installed():
        replaced = install(replace=True)
        _logger.info("xgrammar is maskwright.compat.xgrammar; references replaced in %d modules", len(replaced))
