"""Model families: the structural tag of what a model writes, by the model's published format.

One file a kind of format, with a sample in its header; `registry.py` finds them by name, `parts.py` holds what they
share. A family of one's own is registered the same way.

Headers name where a format is published. The samples were written from knowledge of these sources and compared with
the tags that XGrammar 0.2.8 builds where it has the family (not granite, hermes, mistral, phi, gemma, command_a); they
were not compared with outputs of the models.
Tested by tests/structural_tag/test_families.py.
"""

from __future__ import annotations

# Importing a module registers its families.
from maskwright.structural_tag.families import (  # noqa: F401
    cohere,
    deepseek,
    gemma,
    glm,
    harmony,
    hermes,
    json_lists,
    kimi,
    llama,
    minimax,
    mistral,
    qwen_coder,
)
from maskwright.structural_tag.families.registry import get_model_structural_tag as get_model_structural_tag
from maskwright.structural_tag.families.registry import model_families as model_families
from maskwright.structural_tag.families.registry import (
    register_model_structural_tag as register_model_structural_tag,
)
