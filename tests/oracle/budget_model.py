"""GrammarMatcher as it should behave where token budgets are open: tests/oracle/model.py on top of token_chart.py.

The state is what was accepted: one or more sequences of readings, for a token that the grammar also names can be read
as its bytes or as itself. A token is allowed iff some reading of it leaves an input that the vocabulary's tokens can
complete, all budgets kept, or it is a stop token and the output is complete.
"""

from __future__ import annotations

from maskwright import ir
from maskwright.ir import GrammarIR
from oracle.token_chart import Reading, is_viable, matches
from oracle.vocabularies import Vocab

Input = tuple[Reading, ...]


class TokenLanguage:
    """A grammar and the tokens to write it with; answers are remembered."""

    def __init__(self, grammar: GrammarIR, vocab: Vocab, max_tokens: int | None = None) -> None:
        """`max_tokens`: of the whole output."""
        rules = (*grammar.rules, ir.Rule("output", ir.span(ir.ref(grammar.root), max_tokens=max_tokens)))
        self.grammar, self.vocab = GrammarIR(rules, len(grammar.rules)), vocab
        self._matches: dict[Input, bool] = {}
        self._viable: dict[Input, bool] = {}

    def matches(self, tokens: Input) -> bool:
        if tokens not in self._matches:
            self._matches[tokens] = matches(self.grammar, self.vocab, tokens)
        return self._matches[tokens]

    def viable(self, tokens: Input) -> bool:
        if tokens not in self._viable:
            self._viable[tokens] = is_viable(self.grammar, self.vocab, tokens)
        return self._viable[tokens]


class BudgetModel:
    """What a GrammarMatcher answers, by the contract."""

    def __init__(self, language: TokenLanguage) -> None:
        self.language, self.vocab = language, language.vocab
        self.tokens: list[int] = []
        self._states: list[tuple[frozenset[Input], bool]] = [(frozenset({()}), False)]
        self._allowed: dict[frozenset[Input], set[int]] = {}

    @property
    def views(self) -> frozenset[Input]:
        return self._states[-1][0]

    @property
    def is_terminated(self) -> bool:
        return self._states[-1][1]

    @property
    def is_completed(self) -> bool:
        return any(map(self.language.matches, self.views))

    def after(self, token: int) -> tuple[frozenset[Input], bool] | None:
        """The state after this token; None if it is not allowed."""
        if self.is_terminated or not 0 <= token < len(self.vocab.token_bytes):
            return None
        readings: list[Reading] = [(("token", token),)]
        if token not in self.vocab.special and self.vocab.token_bytes[token]:
            readings.append(tuple(self.vocab.token_bytes[token]))
        views = frozenset((*v, r) for v in self.views for r in readings if self.language.viable((*v, r)))
        if views:
            return views, False
        return (self.views, True) if token in self.vocab.stop and self.is_completed else None

    def allowed(self) -> set[int]:
        if self.is_terminated:
            return set()
        if self.views not in self._allowed:
            self._allowed[self.views] = {t for t in range(self.vocab.vocab_size) if self.after(t) is not None}
        return self._allowed[self.views]

    def accept_token(self, token: int) -> bool:
        state = self.after(token)
        if state is None:
            return False
        self._states.append(state)
        self.tokens.append(token)
        return True

    def rollback(self, count: int) -> None:
        del self._states[len(self._states) - count :], self.tokens[len(self.tokens) - count :]

    def fork(self) -> BudgetModel:
        other = BudgetModel(self.language)
        other.tokens, other._states, other._allowed = self.tokens[:], self._states[:], self._allowed
        return other
