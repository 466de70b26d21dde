"""GrammarMatcher as it should behave where token budgets are open: tests/oracle/model.py on top of token_chart.py.

The state is what was accepted: one or more sequences of readings, for a token that the grammar also names can be read
as its bytes or as itself. A token is allowed iff some reading of it leaves an input that the vocabulary's tokens can
complete, all budgets kept, or it is a stop token and the output is complete.
"""

from __future__ import annotations

from maskwright import ir
from maskwright.ir import GrammarIR
from oracle.model import Language, ModelMatcher
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


class EnumeratedLanguage(TokenLanguage):
    """The same where text is remembered: what may follow is gone through, token by token."""

    def __init__(self, grammar: GrammarIR, vocab: Vocab, max_tokens: int) -> None:
        super().__init__(grammar, vocab, max_tokens)
        self.without_budgets, self.max_tokens = Language(grammar), max_tokens
        plain = {t for t, text in enumerate(vocab.token_bytes) if text and t not in vocab.special}
        self.readings: list[Reading] = [tuple(text) for text in {vocab.token_bytes[t] for t in plain}]
        self.readings += [(("token", t),) for t in self.without_budgets.edge_ids]

    def viable(self, tokens: Input) -> bool:
        if tokens not in self._viable:
            word = tuple(symbol for reading in tokens for symbol in reading)
            self._viable[tokens] = self.without_budgets.viable(word) and (
                self.matches(tokens)
                or (len(tokens) < self.max_tokens and any(self.viable((*tokens, r)) for r in self.readings))
            )
        return self._viable[tokens]


class BudgetModel(ModelMatcher):
    """What a GrammarMatcher answers, by the contract."""

    def __init__(self, language: TokenLanguage) -> None:
        super().__init__(language, language.vocab)
        self._allowed: dict[frozenset[Input], set[int]] = {}

    def _extend(self, readings: list[Reading]) -> frozenset[Input]:
        return frozenset((*v, r) for v in self.views for r in readings if self.language.viable((*v, r)))

    def allowed(self) -> set[int]:
        if self.is_terminated:
            return set()
        if self.views not in self._allowed:
            self._allowed[self.views] = super().allowed()
        return self._allowed[self.views]

    def fork(self) -> BudgetModel:
        other = BudgetModel(self.language)
        other.tokens, other._states, other._allowed = self.tokens[:], self._states[:], self._allowed
        return other
