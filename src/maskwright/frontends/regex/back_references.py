r"""Patterns with back-references: a group that one names is remembered, and the back-reference recalls its text.

    >>> from maskwright.frontends.regex.parser import parse
    >>> lower_recalling(parse(r"(a|b)c\1", back_references=True), r"(a|b)c\1").dump()
    '{#250=[a-b] "c" #250}'

A group holds from its end to the end of the alternative and of the repetition that it stands in. Where a back-reference
may come without it, dialects disagree (it fails in Python, and is empty in ECMA-262), so that is an error; in patterns
of JSON Schema, participation.py leaves none such.
Tested by tests/frontends/regex/test_back_references.py.
"""

from __future__ import annotations

from collections.abc import Collection

from maskwright.errors import LimitError, RegexSyntaxError
from maskwright.frontends.charset import Encoding, utf8
from maskwright.frontends.regex.ast import INFINITE, Alt, BackReference, Group, Node, Repeat, Seq, children_of
from maskwright.frontends.regex.lower import without_edges
from maskwright.frontends.regex.plain import lower_plain
from maskwright.ir import MAX_TEXT_NUMBER, UNBOUNDED, Copies, Expr, alt, recall, remember, repeat, seq, with_scopes


def recalled_groups(node: Node) -> set[int]:
    """The numbers of the groups that back-references name."""
    if isinstance(node, BackReference):
        return {node.number}
    return {number for part in children_of(node) for number in recalled_groups(part)}


def lower_recalling(node: Node, pattern: str, encode: Encoding = utf8, encode_group: Encoding = utf8) -> Expr:
    """Return the expression for the texts that match as a whole.

    Args:
        node: The pattern.
        pattern: The same as it is written, for error messages.
        encode: How one character is spelled.
        encode_group: The same in groups that are referred back to: each character in one way, since their text comes
            again as it was spelled.

    Raises:
        RegexSyntaxError: A group is not certain to have matched where its text is to come again, holds another such
            group or a back-reference, or stands beside assertions.
        LimitError: Too many groups are named, or may be empty.
    """
    groups = sorted(recalled_groups(node))
    if node.asserts:
        node = without_edges(node)
    if node.asserts:
        hint = "only ^ and $ around the whole pattern may stand beside back-references"
        raise RegexSyntaxError(
            "assertions beside back-references are not supported", source=pattern, hint=hint
        ).as_unsupported()
    check_number(groups)
    return with_scopes(
        _Lowering(groups, pattern, encode, encode_group).lower(node, set()), lambda remembered: remembered[1], Copies()
    )


def check_number(groups: Collection[int]) -> None:
    """Check that not too many groups are referred back to.

    Raises:
        LimitError: They are too many.
    """
    if len(groups) > MAX_TEXT_NUMBER:
        message = f"back-references name more than {MAX_TEXT_NUMBER} groups"
        raise LimitError(message, limit="remembered_texts", hint="use fewer, or rules of a grammar")


class _Lowering:
    def __init__(self, groups: list[int], pattern: str, encode: Encoding, encode_group: Encoding) -> None:
        self.texts = {number: MAX_TEXT_NUMBER - i for i, number in enumerate(groups)}
        self.pattern, self.encode, self.encode_group = pattern, encode, encode_group
        self.plain: dict[int, bool] = {}  # by identity: whether a node has nothing to do with back-references

    def lower(self, node: Node, known: set[int]) -> Expr:
        """`known` are the groups that have certainly matched before; those that match in the node are added."""
        if self.is_plain(node):
            return lower_plain(node, self.encode)
        if isinstance(node, BackReference):
            if node.number not in known:
                hint = "write it after the group, in the same alternative and repetition"
                raise self.error(f"group {node.number} may not have matched here", node, hint)
            return recall(self.texts[node.number])
        if isinstance(node, Group):
            return self.group(node, known)
        if isinstance(node, Alt):
            return alt(*[self.lower(branch, set(known)) for branch in node.branches])
        if isinstance(node, Repeat):
            maximum = UNBOUNDED if node.maximum == INFINITE else node.maximum
            return repeat(self.lower(node.item, set(known)), node.minimum, maximum)
        assert isinstance(node, Seq)
        return seq(*[self.lower(item, known) for item in node.items])

    def group(self, node: Group, known: set[int]) -> Expr:
        if node.number not in self.texts:
            return self.lower(node.item, known)
        if not self.is_plain(node.item):
            hint = "name only one of them, or use rules of a grammar"
            raise self.error(
                "a group that is referred back to contains a back-reference or another such group", node, hint
            )
        known.add(node.number)
        return remember(lower_plain(node.item, self.encode_group), self.texts[node.number])

    def is_plain(self, node: Node) -> bool:
        found = self.plain.get(id(node))
        if found is None:
            recalls = isinstance(node, BackReference) or (isinstance(node, Group) and node.number in self.texts)
            found = self.plain[id(node)] = not recalls and all(map(self.is_plain, children_of(node)))
        return found

    def error(self, message: str, node: Node, hint: str) -> RegexSyntaxError:
        return RegexSyntaxError(message, source=self.pattern, span=node.span, hint=hint).as_unsupported()
