"""Jump-forward in an engine: text that the grammar forces is inserted, in tokens as the model's tokenizer writes them.

    output so far   {"  na                    sampled
    forced          me": "
    tokens          {"  name  ":  ` "`        `na` is replaced, as the tokenizer writes `name` as one token

The tokens of forced text that stay whatever follows come from `maskwright.tokenizer.jump_forward`. What was sampled
right before is cut together with it: where the tokenizer would have written the two otherwise, the last tokens are
replaced, and the model's cache is cut back to there. The bytes of the output are the same.

Invariants: the matcher has accepted exactly the tokens of the output. Forced text never adds to the prompt's tokens.
Cost: a few µs where nothing is forced, as no mask is asked for: the next one is computed beside the model. A new forced
text is encoded some dozen times, a known one is looked up.
Source: Zheng et al., "SGLang" (2024), for jump-forward and retokenisation.
Tested by tests/engine/test_forced.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from maskwright.errors import TokenizerError
from maskwright.matcher import GrammarMatcher
from maskwright.tokenizer import TokenizerInfo
from maskwright.tokenizer.jump_forward import ForcedTokens

_MAX_REPLACED = 4
_MAX_INSERTED = 1024


class Insertion(NamedTuple):
    """Tokens to write at the end of an output, in place of the last ones. The matcher has accepted them already."""

    num_replaced: int
    token_ids: list[int]


class ForcedText:
    """Finds the forced text of the outputs of one engine."""

    def __init__(self, info: TokenizerInfo, encode: Callable[[str], Sequence[int]]) -> None:
        self._info = info
        self._tokens = ForcedTokens(info, encode)
        self._special = frozenset(info.special_token_ids)

    def insert(self, matcher: GrammarMatcher, output_ids: Sequence[int], num_fixed: int) -> Insertion:
        """Move a matcher over the tokens that are forced from where it stands.

        Args:
            matcher: At the end of the output.
            output_ids: The tokens of the output.
            num_fixed: How many of these must not be replaced.
        """
        text = matcher.find_jump_forward_string()
        if not text and matcher.text_may_follow():
            return Insertion(0, [])
        found = self._retokenized(matcher, text, output_ids[max(num_fixed, len(output_ids) - _MAX_REPLACED) :])
        inserted = found.token_ids
        while len(inserted) < _MAX_INSERTED:
            tokens = self._next(matcher)
            accepted = matcher.accept_tokens(tokens)
            inserted += tokens[:accepted]
            if accepted < len(tokens) or not tokens:
                break
        return found

    def _next(self, matcher: GrammarMatcher) -> list[int]:
        text = matcher.find_jump_forward_string()
        if text or matcher.text_may_follow():
            return self._tokens.of_text(text, matcher)
        only = matcher.forced_token()  # by its mask: where no text may follow, that takes 0.5 to 5 µs
        return [] if only is None or only in matcher.stop_token_ids else [only]

    def _retokenized(self, matcher: GrammarMatcher, text: str, tail: Sequence[int]) -> Insertion:
        """Cut the forced text together with the tokens before it, if they come out otherwise than they are."""
        nothing = Insertion(0, [])
        before = self._text_of(tail) if text else ""
        if not before:
            return nothing
        tokens = self._tokens.of_text(text, matcher, before)
        common = next((i for i, (a, b) in enumerate(zip(tail, tokens, strict=False)) if a != b), len(tail))
        num_replaced = len(tail) - common
        if num_replaced == 0 or len(tokens) <= common or not self._covers(tokens, before):
            return nothing
        matcher.rollback(num_replaced)
        new = tokens[common:]
        accepted = matcher.accept_tokens(new)
        if accepted == len(new):
            return Insertion(num_replaced, new)
        matcher.rollback(accepted)
        matcher.accept_tokens(tail[common:])
        return nothing

    def _text_of(self, tail: Sequence[int]) -> str:
        """The text of tokens, or nothing if they are not text in whole characters."""
        if not tail or self._special.intersection(tail):
            return ""
        try:
            return self._info.decode(tail).decode()
        except (TokenizerError, UnicodeDecodeError):
            return ""

    def _covers(self, tokens: Sequence[int], before: str) -> bool:
        """Whether the tokens spell more than the text before: what was written must not be taken back."""
        return len(self._info.decode(tokens)) > len(before.encode())
