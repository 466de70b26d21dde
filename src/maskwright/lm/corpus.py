"""The text on which the embedded model is trained, made on the spot from templates and a fixed seed.

A document is a record in JSON, a record that follows a request as in a chat, a few lines of a log, a query, or prose:

    >>> import random
    >>> Writer(random.Random(0)).date()
    '2025-10-12'

Invariants: the same documents on every machine (only `Random.random` is drawn from, whose sequence Python keeps),
valid UTF-8, every JSON record parses. Cost: about 280 kB in 0.04 s.
Tested by tests/lm/test_corpus.py.
"""

from __future__ import annotations

import json
import random
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from . import words

SEED = 20250601
NUM_DOCUMENTS = 1300

_WEEKENDS = ("outdoors", "with friends", "in the garden")

Record = dict[str, Any]
T = TypeVar("T")


class Writer:
    """Draws words, values and whole documents from one source of randomness."""

    def __init__(self, rng: random.Random) -> None:
        self._random = rng.random

    def integer(self, low: int, high: int) -> int:
        return low + int(self._random() * (high - low + 1))

    def pick(self, options: Sequence[T]) -> T:
        return options[int(self._random() * len(options))]

    def some(self, options: Sequence[T], most: int = 3) -> list[T]:
        """One to `most` different options."""
        return list(dict.fromkeys(self.pick(options) for _ in range(self.integer(1, most))))

    def chance(self, probability: float) -> bool:
        return self._random() < probability

    def name(self) -> str:
        return f"{self.pick(words.FIRST_NAMES)} {self.pick(words.LAST_NAMES)}"

    def email(self, name: str) -> str:
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
        return f"{plain.replace(' ', '.')}@{self.pick(words.EMAIL_HOSTS)}"

    def date(self) -> str:
        return f"{self.integer(2023, 2025)}-{self.integer(1, 12):02}-{self.integer(1, 28):02}"

    def clock(self) -> str:
        return f"{self.integer(7, 20):02}:{self.pick(('00', '15', '30', '45'))}"

    def phone(self) -> str:
        return f"+{self.integer(30, 49)} {self.integer(100, 999)} {self.integer(1000, 9999)}"

    def price(self) -> float:
        return self.integer(3, 180) + self.pick((0.0, 0.5, 0.9, 0.95, 0.99))

    def product(self) -> str:
        return f"{self.pick(words.ADJECTIVES)} {self.pick(words.PRODUCTS)}"

    def sentence(self) -> str:
        return f"{self.pick(words.OPENINGS)}, {self.pick(words.ENDINGS)}."

    def bio(self) -> str:
        job, hobby, other = self.pick(words.JOBS), self.pick(words.HOBBIES), self.pick(words.HOBBIES)
        return self.pick(
            (
                f"{job.capitalize()} from {self.pick(words.CITIES)} who enjoys {hobby} and {other}.",
                f"Works as {_a(job)} and spends the weekends {self.pick(_WEEKENDS)}.",
                f"Former {self.pick(words.JOBS)}, now {_a(job)}. Likes {hobby}.",
                f"Loves {hobby}, {other} and long walks.",
            )
        )

    def description(self) -> str:
        material, color = self.pick(words.MATERIALS), self.pick(words.COLORS)
        product, adjective = (_a(noun).capitalize() for noun in (self.product(), self.pick(words.ADJECTIVES)))
        return self.pick(
            (
                f"{product} made of {material}, available in {color} and {self.pick(words.COLORS)}.",
                f"{self.product().capitalize()} with a {color} finish.",
                f"Made of {material}. Easy to clean and built to last.",
                f"{adjective} gift for everyone who likes {self.pick(words.HOBBIES)}.",
            )
        )


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeio' else 'a'} {noun}"


def profile(w: Writer) -> Record:
    name = w.name()
    record: Record = {"name": name, "age": w.integer(18, 79), "email": w.email(name)}
    if w.chance(0.3):
        record["phone"] = w.phone()
    record["city"] = w.pick(words.CITIES)
    if w.chance(0.5):
        record["country"] = w.pick(words.COUNTRIES)
    record["languages"] = w.some(words.LANGUAGES)
    record["bio"] = w.bio()
    if w.chance(0.5):
        record["role"] = w.pick(words.ROLES)
    record["newsletter"] = w.chance(0.5)
    return record


