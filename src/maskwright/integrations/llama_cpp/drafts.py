"""A draft model for llama-cpp-python that knows the grammar of the output.

    llama = Llama("model.gguf", draft_model=GrammarDraftModel(GrammarDrafts()), logits_all=True)
    llama.create_chat_completion(messages, logits_processor=GrammarLogitsProcessor(compiled, llama))

    {"na|                the grammar forces `me": "`, which the model checks in one step instead of three

llama-cpp-python calls its draft model once for each step of the model, with nothing but the token ids. So the
processor, which it calls for each token, tells what it follows (`follow`). A draft is made only where the ids are just
one token further: an output without a processor has no grammar, whatever the one before it had.

Cost: some microseconds a token. Tested by tests/engines/test_llama_cpp_drafts.py.
Source: Leviathan et al., "Fast inference from transformers via speculative decoding" (2023).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from llama_cpp.llama_speculative import LlamaDraftModel

from maskwright.errors import wrong_argument
from maskwright.integrations.drafting import OutputDrafter
from maskwright.integrations.following import OutputFollower
from maskwright.outputs.grammar_drafts import GrammarDrafts

TokenIds = npt.NDArray[np.intc]


class GrammarDraftModel(LlamaDraftModel):  # type: ignore[misc, unused-ignore]
    """Proposes what an output with a `GrammarLogitsProcessor` likely goes on with, for the model to check in one step.

    Pass it as `Llama(draft_model=...)`. Outputs are what they would be without.

    Args:
        drafts: What outputs went on with; it learns from every output. For any number of models with the same
            tokenizer, but for one thread.
        otherwise: What drafts where nothing was learnt and nothing is forced, and in outputs without a processor, such
            as `LlamaPromptLookupDecoding()`; by default, nothing is drafted there.

    Raises:
        ArgumentError: An argument has the wrong type.
    """

    def __init__(self, drafts: GrammarDrafts, *, otherwise: LlamaDraftModel | None = None) -> None:
        if not isinstance(drafts, GrammarDrafts):
            raise wrong_argument("drafts", drafts, "a GrammarDrafts", "pass maskwright.engine.GrammarDrafts()")
        if otherwise is not None and not callable(otherwise):
            hint = "pass llama_cpp.llama_speculative.LlamaPromptLookupDecoding(), or leave it out"
            raise wrong_argument("otherwise", otherwise, "a LlamaDraftModel", hint)
        self._drafts, self._otherwise = drafts, otherwise
        self._follower: OutputFollower | None = None
        self._drafter: OutputDrafter | None = None

    def follow(self, follower: OutputFollower) -> None:
        """Learn from the output that a processor follows, and draft for it from now on."""
        if self._drafter is None or follower is not self._follower or not follower.output_ids:
            self._drafter = OutputDrafter(self._drafts, follower.compiled)
        self._follower = follower
        self._drafter.read(follower.output_ids)

    def __call__(self, input_ids: TokenIds, /, **kwargs: Any) -> TokenIds:
        """Return what likely follows these ids, those of a prompt and what was generated after it."""
        follower, drafter = self._follower, self._drafter
        if follower is not None and drafter is not None and follower.is_one_before(input_ids):
            drafter.read([*follower.output_ids, int(input_ids[-1])])
            if draft := drafter.draft():
                return np.array(draft, dtype=np.intc)
        if self._otherwise is None:
            return np.empty(0, dtype=np.intc)
        found: TokenIds = self._otherwise(input_ids, **kwargs)
        return found
