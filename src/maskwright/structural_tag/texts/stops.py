r"""Where free text with triggers and ends stops: which of them comes first, and the text before it.

    Stops((b"<a", b"<b"), (b"</t>",), ())      text in which the triggers "<a" and "<b" count, up to "</t>"

Text up to a trigger is one expression for all triggers with a common beginning p, "any text that ends with p and holds
no trigger"; what is left of each trigger follows as an alternative. So 4,000 triggers `<function=…` cost one automaton
and a trie, and as the expression ends nowhere but after p, text itself leaves nothing open to what comes next. It is
exact if no other trigger can end between p and the end of the one at hand, so p reaches as far as any overlap does.
Where beginnings are many, one expression that ends anywhere serves all triggers before whose end no other can end.
What is excluded does not occur in the text before the trigger; the trigger itself may contain it.

Cost: linear in the length of all triggers; the first mask walks the vocabulary once for each beginning, in about 0.2 ms
where few tokens hold its first byte, and up to 25 ms where many do.
Tested by tests/structural_tag/lowering/test_triggers.py against the definition and the oracle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from maskwright.errors import LimitError
from maskwright.frontends.keyword_trie import KeywordTrie
from maskwright.frontends.texts import (
    ANY_BYTES,
    ANY_TEXT,
    any_of,
    holding,
    stopped_early,
    text_without,
)
from maskwright.ir import Expr, alt, and_, literal, not_, seq

MAX_BEGINNINGS: Final = 64  # automata of triggers that begin alike; of more, those that stand apart share one
MAX_OVERLAPS: Final = 64


class Stops:
    """Strings that end free text, each in its way: triggers by what they are, ends all alike.

    Attributes:
        groups: lists of triggers that share one `leading` text, by their common beginning.
        dead: triggers and ends that can never match first, each with the string inside it that is.
    """

    def __init__(self, triggers: Sequence[bytes], ends: Sequence[bytes], excluded: Sequence[bytes]) -> None:
        self.ends = tuple(dict.fromkeys(ends))
        self.excluded = tuple(dict.fromkeys(excluded))
        self._all = tuple(dict.fromkeys((*triggers, *ends)))
        trie, wanted = KeywordTrie(self._all), set(triggers)
        self.dead: dict[bytes, bytes] = {}
        self.groups: dict[bytes, list[bytes]] = {}
        by_overlap: dict[bytes, list[bytes]] = {}
        apart: list[bytes] = []  # triggers before whose end no other one can end
        for stop in self._all:
            inside, overlap = trie.inspect(stop)
            if inside is not None:
                self.dead[stop] = inside
            elif stop in wanted:
                by_overlap.setdefault(stop[: max(overlap, 1)], []).append(stop)
                if not overlap:
                    apart.append(stop)
        if len(by_overlap) > MAX_BEGINNINGS:
            by_overlap = self._fewer(by_overlap, frozenset(apart))
        for beginning, group in by_overlap.items():
            self.groups[_common_beginning(group) if beginning else b""] = group

    def _fewer(self, by_overlap: dict[bytes, list[bytes]], apart: frozenset[bytes]) -> dict[bytes, list[bytes]]:
        """The groups with all triggers that stand apart in one: any text may go before them."""
        fewer: dict[bytes, list[bytes]] = {}
        for beginning, group in by_overlap.items():
            for stop in group:
                fewer.setdefault(b"" if stop in apart else beginning, []).append(stop)
        if len(fewer) > MAX_OVERLAPS:
            raise LimitError(
                f"the triggers overlap one another in more than {MAX_OVERLAPS} ways",
                limit="trigger overlaps",
                hint="let all triggers begin with a character with which none of them ends, such as <",
            )
        return fewer

    def leading(self, beginning: bytes) -> Expr:
        """Text up to the first stop, which has this common beginning, that included."""
        end = literal(beginning)
        if beginning in self._all:
            return and_(seq(ANY_TEXT, end), not_(stopped_early(self._all, self.excluded, (beginning,))))
        early = alt(holding(self._all, ANY_BYTES), stopped_early((), self.excluded, (beginning,)))
        return and_(seq(ANY_TEXT, end), not_(early))

    def last(self) -> Expr:
        """Text in which no stop occurs."""
        return text_without((*self._all, *self.excluded))

    def to_end(self) -> Expr:
        """Text up to the first stop, which is one of the ends, that included."""
        return and_(seq(ANY_TEXT, any_of(self.ends)), not_(stopped_early(self._all, self.excluded, self.ends)))


def _common_beginning(strings: Sequence[bytes]) -> bytes:
    first, last = min(strings), max(strings)
    length = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    return first[:length]
