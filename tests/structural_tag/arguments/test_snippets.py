"""Argument schemas that are kept: found by content, the same wherever they stand."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import maskwright as mw
from maskwright.ir import Expr, GrammarIR, Rule, alt, seq, text
from maskwright.structural_tag.arguments.snippets import Snippet, arguments
from maskwright.structural_tag.formats.classes import JSONSchemaFormat
from maskwright.structural_tag.formats.kept import KEPT
from maskwright.structural_tag.texts.tokens import Tokens
from structural_tag.spelling import accepts, vocabulary

COMPILER = mw.GrammarCompiler(vocabulary(), cache_enabled=False)
SCHEMAS_USED: list[dict[str, Any]] = [
    {"type": "integer"},
    {"type": "object"},
    {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "array"}}},
    {"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}},
    {"type": "array", "items": {"$ref": "#"}},
    {
        "anyOf": [{"$ref": "#/$defs/n"}, {"type": "array", "items": {"$ref": "#/$defs/n"}}],
        "$defs": {"n": {"enum": [1, "x"]}},
    },
]
VALUES = [1, "x", {}, [], [[]], [[], [[]]], [1, "x"], {"a": "x"}, {"a": "x", "b": [1]}, {"a": 1}, None]


def snippet(schema: dict[str, Any], **options: Any) -> Snippet:
    return arguments(JSONSchemaFormat(schema, **options), Tokens(None), "")


def grammar_of(body: Expr) -> mw.Grammar:
    return mw.Grammar(GrammarIR((Rule("root", body),), 0))


def test_anywhere_they_mean_the_same() -> None:
    alone = [COMPILER.compile_json_schema(schema) for schema in SCHEMAS_USED]
    for order in (SCHEMAS_USED, SCHEMAS_USED[::-1], [*SCHEMAS_USED, *SCHEMAS_USED]):
        for options in ({}, {"max_whitespace_cnt": 3}, {"whitespace_pattern": " ?"}):  # another prelude each
            exprs = [snippet(s, **options).expr for s in order]
            marked = [seq(text(str(i)), expr) for i, expr in enumerate(exprs)]
            compact = grammar_of(alt(*marked))
            for grammar in (compact, mw.Grammar(compact.ir)):
                compiled = COMPILER.compile_grammar(grammar)
                for i, schema in enumerate(order):
                    reference = alone[SCHEMAS_USED.index(schema)]
                    for value in map(json.dumps, VALUES):
                        assert accepts(compiled, f"{i}{value}") == accepts(reference, value), (schema, value)


def test_known_by_content() -> None:
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    assert snippet(schema) is snippet(json.loads(json.dumps(schema)))
    assert snippet(schema) is not snippet(schema, max_whitespace_cnt=1)
    assert snippet(schema) is not snippet(schema, strict_mode=True)
    assert snippet(schema) is not snippet(schema, whitespace_pattern=" ")
    assert snippet(schema, style="glm_xml") is not snippet(schema, style="qwen_xml")
    changed = snippet(schema)
    schema["properties"]["q"] = {"type": "integer"}  # what was kept does not change with the caller's data
    assert snippet(schema) is not changed
    assert snippet({"const": 1}) is not snippet({"const": True})


def test_order_counts() -> None:
    first, second = {"a": {"type": "null"}}, {"b": {"type": "null"}}
    assert snippet({"properties": first | second}) is not snippet({"properties": second | first})


def test_one_more_tool_compiles_one_schema() -> None:
    def tag(count: int) -> dict[str, Any]:
        tags = [
            {
                "begin": f"<f{i}>",
                "content": {"type": "json_schema", "json_schema": {"const": f"only here {i}"}},
                "end": "</f>",
            }
            for i in range(count)
        ]
        return {"format": {"type": "triggered_tags", "triggers": ["<f"], "tags": tags}}

    KEPT.clear()
    mw.Grammar.from_structural_tag(tag(20))
    first = KEPT.statistics()
    known = dict(KEPT._kept)
    mw.Grammar.from_structural_tag(tag(21))
    second = KEPT.statistics()
    assert first.entries == 3 * 20  # the tag, the schema, and what the tag became
    assert (second.entries, second.misses) == (3 * 21, first.misses + 3)
    assert all(KEPT._kept[key] is value for key, value in known.items())


def test_threads_use_the_same_snippet() -> None:
    schema = SCHEMAS_USED[3]
    reference = COMPILER.compile_json_schema(schema)
    fresh = mw.GrammarCompiler(vocabulary(), cache_enabled=False)  # nothing is linked yet

    def work(number: int) -> bool:
        first = [seq(text("?"), snippet(s).expr) for s in SCHEMAS_USED[: number % 4]]
        compiled = fresh.compile_grammar(grammar_of(alt(*first, seq(text("!"), snippet(schema).expr))))
        return all(accepts(compiled, "!" + v) == accepts(reference, v) for v in map(json.dumps, VALUES))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(64)))
