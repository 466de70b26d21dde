"""Model families: the structural tag of what a model writes, by the model's published format.

One file a kind of format, with a sample in its header; `registry.py` finds them by name, `parts.py` holds what they
share. A family of one's own is registered the same way.

Headers name where a format is published. The samples were written from knowledge of these sources and compared with
the tags that XGrammar 0.2.8 builds where it has the family (not granite, hermes, mistral, phi, gemma, command_a); they were
not compared with outputs of the models.
Tested by tests/structural_tag/test_families.py.
"""

from __future__ import annotations

# Importing a module registers its families.
from maskwright.structural_tag.families import (
    cohere as _cohere,  # noqa: F401
)
from maskwright.structural_tag.families import (
    deepseek as _deepseek,  # noqa: F401
)
from maskwright.structural_tag.families import (
    gemma as _gemma,  # noqa: F401
)
from maskwright.structural_tag.families import (
    glm as _glm,  # noqa: F401
)
from maskwright.structural_tag.families import (
    harmony as _harmony,  # noqa: F401
)
from maskwright.structural_tag.families import (
    hermes as _hermes,  # noqa: F401
)
from maskwright.structural_tag.families import (
    json_lists as _json_lists,  # noqa: F401
)
from maskwright.structural_tag.families import (
    kimi as _kimi,  # noqa: F401
)
from maskwright.structural_tag.families import (
    llama as _llama,  # noqa: F401
)
from maskwright.structural_tag.families import (
    minimax as _minimax,  # noqa: F401
)
from maskwright.structural_tag.families import (
    mistral as _mistral,  # noqa: F401
)
from maskwright.structural_tag.families import (
    qwen_coder as _qwen_coder,  # noqa: F401
)
from maskwright.structural_tag.families.registry import get_model_structural_tag as get_model_structural_tag
from maskwright.structural_tag.families.registry import model_families as model_families
from maskwright.structural_tag.families.registry import (
    register_model_structural_tag as register_model_structural_tag,
)
