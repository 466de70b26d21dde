"""The logits processor for mlx-lm, by XGrammar's name.

    mlx_lm.generate(model, tokenizer, prompt, logits_processors=[XGrammarLogitsProcessor(compiled_grammar)])

Tested by tests/engines/test_mlx_as_xgrammar.py.
"""

from __future__ import annotations

from maskwright.compat.xgrammar.compiler import CompiledGrammar
from maskwright.compat.xgrammar.exception import as_xgrammar_errors
from maskwright.errors import wrong_argument
from maskwright.integrations.mlx import GrammarLogitsProcessor


class XGrammarLogitsProcessor(GrammarLogitsProcessor):
    """Hold outputs to a grammar.

    Args:
        grammar: The compiled grammar.
        max_rollback_tokens: Kept for XGrammar's callers; rollback is not limited.
    """

    @as_xgrammar_errors()
    def __init__(self, grammar: CompiledGrammar, max_rollback_tokens: int = 16) -> None:
        if not isinstance(grammar, CompiledGrammar):
            raise wrong_argument("grammar", grammar, "a CompiledGrammar")
        super().__init__(grammar._compiled)
