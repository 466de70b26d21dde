"""Hugging Face transformers.

`processor` holds `GrammarLogitsProcessor`, for `model.generate`, and `rows` what it knows of each row.
"""

from __future__ import annotations

from maskwright.integrations.transformers.processor import GrammarLogitsProcessor as GrammarLogitsProcessor

__all__ = ["GrammarLogitsProcessor"]
