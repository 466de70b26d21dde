"""Drafts from the grammar in SGLang's n-gram speculative decoding.

    --grammar-backend maskwright --speculative-algorithm NGRAM --speculative-num-draft-tokens 8

For each request, SGLang's worker looks the last tokens up in what it has read, and the model checks a tree of n tokens
that it finds there:

    tokens   (requests * n,), the first of each request being its last token
    mask     (requests * n * n,), whether a token is an ancestor of another, or that token itself

Where a request has a grammar, and something is forced or likely, its tree becomes that chain:

    last token, `name`, `":`, ` "`, 0, 0       the zeros are padding, behind the first token, as SGLang's own

SGLang's trees stay for all other requests. With a grammar, SGLang prepares a step when the last one is over, so the
output is known to its end.

Tested by tests/engines/test_sglang_drafts.py.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt
from sglang.srt.plugins.hook_registry import HookRegistry, HookType

from maskwright.integrations.sglang.grammar import MaskwrightGrammar
from maskwright.outputs.grammar_drafts import GrammarDrafts

_SLOT = "sglang.srt.speculative.ngram_worker.NGRAMWorker._prepare_draft_tokens"

Trees = tuple[npt.NDArray[Any], npt.NDArray[Any]]


@functools.cache
def take_ngram_slot() -> None:
    """Have SGLang's n-gram worker draft from grammars, in this process."""
    HookRegistry.register(_SLOT, GrammarTrees().replace, HookType.AFTER)
    HookRegistry.apply_hooks()


class GrammarTrees:
    """Trees of one worker, and what it learnt."""

    def __init__(self) -> None:
        self._drafts: GrammarDrafts | None = None

    def replace(self, trees: Trees, worker: Any, batch: Any) -> Trees:
        """After `_prepare_draft_tokens`: write chains over the trees of requests whose grammars draft."""
        num_nodes = worker.draft_token_num
        if num_nodes < 2:
            return trees
        if self._drafts is None:
            self._drafts = GrammarDrafts(num_nodes - 1)
        tokens, mask = (each.reshape(len(batch.reqs), num_nodes, -1) for each in trees)
        for row, req in enumerate(batch.reqs):
            draft = _draft(req.grammar, self._drafts)[: num_nodes - 1]
            if draft:
                _write_chain(tokens[row, :, 0], mask[row], draft)
        return trees


def _draft(grammar: Any, drafts: GrammarDrafts) -> list[int]:
    """What likely comes next; nothing while a request reasons, or has no grammar of ours."""
    constrained_by = getattr(grammar, "constrained_by", None)
    held = None if constrained_by is None else constrained_by()
    return held.draft(drafts) if isinstance(held, MaskwrightGrammar) else []


def _write_chain(tokens: npt.NDArray[Any], mask: npt.NDArray[Any], draft: list[int]) -> None:
    end = 1 + len(draft)
    tokens[1:end], tokens[end:] = draft, 0
    mask[:] = np.eye(len(tokens))
    mask[:end, :end] = np.tri(end)
    mask[end:, 0] = 1
