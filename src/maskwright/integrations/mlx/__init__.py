"""mlx-lm.

`processor` holds `GrammarLogitsProcessor`, for `generate`, `stream_generate` and `batch_generate`. `drafts` has
`GrammarDraftModel`, which proposes what the grammar forces and what earlier outputs had in the same place.
"""

from __future__ import annotations

from maskwright.support.packages import needed_by

with needed_by("maskwright.integrations.mlx", mlx="mlx-lm"):
    from maskwright.integrations.mlx.drafts import GrammarDraftModel as GrammarDraftModel
    from maskwright.integrations.mlx.processor import GrammarLogitsProcessor as GrammarLogitsProcessor

__all__ = ["GrammarDraftModel", "GrammarLogitsProcessor"]
