"""Which ids a `TokenSet` of a grammar means in a given tokenizer.

    >>> info = TokenizerInfo.from_vocab(["a", "<think>", "</s>"], special_token_ids=[1], stop_token_ids=[2])
    >>> token_ids(info, TokenSet(names=("<think>",))), token_ids(info, TokenSet(negated=True))
    ([1], [0, 1])

A name is the whole text of a token, special or not; two tokens with one text are both meant. A negated set ranges over
the tokens that can stand in an output: all with a text or a name, but the stop tokens. Where a matcher has other stop
tokens, it leaves these out as well (cpp/kernel/engine/matcher.h).
Tested by tests/tokenizer/test_token_sets.py.
"""

from __future__ import annotations

from difflib import get_close_matches

from maskwright.errors import GrammarError
from maskwright.ir import TokenSet
from maskwright.tokenizer import TokenizerInfo


def token_ids(info: TokenizerInfo, token_set: TokenSet) -> list[int]:
    """Return the ids, in ascending order.

    Raises:
        GrammarError: The tokenizer has no token of that name, or fewer ids than the set names.
    """
    members: set[int] = set()
    seen = -1
    for first, last in sorted(token_set.id_ranges):
        if last >= info.vocab_size:
            raise GrammarError(f"there is no token {last}: the tokenizer has {info.vocab_size:,} ids")
        members.update(range(max(first, seen + 1), last + 1))  # each once, however many ranges hold it
        seen = max(seen, last)
    for name in token_set.names:
        members.update(_named(info, name))
    if token_set.negated:
        stops = set(info.stop_token_ids)
        return [t for t, text in enumerate(info.token_bytes) if text and t not in members and t not in stops]
    return sorted(members)


def ids_of_saved(info: TokenizerInfo, names: list[bytes], id_ranges: list[tuple[int, int]], negated: bool) -> list[int]:
    """As `token_ids`, of a set as the kernel reads it from a saved grammar."""
    decoded = tuple([name.decode("utf-8", "replace") for name in names])
    return token_ids(info, TokenSet(decoded, tuple(id_ranges), negated))


def _named(info: TokenizerInfo, name: str) -> list[int]:
    text, tokens, found, start = name.encode(), info.token_bytes, [], 0
    while True:
        try:
            start = tokens.index(text, start) + 1
        except ValueError:
            break
        found.append(start - 1)
    if not found:
        known = [tokens[t].decode(errors="replace") for t in info.special_token_ids]
        near = get_close_matches(name, known[:2000], 1)
        whole = "a name in angle brackets is the whole text of a token, brackets included; a rule is named without them"
        hint = f"did you mean {near[0]!r}?" if near else whole
        raise GrammarError(f"the tokenizer has no token {name[:60]!r}", hint=hint)
    return found
