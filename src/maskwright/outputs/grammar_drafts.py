"""Drafts learnt from outputs: where an output stands as earlier ones did, they likely go on alike.

    drafts = GrammarDrafts()                                  one for all requests
    Request(..., grammar=compiled, propose=drafts)

    {"status": "|      what may follow here is the same in every output of this grammar, whatever stands before;
                       of 20 outputs, 17 went on with `active`, and all of these with `", "priority": `

Where an output stands is the matcher's configuration and the last token. What followed is counted there, and proposed
if it was the same often enough. Counts are of the grammar as compiled: names, enums, separators, habits of the model.
Where nothing is that likely, forced text can be proposed instead, for engines that have it checked by the model: as
outputs wrote it there, else as the tokenizer does.

Cost: two microseconds a token that is learnt or proposed; forced text that is new is encoded some dozen times.
Tested by tests/engine/test_grammar_drafts.py and tests/integrations/test_transformers_drafts.py.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

from maskwright.compiling.compiled_grammar import CompiledGrammar, checked_compiled
from maskwright.errors import OptionError
from maskwright.matcher import GrammarMatcher
from maskwright.support.arguments import as_integer, as_number
from maskwright.tokenizer.jump_forward import ForcedTokens

_MAX_GRAMMARS = 64
_MAX_PLACES = 50_000  # of one grammar
_START = -1

Followers = dict[int, int]  # how often each token followed
Places = dict[tuple[int, int], Followers]


class _Grammar(NamedTuple):
    """What is known of one grammar."""

    compiled: CompiledGrammar  # held, so that its id stays its own
    places: Places
    forced: ForcedTokens


class GrammarDrafts:
    """Counts what outputs went on with, by grammar and place. For the requests of one engine.

    Args:
        num_tokens: The most tokens to propose.
        min_share: What a token's count must be of all counts of its place, plus one, to be proposed. Those that turn
            out wrong cost the model some work.

    Raises:
        ArgumentError: An argument has the wrong type.
        OptionError: A number is out of range.
    """

    def __init__(self, num_tokens: int = 8, *, min_share: float = 0.6) -> None:
        self._num_tokens = as_integer("num_tokens", num_tokens, at_least=1)
        self._min_share = as_number("min_share", min_share)
        if not 0 < self._min_share <= 1:
            raise OptionError(f"min_share must be > 0 and <= 1, not {self._min_share}", option="min_share")
        self._grammars: OrderedDict[int, _Grammar] = OrderedDict()

    @property
    def num_tokens(self) -> int:
        """The most tokens that are proposed."""
        return self._num_tokens

    def learn(self, compiled_grammar: CompiledGrammar, token_ids: Sequence[int]) -> int:
        """Count a finished output, or the beginning of one; the engine does so with what it generates.

        Returns:
            How many of the tokens the grammar allows; those behind are not counted.
        """
        reader = self.reader(checked_compiled("compiled_grammar", compiled_grammar))
        reader.read(token_ids)
        return reader.num_read

    def reader(self, compiled_grammar: CompiledGrammar) -> OutputReader:
        """Return what counts the tokens of one output while it grows."""
        return OutputReader(compiled_grammar, self._known(compiled_grammar).places)

    def propose(
        self, matcher: GrammarMatcher, last_token_id: int | None = None, *, with_forced: bool = False
    ) -> list[int]:
        """Return the tokens that likely come next, all allowed; none if there is nothing to go by.

        Args:
            matcher: At the end of the output. It does not move.
            last_token_id: The last token of the output; None at its beginning.
            with_forced: Where nothing is likely enough, propose the text that the grammar forces. For loops that do not
                insert it themselves.

        Raises:
            TokenizerError: `with_forced`, and the grammar's `TokenizerInfo` has no tokenizer to encode with.
        """
        known = self._known(matcher.compiled_grammar)
        ahead, last = matcher.fork(), _START if last_token_id is None else last_token_id
        found: list[int] = []
        while len(found) < self._num_tokens and not ahead.is_terminated():
            followers = known.places.get((ahead.configuration_id, last), {})
            tokens = self._likely(followers)
            if not tokens and with_forced:
                tokens = _as_written(known.forced.find(ahead), followers)
            accepted = ahead.accept_tokens(tokens)
            found += tokens[:accepted]
            if not tokens or accepted < len(tokens):
                break
            last = tokens[-1]
        return found[: self._num_tokens]

    def _likely(self, followers: Followers) -> list[int]:
        """Return the token that mostly followed, if it did so often enough."""
        if not followers:
            return []
        token = _likeliest(followers)
        return [token] if followers[token] >= self._min_share * (sum(followers.values()) + 1) else []

    def _known(self, compiled: CompiledGrammar) -> _Grammar:
        known = self._grammars.get(id(compiled))
        if known is None:
            known = self._grammars[id(compiled)] = _Grammar(compiled, {}, ForcedTokens(compiled.tokenizer_info))
            if len(self._grammars) > _MAX_GRAMMARS:
                self._grammars.popitem(last=False)
        self._grammars.move_to_end(id(compiled))
        return known


def _as_written(forced: list[int], followers: Followers) -> list[int]:
    """Return forced text as outputs wrote it here: a model has habits of its own where several tokens spell a text."""
    return [_likeliest(followers)] if forced and followers else forced


def _likeliest(followers: Followers) -> int:
    return max(followers, key=followers.__getitem__)


class OutputReader:
    """Reads one output along with the engine, and counts each token at its place.

    Attributes:
        matcher: at the end of what was read.
        num_read: how many tokens of the output were read.
    """

    def __init__(self, compiled_grammar: CompiledGrammar, places: Places) -> None:
        self.matcher, self._places = GrammarMatcher(compiled_grammar), places
        self._read: list[int] = []

    @property
    def num_read(self) -> int:
        return len(self._read)

    def read(self, token_ids: Sequence[int]) -> None:
        """Read on to the end of an output, the last tokens of which may have been replaced since the last time."""
        kept = self._num_kept(token_ids)
        self.matcher.rollback(len(self._read) - kept)
        del self._read[kept:]
        for token in token_ids[kept:]:
            place = self.matcher.configuration_id, self._read[-1] if self._read else _START
            if not self.matcher.accept_token(token):
                return
            self._read.append(token)
            self._count(place, token)

    def _num_kept(self, token_ids: Sequence[int]) -> int:
        """How many of the tokens that were read still stand."""
        num_read = len(self._read)
        if list(token_ids[:num_read]) == self._read:  # the usual case, in a long output
            return num_read
        pairs = enumerate(zip(self._read, token_ids, strict=False))
        return next((i for i, (known, token) in pairs if known != token), min(num_read, len(token_ids)))

    def _count(self, place: tuple[int, int], token: int) -> None:
        if len(self._places) >= _MAX_PLACES and place not in self._places:
            self._places.clear()
        followers = self._places.setdefault(place, {})
        followers[token] = followers.get(token, 0) + 1
