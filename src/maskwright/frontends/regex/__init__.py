r"""Regular expressions: `parse` makes a syntax tree with spans, `lower` makes the IR expression, `regex_to_expr` both.

    >>> print(regex_to_expr(r"\d{3}", dialect="ecma").dump())
    [0-9]{3}

The files in the order of the work: `ast.py`, `classes.py` (named sets of characters), `refused.py` (what is refused by
name), `scanner.py` (escapes), `brackets.py` (classes), `parser.py`, `lower.py`; and for assertions `lookaround.py`
(lookarounds become intersections), `context.py` (conditions on neighbours), `plain.py` (pieces of expressions). The
result is regular: it holds no rule reference. Only `whole_regex_to_expr` and JSON Schema's `pattern` take
back-references (`participation.py`, `back_references.py`), whose result is not.
Tested by tests/frontends/regex/test_regex.py.
"""

from __future__ import annotations

from maskwright.frontends.charset import Encoding, utf8
from maskwright.frontends.regex.back_references import lower_recalling, recalled_groups
from maskwright.frontends.regex.lower import anywhere as anywhere
from maskwright.frontends.regex.lower import lower as lower
from maskwright.frontends.regex.parser import parse as parse
from maskwright.frontends.regex.scanner import Dialect as Dialect
from maskwright.ir import Expr


def regex_to_expr(
    pattern: str, *, flags: str = "", search: bool = False, encode: Encoding = utf8, dialect: Dialect = "python"
) -> Expr:
    r"""Return the expression for the texts that match `pattern`.

    Args:
        pattern: The regular expression.
        flags: Letters of `imsxua`.
        search: Whether the pattern may match anywhere in the text (True) or must match all of it (False).
        encode: How one character is spelled: `utf8`, `json_string_chars`.
        dialect: `"python"` (Unicode `\d \w \s \b`) or `"ecma"` (JSON Schema's `pattern`).

    Raises:
        RegexSyntaxError: The pattern is malformed, or not regular.
        LimitError: The pattern is too deep or too large.
    """
    node = parse(pattern, flags, dialect)
    return lower(anywhere(node) if search else node, encode, pattern)


def whole_regex_to_expr(pattern: str, *, flags: str = "", dialect: Dialect = "python") -> Expr:
    """Return the expression for a pattern that is a grammar by itself, and so may have back-references.

    Raises:
        RegexSyntaxError: The pattern is malformed, not regular but for back-references, or has one where its group may
            not have matched.
        LimitError: The pattern is too deep or too large.
    """
    node = parse(pattern, flags, dialect, back_references=True)
    return lower_recalling(node, pattern) if recalled_groups(node) else lower(node, utf8, pattern)
