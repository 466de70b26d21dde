"""Where the rules of a structural tag go, and its tokens: ids, or rules in their place where there is no tokenizer.

    rules.token_of("<|call|>", pointer)     an id of the tokenizer, or the rule for what is named so
    rules.all_but(tokens)                   the expression for any other token

Tested by tests/structural_tag/lowering/test_lower.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from maskwright.ir import Expr, IRBuilder, TokenSet
from maskwright.structural_tag.texts.tokens import Token, Tokens


class TagRules:
    """The rules and the tokens of one structural tag.

    Attributes:
        tokens: The tokens that are known.
        builder: Where rules go.
        num_unknown: How many tokens were not known.
    """

    def __init__(self, known: Tokens) -> None:
        self.tokens = known
        self.builder = IRBuilder()
        self.num_unknown = 0
        self._names: dict[Expr, str] = {}  # of the rules that stand for tokens

    def plain(self, strings: Sequence[str]) -> tuple[bytes, ...]:
        """The strings that text could hold: those without special tokens."""
        return tuple(s.encode() for s in strings if self.tokens.pieces(s) == (s,))

    def token_of(self, token: int | str, pointer: str) -> Token:
        """A token by its id; one that is given by text where there is no tokenizer, as the rule that stands for it."""
        if self.tokens.is_known or isinstance(token, int):
            return self.tokens.id_of(token, pointer)
        self.num_unknown += 1
        rule = self.builder.add_tokens(TokenSet(names=(token,)))
        self._names[rule] = token
        return rule

    def tokens_of(self, given: Sequence[int | str], pointer: str) -> frozenset[Token]:
        return frozenset(self.token_of(token, f"{pointer}/{i}") for i, token in enumerate(given))

    def all_but(self, excluded: frozenset[Token]) -> Expr:
        """One token, stop tokens aside, that is not excluded."""
        if self.tokens.is_known:
            return self.tokens.all_but(excluded)
        self.num_unknown += 1
        names = sorted(self._names[token] for token in excluded if not isinstance(token, int))
        ids = sorted(token for token in excluded if isinstance(token, int))
        return self.builder.add_tokens(TokenSet(tuple(names), tuple((i, i) for i in ids), negated=True))
