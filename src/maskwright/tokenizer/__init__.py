"""Tokenizers as a mask sees them: the exact bytes of every token id, and which ids are special or stop the output."""

from __future__ import annotations

from maskwright.tokenizer.info import TokenizerInfo as TokenizerInfo
from maskwright.tokenizer.recognise import info_of as info_of

__all__ = ["TokenizerInfo", "info_of"]
