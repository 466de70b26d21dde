"""Free text in which triggers start something, and after that text again: tags by trigger, and dispatch.

    text     any text up to a trigger, a trigger's rest, what it starts, text again
             | any text to the end

The text up to a trigger comes from stops.py. A special token never is text, so a trigger with one in it starts at the
token, and needs no exclusion; whatever text the trigger has before its token is context-free.
With tokens for triggers, text is any tokens but those.

What triggers start is a rule of its own, outside the loop of text: the automaton of a rule that calls itself is
minimised, which for the begins of 128 tools took 10 ms each time that one of them changed.
Tested by tests/structural_tag/lowering/test_triggers.py against the oracle.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from maskwright.errors import StructuralTagError
from maskwright.frontends.texts import ANY_BYTES
from maskwright.ir import EMPTY, OP_SEQ, Expr, alt, alt_of_distinct, and_, capture, literal, not_, seq, star
from maskwright.structural_tag.formats.partial_tag import PartialTag
from maskwright.structural_tag.lowering.tag_rules import TagRules
from maskwright.structural_tag.texts.ends import Ends
from maskwright.structural_tag.texts.stops import Stops
from maskwright.structural_tag.texts.tokens import Pieces, Token, one_token, spelled

# Something that a trigger starts: the trigger, and what begins with it.
Started: TypeAlias = "tuple[str, PartialTag]"


class Triggers(NamedTuple):
    """What triggers start in free text.

    Attributes:
        started: What they start.
        excluded: What the text must not contain.
        at_once: Whether the first one starts at once, without text before it.
        once: Whether nothing follows the first one.
        closed: Whether what they start holds the end as well, if nothing else follows it.
        pointer: For errors.
        where: The pointer to one of `started`, for errors.
        name: What the captures of the texts are called, if they are captures.
        separator: What may stand behind one that is started. It belongs to no text: none after them begins with it.
    """

    started: Sequence[Started]
    excluded: Sequence[str]
    at_once: bool
    once: bool
    pointer: str
    where: Callable[[int], str]
    name: str | None = None
    separator: str = ""
    closed: bool = False


def text_with_triggers(rules: TagRules, triggers: Triggers, ends: Ends) -> Expr:
    """Return the expression for free text with triggers, and its end; `rules` is where rules go."""
    texts = _Texts(rules, triggers, ends)
    first = any_of([tag.after(0) for _, tag in triggers.started]) if triggers.at_once else None
    to_trigger, last = texts.ways()
    if triggers.once or not triggers.separator:
        after = EMPTY if triggers.closed else ends.alone
        return _looped(rules, to_trigger, last, first, after, triggers.once)
    mark = literal(triggers.separator.encode())
    text, after = rules.builder.declare("text"), rules.builder.declare("text")
    to_next, last_after = texts.ways(not_(seq(mark, ANY_BYTES)))
    rules.builder.define(text, alt(last, seq(to_trigger, after)))
    rules.builder.define(after, alt(seq(mark, text), last_after, seq(to_next, after)))
    return text if first is None else seq(first, after)


class _Texts:
    """The texts between tags, by what comes after them. Of the texts, `only` leaves those that match it as well."""

    def __init__(self, rules: TagRules, triggers: Triggers, ends: Ends) -> None:
        by_text, by_token = _by_start(triggers.started)
        self._ends, self._name = ends, triggers.name
        self._stops = Stops(tuple(by_text), ends.encoded, (*rules.plain(triggers.excluded), *ends.absent))
        _check(self._stops, triggers)
        self._tags_by_text = {
            start: rules.builder.add("tag", any_of([tag.after(0, len(start)) for t in group for tag in by_text[t]]))
            for start, group in self._stops.groups.items()
        }
        self._tags_by_token = {leading: rules.builder.add("tag", any_of(rests)) for leading, rests in by_token.items()}

    def ways(self, only: Expr | None = None) -> tuple[Expr, Expr]:
        """Text up to what it starts, that included; and text in which nothing starts, with the end."""
        ends, stops, name = self._ends, self._stops, self._name
        branches = [
            seq(capture(name, _both(stops.leading(start), only), (start,)), tag)
            for start, tag in self._tags_by_text.items()
        ]
        text = capture(name, _both(stops.last(), only))
        branches += [seq(text, spelled(leading), tag) for leading, tag in self._tags_by_token.items()]
        last = [capture(name, _both(stops.to_end(), only), ends.encoded)] if ends.texts else []
        if ends.others or not ends.texts:
            last.append(seq(text, ends.other()) if ends.others else text)
        return alt(*branches), alt(*last)


def _by_start(started: Sequence[Started]) -> tuple[dict[bytes, list[PartialTag]], dict[Pieces, list[Expr]]]:
    """What is started, by the trigger; what has a token within its trigger or right behind it, by what leads there."""
    by_text: dict[bytes, list[PartialTag]] = {}
    by_token: dict[Pieces, list[Expr]] = {}
    for trigger, tag in started:
        leading = tag.to_token
        if leading and (len(leading) == 1 or len(str(leading[0])) < len(trigger)):
            by_token.setdefault(leading, []).append(tag.after(len(leading)))
        else:
            by_text.setdefault(trigger.encode(), []).append(tag)
    return by_text, by_token


def _both(texts: Expr, only: Expr | None) -> Expr:
    return texts if only is None else and_(texts, only)


def any_of(rests: list[Expr]) -> Expr:
    """Any one of what is left of tags. Most are sequences, and known tags that are alike are the same."""
    if any(rest[0] != OP_SEQ for rest in rests):
        return alt(*rests)
    return alt_of_distinct(list({id(rest): rest for rest in rests}.values()))


def tokens_with_triggers(
    rules: TagRules,
    started: Sequence[tuple[Token, Expr]],
    ends: Ends,
    *,
    excluded: Sequence[Token],
    at_once: bool,
    once: bool,
    closed: bool = False,
) -> Expr:
    """As `text_with_triggers`, for tokens that start something: pairs of a token and what follows it."""
    stops = frozenset((*(token for token, _ in started), *excluded, *ends.tokens))
    text = star(rules.all_but(stops))
    opened = alt(*[seq(one_token(token), rest) for token, rest in started])
    after = EMPTY if closed else ends.alone
    return _looped(rules, seq(text, opened), ends.after(text), opened if at_once else None, after, once)


def _looped(rules: TagRules, to_trigger: Expr, last: Expr, first: Expr | None, after: Expr, once: bool) -> Expr:
    """Text with what it starts, again and again, or once, and then `after`; `first` comes first if it is given."""
    if once:
        return seq(first, after) if first is not None else alt(last, seq(to_trigger, after))
    text = rules.builder.declare("text")
    rules.builder.define(text, alt(last, seq(to_trigger, text)))
    return text if first is None else seq(first, text)


def _check(stops: Stops, triggers: Triggers) -> None:
    for string, inside in stops.dead.items():
        mine = [i for i, (trigger, _) in enumerate(triggers.started) if trigger.encode() == string]
        what = "the trigger" if mine else "the end"
        raise StructuralTagError(
            f"{what} {string.decode()[:60]!r} can never match: {inside.decode()[:60]!r} inside it matches first",
            pointer=triggers.where(mine[0]) if mine else triggers.pointer,
            hint="remove one of the two",
        )
