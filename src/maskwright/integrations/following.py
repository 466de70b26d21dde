"""A matcher for engines that give a callback all token ids so far, and nothing else.

    follower = OutputFollower(compiled, max_tokens=64)
    follower.follow(ids)       # the prompt: what comes after it is the output
    follower.follow(ids)       # one token more: it is accepted
    follower.matcher           # stands at the end of the ids

Ids that are fewer than before, as after a rejected draft, roll the matcher back. Ids that do not go on from those
before are the prompt of a new output. `OutputFollowers` does the same for an engine that calls one callback for the
rows of a batch in turn: it finds each row's follower by the ids.

Invariants: after an error nothing has changed. Cost: a comparison of the ids a step.
Tested by tests/integrations/test_following.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from maskwright import CompiledGrammar, GrammarMatcher, TokenizerInfo, allocate_token_bitmask
from maskwright.compiling.compiled_grammar import checked_compiled
from maskwright.errors import BitmaskError, MatcherError, TokenizerError
from maskwright.integrations.budgets import budget_of_context, matcher_within

Ids = npt.NDArray[Any]

_USUAL_PADDING = 1024
_MOST_OUTPUTS = 4096
_MOST_DRAFTED = 16


class OutputFollower:
    """Follows one output after another, each held to the same grammar.

    Attributes:
        matcher: stands at the end of the ids.
        compiled: the grammar.
        info: its tokenizer.
        prompt_length: how many of the ids are the prompt.

    Args:
        compiled: The grammar.
        max_tokens: The most new tokens of an output, its stop token included if it fits.
        most_behind_end: How many stop tokens may follow that with which the output ended: an engine that drafts goes on
            to the end of its draft before it looks.
        context: How many tokens of prompt and output the engine has room for; None for any number.

    Raises:
        ArgumentError: `compiled` is not a `CompiledGrammar`.
        OptionError: `max_tokens` is less than 1.
        UnsatisfiableError: No output has so few tokens.
    """

    def __init__(
        self,
        compiled: CompiledGrammar,
        max_tokens: int | None,
        most_behind_end: int = 0,
        context: int | None = None,
    ) -> None:
        self.info: TokenizerInfo = checked_compiled("compiled", compiled).tokenizer_info
        self.compiled = compiled
        self._max_tokens, self._most_behind_end, self._context = max_tokens, most_behind_end, context
        self.matcher: GrammarMatcher = matcher_within(compiled, max_tokens)
        self.reset()

    def reset(self) -> None:
        """Forget the output: the next ids are a prompt."""
        self._known: Ids | None = None
        self._num_behind_end = 0
        self.prompt_length = 0

    @property
    def num_known(self) -> int:
        """How many ids were followed, the prompt included; 0 before the first."""
        return 0 if self._known is None else int(self._known.size)

    @property
    def output_ids(self) -> list[int]:
        """The ids behind the prompt."""
        return [] if self._known is None else self._known[self.prompt_length :].tolist()

    def is_one_before(self, ids: Ids) -> bool:
        """Whether these ids go on with one token behind those that were followed."""
        known = self._known
        return known is not None and ids.size == known.size + 1 and np.array_equal(ids[:-1], known)

    def follow(self, ids: Ids) -> None:
        """Go to the end of these ids, (length,), a prompt and what was generated after it.

        Raises:
            MatcherError: A token is not allowed by the grammar, or follows the stop token.
            UnsatisfiableError: A prompt leaves no output room in the context.
        """
        known, start = self._known, self.prompt_length
        if self.is_one_before(ids):
            self._accept(int(ids[-1]))
        elif known is not None and start <= ids.size <= known.size + 1 and np.array_equal(ids[:start], known[:start]):
            self._replay(ids[start:], known[start:])
        else:
            self.matcher, self._num_behind_end = self._matcher_behind(int(ids.size)), 0
            self.prompt_length = int(ids.size)
        self._known = np.array(ids)

    def _matcher_behind(self, prompt_length: int) -> GrammarMatcher:
        most, context = self._max_tokens, self._context
        if most is None or context is None or most <= context - prompt_length:
            return matcher_within(self.compiled, most)
        room = max(1, context - prompt_length)
        with budget_of_context(prompt_length, room):
            return matcher_within(self.compiled, room)

    def _replay(self, output: Ids, known: Ids) -> None:
        shorter = min(output.size, known.size)
        differing = np.flatnonzero(output[:shorter] != known[:shorter])
        common = int(differing[0]) if differing.size else shorter
        twin, before = self.matcher.fork(), (self.matcher, self._num_behind_end)
        kept_behind_end = max(0, self._num_behind_end - (known.size - common))
        twin.rollback(known.size - common - (self._num_behind_end - kept_behind_end))
        self.matcher, self._num_behind_end = twin, kept_behind_end
        try:
            for token in output[common:].tolist():
                self._accept(token)
        except MatcherError:
            self.matcher, self._num_behind_end = before
            raise

    def _accept(self, token: int) -> None:
        matcher = self.matcher
        if matcher.is_terminated():
            if token in matcher.stop_token_ids and self._num_behind_end < self._most_behind_end:
                self._num_behind_end += 1
                return
            raise MatcherError(
                f"the output was complete, but the engine went on with token {token}: it does not stop at "
                f"{list(matcher.stop_token_ids)}",
                hint="give TokenizerInfo the engine's own stop tokens: stop_token_ids=[...]",
            )
        if not matcher.accept_token(token):
            raise MatcherError(
                f"token {token} at output position {matcher.num_accepted_tokens} is not allowed by the grammar",
                hint="let no other processor run after this one; call reset() before another output",
            )


class OutputFollowers:
    """Follows several outputs at once, all held to one grammar. Arguments and errors are those of `OutputFollower`.

    Rows that are alike may stand for each other. A row ends without notice, so those that were left are kept until
    there are too many.
    """

    def __init__(self, compiled: CompiledGrammar, max_tokens: int | None) -> None:
        self._compiled = compiled
        self._max_tokens = max_tokens
        self.info = self._new().info
        self.reset()

    def reset(self) -> None:
        """Forget all outputs: the next ids are prompts."""
        self._at: dict[bytes, list[OutputFollower]] = {}  # by the ids that they know

    def follow(self, ids: Ids) -> GrammarMatcher:
        """Return the matcher at the end of these ids, (length,), a prompt and what was generated after it.

        Raises:
            MatcherError: A token is not allowed by the grammar, or follows the stop token.
        """
        ids = ids.astype(np.int64)
        follower = self._taken(ids[:-1].tobytes()) or self._rolled_back(ids) or self._new()
        follower.follow(ids)
        if len(self._at) >= _MOST_OUTPUTS:
            del self._at[next(iter(self._at))]
        self._at.setdefault(ids.tobytes(), []).append(follower)
        return follower.matcher

    def _new(self) -> OutputFollower:
        return OutputFollower(self._compiled, self._max_tokens, _MOST_DRAFTED)

    def _taken(self, known: bytes) -> OutputFollower | None:
        """Take out a follower that knows just these ids."""
        found = self._at.get(known)
        if not found:
            return None
        follower = found.pop()
        if not found:
            del self._at[known]
        return follower

    def _rolled_back(self, ids: Ids) -> OutputFollower | None:
        """Take out a follower whose output was longer, and began like this one."""
        start = ids[:-1].tobytes()
        for known, followers in self._at.items():
            if known.startswith(start) and followers[-1].prompt_length < ids.size:
                return self._taken(known)
        return None


def check_width(width: int, info: TokenizerInfo) -> None:
    """Refuse logits that cannot be those of the tokenizer's model; those that are padded are fine.

    Raises:
        BitmaskError: There are fewer logits than token ids, or far more.
    """
    if width < len(info.token_bytes):
        hint = (
            "load the model's own tokenizer; if this is it, and its last ids are not used, pass "
            f"vocab_size={width} to the from_ method of TokenizerInfo"
        )
    elif width > info.vocab_size + max(_USUAL_PADDING, info.vocab_size // 20):
        hint = (
            "load the model's own tokenizer; if this is it, and the logits are padded, pass "
            f"vocab_size={width} to the from_ method of TokenizerInfo"
        )
    else:
        return
    raise BitmaskError(
        f"the model has {width} logits, but the grammar's tokenizer has {info.vocab_size} ids", hint=hint
    )


def check_stop_tokens(info: TokenizerInfo, engine_stops: list[int]) -> None:
    """Refuse a grammar none of whose stop tokens ends the engine's output.

    Raises:
        TokenizerError: The two have no stop token in common.
    """
    if not set(info.stop_token_ids) & set(engine_stops):
        raise TokenizerError(
            f"outputs of the grammar end with a token of {list(info.stop_token_ids)}, but the engine stops at "
            f"{engine_stops}",
            hint=f"pass stop_token_ids={engine_stops} to the from_ method of TokenizerInfo",
        )


def check_choices(highest: float) -> None:
    """Refuse masked logits from which nothing can be sampled, given their highest value.

    Raises:
        MatcherError: It is not finite.
    """
    if not np.isfinite(highest):
        raise MatcherError(
            "none of the tokens that the grammar allows has a finite score"
            if highest < 0
            else "the scores are not finite",
            hint="another processor excludes these tokens, or a temperature of zero comes before this one",
        )


def check_spelling(matcher: GrammarMatcher) -> None:
    """Refuse to go on where no token can, as the vocabulary lacks a byte that the output needs next.

    Raises:
        MatcherError: It does.
    """
    info = matcher.compiled_grammar.tokenizer_info
    if not info.missing_bytes:
        return
    bitmask = allocate_token_bitmask(1, info.vocab_size)
    if matcher.fill_next_token_bitmask(bitmask) and not bitmask.any():
        raise MatcherError(
            f"the output needs {' or '.join(matcher.expected()[:5])} next, which no token of the vocabulary can write",
            hint="leave that out of the grammar, or use a tokenizer that can spell every text",
        )
