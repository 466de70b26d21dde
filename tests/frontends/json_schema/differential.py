"""This front-end against python-jsonschema, through the kernel, on random schemas (random_schemas.py).

    python tests/frontends/json_schema/differential.py 100000

For each schema: walks of allowed tokens must end in valid texts, and never find no way on; texts in any spelling are
accepted only if valid; a valid value is accepted in some order of its members, as `json.dumps` writes it. Orders are
tried at random, those in which declared members come first more often. The values are random ones, and what the walks
found with something changed. Where something is left out as unsupported, only valid values
are compared: none may be lost. With plain numbers, none is compared for that, as some values have no such spelling.

python-jsonschema is given exact numbers, and patterns whose `$` is the end as ECMA-262 has it.
"""

from __future__ import annotations

import argparse
import datetime
import ipaddress
import json
import random
import re
import uuid
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

import jsonschema

from frontends.json_schema.random_schemas import Maker, plain_text
from maskwright import Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo, allocate_token_bitmask
from maskwright.errors import LimitError, SchemaError, UnsatisfiableError
from maskwright.frontends.json_schema import Finding, JsonSchemaOptions, schema_to_ir

WALKS, VALUES, ORDERS = 2, 6, 2000
MAX_STEPS = 400
SKEW_AFTER = 25
LONGER_TOKENS = [
    b'{"',
    b'"}',
    b'":',
    b'": ',
    b'", "',
    b"]}",
    b"}}",
    b"null",
    b"true",
    b'"a',
    b'a"',
    b"[[",
    b"1.",
    b".5",
    b"00",
]
VOCABULARY = [*[bytes([b]) for b in range(256)], *LONGER_TOKENS, b""]
_RARE = frozenset((b" ", b"\t", b"\n", b"\r", b"\\", b"e", b"E"))
STOP = len(VOCABULARY) - 1


class Failure(NamedTuple):
    """`kind` is "accepts", "rejects", "walks" (into an invalid text) or "sticks"."""

    kind: str
    schema: Any
    text: str


