"""Grammars in EBNF, as llama.cpp (GBNF) and XGrammar users write them: `ebnf_to_ir` makes the IR.

    >>> print(ebnf_to_ir('root ::= "(" root ")" | [0-9]+').dump())
    root ::= "(" root ")" | [0-9]+

The files: `terminals.py` (literals, classes and the `Regex` macro), `macros.py` and their `arguments.py`, `parser.py`
(tokens, rules and operators). EBNF's operators are the IR's constructors, so there is no tree in between; what errors
need, the parser still has at hand.
Tested by tests/frontends/test_ebnf.py.
"""

from __future__ import annotations

from maskwright.frontends.ebnf.parser import ebnf_to_ir as ebnf_to_ir
