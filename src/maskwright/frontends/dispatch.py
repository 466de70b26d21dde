"""Free text in which tags start rules: `tag_dispatch` for tags that are strings, `token_dispatch` for tokens.

    text <tag1> what rule1 matches, text <tag2> what rule2 matches, text

The text between holds no tag: the first that appears starts its rule, at the end of the tag. Where one tag ends another
(`b`, `ab`), the longer counts. Each stretch of text is regular, so all of it is an alternative in a loop.
Tested by tests/frontends/test_texts.py, tests/corpus/ebnf.toml.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from maskwright.frontends.texts import text_without, texts_up_to
from maskwright.ir import Expr, IRBuilder, TokenSet, alt, never, seq, star

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
    others = [string.encode() for string in excluded]
    before = texts_up_to([*starts, *ends], others)
    tagged = alt(*(seq(up_to, rule) for up_to, (_, rule) in zip(before, tags, strict=False)))
    free = text_without((*starts, *ends, *others)) if ends_anywhere else never()
    last = alt(free, *before[len(starts) :])
    return seq(star(tagged), last) if loops else alt(tagged, last)


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
