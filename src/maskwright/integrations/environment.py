"""The compiler of an engine's adapter, with what the environment says of it.

    MASKWRIGHT_CACHE_DIR=/var/cache/maskwright     compiled grammars are kept there (docs/disk.md)

Engines start their workers themselves, so what these are to do is said in variables that they inherit.
Tested by tests/integrations/test_environment.py.
"""

from __future__ import annotations

import os
from typing import Final

from maskwright import GrammarCompiler, TokenizerInfo

CACHE_DIR: Final = "MASKWRIGHT_CACHE_DIR"


def compiler_of(info: TokenizerInfo) -> GrammarCompiler:
    """Return a compiler for a tokenizer.

    Raises:
        OptionError: The directory that the environment names cannot be made.
    """
    return GrammarCompiler(info, cache_dir=os.environ.get(CACHE_DIR) or None)
