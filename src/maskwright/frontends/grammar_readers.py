"""What reads a grammar, by the name of its syntax: for front-ends whose texts hold grammars in other notations.

    READERS["regex"]("[a-z]+").grammar.dump()   →   root ::= [a-z]+

The front-ends of these notations may stand above the one that asks, so the package fills the table (`__init__.py`).
Tested by tests/frontends/json_schema/sets/test_grammars_in_strings.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from maskwright.errors import GrammarWarning
from maskwright.ir import GrammarIR


class ReadGrammar(NamedTuple):
    """A grammar, and what is to be warned of if it is surely meant otherwise; nothing has been issued."""

    grammar: GrammarIR
    warnings: tuple[GrammarWarning, ...]


READERS: Final[dict[str, Callable[[str], ReadGrammar]]] = {}
"""Each raises a `MaskwrightError` where a text is not a grammar."""
