"""Members that are not declared, where `minProperties` asks for more than one of them: no two may have the same name.

    {"minProperties": 2}   →   "{" distinct(name, ":" value ","){2,} ":" value "}"

What stands between two names is the value of the first, so the kernel compares just the names (`ir.distinct`), each of
which has one spelling, as the items of unique arrays have (sets/one_spelling.py). Where names that match different
patterns have different values, there is a list for each, one after the other. If some member must have a name out of a
set (a witness: normalise/witnesses.py), the first list is of such names. Values that may hold the object itself are
refused, as the kernel reads no list within what separates its own elements.
Cost: at most MAX_STEPS lists. Tested by tests/frontends/json_schema/emit/test_schema_distinct_names.py.
"""

from __future__ import annotations

from maskwright.frontends.json_schema.emit.counting import MAX_STEPS, TooManyError
from maskwright.frontends.json_schema.emit.layout import Style
from maskwright.frontends.json_schema.emit.schema_rules import SchemaRules
from maskwright.frontends.json_schema.sets.one_spelling import any_string
from maskwright.frontends.json_schema.sets.scalars import STRING_RULE
from maskwright.frontends.json_schema.sets.shape import ObjectShape
from maskwright.frontends.regular import spelled_out
from maskwright.ir import OP_NEVER, UNBOUNDED, Expr, alt, and_, distinct, never, not_, optional, seq
from maskwright.ir.walks import references


class DistinctNames:
    """Makes the members that follow `count` others, at least one."""

    def __init__(
        self,
        emitter: SchemaRules,
        members: list[tuple[Expr | None, Expr]],
        asked: ObjectShape,
        style: Style,
        *,
        needs_first: bool = False,
    ) -> None:
        """`members` are the names of one kind (None for all names), which no other kind has, and their values.

        With `needs_first`, some member is of the first kind, whose names later kinds may have, too: they count there.

        Raises:
            TooManyError: There are none, or none of the first kind, or their values may hold the object itself.
        """
        self.emitter, self.style = emitter, style
        self.least, self.most = asked.min_properties, asked.max_properties
        self.kinds: list[tuple[Expr, Expr]] = []
        self.needs_first = needs_first
        self.known: dict[tuple[int, int], Expr] = {}
        self.lists = 0
        for names, value in members:
            if value[0] != OP_NEVER:
                require_complete(emitter, value)
                spelled = self._one_spelling(names)
                if needs_first and self.kinds:
                    spelled = and_(spelled, not_(self.kinds[0][0]))
                self.kinds.append((spelled, emitter.as_rule("value", seq(style.colon, value))))
            elif needs_first and not self.kinds:
                raise TooManyError
        if not self.kinds:
            raise TooManyError

    def after(self, count: int) -> Expr:
        """Return the members that may follow so many, without the comma before them; never() if there are none.

        Raises:
            TooManyError: It takes too many lists.
        """
        return self._from(0, count)

    def _from(self, kind: int, count: int) -> Expr:
        """The members of this kind and those that come after it."""
        known = self.known.get((kind, count))
        if known is None:
            known = self.known[kind, count] = self.emitter.as_rule("members", alt(*self._ways(kind, count)))
        return known

    def _ways(self, kind: int, count: int) -> list[Expr]:
        lacking = max(self.least - count, 1)
        room = UNBOUNDED if self.most is None else self.most - count
        if room == 0:
            return []
        if kind == len(self.kinds) - 1:
            return [self._list(kind, lacking, room)]
        ways = [] if kind == 0 and self.needs_first else [self._from(kind + 1, count)]
        exactly = lacking if room == UNBOUNDED else room + 1
        for number in range(1, exactly):
            following = self._from(kind + 1, count + number)
            if number >= lacking:
                following = optional(seq(self.style.comma, following))
            elif following[0] == OP_NEVER:
                continue
            else:
                following = seq(self.style.comma, following)
            ways.append(seq(self._list(kind, number, number), following))
        if room == UNBOUNDED:
            following = optional(seq(self.style.comma, self._from(kind + 1, count + lacking)))
            ways.append(seq(self._list(kind, lacking, UNBOUNDED), following))
        return ways

    def _list(self, kind: int, least: int, most: int) -> Expr:
        self.lists += 1
        if self.lists > MAX_STEPS:
            raise TooManyError
        if most != UNBOUNDED and most < least:
            return never()
        names, value = self.kinds[kind]
        return seq(distinct(names, seq(value, self.style.comma), least, most), value)

    def _one_spelling(self, names: Expr | None) -> Expr:
        names = spelled_out(STRING_RULE if names is None else names, self.emitter.builder.body_of)
        assert names is not None, "names are regular"
        return and_(names, any_string(ensure_ascii=self.emitter.layout.options.ensure_ascii))


def require_complete(emitter: SchemaRules, separator: Expr) -> None:
    """See to it that all rules that a separator of a list leads to are there, so that none of them leads to the list.

    Raises:
        TooManyError: One is not.
    """
    builder, first = emitter.builder, len(emitter.layout.prelude)
    seen: set[int] = set()
    waiting = [separator]
    while waiting:
        for rule in references(waiting.pop()):
            if rule < first or rule in seen:
                continue
            body = builder.body_of(rule)
            if body is None:
                raise TooManyError
            seen.add(rule)
            waiting.append(body)
