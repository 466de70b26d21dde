"""Free text in which tags start rules: `tag_dispatch` for tags that are strings, `token_dispatch` for tokens.

    text <tag1> what rule1 matches, text <tag2> what rule2 matches, text

The text between holds no tag: the first that appears starts its rule, at the end of the tag. Where one tag ends another
(`b`, `ab`), the longer counts. Each stretch of text is regular, so all of it is an alternative in a loop. Tags that
overlap no other have one text before them, so thousands cost one automaton and a trie; any other has one of its own.
Tested by tests/frontends/test_texts.py, tests/corpus/ebnf.toml.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from maskwright.frontends.keyword_trie import KeywordTrie
from maskwright.frontends.texts import text_without, texts_up_to
from maskwright.ir import EMPTY, Expr, IRBuilder, TokenSet, alt, literal, never, seq, star

NO_TOKENS: Final = TokenSet()


def tag_dispatch(
    tags: Sequence[tuple[str, Expr]],
    *,
    loops: bool = True,
    ends_anywhere: bool = True,
    endings: Sequence[str] = (),
    excluded: Sequence[str] = (),
) -> Expr:
    """Free text with tags.

    Args:
        tags: Each tag and what must follow it.
        loops: Whether free text goes on after what followed a tag; if not, that is the end.
        ends_anywhere: Whether the text may end where no tag is open.
        endings: Strings that end the text when they appear in it, and belong to it.
        excluded: Strings that free text must not hold.
    """
    starts = [tag.encode() for tag, _ in tags]
    ends = [ending.encode() for ending in endings]
    marks = [*starts, *ends, *(string.encode() for string in excluded)]
    free, apart = text_without(marks), _apart(marks)
    overlapping = [mark for mark in (*starts, *ends) if mark not in apart]
    up_to = dict(zip(overlapping, texts_up_to(overlapping, marks), strict=True))

    def after_text(stops: Sequence[tuple[bytes, Expr]]) -> Expr:
        """Free text up to any of these, and what follows it."""
        at_once = alt(*[seq(literal(stop), rest) for stop, rest in stops if stop in apart])
        return alt(seq(free, at_once), *[seq(up_to[stop], rest) for stop, rest in stops if stop not in apart])

    tagged = after_text([(start, rule) for start, (_, rule) in zip(starts, tags, strict=True)])
    last = alt(free if ends_anywhere else never(), after_text([(end, EMPTY) for end in ends]))
    return seq(star(tagged), last) if loops else alt(tagged, last)


def _apart(marks: Sequence[bytes]) -> frozenset[bytes]:
    """Those that no other one can end within: one text goes before them all, in which there is no mark."""
    if b"" in marks:
        return frozenset()
    trie = KeywordTrie(marks)
    return frozenset(mark for mark in marks if trie.inspect(mark) == (None, 0))


def token_dispatch(
    tags: Sequence[tuple[TokenSet, Expr]], builder: IRBuilder, *, loops: bool = True, excluded: TokenSet = NO_TOKENS
) -> Expr:
    """Any tokens; one that is a tag starts its rule, and none is among the excluded."""
    sets = [excluded, *(tag for tag, _ in tags)]
    names = tuple(name for each in sets for name in each.names)
    ranges = tuple(ids for each in sets for ids in each.id_ranges)
    free = star(builder.add_tokens(TokenSet(names, ranges, negated=True)))
    tagged = alt(*(seq(free, builder.add_tokens(tag), rule) for tag, rule in tags))
    return seq(star(tagged), free) if loops else alt(seq(tagged), free)
