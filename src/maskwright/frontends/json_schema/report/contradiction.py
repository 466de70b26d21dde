"""Why no value is valid: the parts of a schema that contradict each other.

    {"type": "integer", "minimum": 3, "maximum": 2, "title": "n"}   →   /type, /minimum, /maximum

Parts are left out, and whoever can tell is asked whether some value is valid then. What is found still admits no value,
though without any one of its parts some would be valid. First the keywords of the root are looked at, then what is
inside those that matter, references included. The inside of `not`, `if` and `oneOf` is taken as a whole: to leave
something out there asks for more instead of less.

Cost: each question is a run of the front-end and of the kernel's search for an empty language; there are about k log n
of them for k parts out of n. Work is counted by the parts of the schema and the rules of its grammar, not by a clock.
Past _MOST_WORK, nothing more is left out.
Source: Junker, QuickXplain: Preferred Explanations and Relaxations for Over-Constrained Problems (AAAI 2004).
Tested by tests/frontends/json_schema/report/test_schema_contradiction.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

from maskwright.frontends.json_schema.read.keyword_table import ASSERTING, KEYWORDS
from maskwright.frontends.json_schema.read.places import Path
from maskwright.frontends.json_schema.read.pointers import pointer_of, tokens_of
from maskwright.frontends.json_schema.report.reached import HOLD_SCHEMAS, HOLD_SCHEMAS_BY_NAME
from maskwright.frontends.regex.refused import without_slashes

_MOST_SHOWN: Final = 8
_MOST_CHARACTERS: Final = 40
# Parts of schemas that are looked at, all questions together; so much is half a second. Not final, as tests lower it.
_MOST_WORK = 65_000
_WORK_OF_A_RULE: Final = 10
_NO_ASSERTIONS: Final = KEYWORDS.keys() - ASSERTING
_BY_POSITION: Final = frozenset(("allOf", "prefixItems"))
_ONE_SCHEMA: Final = HOLD_SCHEMAS - _BY_POSITION - {"anyOf", "oneOf", "not", "if"}

Part = tuple[str | int, ...]  # where it stands, from the root
Ask = Callable[[Any], tuple[bool, int]]


def contradiction(schema: Any, ask: Ask) -> list[Part]:
    """Return parts of a schema that admit no value together, in the order in which they stand there.

    They are minimal, unless that takes too long; none, if leaving parts out did not lead to any.

    Args:
        schema: As `read_schema` returns it. No value is valid against it.
        ask: Tells of a schema whether it is certain that no value is valid against it, and of
            how many rules its grammar is.
    """
    search = _Search(schema, ask)
    found: list[Part] = []
    waiting: list[Part] = [()]
    seen: set[Part] = {()}
    while waiting:
        part = waiting.pop()
        inner = search.minimal([p for place in _inside(schema, part) for p in _parts(at(schema, place), place)])
        if not inner:
            found.append(part)
        for each in inner:
            if each not in seen:
                seen.add(each)
                waiting.append(each)
    return sorted(found, key=lambda part: _position(schema, part)) if search.is_settled() else []


def described(schema: Any, parts: list[Part]) -> str:
    """Say which parts contradict each other, with what they ask for where that is short."""
    shown = [f"#{pointer(part)}{_value(at(schema, part))}" for part in parts[:_MOST_SHOWN]]
    if len(parts) > _MOST_SHOWN:
        shown.append(f"{len(parts) - _MOST_SHOWN} more")
    if not shown:
        return "some of its keywords contradict each other"
    if len(shown) == 1:
        return f"{shown[0]} admits none"
    return f"{', '.join(shown[:-1])} and {shown[-1]} contradict each other"


def way_out(schema: Any, parts: list[Part]) -> str:
    """Say what to do about it."""
    for part in parts:
        value = at(schema, part)
        hint = without_slashes(value) if part[-1:] == ("pattern",) and type(value) is str else None
        if hint is not None:
            return hint
    return "change or remove " + ("it" if len(parts) == 1 else "one of them")


def pointer(part: Part) -> str:
    """Return the JSON pointer of a part."""
    path: Path = None
    for token in part:
        path = (path, token)
    return pointer_of(path)


def _value(value: Any) -> str:
    """What is asked for, as JSON, if it fits into a message."""
    text = "" if isinstance(value, dict) else json.dumps(value, ensure_ascii=False, default=str)
    return f" ({text})" if 0 < len(text) <= _MOST_CHARACTERS else ""


class _Search:
    def __init__(self, schema: Any, ask: Ask) -> None:
        self._schema, self._ask = schema, ask
        self._left_out: set[Part] = set()
        self._work_left = _MOST_WORK

    def minimal(self, parts: list[Part]) -> list[Part]:
        """Leave out those of these parts that are not needed; return the others."""
        parts = [part for part in parts if part not in self._left_out]
        kept = [] if self._holds(parts, []) else self._needed(parts, [], [], parts)
        self._left_out.update(set(parts).difference(kept))
        return kept

    def is_settled(self) -> bool:
        """Whether what is left is contradictory: it may not be, where leaving something out asked for more."""
        return self._ask(_without(self._schema, list(self._left_out)))[0]

    def _needed(self, parts: list[Part], kept: list[Part], added: list[Part], open_: list[Part]) -> list[Part]:
        """QuickXplain: those of `open_` that are needed beside `kept`, of which `added` came last."""
        if added and self._holds(parts, kept):
            return []
        if len(open_) <= 1:
            return open_
        half = len(open_) // 2
        first, second = open_[:half], open_[half:]
        of_second = self._needed(parts, kept + first, first, second)
        return self._needed(parts, kept + of_second, of_second, first) + of_second

    def _holds(self, parts: list[Part], kept: list[Part]) -> bool:
        """Whether the contradiction is still there when of these parts only some are kept."""
        if not parts or self._work_left < 0:
            return False
        is_kept = set(kept)
        rest = _without(self._schema, [*self._left_out, *(part for part in parts if part not in is_kept)])
        is_contradictory, num_rules = self._ask(rest)
        self._work_left -= _size(rest) + _WORK_OF_A_RULE * num_rules
        return is_contradictory


def _inside(schema: Any, part: Part) -> Iterator[Part]:
    """The places of the schemas in a part whose own parts can be left out."""
    value = at(schema, part)
    above = part[-1] if part else None
    is_schema = not part or above in _ONE_SCHEMA or (len(part) > 1 and part[-2] in HOLD_SCHEMAS_BY_NAME | _BY_POSITION)
    if is_schema and isinstance(value, dict):
        yield part
    elif above == "anyOf" and isinstance(value, list):
        yield from ((*part, i) for i in range(len(value)) if isinstance(value[i], dict))
    elif above == "$ref" and isinstance(value, str) and (value == "#" or value.startswith("#/")):
        target = _pointed(schema, tokens_of(value[1:]))
        if target is not None:
            yield target


def _parts(schema: dict[Any, Any], place: Part) -> Iterator[Part]:
    for keyword, value in schema.items():
        if keyword in _NO_ASSERTIONS:
            continue
        if keyword in HOLD_SCHEMAS_BY_NAME and isinstance(value, dict):
            yield from ((*place, keyword, name) for name in value)
        elif (keyword in _BY_POSITION or keyword == "required") and isinstance(value, list):
            yield from ((*place, keyword, i) for i in range(len(value)))
        else:
            yield (*place, keyword)


def _without(schema: Any, parts: list[Part]) -> Any:
    """The schema without these parts. What stands in an object or array of schemas becomes one that asserts nothing."""
    root = [schema]
    copied: set[int] = set()
    names: list[list[Any]] = []
    for part in sorted(parts, key=len, reverse=True):  # what is inside goes first
        container: Any = root
        token: str | int = 0
        for following in part:
            if id(container[token]) not in copied:
                container[token] = container[token].copy()
                copied.add(id(container[token]))
            container, token = container[token], following
        if len(part) > 1 and part[-2] == "required":
            container[token] = None
            names.append(container)
        elif len(part) > 1 and part[-2] in HOLD_SCHEMAS_BY_NAME | _BY_POSITION:
            container[token] = {}
        else:
            del container[token]
    for required in names:
        required[:] = [name for name in required if name is not None]
    return root[0]


def at(schema: Any, part: Part) -> Any:
    """Return what a part is."""
    for token in part:
        schema = schema[token]
    return schema


def _position(schema: Any, part: Part) -> list[int]:
    """The part's place in the order of the document."""
    position = []
    for token in part:
        position.append(token if isinstance(token, int) else list(schema).index(token))
        schema = schema[token]
    return position


def _pointed(schema: Any, tokens: list[str]) -> Part | None:
    """The place that a pointer leads to, if it is a schema object there."""
    place: list[str | int] = []
    for token in tokens:
        if isinstance(schema, list) and token.isdecimal() and int(token) < len(schema):
            place.append(int(token))
        elif isinstance(schema, dict) and token in schema:
            place.append(token)
        else:
            return None
        schema = schema[place[-1]]
    return tuple(place) if isinstance(schema, dict) else None


def _size(value: Any) -> int:
    """How many objects, arrays and scalars a value has."""
    size, open_ = 0, [value]
    while open_:
        value = open_.pop()
        size += 1
        if isinstance(value, dict):
            open_ += value.values()
        elif isinstance(value, list):
            open_ += value
    return size
