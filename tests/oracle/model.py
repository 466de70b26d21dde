"""GrammarMatcher as it should behave, spelled out on top of the recogniser.

The state is what was accepted, nothing else: one or more symbol sequences ("views"), because an ordinary token that
the grammar also names in a token edge can be read as its bytes or as that edge. A token is allowed iff a view of
it leaves a view of the whole viable, or it is a stop token and the output is complete. A stop token that the grammar
names is output; its text alone, or a set of all tokens but some that it is in, makes it output only where the output is
not complete and nothing else is allowed.
"""

from __future__ import annotations

from maskwright import ir
from maskwright.ir import Expr, GrammarIR
from oracle.derivatives import byte_groups
from oracle.recognizer import Symbol, is_viable, matches
from oracle.vocabularies import Vocab

Word = tuple[Symbol, ...]

_TELL_BYTES_APART = (ir.OP_RECALL, ir.OP_DISTINCT, ir.OP_MULTIPLE, ir.OP_VALUE)  # by a text, by a number


class Language:
    """A grammar with its answers remembered."""

    def __init__(self, grammar: GrammarIR) -> None:
        self.grammar = grammar
        self._matches: dict[Word, bool] = {}
        self._viable: dict[Word, bool] = {}
        self.byte_groups = byte_groups(*(rule.body for rule in grammar.rules))
        if any(part[0] in _TELL_BYTES_APART for rule in grammar.rules for part in ir.postorder(rule.body)):
            self.byte_groups = [[b] for group in self.byte_groups for b in group]
        self.edge_ids = {t for rule in grammar.rules for t in _token_ids(rule.body)}

    def matches(self, word: Word) -> bool:
        if word not in self._matches:
            self._matches[word] = matches(self.grammar, word)
        return self._matches[word]

    def viable(self, word: Word) -> bool:
        if word not in self._viable:
            self._viable[word] = (not word or self.viable(word[:-1])) and is_viable(self.grammar, word)
        return self._viable[word]


class ModelMatcher:
    """What a GrammarMatcher answers, by the contract."""

    def __init__(self, language: Language, vocab: Vocab) -> None:
        self.language, self.vocab = language, vocab
        self.tokens: list[int] = []
        self._states: list[tuple[frozenset[Word], bool]] = [(frozenset({()}), False)]

    @property
    def views(self) -> frozenset[Word]:
        return self._states[-1][0]

    @property
    def is_terminated(self) -> bool:
        return self._states[-1][1]

    @property
    def is_completed(self) -> bool:
        return any(map(self.language.matches, self.views))

    def after(self, token: int) -> tuple[frozenset[Word], bool] | None:
        """The state after this token; None if it is not allowed."""
        if self.is_terminated or not 0 <= token < len(self.vocab.token_bytes):
            return None
        views = self._extend(self._readings(token))
        if token not in self.vocab.stop or self._is_named(token):
            return (views, False) if views else None
        if self.is_completed:
            return self.views, True
        return (views, False) if views and self._needs_stops_as_content() else None

    def _readings(self, token: int) -> list[Word]:
        has_text = token not in self.vocab.special and self.vocab.token_bytes[token]
        return [(("token", token),), *([tuple(self.vocab.token_bytes[token])] if has_text else [])]

    def _is_named(self, token: int) -> bool:
        return bool(self._extend([(("named", token),)]))

    def _needs_stops_as_content(self) -> bool:
        others = set(range(len(self.vocab.token_bytes))) - set(self.vocab.stop)
        return not any(self._extend(self._readings(t)) for t in others) and not any(
            map(self._is_named, self.vocab.stop)
        )

    def _extend(self, readings: list[Word]) -> frozenset[Word]:
        return frozenset(v + r for v in self.views for r in readings if self.language.viable(v + r))

    def allowed(self) -> set[int]:
        return {t for t in range(self.vocab.vocab_size) if self.after(t) is not None}

    def accept_token(self, token: int) -> bool:
        state = self.after(token)
        if state is None:
            return False
        self._states.append(state)
        self.tokens.append(token)
        return True

    def rollback(self, count: int) -> None:
        del self._states[len(self._states) - count :], self.tokens[len(self.tokens) - count :]

    def fork(self) -> ModelMatcher:
        other = ModelMatcher(self.language, self.vocab)
        other.tokens, other._states = self.tokens[:], self._states[:]
        return other

    def forced_bytes(self) -> bytes:
        """The longest byte string that every completion begins with, up to where a token edge or the end may come."""
        forced, views = b"", self.views
        while not self.is_terminated and not any(map(self.language.matches, views)):
            if any(self.language.viable((*v, ("token", t))) for v in views for t in self.language.edge_ids):
                break
            options = [g for g in self.language.byte_groups if any(self.language.viable((*v, g[0])) for v in views)]
            if len(options) != 1 or len(options[0]) != 1:
                break
            byte = options[0][0]
            forced += bytes((byte,))
            views = frozenset((*v, byte) for v in views)
        return forced


def _token_ids(e: Expr) -> set[int]:
    if e[0] == ir.OP_TOKENS:
        return set(e[1])
    return {t for part in e[1:] if isinstance(part, Expr) for t in _token_ids(part)}
