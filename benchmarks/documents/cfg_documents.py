"""Random documents of the languages in `data/cfg`, for `bench_cfg.py`: each yields pieces of text without end.

"".join(itertools.islice(sql(random.Random(1)), 100))
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from random import Random

WORDS = [
    "alpha",
    "beta",
    "gamma",
    "users",
    "orders",
    "price",
    "total",
    "name",
    "count",
    "self",
    "item",
    "value",
    "data",
]


def nested(
    r: Random, depth: int, leaves: list[Callable[[], str]], inner: list[Callable[[Callable[[], str]], str]]
) -> str:
    """Return a leaf or, above depth 0, an inner form; inner forms get a function that makes their parts."""
    choice = r.randrange(len(leaves) + (len(inner) if depth else 0))
    if choice < len(leaves):
        return leaves[choice]()
    return inner[choice - len(leaves)](lambda: nested(r, depth - 1, leaves, inner))


def endless(first: str, separator: str, part: Callable[[], str]) -> Iterator[str]:
    """A list that goes on for ever."""
    yield first + part()
    while True:
        yield separator + part()


def json(r: Random) -> Iterator[str]:
    endings = ["", "\\n", " \\u00e9", " \u00fc"]
    leaves = [
        lambda: str(r.randrange(-1000, 100_000)),
        lambda: f"{r.random():.4f}",
        lambda: r.choice(["true", "false", "null"]),
        lambda: f'"{" ".join(r.choices(WORDS, k=r.randrange(1, 12)))}{r.choice(endings)}"',
    ]
    inner = [
        lambda part: "[" + ", ".join(part() for _ in range(r.randrange(6))) + "]",
        lambda part: "{" + ", ".join(f'"{r.choice(WORDS)}{i}": {part()}' for i in range(r.randrange(6))) + "}",
    ]
    return endless("[", ",\n  ", lambda: nested(r, 6, leaves, inner))


def xml(r: Random) -> Iterator[str]:
    def attributes() -> str:
        return "".join(f' {word}="{r.randrange(999)} &amp; more"' for word in r.sample(WORDS, r.randrange(3)))

    def element(part: Callable[[], str]) -> str:
        name, inside = r.choice(WORDS), "".join(part() for _ in range(r.randrange(1, 4)))
        return f"<{name}{attributes()}>{inside}</{name}>"

    leaves = [
        lambda: " ".join(r.choices(WORDS, k=r.randrange(1, 8))) + r.choice([".", " &lt;", "<!-- note -->", "\n  "]),
        lambda: f"<{r.choice(WORDS)}{attributes()}/>",
    ]
    return endless("<root>", "\n", lambda: nested(r, 6, leaves, [element, element]))


def sql(r: Random) -> Iterator[str]:
    leaves = [
        lambda: f"{r.choice(WORDS)}.{r.choice(WORDS)}",
        lambda: str(r.randrange(100_000)),
        lambda: f"'{r.choice(WORDS)} it''s'",
    ]
    inner = [
        lambda part: f"({part()} + {part()})",
        lambda part: f"{part()} * {part()}",
        lambda part: f"coalesce({part()}, {part()})",
    ]

    def predicate() -> str:
        left, right = nested(r, 3, leaves, inner), nested(r, 2, leaves, inner)
        forms = [f"{left} = {right}", f"{left} <> {right}", f"{left} IS NOT NULL", f"{left} BETWEEN {right} AND 7",
                 f"({left} > {right} OR {right} IN (1, 2, 3))", f"NOT {left} LIKE 'x%'",
                 f"{left} IN (SELECT {r.choice(WORDS)} FROM {r.choice(WORDS)} AS t WHERE {right} < 5)"]  # fmt: skip
        return r.choice(forms)

    start = "SELECT DISTINCT a.name, count(*) AS n FROM users AS a LEFT JOIN orders ON a.id = orders.user WHERE "
    return endless(start, "\n  AND ", predicate)


def python(r: Random) -> Iterator[str]:
    leaves = [
        lambda: r.choice(WORDS),
        lambda: str(r.randrange(1000)),
        lambda: f'"{r.choice(WORDS)} {r.choice(WORDS)}\\n"',
        lambda: r.choice(["True", "None", "1.5e3", "0xff", "f'{x}'"]),
    ]
    inner = [
        lambda part: f"{r.choice(WORDS)}.{r.choice(WORDS)}({part()}, key={part()})",
        lambda part: f"({part()} + {part()}) * {part()}",
        lambda part: f"[{part()}, {part()}]",
        lambda part: f"{{{part()}: {part()}}}",
        lambda part: f"[x for x in {r.choice(WORDS)} if x not in {part()}]",
        lambda part: f"{r.choice(WORDS)}[{part()}:]",
        lambda part: f"{r.choice(WORDS)} == {part()} and not {r.choice(WORDS)}",
    ]

    def statement() -> str:
        name, value = r.choice(WORDS), nested(r, 4, leaves, inner)
        forms = [f"{name} = {value}", f"{name}.{name} += {value}", f"assert {name}, {value}", f"return {value}",
                 f"from {name} import {name}", f"{name}: list[int] = {value}; pass", f"print({value})"]  # fmt: skip
        return r.choice(forms)

    return endless("", "\n", statement)


def ambiguous(r: Random) -> Iterator[str]:
    return itertools.repeat("a")
