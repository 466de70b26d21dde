"""Generated tools and calls, rendered as chat templates write them: accepted, or refused and why.

    PYTHONPATH=tests:src python -m structural_tag.families.rendered_calls 300     the table, for so many sets of tools

For each family and set of tools there are four requests: auto, required, a named tool, and several calls in parallel.
A call is right if it is accepted to its end and the event reader gives back names and arguments.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import maskwright as mw
from maskwright.events import CallDone, EventReader
from maskwright.structural_tag import get_model_structural_tag
from structural_tag.families.makers import SPECIAL
from structural_tag.families.renderers import RENDERERS, Call
from structural_tag.spelling import tokenize, vocabulary

STRINGS = [
    "Paris", "", "São Paulo", "北京 🌦", 'say "hi"', "back\\slash", "two\nlines", "a, b: {c}", "x < 5 && y > 3", "it's",
    "tab\there", "null", "3", "</parameter>", "<tool_call>", "\u2028", "[1]", " padded ", "```json",
]  # fmt: skip
NAMES = ["city", "days", "Unit", "from_date", "to", "is_on", "x1", "options", "tags", "größe", "max-price", "zip.code"]
MODES = ("auto", "required", "named", "parallel")


class Case(NamedTuple):
    """A set of tools, and calls of them with valid arguments whose members come in any order."""

    tools: list[dict[str, Any]]
    calls: list[Call]


def cases(seed: str) -> Iterator[Case]:
    rng = random.Random(seed)
    while True:
        schemas = {f"tool_{name}": an_object(rng, 0) for name in rng.sample(["a", "b_2", "c", "get", "set"], 3)}
        tools = [{"type": "function", "function": {"name": n, "parameters": s}} for n, s in schemas.items()]
        names = rng.choices(list(schemas), k=3)
        yield Case(tools, [(name, a_value(rng, schemas[name])) for name in names])


def an_object(rng: random.Random, depth: int) -> dict[str, Any]:
    names = rng.sample(NAMES, rng.choice([0, 1, 2, 3, 3, 5]))
    if depth == 0:  # arguments in Python are identifiers
        names = [name for name in names if name.isidentifier()]
    out: dict[str, Any] = {"type": "object", "properties": {name: a_schema(rng, depth + 1) for name in names}}
    required = [name for name in names if rng.random() < 0.5]
    if required:
        out["required"] = required
    if rng.random() < 0.5:
        out["additionalProperties"] = False
    return out


def a_schema(rng: random.Random, depth: int) -> dict[str, Any]:
    kinds = ["string", "string", "integer", "number", "boolean", "null", "enum", "any"]
    kind = rng.choice([*kinds, "array", "object"] if depth < 3 else kinds)
    if kind == "enum":
        return {"type": "string", "enum": rng.sample(STRINGS[:9], 3)}
    if kind == "any":
        return {"type": ["string", "null"]}
    if kind == "array":
        return {"type": "array", "items": a_schema(rng, depth + 1)}
    return an_object(rng, depth) if kind == "object" else {"type": kind}


def a_value(rng: random.Random, schema: dict[str, Any]) -> Any:
    """A valid value; members that are not required may be missing, and come in any order."""
    kind = rng.choice(schema["type"]) if isinstance(schema["type"], list) else schema["type"]
    if "enum" in schema:
        return rng.choice(schema["enum"])
    if kind == "object":
        required = schema.get("required", [])
        names = [name for name in schema["properties"] if name in required or rng.random() < 0.6]
        return {name: a_value(rng, schema["properties"][name]) for name in rng.sample(names, len(names))}
    if kind == "array":
        return [a_value(rng, schema["items"]) for _ in range(rng.randrange(3))]
    values: dict[str, list[Any]] = {
        "string": STRINGS,
        "integer": [0, -7, 3, 10**12],
        "number": [0, 2.5, -0.125, 1e-07, 1e22, 7],
        "boolean": [True, False],
        "null": [None],
    }
    return rng.choice(values[kind])


def request_of(case: Case, mode: str) -> tuple[dict[str, Any], list[Call]]:
    """The options of a request, and the calls that answer it."""
    if mode == "named":
        return {"tool_choice": {"type": "function", "function": {"name": case.calls[0][0]}}}, case.calls[:1]
    return {"tool_choice": "required" if mode == "required" else "auto"}, case.calls[: 3 if mode == "parallel" else 1]


def failure(compiler: mw.GrammarCompiler, family: str, case: Case, mode: str) -> str | None:
    """Why a rendered answer is not right; None if it is."""
    options, calls = request_of(case, mode)
    try:
        tag = get_model_structural_tag(family, case.tools, reasoning="disabled", **options)
        compiled = compiler.compile_structural_tag(tag)
    except mw.MaskwrightError as error:
        return f"request: {error.message[:60]}"
    text = RENDERERS[family](calls)
    matcher = mw.GrammarMatcher(compiled)
    tokens = tokenize(compiler.tokenizer_info, text)
    accepted = matcher.accept_tokens(tokens)
    if accepted < len(tokens):
        return f"refused: {reason(calls, text)}"
    if not matcher.is_completed():
        return "refused: the end"
    matcher.accept_token(compiler.tokenizer_info.stop_token_ids[0])
    found = [(e.name, json.loads(e.arguments)) for e in EventReader(matcher).read() if isinstance(e, CallDone)]
    if found == calls:
        return None
    is_named_null = '"null"' in json.dumps(calls)
    return f"read otherwise: {'the string null where null may be' if is_named_null else f'{text!r:.200}'}"


def reason(calls: list[Call], text: str) -> str:
    """The likely cause: what of the arguments no reader of such a format could tell."""
    values = json.dumps(calls, ensure_ascii=False)
    for mark in ("</parameter>", "<tool_call>"):
        if mark in values:
            return f"a string holds {mark}"
    return "None for null" if "None" in text else f"other: {text!r:.200}"


def table(count: int) -> dict[str, tuple[int, Counter[str]]]:
    """By family: how many answers are right, and what the others are not."""
    out = {}
    for family in RENDERERS:
        compiler = mw.GrammarCompiler(vocabulary(SPECIAL, ["<think>", "</think>"]))
        right, wrong = 0, Counter[str]()
        generated = cases("rendered calls")
        for _ in range(count):
            case = next(generated)
            for mode in MODES:
                found = failure(compiler, family, case, mode)
                right += found is None
                wrong.update([found] if found else [])
        out[family] = right, wrong
    return out


if __name__ == "__main__":
    for name, (accepted, refused) in table(int(sys.argv[1])).items():
        print(f"{name:18} accepted {accepted:5}   refused {refused.total():4}")
        for why, times in refused.most_common(6):
            print(f"      {times:4} {why}")