def employee(w: Writer) -> Record:
    first, last = w.pick(words.FIRST_NAMES), w.pick(words.LAST_NAMES)
    return {
        "id": w.integer(1000, 9999),
        "first_name": first,
        "last_name": last,
        "job": w.pick(words.JOBS),
        "address": {
            "street": f"{w.integer(1, 99)} {w.pick(words.STREETS)}",
            "city": w.pick(words.CITIES),
            "zip": f"{w.integer(10000, 99999)}",
            "country": w.pick(words.COUNTRIES),
        },
        "start_date": w.date(),
        "active": w.chance(0.8),
        "manager": w.pick((None, w.name())),
    }


def product(w: Writer) -> Record:
    return {
        "sku": sku(w),
        "title": w.product().capitalize(),
        "description": w.description(),
        "category": w.pick(words.CATEGORIES),
        "price": w.price(),
        "currency": w.pick(words.CURRENCIES),
        "rating": w.integer(20, 50) / 10,
        "in_stock": w.chance(0.7),
        "tags": w.some(words.TAGS),
    }


def sku(w: Writer) -> str:
    return f"{w.pick('ABCDEFGH')}{w.pick('KLMNPQRS')}-{w.integer(1000, 9999)}"


def order(w: Writer) -> Record:
    items: list[Record] = [
        {"sku": sku(w), "description": w.product().capitalize(), "quantity": w.integer(1, 9), "unit_price": w.price()}
        for _ in range(w.integer(1, 3))
    ]
    return {
        "order_id": f"ORD-{w.integer(10000, 99999)}",
        "customer": {"name": w.name(), "city": w.pick(words.CITIES)} if w.chance(0.4) else w.name(),
        "date": w.date(),
        "status": w.pick(words.STATUSES),
        "items": items,
        "total": round(sum(item["quantity"] * item["unit_price"] for item in items), 2),
        "currency": w.pick(words.CURRENCIES),
        "notes": w.pick(("Please leave it at the door.", "Gift wrap, please.", "Call before delivery.", "")),
    }


def weather(w: Writer) -> Record:
    return {
        "city": w.pick(words.CITIES),
        "date": w.date(),
        "temperature": w.integer(-9, 36),
        "conditions": w.pick(words.CONDITIONS),
        "humidity": w.integer(20, 99),
        "wind_speed": w.integer(0, 70) / 2,
        "summary": f"{w.pick(words.CONDITIONS).capitalize()} in the morning, {w.pick(words.CONDITIONS)} later.",
    }


def event(w: Writer) -> Record:
    day = w.date()
    return {
        "title": w.pick(words.MEETINGS).capitalize(),
        "start": f"{day}T{w.clock()}:00Z",
        "location": w.pick(words.ROOMS),
        "attendees": [w.name() for _ in range(w.integer(1, 3))],
        "reminder": w.chance(0.5),
    }


def review(w: Writer) -> Record:
    return {
        "product": w.product().capitalize(),
        "stars": w.integer(1, 5),
        "author": w.name(),
        "text": f"{w.pick(words.REVIEW_LINES)}. {w.pick(words.REVIEW_LINES)}.",
        "verified": w.chance(0.6),
        "sentiment": w.pick(("positive", "neutral", "negative")),
    }


def recipe(w: Writer) -> Record:
    return {
        "title": w.pick(words.DISHES).capitalize(),
        "servings": w.integer(2, 8),
        "minutes": w.pick((15, 20, 30, 45, 60, 90)),
        "ingredients": [
            {"ingredient": name, "amount": w.integer(1, 500), "unit": w.pick(("g", "ml", "spoons", "pieces"))}
            for name in w.some(words.INGREDIENTS, 4)
        ],
        "steps": [f"Mix the {w.pick(words.INGREDIENTS)} with the {w.pick(words.INGREDIENTS)}.", "Bake until golden."],
    }


def tool_call(w: Writer) -> Record:
    calls: tuple[tuple[str, Record], ...] = (
        (
            "get_weather",
            {"city": w.pick(words.CITIES), "unit": w.pick(("celsius", "fahrenheit")), "days": w.integer(1, 7)},
        ),
        (
            "search_products",
            {"query": w.product(), "max_price": w.integer(10, 200), "category": w.pick(words.CATEGORIES)},
        ),
        (
            "create_event",
            {
                "title": w.pick(words.MEETINGS).capitalize(),
                "date": w.date(),
                "time": w.clock(),
                "attendees": [w.name() for _ in range(w.integer(1, 3))],
            },
        ),
        ("send_email", {"to": w.email(w.name()), "subject": w.pick(words.MEETINGS).capitalize(), "body": w.sentence()}),
    )
    name, arguments = w.pick(calls)
    return {"tool": name, "arguments": arguments}


