r"""What stands between items and behind names where white space is fixed: texts, or regular expressions for them.

    separator(", ", ",")                      the text
    separator(r"\s{0,2},\s{0,2}", ",")        at most two white space characters of JSON on both sides of a comma

Only what JSON takes as this separator remains of a pattern, the character with white space around it, so that all
output is JSON. A text of that form means the same as a pattern. Cost: linear in the pattern, but for asking whether
anything remains, which ends at a bound (derivatives.py).
Tested by tests/frontends/json_schema/text/test_schema_layout.py and test_schema_guidance.py.
"""

from __future__ import annotations

from maskwright.errors import LimitError, OptionError, RegexSyntaxError
from maskwright.frontends.derivatives import overlap
from maskwright.frontends.json_schema.text.white_space import JSON_SPACE
from maskwright.frontends.regex import regex_to_expr
from maskwright.ir import OP_NEVER, Expr, and_, bytes_in, seq, star, text
from maskwright.support.memos import remembered


def is_text(given: str, character: str) -> bool:
    """Whether a separator is written as a text: the character and white space."""
    return given.strip(JSON_SPACE.decode()) == character


@remembered(256)
def separator(given: str, character: str, option: str = "separators") -> Expr:
    """Return the expression of a separator that is given, under this name, as a text or as a pattern.

    Raises:
        OptionError: It is not a valid regular expression, or matches nothing that is this separator in JSON.
    """
    if is_text(given, character):
        return text(given)
    try:
        wanted = regex_to_expr(given)
    except (RegexSyntaxError, LimitError) as error:
        raise _refused(option, given, f"cannot be used: {error.message_with_place}", error.hint) from error
    space = star(bytes_in(JSON_SPACE))
    in_json = seq(space, text(character), space)
    if wanted[0] == OP_NEVER or not overlap(wanted, in_json):
        what = "a comma" if character == "," else "a colon"
        hint = f"use {character!r}, with spaces, tabs and line breaks as needed"
        raise _refused(option, given, f"does not match {what} with white space", hint)
    return and_(wanted, in_json)


def _refused(option: str, given: str, what: str, hint: str | None) -> OptionError:
    return OptionError(f"{option}: {given[:60]!r} {what}", option=option, hint=hint)
