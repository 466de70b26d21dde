"""Questions in the manner of the Berkeley Function Calling Leaderboard: a request, tools, the one call that is right.

    questions(300)[0]       Question("Convert 5 EUR to INR.", tools=[…], name="convert_currency", arguments={…})

Made from templates with a fixed seed; each has one to four tools, of which one is meant.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple

CITIES = ("Lima", "Oslo", "Nairobi", "Kyoto", "Lisbon", "Toronto", "Hanoi", "Prague", "Quito", "Dublin")
PEOPLE = ("Ana", "Bilal", "Chen", "Dora", "Emeka", "Freya", "Goran", "Hana", "Ivan", "Jude")
ITEMS = ("lamp", "teapot", "backpack", "keyboard", "blanket", "notebook", "bicycle", "mirror")
LANGUAGES = ("French", "Swahili", "Korean", "Polish", "Spanish", "Hindi")


class Question(NamedTuple):
    """A request, the tools, and the call that answers it."""

    text: str
    tools: list[dict[str, Any]]
    name: str
    arguments: dict[str, Any]


class Kind(NamedTuple):
    """A tool, and what asks for it."""

    name: str
    description: str
    properties: dict[str, Any]
    ask: Callable[[random.Random], tuple[str, dict[str, Any]]]

    def tool(self) -> dict[str, Any]:
        parameters = {
            "type": "object",
            "properties": self.properties,
            "required": list(self.properties),
            "additionalProperties": False,
        }
        function = {"name": self.name, "description": self.description, "parameters": parameters}
        return {"type": "function", "function": function}


def _forecast(rng: random.Random) -> tuple[str, dict[str, Any]]:
    city, days = rng.choice(CITIES), rng.randint(2, 9)
    return f"What's the weather in {city} over the next {days} days?", {"city": city, "days": days}


def _convert(rng: random.Random) -> tuple[str, dict[str, Any]]:
    amount, (source, target) = rng.randint(5, 900), rng.sample(("USD", "EUR", "JPY", "GBP", "INR"), 2)
    return f"How much is {amount} {source} in {target}?", {"amount": amount, "source": source, "target": target}


def _email(rng: random.Random) -> tuple[str, dict[str, Any]]:
    name, subject = rng.choice(PEOPLE), rng.choice(("Lunch", "Invoice", "Holiday plans", "Meeting notes"))
    recipient = f"{name.lower()}@example.com"
    text = f"Send an email to {recipient} with the subject '{subject}'. It is urgent."
    return text, {"recipient": recipient, "subject": subject, "urgent": True}


def _order(rng: random.Random) -> tuple[str, dict[str, Any]]:
    item, quantity = rng.choice(ITEMS), rng.randint(2, 40)
    text = f"Order {quantity} of the item '{item}' with express shipping."
    return text, {"item": item, "quantity": quantity, "shipping": "express"}


def _translate(rng: random.Random) -> tuple[str, dict[str, Any]]:
    text, language = rng.choice(("Good morning", "Where is the station?", "Thank you")), rng.choice(LANGUAGES)
    return f"Translate '{text}' into {language}.", {"text": text, "language": language}


def _reminder(rng: random.Random) -> tuple[str, dict[str, Any]]:
    title, minutes = rng.choice(("stretch", "call home", "water the plants")), rng.randint(5, 90)
    return f"Remind me in {minutes} minutes to {title}.", {"title": title, "minutes": minutes}


def _table(rng: random.Random) -> tuple[str, dict[str, Any]]:
    name, people = rng.choice(PEOPLE), rng.randint(2, 8)
    hour = f"{rng.randint(18, 21)}:{rng.choice(('00', '30'))}"
    text = f"Book a table for {people} people at {hour}, under the name {name}."
    return text, {"name": name, "people": people, "time": hour}


def _light(rng: random.Random) -> tuple[str, dict[str, Any]]:
    room, level = rng.choice(("kitchen", "bedroom", "office", "hall")), rng.randint(1, 100)
    return f"Set the lights in the {room} to {level} percent.", {"room": room, "brightness": level}


def _tags(rng: random.Random) -> tuple[str, dict[str, Any]]:
    note, tags = rng.choice(("Budget", "Recipe", "Ideas")), rng.sample(("home", "work", "later", "family"), 2)
    return f"Add the tags {tags[0]} and {tags[1]} to the note '{note}'.", {"note": note, "tags": tags}


def _area(rng: random.Random) -> tuple[str, dict[str, Any]]:
    base, height = rng.randint(2, 60), rng.randint(2, 60)
    return f"What is the area of a triangle with base {base} and height {height}?", {"base": base, "height": height}


_TEXT = {"type": "string"}
KINDS = (
    Kind(
        "get_forecast",
        "Weather forecast of a city",
        {"city": _TEXT, "days": {"type": "integer", "minimum": 1}},
        _forecast,
    ),
    Kind(
        "convert_currency",
        "Convert an amount of money from one currency to another",
        {"amount": {"type": "number"}, "source": {"type": "string", "pattern": "^[A-Z]{3}$"}, "target": _TEXT},
        _convert,
    ),
    Kind(
        "send_email",
        "Send an email",
        {"recipient": {"type": "string", "format": "email"}, "subject": _TEXT, "urgent": {"type": "boolean"}},
        _email,
    ),
    Kind(
        "place_order",
        "Order an item from the shop",
        {
            "item": {"enum": list(ITEMS)},
            "quantity": {"type": "integer", "minimum": 1, "maximum": 99},
            "shipping": {"enum": ["standard", "express"]},
        },
        _order,
    ),
    Kind("translate_text", "Translate a text", {"text": _TEXT, "language": {"enum": list(LANGUAGES)}}, _translate),
    Kind("set_reminder", "Set a reminder", {"title": _TEXT, "minutes": {"type": "integer", "minimum": 1}}, _reminder),
    Kind(
        "book_table",
        "Book a table in a restaurant",
        {
            "name": _TEXT,
            "people": {"type": "integer", "minimum": 1, "maximum": 12},
            "time": {"type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"},
        },
        _table,
    ),
    Kind(
        "set_lights",
        "Set the brightness of the lights in a room",
        {"room": _TEXT, "brightness": {"type": "integer", "minimum": 0, "maximum": 100}},
        _light,
    ),
    Kind(
        "tag_note",
        "Add tags to a note",
        {"note": _TEXT, "tags": {"type": "array", "items": _TEXT, "minItems": 1}},
        _tags,
    ),
    Kind(
        "triangle_area",
        "Area of a triangle",
        {"base": {"type": "number", "exclusiveMinimum": 0}, "height": {"type": "number", "exclusiveMinimum": 0}},
        _area,
    ),
)


def questions(count: int, seed: int = 20261123) -> list[Question]:
    """Return so many questions, the same ones each time."""
    rng = random.Random(seed)
    made = []
    for _ in range(count):
        kinds = rng.sample(KINDS, rng.randint(1, 4))
        meant = rng.choice(kinds)
        text, arguments = meant.ask(rng)
        made.append(Question(text, [kind.tool() for kind in kinds], meant.name, arguments))
    return made
