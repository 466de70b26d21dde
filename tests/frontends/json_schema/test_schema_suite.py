"""The official test suite: every group is right, or refused, or rejects a valid instance; none accepts a wrong one.

Valid instances may be rejected for what is left out on purpose: members in another order, integers written `1.0`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_specifications
import pytest
import referencing
import referencing.jsonschema
from grammar_matcher import accepts

from maskwright.errors import LimitError, SchemaError, UnsatisfiableError
from maskwright.frontends.json_schema import JsonSchemaOptions, schema_to_ir

SUITE = Path(__file__).resolve().parents[4] / "shared" / "corpora" / "json-schema-test-suite"
ROOT, REMOTES = SUITE / "tests", SUITE / "remotes"
URIS = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}
LEAST_RIGHT = {"draft4": 148, "draft6": 218, "draft7": 243, "draft2019-09": 350, "draft2020-12": 363}


def groups(draft: str, pattern: str) -> Iterator[tuple[str, Any, list[Any]]]:
    for path in sorted((ROOT / draft).glob(pattern)):
        for group in json.loads(path.read_text(encoding="utf-8")):
            schema = group["schema"]
            if isinstance(schema, dict):
                schema = {"$schema": URIS[draft], **schema}
            yield f"{path.stem}: {group['description']}", schema, group["tests"]


@cache
def registry(draft: str) -> referencing.Registry[Any]:
    """The metaschemas, and the documents that the suite has for references to lead to."""
    specification = getattr(referencing.jsonschema, draft.upper().replace("-", ""))
    resources = []
    for path in REMOTES.rglob("*.json"):
        inside = path.relative_to(REMOTES)
        if inside.parts[0].startswith(("draft", "v1")) and inside.parts[0] != draft:
            continue
        schema = json.loads(path.read_text(encoding="utf-8"))
        resource = referencing.Resource.from_contents(schema, specification)
        resources.append((f"http://localhost:1234/{inside.as_posix()}", resource))
    return jsonschema_specifications.REGISTRY.with_resources(resources).crawl()


def outcome(schema: Any, tests: list[Any], **options: Any) -> tuple[str, list[str]]:
    """Return the outcome of a group and its wrongly accepted instances."""
    try:
        grammar = schema_to_ir(schema, JsonSchemaOptions(**options))
    except UnsatisfiableError:
        return ("rejects" if any(test["valid"] for test in tests) else "right"), []
    except (SchemaError, LimitError):
        return "refused", []
    judged = [(test, accepts(grammar, test["data"])) for test in tests if _is_text(test["data"])]
    wrong = [test["description"] for test, ok in judged if ok and not test["valid"]]
    return ("right" if all(ok == test["valid"] for test, ok in judged) else "rejects"), wrong


def _is_text(data: Any) -> bool:
    try:
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


@pytest.mark.skipif(not ROOT.is_dir(), reason="the official test suite is not here")
@pytest.mark.parametrize("draft", URIS)
def test_no_group_accepts_a_wrong_instance(draft: str) -> None:
    outcomes: Counter[str] = Counter()
    wrong: dict[str, list[str]] = {}
    for name, schema, tests in groups(draft, "*.json"):
        # As the suite has it: formats are annotations but in the tests of formats.
        result, accepted = outcome(schema, tests, registry=registry(draft), formats="annotate")
        outcomes[result] += 1
        if accepted:
            wrong[name] = accepted
    assert wrong == {}
    assert outcomes["right"] >= LEAST_RIGHT[draft], outcomes


@pytest.mark.skipif(not ROOT.is_dir(), reason="the official test suite is not here")
@pytest.mark.parametrize("draft", ["draft7", "draft2020-12"])
def test_no_format_accepts_a_wrong_instance(draft: str) -> None:
    wrong = {}
    for name, schema, tests in groups(draft, "optional/format/*.json"):
        _, accepted = outcome(schema, tests)
        if accepted:
            wrong[name] = accepted
    assert wrong == {}
