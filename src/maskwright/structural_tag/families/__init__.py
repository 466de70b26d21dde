"""Model families: the structural tag of what a model writes, by the model's published format.

One file a kind of format, with a sample in its header; `registry.py` finds them by name, `parts.py` holds what they
share. A family of one's own is registered the same way.

Headers name where a format is published; docs/model_families.md says what each was compared with: makers' libraries
and chat templates for most, never the outputs of a running model.
Tested by tests/structural_tag/test_families.py and tests/structural_tag/families/test_makers.py.
"""

from __future__ import annotations

# Importing a module registers its families.
from maskwright.structural_tag.families import (  # noqa: F401
    cohere,
    deepseek,
    elements,
    function_gemma,
    functionary,
    gemma,
    glm,
    harmony,
    hermes,
    json_elements,
    json_lists,
    kimi,
    llama,
    minimax,
    mistral,
    pythonic,
    qwen_coder,
)
from maskwright.structural_tag.families.registry import built_in_tools as built_in_tools
from maskwright.structural_tag.families.registry import default_reasoning as default_reasoning
from maskwright.structural_tag.families.registry import get_model_structural_tag as get_model_structural_tag
from maskwright.structural_tag.families.registry import model_families as model_families
from maskwright.structural_tag.families.registry import (
    register_model_structural_tag as register_model_structural_tag,
)
