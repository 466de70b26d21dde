"""The logits processor for `generate` of Hugging Face transformers, by XGrammar's name.

    model.generate(**inputs, logits_processor=[LogitsProcessor(compiled_grammar)])

One instance serves one grammar for all rows or one for each, and any number of `generate` calls.
Tested by tests/compat/test_xgrammar_programs.py.
"""

from __future__ import annotations

from typing import Any

from maskwright.compat.xgrammar.compiler import CompiledGrammar
from maskwright.compat.xgrammar.exception import as_xgrammar_errors
from maskwright.errors import wrong_argument
from maskwright.integrations.transformers import GrammarLogitsProcessor


class LogitsProcessor(GrammarLogitsProcessor):
    """Hold every row of a batch to its grammar.

    Args:
        compiled_grammar: One grammar for all rows, or a list with one for each.
    """

    @as_xgrammar_errors()
    def __init__(self, compiled_grammar: CompiledGrammar | list[CompiledGrammar]) -> None:
        several: list[Any] = compiled_grammar if isinstance(compiled_grammar, list) else [compiled_grammar]
        for each in several:
            if not isinstance(each, CompiledGrammar):
                raise wrong_argument("compiled_grammar", each, "a CompiledGrammar, or a list of them")
        super().__init__([each._compiled for each in several])
