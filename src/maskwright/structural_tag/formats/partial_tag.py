"""A tag as its begin and what follows it, and what is left of it once some of the begin is there.

    PartialTag(("<f=now>", 7, " "), rest).after(0, 3)    "now>" <[7]> " " rest

Those of known tags are kept, and what was left of them last: adding a tag to many makes nothing for the others.
Tested by tests/structural_tag/test_kept_tools.py, test_triggers.py.
"""

from __future__ import annotations

from maskwright.ir import Expr, literal, seq
from maskwright.structural_tag.texts.ends import NO_ENDS, Ends
from maskwright.structural_tag.texts.tokens import Pieces, spelled
from maskwright.support.untracked import acyclic, untrack


class PartialTag:
    """See the module's header.

    Attributes:
        pieces: those of the begin.
        to_token: as many of them as lead up to the first token, that included; none if there is none.
        rest: the content with its end.
    """

    __slots__ = ("_last", "pieces", "rest", "to_token")

    def __init__(self, pieces: Pieces, rest: Expr) -> None:
        self.pieces, self.rest = pieces, rest
        self.to_token = _up_to_token(pieces)
        # What was asked for last, and what was left then: one value, as threads share it.
        self._last: tuple[int, int, Expr] = (len(pieces), 0, rest)

    def after(self, num_pieces: int, num_bytes: int = 0) -> Expr:
        """What is left after so many pieces, and so many bytes of the next one, which is a text."""
        last = self._last
        if last[0] == num_pieces and last[1] == num_bytes:
            return last[2]
        pieces = self.pieces[num_pieces:]
        if num_bytes:
            assert isinstance(pieces[0], str)
            left = seq(literal(pieces[0].encode()[num_bytes:]), spelled(pieces[1:]), self.rest)
        else:
            left = seq(spelled(pieces), self.rest)
        self._last = (num_pieces, num_bytes, left)
        untrack(self._last)
        return left

    def before(self, ends: Ends) -> PartialTag:
        """The tag with what ends it."""
        return self if ends is NO_ENDS else PartialTag(self.pieces, ends.after(self.rest))


acyclic(PartialTag)


def _up_to_token(pieces: Pieces) -> Pieces:
    for i, piece in enumerate(pieces[:2]):
        if not isinstance(piece, str):
            return pieces[: i + 1]
    return ()