RECORDS: tuple[tuple[str, Callable[[Writer], Record]], ...] = (
    ("a user profile", profile),
    ("an order", order),
    ("a tool call", tool_call),
    ("an employee", employee),
    ("a product", product),
    ("a weather report", weather),
    ("an event", event),
    ("a product review", review),
    ("a recipe", recipe),
)


def record_document(w: Writer) -> str:
    """A record or a list of some, alone, or, as assistants like to do, wrapped in an answer."""
    kind, make = w.pick(RECORDS)
    records = [_shortened(w, make(w)) for _ in range(w.integer(2, 3) if w.chance(0.15) else 1)]
    data = json.dumps(records if len(records) > 1 else records[0], ensure_ascii=False)
    if w.chance(0.3):
        return data
    request = w.pick((f"Write {kind} as JSON.", f"Give me {kind} in JSON.", f"JSON for {kind}, please."))
    shape = w.pick(
        (
            "{data}",
            "{data}",
            "{data}",
            "{data}",
            "```json\n{data}\n```",
            "Sure! Here is {kind}:\n{data} Let me know if you need anything else.",
            "Here is {kind}: {data}",
        )
    )
    return f"{request}\n{shape.format(data=data, kind=kind)}"


def _shortened(w: Writer, value: Any) -> Any:
    """Now and then leave out the last keys of an object, so that any value may be the last."""
    if isinstance(value, list):
        return [_shortened(w, item) for item in value]
    if not isinstance(value, dict):
        return value
    keep = w.integer(1, len(value)) if w.chance(0.5) else len(value)
    return {key: _shortened(w, item) for key, item in list(value.items())[:keep]}


def log_document(w: Writer) -> str:
    lines = [
        f"{w.date()} {w.clock()}:{w.integer(0, 59):02} {w.pick(('INFO', 'INFO', 'WARN', 'ERROR'))} "
        f"[{w.pick(words.SERVICES)}] {w.pick(words.LOG_MESSAGES)} after {w.integer(1, 900)} ms"
        for _ in range(w.integer(1, 4))
    ]
    return "Log:\n" + "\n".join(lines)


_TABLES: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    ("users", "name", "age", "city", words.CITIES),
    ("orders", "customer", "total", "status", words.STATUSES),
    ("products", "title", "price", "category", words.CATEGORIES),
)


def query_document(w: Writer) -> str:
    table, text, number, label, values = w.pick(_TABLES)

    def condition(depth: int) -> str:
        if depth == 3 or (depth and w.chance(0.5)):
            inner = f"{condition(depth - 1)} {w.pick(('AND', 'OR'))} {condition(depth - 1)}"
            return f"({inner})" if depth < 3 else inner
        return w.pick(
            (f"{number} {w.pick(('<', '>='))} {w.integer(10, 90)}", f"{label} = '{w.pick(values)}'", f"{text} <> ''")
        )

    tail = w.pick((f" ORDER BY {text}", f" ORDER BY {number}", f" LIMIT {w.integer(5, 50)}", ""))
    wanted = ", ".join(w.some((text, number, label)))
    return f"Query:\nSELECT {wanted} FROM {table} WHERE {condition(3)}{tail};"


def prose_document(w: Writer) -> str:
    city, day = w.pick(words.CITIES), w.pick(words.WEEKDAYS)
    lines = [
        w.sentence(),
        f"{w.name()} is {_a(w.pick(words.JOBS))} in {city} and likes {w.pick(words.HOBBIES)}.",
        f"On {day} it will be {w.pick(words.CONDITIONS)} in {city}, with about {w.integer(1, 30)} degrees.",
        f"The {w.product()} costs {w.price():.2f} {w.pick(words.CURRENCIES)}. {w.pick(words.REVIEW_LINES)}.",
        w.description(),
    ]
    return " ".join(w.some(lines, 4))


def documents(num_documents: int = NUM_DOCUMENTS, seed: int = SEED) -> list[str]:
    """Write the corpus."""
    w = Writer(random.Random(seed))
    kinds = (record_document,) * 7 + (log_document, query_document, prose_document)
    return [w.pick(kinds)(w) for _ in range(num_documents)]
