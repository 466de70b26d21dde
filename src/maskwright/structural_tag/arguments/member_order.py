"""In which order members stand, and how many of them.

    a required, b optional, separator ", ":   a (", " b)?      in any order:   a | a ", " b | b ", " a

Members come in declared order, then undeclared ones; or sorted, undeclared ones anywhere among them, as only names
say where; or all in any order. Counts are kept by `frontends/selections.py`.
Tested by tests/structural_tag/arguments/test_xml.py and test_xml_names.py.
"""

from __future__ import annotations

from typing import Protocol

from maskwright.errors import LimitError
from maskwright.frontends.json_schema.emit.emitter import Emitter
from maskwright.frontends.json_schema.read.places import Path
from maskwright.frontends.json_schema.sets.shape import ObjectShape
from maskwright.frontends.selections import Selection, ordered, permutation
from maskwright.ir import OP_NEVER, UNBOUNDED, Expr, alt, never, optional, seq, star
from maskwright.structural_tag.formats.xml_styles import SpelledStyle


class Refuse(Protocol):
    """Reports that a keyword cannot be enforced; raises unless the caller relaxes."""

    def __call__(self, keyword: str, path: Path, reason: str) -> None: ...


class Members:
    """Puts the members of objects in one style together."""

    def __init__(self, emitter: Emitter, style: SpelledStyle, separator: Expr, refuse: Refuse) -> None:
        self._emitter, self._sorts, self._has_separator = emitter, style.sorts, bool(style.separator)
        self._separator, self._refuse = separator, refuse

    def counted(self, shape: ObjectShape, members: list[tuple[Expr, bool]], extra: Expr) -> Expr:
        """The members in the order that is asked for, as many as `minProperties` and `maxProperties` say."""
        num_required, closed = sum(required for _, required in members), extra[0] == OP_NEVER
        least, most = shape.min_properties, UNBOUNDED if shape.max_properties is None else shape.max_properties
        if closed and least > len(members):
            return never()
        if not closed and least > num_required + 1:
            # Members that are not declared might all have one name, and then they are one member.
            self._refuse(
                "minProperties", shape.min_path, "this style cannot count undeclared properties, whose names may repeat"
            )
            least = 0
        in_any_order = self._emitter.layout.options.any_order and len(members) + (not closed) > 1
        is_free = least <= num_required and (most == UNBOUNDED or (closed and len(members) <= most))
        if is_free and not in_any_order:
            return self._listed(members, extra)
        try:
            selection = Selection(
                [self._emitter.as_rule("member", member) for member, _ in members],
                required=[i for i, (_, required) in enumerate(members) if required],
                separator=self._separator,
                extra=extra if closed else self._emitter.as_rule("member", extra),
                minimum=least,
                maximum=most,
            )
            return (permutation if in_any_order else ordered)(self._emitter.builder, "members", selection)
        except LimitError as error:
            if not is_free:
                keyword = "minProperties" if shape.max_path is None else "maxProperties"
                self._refuse(keyword, shape.max_path or shape.min_path, error.message)
            return self._listed(members, extra)

    def _listed(self, members: list[tuple[Expr, bool]], extra: Expr) -> Expr:
        """The members in their order, each with whether it must be there, then any number of extra ones.

        Where the style sorts, extra ones stand anywhere, as only their names say where.
        """
        if self._sorts and extra[0] != OP_NEVER:
            return self._listed_among(members, extra)
        if not self._has_separator:
            parts = [member if required else optional(member) for member, required in members]
            return seq(*parts, star(extra))
        more = star(seq(self._separator, extra))  # where something stands before
        listed = optional(seq(extra, more))
        for member, required in reversed(members):
            more = self._emitter.as_rule("members", more)
            listed = seq(member, more) if required else alt(seq(member, more), listed)
            more = seq(self._separator, member, more) if required else alt(seq(self._separator, member, more), more)
        return listed

    def _listed_among(self, members: list[tuple[Expr, bool]], extra: Expr) -> Expr:
        builder = self._emitter.builder
        rest, may_end = builder.declare("members"), True
        builder.define(rest, optional(seq(self._separator, extra, rest)))
        choice = seq(extra, rest)
        for member, required in reversed(members):
            later, may_end = rest, may_end and not required
            rest = builder.declare("members")
            skipped = never() if required else choice
            choice = builder.add("member", alt(seq(member, later), seq(extra, rest), skipped))
            more = seq(self._separator, choice)
            builder.define(rest, optional(more) if may_end else more)
        return optional(choice) if may_end else choice
