r"""Which part of a regular expression takes a byte: each character or class of the pattern as a capture of its own.

    >>> located("ab|[0-9]{2}", "").rules[0].body.dump()
    '<0: "a"> <1: "b"> | <3: [0-9]>{2}'

A capture's name is the offset of its part in the pattern, in characters. Captures are asked for one text, so that their
number does not matter. Recursion is as deep as patterns nest, at most `MAX_DEPTH`.
Tested by tests/report/test_explain.py.
"""

from __future__ import annotations

from maskwright.frontends.charset import utf8
from maskwright.frontends.regex import parse
from maskwright.frontends.regex.ast import INFINITE, Alt, Chars, Group, Literal, Node, Repeat, Seq
from maskwright.frontends.regex.back_references import recalled_groups
from maskwright.frontends.regex.lower import without_edges
from maskwright.frontends.regex.plain import lower_plain
from maskwright.ir import UNBOUNDED, Expr, GrammarIR, Rule, alt, capture, repeat, seq, text


def located(pattern: str, flags: str) -> GrammarIR | None:
    """The grammar of a pattern with a capture for each part; None where it has assertions other than at its edges, or
    back-references.

    Raises:
        RegexSyntaxError, LimitError: As `regex_to_expr` does.
    """
    node = without_edges(parse(pattern, flags, back_references=True))
    return None if node.asserts or recalled_groups(node) else GrammarIR((Rule("root", _located(node)),), 0)


def place_in(pattern: str, offset: int) -> tuple[int, int]:
    """The line and the column of a character of the pattern, from 1."""
    return pattern.count("\n", 0, offset) + 1, offset - pattern.rfind("\n", 0, offset)


def _located(node: Node) -> Expr:
    if isinstance(node, Literal):
        # Where nothing is escaped, each character of the literal is one of the pattern.
        step = int(node.span.end - node.span.start == len(node.text))
        return seq(*[capture(str(node.span.start + step * i), text(c)) for i, c in enumerate(node.text)])
    if isinstance(node, Chars):
        return capture(str(node.span.start), utf8(node.chars))
    if isinstance(node, Seq):
        return seq(*[_located(item) for item in node.items])
    if isinstance(node, Alt):
        return alt(*[_located(branch) for branch in node.branches])
    if isinstance(node, Repeat):
        return repeat(_located(node.item), node.minimum, UNBOUNDED if node.maximum == INFINITE else node.maximum)
    if isinstance(node, Group):
        return _located(node.item)
    return capture(str(node.span.start), lower_plain(node, utf8))
