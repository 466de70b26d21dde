"""Objects of which members are counted: `minProperties`, `maxProperties`, and witnesses (witnesses.py).

The state is the next declared member, the number of members, and the witnesses met. Further members count as one
towards `minProperties`, as they might all have one name; where more must be told apart, they come last, with names that
are all distinct (distinct_names.py).
Tested by tests/frontends/json_schema/emit/test_schema_counting.py and test_schema_complement.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final, TypeAlias

from maskwright.frontends.json_schema.emit.counting import Automaton
from maskwright.frontends.json_schema.emit.distinct_names import DistinctNames
from maskwright.frontends.json_schema.emit.layout import CLOSE_OBJECT, Style
from maskwright.frontends.json_schema.emit.schema_rules import SchemaRules
from maskwright.frontends.json_schema.sets.shape import ObjectShape
from maskwright.ir import Expr, alt, never, seq

_END: Final = -1  # all declared members were written, and no more may come
_PAST: Final = -2  # or others may

Member: TypeAlias = "tuple[Expr, Expr, bool]"  # name, value, whether it is required
Others: TypeAlias = "dict[int, tuple[Expr, bool]]"


class _Object(Automaton):
    """States are (next declared member, number of members, witnesses met as bits).

    Past the declared members the position is _PAST, or _END after the witness that must be the last.
    """

    def __init__(
        self,
        emitter: SchemaRules,
        members: list[Member],
        extra: Expr | DistinctNames,
        asked: ObjectShape,
        others: Others,
        style: Style,
    ) -> None:
        super().__init__(emitter, style, "members", CLOSE_OBJECT)
        self.least, self.most = asked.min_properties, asked.max_properties
        rule = partial(emitter.as_one_rule, "member")
        self.members = [(rule(seq(name, style.colon, value)), required) for name, value, required in members]
        self.last_required = max([i for i, (_, required) in enumerate(self.members) if required], default=-1)
        self.others = {bits: rule(other) for bits, (other, _) in others.items()}
        self.last = extra if isinstance(extra, DistinctNames) else None
        self.others[0] = never() if isinstance(extra, DistinctNames) else rule(extra)
        self.all_met = max(self.others)
        self.final = {bits for bits, (_, is_last) in others.items() if is_last}

    def accepts(self, state: tuple[int, int, int]) -> bool:
        position, count, met = state
        return count >= self.least and met == self.all_met and (position < 0 or position > self.last_required)

    def ending(self, state: tuple[int, int, int]) -> Expr:
        return alt(super().ending(state), seq(self.style.comma, self.distinct_from(state)))

    def distinct_from(self, state: tuple[int, int, int]) -> Expr:
        """Members of distinct names, to the closing bracket, if they may come after this state."""
        position, count, met = state
        if self.last is None or not self.accepts((position, self.least, met)):
            return never()
        return seq(self.last.after(count), self.close)

    def steps_from(self, state: tuple[int, int, int]) -> Iterator[tuple[Expr, tuple[int, int, int]]]:
        position, count, met = state
        if position == _END or (self.most is not None and count >= self.most):
            return
        further = count + 1 if self.most is not None else min(count + 1, self.least)
        if position >= 0:
            for i in range(position, len(self.members)):
                member, required = self.members[i]
                yield member, (i + 1, further, met)
                if required:
                    return
        for bits, other in self.others.items():
            if bits & met:
                continue
            if bits not in self.final:
                yield other, (_PAST, further, met | bits)
            elif met | bits == self.all_met:
                yield other, (_END, further, met | bits)


class _Unordered(_Object):
    """As `_Object`, but a state begins with the declared members that were written, as bits, or _END."""

    def accepts(self, state: tuple[int, int, int]) -> bool:
        written, count, met = state
        everything = all(written >> i & 1 for i, (_, required) in enumerate(self.members) if required)
        return count >= self.least and met == self.all_met and everything

    def steps_from(self, state: tuple[int, int, int]) -> Iterator[tuple[Expr, tuple[int, int, int]]]:
        written, count, met = state
        if written == _END or (self.most is not None and count >= self.most):
            return
        further = count + 1 if self.most is not None else min(count + 1, self.least)
        for i, (member, _) in enumerate(self.members):
            if not written >> i & 1:
                yield member, (written | 1 << i, further, met)
        for bits, other in self.others.items():
            if bits not in self.final and not bits & met:
                yield other, (written, further, met | bits)
            elif not bits & met and met | bits == self.all_met and self.accepts((written, self.least, self.all_met)):
                yield other, (_END, further, met | bits)


def counted_object(
    emitter: SchemaRules,
    members: list[Member],
    extra: Expr | DistinctNames,
    asked: ObjectShape,
    others: Others,
    style: Style,
    *,
    any_order: bool = False,
) -> Expr:
    """Return the spellings of objects with as many members as asked, and with all witnesses.

    Where `extra` are distinct names, they come last, and each of them counts. `others` has, for each set of witnesses
    as bits, a member that is all of them, and whether that must be the last.

    Raises:
        TooManyError: It takes too many rules.
    """
    machine = (_Unordered if any_order else _Object)(emitter, members, extra, asked, others, style)
    start = (0, 0, 0)
    ways = [*machine.begin(start), machine.distinct_from(start)]
    empty = [CLOSE_OBJECT] if machine.accepts(start) else []
    return seq(style.open_object, alt(*empty, *[seq(style.lead, way) for way in ways])) if ways or empty else never()
