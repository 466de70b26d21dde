"""Drafts for one output in an engine that has them checked by the model.

    drafter = OutputDrafter(drafts, compiled)
    drafter.read(output_ids)      all of the output so far; drafted tokens that were refused may be gone again
    drafter.draft()               what likely comes next, all allowed

What outputs of the grammar went on with comes first, then forced text, in tokens as the tokenizer writes them.

Invariants: a draft has no stop token: engines look for the end behind what they have checked.
Cost: a matcher of its own, some microseconds a token.
Tested by tests/integrations/test_transformers_drafts.py, and in engines by tests/engines/vllm/test_vllm_drafts.py,
test_sglang_drafts.py and test_llama_cpp_drafts.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from maskwright import CompiledGrammar, TokenizerInfo
from maskwright.errors import TokenizerError
from maskwright.outputs.grammar_drafts import GrammarDrafts


class OutputDrafter:
    """Follows one output, learns from it, and drafts what comes next.

    Args:
        drafts: What outputs went on with, for all outputs of an engine.
        compiled: The grammar of this output.
    """

    def __init__(self, drafts: GrammarDrafts, compiled: CompiledGrammar) -> None:
        self._drafts, self._reader = drafts, drafts.reader(compiled)
        self._with_forced = _can_encode(compiled.tokenizer_info)
        self._last: int | None = None
        self._is_behind_end = False

    def read(self, output_ids: Sequence[int]) -> None:
        """Read the output so far, from its beginning."""
        self._reader.read(output_ids)
        self._last = output_ids[-1] if output_ids else None
        self._is_behind_end = self._reader.num_read < len(output_ids)

    def draft(self) -> list[int]:
        """Return the tokens that likely come next, all allowed but for a token budget."""
        if self._is_behind_end:
            return []
        matcher = self._reader.matcher
        found = self._drafts.propose(matcher, self._last, with_forced=self._with_forced)
        return found[:-1] if found and found[-1] in matcher.stop_token_ids else found


def _can_encode(info: TokenizerInfo) -> bool:
    try:
        info.encode("")
    except TokenizerError:  # as after pickling
        return False
    return True
