"""llama-cpp-python.

`processor` holds `GrammarLogitsProcessor`, for `create_chat_completion`, `create_completion` and `generate`. `drafts`
has `GrammarDraftModel`, which proposes what the grammar forces and what earlier outputs had in the same place.
"""

from __future__ import annotations

from maskwright.support.packages import needed_by

with needed_by("maskwright.integrations.llama_cpp", llama_cpp="llama-cpp-python"):
    from maskwright.integrations.llama_cpp.drafts import GrammarDraftModel as GrammarDraftModel
    from maskwright.integrations.llama_cpp.processor import GrammarLogitsProcessor as GrammarLogitsProcessor

__all__ = ["GrammarDraftModel", "GrammarLogitsProcessor"]