class Tally:
    """What became of the schemas and values of a run, and the compiler that it uses."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.refusals: Counter[str] = Counter()
        self.failures: list[Failure] = []
        info = TokenizerInfo.from_vocab(VOCABULARY, stop_token_ids=[STOP])
        self.compiler = GrammarCompiler(info, max_threads=1, cache_enabled=False)

    def __str__(self) -> str:
        lines = [f"{count:8} {what}" for what, count in sorted(self.counts.items())]
        lines += ["refused:", *[f"{count:8} {why}" for why, count in self.refusals.most_common()]]
        return "\n".join([*lines, f"failures: {len(self.failures)}", *map(str, self.failures[:20])])


# The judge


def _is_integer(_: Any, value: Any) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, Decimal) and _is_multiple(value, 1))


def _is_multiple(value: int | Decimal, of: int | Decimal) -> bool:
    _, digits, exponent = Decimal(value).as_tuple()
    _, unit, unit_exponent = Decimal(of).as_tuple()
    number, divisor = (int("".join(map(str, d))) for d in (digits, unit))
    assert isinstance(exponent, int)
    assert isinstance(unit_exponent, int)
    shift = exponent - unit_exponent
    if shift >= 0:
        return number * pow(10, shift, divisor) % divisor == 0
    return number == 0 or (-shift <= len(digits) and number % (divisor * 10**-shift) == 0)


def _multiple_of(_: Any, of: Any, value: Any, __: Any) -> Iterator[jsonschema.ValidationError]:
    if isinstance(value, (int, Decimal)) and not isinstance(value, bool) and not _is_multiple(value, of):
        yield jsonschema.ValidationError(f"{value} is no multiple of {of}")


_FORMATS = {
    "date": (r"\d{4}-\d\d-\d\d", datetime.date.fromisoformat),
    "time": (r"([01]\d|2[0-3]):[0-5]\d:([0-5]\d(\.\d+)?([zZ]|[+-]([01]\d|2[0-3]):[0-5]\d)|60.*)", str),
    "ipv4": (r"[\d.]+", ipaddress.IPv4Address),
    "ipv6": (r"[^%]+", ipaddress.IPv6Address),
    "uuid": (r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", uuid.UUID),
    "json-pointer": (r"(/([^~/]|~[01])*)*", str),
    "duration": (
        r"P(?!\Z)(\d+W|(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+S)?)?)",
        lambda text: re.fullmatch(r"(?!.*Y\d+D)(?!.*H\d+S).*", text)[0],  # type: ignore[index]
    ),
}


def _format(_: Any, name: Any, value: Any, __: Any) -> Iterator[jsonschema.ValidationError]:
    if not isinstance(value, str):
        return
    pattern, parse = _FORMATS[name]
    try:
        # The first year of `datetime` is 1.
        if re.fullmatch(pattern, value, re.ASCII | re.DOTALL):
            parse(re.sub("^0000", "2000", value) if name == "date" else value)
            return
    except (ValueError, TypeError):
        pass
    yield jsonschema.ValidationError(f"{value} is no {name}")


_NUMBERS = jsonschema.Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer)
_JUDGE = jsonschema.validators.extend(
    jsonschema.Draft202012Validator, {"multipleOf": _multiple_of, "format": _format}, type_checker=_NUMBERS
)


def _for_python(schema: Any) -> Any:
    """The schema with patterns as `re` understands them."""
    if isinstance(schema, list):
        return [_for_python(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    out = {keyword: _for_python(part) for keyword, part in schema.items()}
    if isinstance(schema.get("pattern"), str):
        out["pattern"] = schema["pattern"].replace("$", r"\Z")
    if isinstance(schema.get("patternProperties"), dict):
        out["patternProperties"] = {p.replace("$", r"\Z"): s for p, s in out["patternProperties"].items()}
    return out


# The comparison


def shuffled(value: Any, rng: random.Random, declared: list[str]) -> Any:
    """The value with its members in some order, in each object some that may be declared before all others."""
    if isinstance(value, dict):
        first = rng.sample(declared, rng.randint(0, len(declared)))
        begin = [name for name in first if name in value]
        rest = [name for name in value if name not in begin]
        return {name: shuffled(value[name], rng, declared) for name in [*begin, *rng.sample(rest, len(rest))]}
    return [shuffled(item, rng, declared) for item in value] if isinstance(value, list) else value


def declared_names(schema: Any) -> list[str]:
    """The names that `properties` and `required` have anywhere in a schema."""
    if isinstance(schema, list):
        return sorted({name for inside in schema for name in declared_names(inside)})
    if not isinstance(schema, dict):
        return []
    found = {name for inside in schema.values() for name in declared_names(inside)}
    for keyword in ("properties", "required"):
        found.update(name for name in schema.get(keyword, ()) if isinstance(name, str))
    return sorted(found)


class Comparison:
    """One schema, compiled, and its judge."""

    def __init__(self, schema: Any, rng: random.Random, tally: Tally, **options: Any) -> None:
        """Raises: SchemaError, LimitError."""
        self.schema, self.rng, self.tally = schema, rng, tally
        self.judge = _JUDGE(_for_python(schema))
        self.any_order = options.get("any_order", False)
        self.has_all_spellings = options.get("numbers") == "any"
        report: list[Finding] = []
        try:
            self.compiled = self.tally.compiler.compile_grammar(
                Grammar(schema_to_ir(schema, JsonSchemaOptions(**options), report))
            )
        except UnsatisfiableError:
            self.compiled = None
        self.is_exact = all(finding.outcome != "relaxed" for finding in report)

    def fail(self, kind: str, text: str) -> None:
        self.tally.failures.append(Failure(kind, self.schema, text))

    def accepts(self, text: str) -> bool:
        if self.compiled is None:
            return False
        matcher = GrammarMatcher(self.compiled)
        return bool(matcher.accept_string(text) and matcher.is_completed())

    def walk(self) -> Any:
        """Follow allowed tokens to an end; return the value found, or None."""
        matcher, mask, chosen = GrammarMatcher(self.compiled), allocate_token_bitmask(1, len(VOCABULARY)), []
        for step in range(MAX_STEPS):
            matcher.fill_next_token_bitmask(mask)
            bits = int.from_bytes(mask.tobytes(), "little")
            allowed = [token for token in range(len(VOCABULARY)) if bits >> token & 1]
            if not allowed:
                self.fail("sticks", repr(b"".join(chosen)))
                return None
            token = self.chosen(allowed, step)
            assert matcher.accept_token(token)
            if token == STOP:
                return self.judged(b"".join(chosen).decode())
            chosen.append(VOCABULARY[token])
        self.tally.counts["walks without end"] += 1
        return None

    def chosen(self, allowed: list[int], step: int) -> int:
        ascii_ones = [token for token in allowed if token < 128 or token >= 256]
        if ascii_ones and self.rng.random() < 0.95:
            allowed = ascii_ones
        if step > SKEW_AFTER:
            for last in (STOP, *b'}]"'):
                if last in allowed and self.rng.random() < 0.7:
                    return last
        if self.rng.random() < 0.5:
            allowed = [token for token in allowed if VOCABULARY[token] not in _RARE] or allowed
        return self.rng.choice(allowed)

    def judged(self, text: str) -> Any:
        try:
            value = json.loads(text, parse_float=Decimal)
        except InvalidOperation:
            self.tally.counts["walks into exponents beyond Decimal"] += 1
            return None
        if self.is_exact and not self.judge.is_valid(value):
            self.fail("walks", text)
        return None if re.search("[eE][+-]?[0-9]{2}", text) else value

    def compare(self, value: Any, text: str) -> None:
        """Compare what both say about a value, in this text and as `json.dumps` writes it."""
        valid = self.judge.is_valid(value)
        self.tally.counts["valid values" if valid else "invalid values"] += 1
        if not valid:
            for spelled in (text, plain_text(value)):
                if self.is_exact and self.accepts(spelled):
                    self.fail("accepts", spelled)
            return
        if not self.has_all_spellings or self.accepts(plain_text(value)):
            return
        if self.any_order or not any(self.accepts(plain_text(other)) for other in self.orders(value)):
            self.fail("rejects", plain_text(value))

    def orders(self, value: Any) -> Iterator[Any]:
        declared = declared_names(self.schema)
        return (shuffled(value, self.rng, declared) for _ in range(ORDERS))


def compare_schema(maker: Maker, tally: Tally, **options: Any) -> None:
    """Make a schema, and compare walks and values."""
    schema = maker.document()
    try:
        comparison = Comparison(schema, maker.rng, tally, **options)
    except (SchemaError, LimitError) as error:
        tally.counts["schemas refused"] += 1
        tally.refusals[re.sub(r"#[^ ]*", "#", error.message)] += 1
        return
    tally.counts["schemas compared" if comparison.is_exact else "schemas compared, relaxed"] += 1
    walks = WALKS if comparison.compiled is not None else 0
    found = [value for value in [comparison.walk() for _ in range(walks)] if value is not None]
    tally.counts["walks"] += walks
    values = [maker.value(2) if i % 2 or not found else maker.changed(maker.rng.choice(found)) for i in range(VALUES)]
    for value in values:
        text = maker.text(value)
        comparison.compare(json.loads(text, parse_float=Decimal), text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("values", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--any-order", action="store_true")
    parser.add_argument("--numbers", choices=("plain", "any"), default="any")
    parser.add_argument("--relax", action="store_true")
    arguments = parser.parse_args()
    tally, seed = Tally(), arguments.seed
    options = {
        "any_order": arguments.any_order,
        "numbers": arguments.numbers,
        "on_unsupported": "relax" if arguments.relax else "error",
    }
    while tally.counts["valid values"] + tally.counts["invalid values"] < arguments.values:
        known = len(tally.failures)
        compare_schema(Maker(seed), tally, **options)
        for failure in tally.failures[known:]:
            print(seed, failure, flush=True)
        seed += 1
    print(tally)


if __name__ == "__main__":
    main()
