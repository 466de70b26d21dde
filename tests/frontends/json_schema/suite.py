"""The official test suite of JSON Schema: its groups, and how this front-end does on each.

The suite lies in ../shared beside the checkout, or where the variable JSON_SCHEMA_TEST_SUITE says.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema_specifications
import referencing
import referencing.jsonschema

from corpora import JSON_SCHEMA_TEST_SUITE
from frontends.json_schema.grammar_matcher import accepts_text
from maskwright.errors import LimitError, SchemaError, UnsatisfiableError
from maskwright.frontends.json_schema import JsonSchemaOptions, schema_to_ir
from maskwright.ir import GrammarIR

SUITE = Path(os.environ.get("JSON_SCHEMA_TEST_SUITE") or JSON_SCHEMA_TEST_SUITE)
SELECTION = Path(__file__).parent / "selection.json"
URIS = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}
REQUIRED, FORMATS = "*.json", "optional/format/*.json"


class Group(NamedTuple):
    name: str
    schema: Any
    tests: list[Any]


class Outcome(NamedTuple):
    """`kind` is "right", "rejects" (valid instances) or "refused"; `wrong` are invalid instances that are accepted."""

    kind: str
    reason: str
    wrong: list[str]


def groups_of(path: Path, draft: str) -> Iterator[Group]:
    for group in json.loads(path.read_text(encoding="utf-8")):
        schema = group["schema"]
        if isinstance(schema, dict):
            schema = {"$schema": URIS[draft], **schema}
        yield Group(f"{path.stem}: {group['description']}", schema, group["tests"])


def groups(draft: str, pattern: str = REQUIRED) -> Iterator[Group]:
    for path in sorted((SUITE / "tests" / draft).glob(pattern)):
        yield from groups_of(path, draft)


def options_of(draft: str, pattern: str = REQUIRED) -> dict[str, Any]:
    """As the suite has it, values are written in any way, and formats are annotations but in the tests of formats."""
    options: dict[str, Any] = {"numbers": "any"}
    return options if pattern == FORMATS else {**options, "registry": registry(draft), "formats": "annotate"}


@cache
def registry(draft: str) -> referencing.Registry[Any]:
    """The metaschemas, and the documents that the suite has for references to lead to."""
    specification = getattr(referencing.jsonschema, draft.upper().replace("-", ""))
    remotes = SUITE / "remotes"
    resources = []
    for path in remotes.rglob("*.json"):
        inside = path.relative_to(remotes)
        if inside.parts[0].startswith(("draft", "v1")) and inside.parts[0] != draft:
            continue
        schema = json.loads(path.read_text(encoding="utf-8"))
        resource = referencing.Resource.from_contents(schema, specification)
        resources.append((f"http://localhost:1234/{inside.as_posix()}", resource))
    return jsonschema_specifications.REGISTRY.with_resources(resources).crawl()


def outcome(group: Group, **options: Any) -> Outcome:
    try:
        grammar = schema_to_ir(group.schema, JsonSchemaOptions(**options))
    except UnsatisfiableError:
        rejected = [test["data"] for test in group.tests if test["valid"]]
        return Outcome("rejects" if rejected else "right", "all values are rejected" if rejected else "", [])
    except (SchemaError, LimitError) as error:
        return Outcome("refused", error.message, [])
    rejected, wrong = [], []
    for test in group.tests:
        texts = itertools.islice(spellings(test["data"]), 500)
        if not test["valid"]:
            if any(accepts_text(grammar, text) for text in texts):
                wrong.append(test["description"])
        elif not accepts_text(grammar, next(texts, "")) and _is_text(test["data"]):
            rejected.append(test["data"])
    return Outcome("rejects" if rejected else "right", _why(grammar, rejected), wrong)


def _why(grammar: GrammarIR, rejected: list[Any]) -> str:
    if not rejected:
        return ""
    ordered = all(any(accepts_text(grammar, text) for text in spellings(value)) for value in rejected)
    return "members come in another order" if ordered else "some values or spellings are left out"


def spellings(value: Any) -> Iterator[str]:
    """The texts of a value with its members in all orders, that of `json.dumps` first."""
    if not _is_text(value):
        return
    if isinstance(value, dict):
        members = [[(json.dumps(k, ensure_ascii=False), text) for text in spellings(v)] for k, v in value.items()]
        for chosen in itertools.product(*members):
            for order in itertools.permutations(chosen):
                yield "{" + ", ".join(f"{name}: {text}" for name, text in order) + "}"
    elif isinstance(value, list):
        for items in itertools.product(*[list(spellings(item)) for item in value]):
            yield "[" + ", ".join(items) + "]"
    else:
        yield json.dumps(value, ensure_ascii=False)


def _is_text(value: Any) -> bool:
    """Whether a value can be written in UTF-8: half a surrogate pair cannot."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def page() -> str:
    """Return the tables of docs/json_schema.md."""
    counts = ["| tests | groups | right | reject something valid | refused |", "| --- | --- | --- | --- | --- |"]
    not_right: dict[tuple[str, str, str], list[str]] = {}
    for draft, pattern in [*((draft, REQUIRED) for draft in URIS), ("draft2020-12", FORMATS)]:
        title = f"{draft}, formats" if pattern == FORMATS else draft
        kinds = {"right": 0, "rejects": 0, "refused": 0}
        for group in groups(draft, pattern):
            result = outcome(group, **options_of(draft, pattern))
            assert not result.wrong, (draft, group.name, result.wrong)
            kinds[result.kind] += 1
            if result.kind != "right":
                not_right.setdefault((group.name, result.kind, result.reason), []).append(title)
        total = sum(kinds.values())
        counts.append(f"| {title} | {total} | {kinds['right']} | {kinds['rejects']} | {kinds['refused']} |")
    rows = ["| group | in | outcome | why |", "| --- | --- | --- | --- |"]
    for (name, kind, reason), where in sorted(not_right.items()):
        cells = [name, ", ".join(where), kind, reason]
        rows.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(counts) + "\n\n" + "\n".join(rows) + "\n"
