"""Free text in which triggers start something, and after that text again: tags by trigger, and dispatch.

    text     any text up to a trigger, a trigger's rest, what it starts, text again
             | any text to the end

The text up to a trigger comes from stops.py. A special token never is text, so a trigger with one in it starts at the
token, and needs no exclusion; whatever text the trigger has before its token is context-free.
With tokens for triggers, text is any tokens but those.
Tested by tests/structural_tag/test_triggers.py against the oracle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from maskwright.errors import StructuralTagError
from maskwright.ir import Expr, alt, capture, literal, seq, star, tokens
from maskwright.structural_tag.ends import Ends
from maskwright.structural_tag.stops import Stops
from maskwright.structural_tag.tokens import Pieces, spelled

if TYPE_CHECKING:
    from maskwright.structural_tag.lower import Lowering


class Started(NamedTuple):
    """Something that a trigger starts."""

    trigger: str
    begin: str  # starts with the trigger
    rest: Expr  # what follows `begin`
    pointer: str


def text_with_triggers(
    low: Lowering,
    started: Sequence[Started],
    ends: Ends,
    *,
    excluded: Sequence[str],
    at_once: bool,
    once: bool,
    pointer: str,
    name: str | None = None,
) -> Expr:
    """Return the expression for free text with triggers, and its end.

    Args:
        low: Where rules go, and who knows the tokens.
        started: What the triggers start.
        ends: What ends the whole.
        excluded: What the text must not contain.
        at_once: Whether the first one starts at once, without text before it.
        once: Whether nothing follows the first one.
        pointer: For errors.
        name: What the captures of the texts are called, if they are captures.
    """
    by_text: dict[bytes, list[tuple[Started, Pieces]]] = {}
    by_token: dict[Pieces, list[Expr]] = {}
    for each in started:
        pieces = low.tokens.pieces(each.begin)
        leading = _up_to_token(pieces)
        if leading is not None and len("".join(p for p in leading if isinstance(p, str))) < len(each.trigger):
            by_token.setdefault(leading, []).append(seq(spelled(pieces[len(leading) :]), each.rest))
        else:
            by_text.setdefault(each.trigger.encode(), []).append((each, pieces))
    stops = Stops(tuple(by_text), ends.encoded, low.plain(excluded))
    _check(stops, by_text, pointer)
    branches = []
    for beginning, triggers in stops.groups.items():
        rests = [_rest(pieces, len(beginning), each.rest) for t in triggers for each, pieces in by_text[t]]
        branches.append(seq(capture(name, stops.leading(beginning), (beginning,)), alt(*rests)))
    text = capture(name, stops.last())
    for leading, rests in by_token.items():
        branches.append(seq(text, spelled(leading), alt(*rests)))
    last = [capture(name, stops.to_end(), ends.encoded)] if ends.texts else []
    if ends.others or not ends.texts:
        last.append(seq(text, ends.other()) if ends.others else text)
    begun = alt(*[seq(low.tokens.spell(each.begin), each.rest) for each in started]) if at_once else None
    return _looped(low, alt(*branches), alt(*last), begun, ends, once)


def tokens_with_triggers(
    low: Lowering,
    started: Sequence[tuple[int, Expr]],
    ends: Ends,
    *,
    excluded: Sequence[int],
    at_once: bool,
    once: bool,
    pointer: str,
) -> Expr:
    """As `text_with_triggers`, for tokens that start something: pairs of a token and what follows it."""
    final = [pieces[0] for pieces in ends.others if isinstance(pieces[0], int)]
    stops = frozenset((*(token for token, _ in started), *excluded, *final))
    text = star(low.tokens.all_but(stops, pointer))
    begun = alt(*[seq(tokens((token,)), rest) for token, rest in started])
    return _looped(low, seq(text, begun), ends.after(text), begun if at_once else None, ends, once)


def _looped(low: Lowering, to_trigger: Expr, last: Expr, begun: Expr | None, ends: Ends, once: bool) -> Expr:
    """Text with what it starts, once or again and again; `begun` comes first if it is given."""
    if once:
        after = ends.alone
        return seq(begun, after) if begun is not None else alt(last, seq(to_trigger, after))
    text = low.builder.declare("text")
    low.builder.define(text, alt(last, seq(to_trigger, text)))
    return text if begun is None else seq(begun, text)


def _up_to_token(pieces: Pieces) -> Pieces | None:
    """The pieces up to the first token; None if there is none."""
    for i, piece in enumerate(pieces[:2]):
        if isinstance(piece, int):
            return pieces[: i + 1]
    return None


def _rest(pieces: Pieces, taken: int, rest: Expr) -> Expr:
    """What is left of a beginning of which so many bytes are taken, and what follows it."""
    first = pieces[0]
    assert isinstance(first, str)
    return seq(literal(first.encode()[taken:]), spelled(pieces[1:]), rest)


def _check(stops: Stops, by_text: dict[bytes, list[tuple[Started, Pieces]]], pointer: str) -> None:
    for string, inside in stops.dead.items():
        where = by_text[string][0][0].pointer if string in by_text else pointer
        what = "the trigger" if string in by_text else "the end"
        raise StructuralTagError(
            f"{what} {string.decode()[:60]!r} can never be met: {inside.decode()[:60]!r} in it comes first",
            pointer=where,
            hint="take one of the two away",
        )
