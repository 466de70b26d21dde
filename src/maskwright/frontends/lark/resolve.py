"""What names mean: the definitions of a text, what it imports, overrides and extends.

A `Scope` belongs to one text. Its `entries` give each name its bodies, each body with the scope in which its own names
are looked up, so that what was imported keeps its meaning whatever the importing text calls its own rules.

    >>> scope = resolve(parse("%import common.INT -> N\\nstart: N"), {})
    >>> scope.entries["N"].bodies[0][1].entries["DIGIT"].name
    'DIGIT'

`%override` and `%extend` change the entry itself, so the imported text sees the change too, as in Lark.
Modules are `common` and the Lark texts that the caller supplies.
Tested by tests/frontends/test_lark.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.resources import files
from itertools import islice
from typing import Final

from maskwright.errors import LarkSyntaxError, Span
from maskwright.frontends.lark.ast import Definition, Document, Import, Name, Node
from maskwright.frontends.lark.parser import parse
from maskwright.frontends.notation.mistakes import class_around, hint_at_flags
from maskwright.frontends.notation.rule_options import RuleOption
from maskwright.support.entrances import OR_PASS_MODULES
from maskwright.support.near_names import nearest

_MOST_NAMES: Final = 300  # that are compared
_STATEMENT: Final = re.compile(r"^[ \t]*%(?!json|lark|regex|if|override|extend)", re.MULTILINE)


class Entry:
    """A rule or terminal under a name: its alternatives, each in the scope that its names belong to."""

    __slots__ = ("bodies", "is_declared", "is_parametric", "is_terminal", "name", "options", "parameters", "span")

    def __init__(self, definition: Definition, scope: Scope) -> None:
        self.name = definition.name
        self.span = definition.span
        self.is_terminal = definition.is_terminal
        self.is_parametric = definition.is_parametric
        self.is_declared = False
        self.parameters: tuple[str, ...] = definition.parameters
        self.options: tuple[RuleOption, ...] = definition.options
        self.bodies: list[tuple[Node, Scope]] = [(definition.body, scope)]


class Scope:
    """The names of one text."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.entries: dict[str, Entry] = {}
        self.ignored: tuple[Node, ...] = ()

    def error(self, message: str, span: Span, hint: str | None = None) -> LarkSyntaxError:
        return LarkSyntaxError(message, source=self.source, span=span, hint=hint, rule=self._rule_at(span.start))

    def _rule_at(self, position: int) -> str | None:
        """The rule in whose body a position is; None in a statement."""
        before = [
            (entry.span.start, name)
            for name, entry in self.entries.items()
            if entry.bodies[0][1] is self and not entry.is_declared and entry.span.start <= position
        ]
        start, name = max(before, default=(0, None))
        return None if _STATEMENT.search(self.source, start, position) else name

    def entry(self, name: str, span: Span) -> Entry:
        """Look a name up.

        Raises:
            LarkSyntaxError: There is none.
        """
        found = self.entries.get(name)
        if found is None:
            kind = "terminal" if name.isupper() else "rule"
            flag = hint_at_flags(self.source, span.start, name, "write i in lower case for text in upper or lower case")
            hint = flag or class_around(self.source, span.start) or _near(name, self.entries) or _common_hint(name)
            hint = hint or "define it, or put text in quotes"
            raise self.error(f"{kind} {name[:60]!r} is not defined", span, hint)
        return found


def _common_hint(name: str) -> str | None:
    return f"add a line: %import common.{name}" if name.isupper() and name in _common_scope().entries else None


def resolve(document: Document, modules: Mapping[str, str]) -> Scope:
    """Make the scope of a document.

    Args:
        document: The grammar.
        modules: Lark texts that `%import name.rule` may take from.

    Raises:
        LarkSyntaxError: A name is defined twice, or imported from where it is not.
    """
    resolver = _Resolver(modules)
    if not modules and all(definition.mode == "define" for definition in document.definitions):
        resolver.scopes["common"] = _common_scope()
    return resolver.scope(document)


@lru_cache(maxsize=1)
def _common_scope() -> Scope:
    """The scope of `common` for all texts that do not change what they import."""
    return _Resolver({}).scope(_common())


@lru_cache(maxsize=1)
def _common() -> Document:
    return parse(files("maskwright.frontends.lark").joinpath("common.lark").read_text("utf-8"))


class _Resolver:
    def __init__(self, modules: Mapping[str, str]) -> None:
        self.modules = modules
        self.scopes: dict[str, Scope] = {}
        self.open: list[str] = []

    def scope(self, document: Document) -> Scope:
        scope = Scope(document.source)
        scope.ignored = document.ignored
        for wanted in document.imports:
            self._import(scope, wanted)
        for name in document.declared:
            _declare(scope, name)
        for definition in document.definitions:
            _define(scope, definition)
        return scope

    def _import(self, scope: Scope, wanted: Import) -> None:
        module = self._module(scope, wanted)
        entry = module.entries.get(wanted.name)
        if entry is None:
            near = _near(wanted.name, module.entries) or f"it has: {', '.join(list(module.entries)[:40])}"
            raise scope.error(f"{wanted.module!r} has no {wanted.name[:60]!r}", wanted.span, near)
        scope.entries[wanted.alias] = entry

    def _module(self, scope: Scope, wanted: Import) -> Scope:
        name = wanted.module.lstrip(".")
        if name in self.scopes:
            return self.scopes[name]
        if name in self.open:
            raise scope.error(f"{name!r} imports itself", wanted.span)
        if name == "common":
            document = _common()
        elif name in self.modules:
            document = parse(self.modules[name])
        else:
            known = ", ".join(("common", *self.modules))
            raise scope.error(f"there is no module {name[:60]!r}", wanted.span, f"there are: {known}{OR_PASS_MODULES}")
        self.open.append(name)
        made = self.scopes[name] = self.scope(document)
        self.open.pop()
        return made


def _declare(scope: Scope, name: Name) -> None:
    entry = Entry(Definition(name.name, name.span, (), (), False, name, "define"), scope)
    entry.is_declared = True
    scope.entries[name.name] = entry


def _define(scope: Scope, definition: Definition) -> None:
    known = scope.entries.get(definition.name)
    if definition.mode == "define":
        if known is not None:
            line = scope.source.count("\n", 0, known.span.start) + 1
            own = any(body_scope is scope for _, body_scope in known.bodies)
            where = f"the first definition is on line {line}" if own else "it is imported"
            hint = f"{where}; write %override or %extend to change it"
            raise scope.error(f"{definition.name[:60]!r} is defined twice", definition.span, hint)
        scope.entries[definition.name] = Entry(definition, scope)
        return
    if known is None:
        message = f"there is no {definition.name[:60]!r} to {definition.mode}"
        hint = _near(definition.name, scope.entries) or f"define it without %{definition.mode}"
        raise scope.error(message, definition.span, hint)
    if definition.mode == "override":
        known.bodies = [(definition.body, scope)]
        known.options, known.is_declared = definition.options, False
        known.parameters, known.is_parametric = definition.parameters, definition.is_parametric
    elif (known.parameters, known.is_parametric) != (definition.parameters, definition.is_parametric):
        raise scope.error(f"{definition.name[:60]!r} has different parameters in its first definition", definition.span)
    else:
        known.bodies = [*known.bodies, (definition.body, scope)]


def _near(name: str, names: Iterable[str]) -> str | None:
    near = nearest(name, islice(names, _MOST_NAMES))
    return f"did you mean {near!r}?" if near else None
