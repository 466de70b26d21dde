"""Hugging Face transformers.

`processor` holds `GrammarLogitsProcessor`, for `model.generate`, and `rows` what it knows of each row. `pipeline` holds
`generate`, which is `maskwright.generate`: it reads the `prompts`, looks at the model (`model_facts`), and makes
objects of what comes out (`maskwright.outputs`). `continuous` has `add_grammars`, for continuous batching; `masks` is
what both processors share. `streaming` has `stream`, which yields values as they grow. `drafts` has `with_drafts`, for
assisted generation with drafts from the grammar.
"""

from __future__ import annotations

from maskwright.outputs.tool_outputs import ToolCall as ToolCall
from maskwright.support.packages import needed_by

with needed_by("maskwright.integrations.transformers", torch="torch", transformers="transformers"):
    from maskwright.integrations.transformers.continuous import add_grammars as add_grammars
    from maskwright.integrations.transformers.drafts import with_drafts as with_drafts
    from maskwright.integrations.transformers.pipeline import generate as generate
    from maskwright.integrations.transformers.processor import GrammarLogitsProcessor as GrammarLogitsProcessor
    from maskwright.integrations.transformers.streaming import stream as stream

__all__ = ["GrammarLogitsProcessor", "ToolCall", "add_grammars", "generate", "stream", "with_drafts"]
