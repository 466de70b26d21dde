"""Whether a grammar admits no output at all, whatever the tokenizer.

    admits_nothing(ir)    True of  root ::= "[" root "]",  which never comes to an end

The kernel tells, by a vocabulary that can spell everything. Needed where an error or a report is made.
Tested by tests/frontends/json_schema/test_schema_contradiction.py.
"""

from __future__ import annotations

from functools import cache

from maskwright import _kernel
from maskwright.errors import UnsatisfiableError
from maskwright.ir import OP_TOKENS, GrammarIR, postorder, spelled_out
from maskwright.tokenizer import TokenizerInfo

_MEMORY_BYTES = 1 << 20


@cache
def _bytes() -> TokenizerInfo:
    return TokenizerInfo.from_vocab([*(bytes((byte,)) for byte in range(256)), b""], stop_token_ids=[256])


def admits_nothing(grammar: GrammarIR) -> bool:
    """Whether a grammar has no string. One that names tokens may have, as far as is known here.

    Raises:
        LimitError: It is too large.
    """
    try:
        _kernel.compile(_bytes().kernel_vocabulary, grammar.rules, grammar.root, _MEMORY_BYTES)
    except UnsatisfiableError:
        return not (grammar.token_sets or _names_tokens(grammar))
    return False


def _names_tokens(grammar: GrammarIR) -> bool:
    return any(part[0] == OP_TOKENS for rule in spelled_out(grammar).rules for part in postorder(rule.body))
