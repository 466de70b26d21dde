"""The options of a whole grammar: `%llguidance {…}`, `%grammar_options {…}`.

    >>> wrong_option("ignore_once", 1)
    ('the grammar option ignore_once must be true or false', None)

Several statements are merged; what is unknown or malformed is an error at its statement.
Tested by tests/frontends/test_lark.py, tests/corpus/lark.toml.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Final

_BOOLEAN: Final = (
    "allow_initial_skip",  # ignored terminals may come first
    "allow_invalid_utf8",  # regular expressions are about bytes
    "ignore_once",  # at most one ignored terminal at each place
    "no_forcing",  # nothing: tokens are never forced here
)
_KNOWN: Final = (*_BOOLEAN, "skip_repetition")


def wrong_option(name: str, value: object) -> tuple[str, str | None] | None:
    """What is wrong with an option: a message and a hint; None if nothing is."""
    if name not in _KNOWN:
        near = get_close_matches(name[:60], _KNOWN, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"the options are: {', '.join(_KNOWN)}"
        return f"unknown grammar option {name[:40]!r}", hint
    if name == "skip_repetition":
        return None if value == "once" else ('the grammar option skip_repetition must be "once"', "or leave it out")
    return None if isinstance(value, bool) else (f"the grammar option {name} must be true or false", None)


def ignores_once(options: Mapping[str, Any]) -> bool:
    """Whether at most one ignored terminal may stand at each place."""
    return bool(options.get("ignore_once")) or options.get("skip_repetition") == "once"
