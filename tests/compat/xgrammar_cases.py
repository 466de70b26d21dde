"""What the tests of the compatibility module share: vocabularies, and whether a grammar accepts a text."""

from __future__ import annotations

from typing import Any

BYTES = [*(bytes([byte]) for byte in range(256)), b"</s>"]
WORDS = ["<s>", "</s>", "a", "b", "ab", "{", "}", '"', ":", "1", " ", "\n", "[", "]", ",", "true", "é"]
END = 1


def accepts(grammar: Any, text: str) -> bool:
    """Whether a text is a whole output of a grammar of either package."""
    return bool(helpers(grammar)._is_grammar_accept_string(grammar, text))


def helpers(thing: Any) -> Any:
    """The module `testing` of the package that a thing is of."""
    import importlib

    return importlib.import_module(type(thing).__module__.rpartition(".")[0] + ".testing")
