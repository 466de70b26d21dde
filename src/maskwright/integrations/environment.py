"""What the environment says to the adapters of engines.

    MASKWRIGHT_CACHE_DIR=/var/cache/maskwright     compiled grammars are kept there (docs/disk.md)
    MASKWRIGHT_VLLM_TOKEN_BUDGET=0                 a switch: 1, true, yes, on; 0, false, no, off

Engines start their workers themselves, so what these are to do is said in variables that they inherit.
Tested by tests/integrations/test_environment.py.
"""

from __future__ import annotations

import os
from typing import Final

from maskwright import GrammarCompiler, TokenizerInfo
from maskwright.errors import OptionError

CACHE_DIR: Final = "MASKWRIGHT_CACHE_DIR"
_YES: Final = ("1", "true", "yes", "on")
_NO: Final = ("0", "false", "no", "off")


def is_on(variable: str, *, by_default: bool = False) -> bool:
    """Return whether a variable of the environment switches something on.

    Raises:
        OptionError: It is neither 1 nor 0, nor another word for these.
    """
    value = os.environ.get(variable, "").strip().lower()
    if value not in (*_YES, *_NO, ""):
        raise OptionError(f"{variable} must be 1 or 0, not {value!r:.60}", option=variable)
    return value in _YES if value else by_default


def compiler_of(info: TokenizerInfo) -> GrammarCompiler:
    """Return a compiler for a tokenizer.

    Raises:
        OptionError: The directory that the environment names cannot be made.
    """
    return GrammarCompiler(info, cache_dir=os.environ.get(CACHE_DIR) or None)
