"""Random changes of JSON data and of texts, such as hands and programs make by mistake or by malice."""

from __future__ import annotations

import copy
import random
from typing import Any

_ODD: list[Any] = [None, True, False, 0, -1, 1.5, 1e999, 2**31, 10**30, "", "a", "\ud800", "#/nowhere", [], {}, [[]]]
_REFERENCES = ["#", "#/$defs/missing", "#anchor", "other.json", "http://x.test/y#z", "%zz", "#/a~2", "://", "#/0/x"]
_KEYS = ["$ref", "$id", "id", "$schema", "$anchor", "definitions", "$defs", "type", "items", "properties", "required"]
_PIECES = ["(", ")", "[", "]", "{", "}", "{2147483647}", "{,}", "*", "+", "?", "|", "&", "~", "\\", '"', "'", "/", "%"]
_PIECES += ["::=", ":", "\n", "\x00", "\ud800", "é", "\U0001f600", "(?=", "(?!", "[^", "\\p{", "$ref", "root", "start"]
_PIECES += ["{1000000}", "{0,1000000}", "[max_tokens=3]", "%json {", "%regex {", "<[", "(?i)", "\\1", "--", "&&", "~~"]


def _paths(data: Any, limit: int = 2_000) -> list[list[Any]]:
    out: list[list[Any]] = [[]]
    open_: list[tuple[list[Any], Any]] = [([], data)]
    while open_ and len(out) < limit:
        path, value = open_.pop()
        inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, part in inner:
            out.append([*path, key])
            open_.append(([*path, key], part))
    return out


def _at(data: Any, path: list[Any]) -> Any:
    for key in path:
        data = data[key]
    return data


def mutated_data(data: Any, rng: random.Random) -> Any:
    """The data with one change somewhere."""
    if not isinstance(data, dict | list):
        return rng.choice(_ODD)
    data = copy.deepcopy(data)
    path = rng.choice(_paths(data))
    if not path:
        return data if rng.random() < 0.9 else rng.choice(_ODD)
    around, key = _at(data, path[:-1]), path[-1]
    change = rng.randrange(9)
    if change == 0:
        del around[key]
    elif change == 1:
        around[key] = rng.choice(_ODD)
    elif change == 2:
        around[key] = copy.deepcopy(_at(data, rng.choice(_paths(data))))
    elif change == 3:
        around[key] = {"$ref": rng.choice(_REFERENCES)}
    elif change == 4:
        around[key] = [around[key]] * rng.choice((1, 2, 30))
    elif change == 5:
        for _ in range(rng.choice((3, 30, 90))):
            around[key] = {rng.choice(("items", "not", "anyOf")): around[key]}
    elif isinstance(around, dict):
        name = rng.choice([*_KEYS, *map(str, around)]) if change < 8 else rng.choice((7, None, ("a",), ""))
        around[name] = around.pop(key) if rng.random() < 0.5 else rng.choice(_ODD)
    else:
        around.insert(rng.randrange(len(around) + 1), rng.choice(_ODD))
    return data


def mutated_text(text: str, rng: random.Random) -> str:
    """The text with one change somewhere."""
    begin = rng.randrange(len(text) + 1)
    end = min(len(text), begin + rng.choice((1, 1, 2, 5, 20)))
    piece = text[begin:end]
    change = rng.randrange(5)
    if change == 0:
        return text[:begin] + text[end:]
    if change == 1:
        return text[:end] + piece * rng.choice((1, 2, 50)) + text[end:]
    if change == 2:
        return text[:begin] + rng.choice(_PIECES) + text[end:]
    if change == 3:
        return text[:begin] + rng.choice(_PIECES) + text[begin:]
    at = rng.randrange(len(text) + 1)
    return text[:at] + piece + text[at:]


def mutated_options(rng: random.Random) -> dict[str, Any]:
    """Options of JSON Schemas by name: mostly some that go together, with a change in one of three."""
    given = dict(rng.choice(_OPTIONS))
    if rng.random() < 0.3:
        name = rng.choice([*_OPTION_NAMES, "strict", "indnet", ""])
        given[name] = rng.choice([*_ODD, "relax", "any", "annotate", "[ ]*", "(", (",", ":"), [",", ":"], ("", ":"), 3])
    return given


_OPTION_NAMES = ["any_whitespace", "max_whitespace_cnt", "whitespace_pattern", "indent", "separators", "ensure_ascii"]
_OPTION_NAMES += ["strict_mode", "on_unsupported", "any_order", "registry", "numbers", "formats"]
_OPTIONS: list[dict[str, Any]] = [{}] * 6 + [
    {"on_unsupported": "relax"},
    {"any_order": True, "strict_mode": True},
    {"any_whitespace": False, "indent": 2, "separators": (",", ": ")},
    {"any_whitespace": False, "separators": [",", ":"]},
    {"whitespace_pattern": "[ \\n]{0,3}", "numbers": "any"},
    {"ensure_ascii": True, "formats": "annotate", "max_whitespace_cnt": 1},
]
