"""The limits on work hold in time, too: a text that asks for more than a limit allows is refused in half a second.

Nor does the work of front-ends grow with the square of a text: what is short is read in that time, too.
Processor time is measured, and each case may be tried again, so that a busy machine fails none.
"""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hostile_inputs import COMPILER

import maskwright
from maskwright import lint
from maskwright.frontends.json_schema.options import MAX_INDENT
from maskwright.frontends.json_schema.sets.multiples import MAX_ALL_STATES
from timing import processor_seconds

SECONDS = 0.5 * (20 if "LD_PRELOAD" in os.environ else 2)  # twice what is promised, as machines differ
UNREACHABLE = {
    "a million": 'root[max_tokens=3] ::= "a"{1000000}',
    "a billion": 'root[max_tokens=3] ::= "a"{1000000000}',
    "of rules": 'root[max_tokens=30] ::= x{1000000}\nx ::= "ab" | "c"',
    "nested": 'root[max_tokens=30] ::= (("a"{1000} "b"){1000} "c"){1000}',
    "at least a million": 'root[max_tokens=30] ::= "a"{1000000,2000000}',
    "in each item": "root ::= x{1000000}\nx[max_tokens=2] ::= [a-z]{1000}",
    "a long literal": 'root[max_tokens=3] ::= "' + "ab" * 300_000 + '"',
    "doublings": "\n".join(
        ["root[max_tokens=3] ::= r0", *(f"r{i} ::= r{i + 1} r{i + 1}" for i in range(40)), 'r40 ::= "a"']
    ),
    "one token short": 'root[max_tokens=24999] ::= "a"{1000000}',
}
# Of each, the shortest output takes as many tokens as the first budget; that is found by arithmetic.
EXACT = {
    'root[max_tokens={}] ::= "a"{{1000000}}': 25_000,
    'root[max_tokens={}] ::= ("a" | "bc"){{40000}}': 1_000,
    'root[max_tokens={}] ::= "a"{{4001}}': 101,
    'root[max_tokens={}] ::= x{{4000}}\nx ::= "a" | "b" x "c"': 100,
    'root[max_tokens={}] ::= ("a"{{3}} "b"){{200}}': 800,
}


def refused(source: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        COMPILER.compile_grammar(source)


@pytest.mark.parametrize("source", UNREACHABLE.values(), ids=UNREACHABLE)
def test_budgets_below_long_repetitions(source: str) -> None:
    assert processor_seconds(partial(refused, source, maskwright.UnsatisfiableError), runs=3) < SECONDS


@pytest.mark.parametrize(("source", "tokens"), EXACT.items())
def test_the_fewest_tokens_of_a_repetition(source: str, tokens: int) -> None:
    COMPILER.compile_grammar(source.format(tokens))
    refused(source.format(tokens - 1), maskwright.UnsatisfiableError)


def test_a_repetition_within_its_budget_to_the_end() -> None:
    matcher = maskwright.GrammarMatcher(COMPILER.compile_grammar('root[max_tokens=251] ::= "a"{10000} "b"'))
    forty = 258  # forty times `a`
    assert not matcher.accept_token(ord("a")), "no token can be spared"
    assert matcher.accept_tokens([forty] * 250 + [ord("b")]) == 251
    assert matcher.is_completed()


LIMITED = {
    "left recursive rules": "\n".join(
        ["root ::= r0", *(f'r{i} ::= r{i + 1} "b" | "a"' for i in range(30_000)), "r30000 ::= root"]
    ),
    "counted rules in each other": "\n".join(
        ["root ::= r0", *(f"r{i} ::= (r{i + 1}?){{2,100}}" for i in range(2_000)), 'r2000 ::= root "a" | "a"']
    ),
    "between the bounds": 'root[max_tokens=300000] ::= ("a"{1,50} "b" | "c"{3}){200000}',
}


@pytest.mark.parametrize("source", LIMITED.values(), ids=LIMITED)
def test_refusals(source: str) -> None:
    assert processor_seconds(partial(refused, source, maskwright.LimitError), runs=3) < SECONDS


COUNTS_IN_COUNTS = {"type": "string", "pattern": r"^(?:\S+\s+){0,49}\S+$", "maxLength": 500}
LONG_NAMES = ["abc" * 30 + last for last in "klmnop"]


def test_the_search_for_a_short_output() -> None:
    schema = {"type": "object", "properties": dict.fromkeys(LONG_NAMES, COUNTS_IN_COUNTS), "required": LONG_NAMES}
    compiled = COMPILER.compile_json_schema(schema, strict_mode=True)

    def search(budget: int) -> None:
        with pytest.raises(maskwright.LimitError, match="takes too long to find out"):
            maskwright.GrammarMatcher(compiled, max_tokens=budget)

    # Each goes on from what the ones before have found.
    assert any(processor_seconds(partial(search, budget)) < SECONDS for budget in (200, 199, 198))


# Of front-ends: a text that once took seconds, and what refuses it, if anything has to.
WORDS = [f"{i * 7919 % 100_003:x}".translate(str.maketrans("0123456789", "ghijklmnop")) for i in range(4_000)]
ANY_TEXT = "\nTEXT: /(.|\\n)*/\n"


def lark_rules(alternatives: str, rules: str, count: int = 800) -> str:
    """A start rule of alternatives, and rules, all from a number, the next one and a word."""
    ways, bodies = (
        [pattern.format(i, i + 1, word) for i, word in enumerate(WORDS[:count])] for pattern in (alternatives, rules)
    )
    return f"start: {' | '.join(ways)}{ANY_TEXT}" + "\n".join(bodies)


@functools.cache
def many_members() -> maskwright.Grammar:
    return maskwright.Grammar.from_json_schema(
        {"properties": {word: {"type": "string", "minLength": i % 7} for i, word in enumerate(WORDS[:1_500])}}
    )


def shared_parts(depth: int) -> Any:
    """A schema whose every part stands twice in the one around it, and is one object."""
    schema: Any = {"type": "null"}
    for _ in range(depth):
        schema = {"anyOf": [schema, schema]}
    return schema


FRONT_ENDS: dict[str, tuple[str | None, Callable[[], object]]] = {
    "terminals in a chain": (
        "lark terminal size",
        lambda: COMPILER.compile_lark(lark_rules("T{0}", 'T{0}: "a" T{1}', 4_000) + '\nT4000: "a"'),
    ),
    "alternatives beside free text": (
        None,
        lambda: COMPILER.compile_lark(lark_rules('"{2}" TEXT', "", 4_000) + "\nx: start | TEXT"),
    ),
    "tags beside free texts": (
        None,
        lambda: COMPILER.compile_lark(lark_rules("t{0} | x{0}", 't{0}: "<{2}>" /[a-z]+/ "</{2}>"\nx{0}: "{2}" TEXT')),
    ),
    "optional free texts": (None, lambda: COMPILER.compile_lark(f"start: {'TEXT? ' * 3_000}{ANY_TEXT}")),
    "rules that lead to each other, beside free text": (
        None,
        lambda: COMPILER.compile_lark(lark_rules("r{0} | TEXT", 'r{0}: "{2}" r{1}') + '\nr800: "x"'),
    ),
    "a long stop text": (
        "step",
        lambda: COMPILER.compile_lark(f'start: x\nx[stop="{"a" * 40_000}"]: TEXT{ANY_TEXT}'),
    ),
    "a long end of a tag": (
        "step",
        lambda: COMPILER.compile_structural_tag(
            {"format": {"type": "tag", "begin": "a", "content": {"type": "any_text"}, "end": "ab" * 20_000}}
        ),
    ),
    "word boundaries in a row": (None, lambda: COMPILER.compile_regex(r"\b.\b.\b.\b.\B.\b." * 40)),
    "a long text in chunks": (
        None,
        lambda: maskwright.Grammar.from_ebnf("root ::= Substring(" + ", ".join(f'"{w}"' for w in WORDS * 50) + ")"),
    ),
    "hints for many members": (None, lambda: lint(many_members())),
    "many members as EBNF": (None, lambda: str(many_members())),
    "many texts to look for": (
        None,
        lambda: maskwright.Grammar.from_ebnf(
            "root ::= TagDispatch(" + ", ".join(f'("<{w}>", r)' for w in WORDS[:2_000]) + ')\nr ::= "a"'
        ),
    ),
    "many tags that start rules": (
        None,
        lambda: maskwright.GrammarMatcher(
            COMPILER.compile_grammar(
                "root ::= TagDispatch("
                + ", ".join(f'("<{w}>", r{i})' for i, w in enumerate(WORDS[:1_000]))
                + ")\n"
                + "\n".join(f'r{i} ::= "{w}"' for i, w in enumerate(WORDS[:1_000]))
            )
        ).fill_next_token_bitmask(maskwright.allocate_token_bitmask(1, COMPILER.tokenizer_info.vocab_size)),
    ),
    "branches of one tag": (
        None,
        lambda: COMPILER.compile_json_schema(
            {"oneOf": [{"properties": {"a": {"const": w}}, "required": ["a"], "type": "object"} for w in WORDS]}
        ),
    ),
    "one range of many": (
        None,
        lambda: COMPILER.compile_json_schema(
            {"oneOf": [{"type": "integer", "minimum": 9 * i, "maximum": 9 * i + 5} for i in range(2_500)]}
        ),
    ),
    "any range of many": (
        None,
        lambda: COMPILER.compile_json_schema(
            {"anyOf": [{"type": "integer", "minimum": 9 * i, "maximum": 9 * i + 5} for i in range(6_000)]}
        ),
    ),
    "items that must be there": (
        None,
        lambda: COMPILER.compile_json_schema({"prefixItems": [{}] * 20_000, "minItems": 20_000, "type": "array"}),
    ),
    "parts that are shared": ("schema_size", lambda: COMPILER.compile_json_schema(shared_parts(1_000))),
    "divisors of one number": (
        "multipleOf",
        lambda: COMPILER.compile_json_schema(
            {"type": "integer", "allOf": [{"multipleOf": i} for i in range(1, 1_500)]}
        ),
    ),
    "unknown keywords": (None, lambda: COMPILER.compile_json_schema({f"propertie{w}": 1 for w in WORDS})),
    "different elements of a large enum": (
        None,
        lambda: COMPILER.compile_json_schema({"items": {"enum": WORDS}, "uniqueItems": True, "type": "array"}),
    ),
    "divisors of many members": (
        "multipleOf",
        lambda: COMPILER.compile_json_schema(
            {"properties": {w: {"not": {"multipleOf": 13 * i + 1}} for i, w in enumerate(WORDS[:300])}}
        ),
    ),
    "large divisors of many members": (
        None,
        lambda: COMPILER.compile_json_schema(
            {"properties": {w: {"type": "integer", "multipleOf": 10**9 + i} for i, w in enumerate(WORDS[:300])}}
        ),
    ),
}


def ends(run: Callable[[], object], limit: str | None) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", maskwright.GrammarWarning)
        warnings.simplefilter("ignore", maskwright.SchemaWarning)
        if limit is None:
            run()
            return
        with pytest.raises((maskwright.LimitError, maskwright.UnsupportedSchemaError)) as caught:
            run()
    assert limit in f"{getattr(caught.value, 'limit', '')}: {caught.value}"


@pytest.mark.parametrize("name", FRONT_ENDS)
def test_front_ends(name: str) -> None:
    limit, run = FRONT_ENDS[name]
    assert processor_seconds(partial(ends, run, limit), runs=3) < SECONDS


def divisors(count: int, **options: Any) -> maskwright.Grammar:
    schema = {"properties": {f"a{i}": {"type": "integer", "not": {"multipleOf": 997 + 2 * i}} for i in range(count)}}
    return maskwright.Grammar.from_json_schema(schema, **options)


def num_states(grammar: maskwright.Grammar) -> int:
    return sum(rule.name.startswith("multiple") for rule in grammar.ir.rules)


def test_remainders_are_counted_over_a_document() -> None:
    fitting = MAX_ALL_STATES // num_states(divisors(1)) - 1
    assert divisors(fitting).report == ()
    with pytest.raises(maskwright.UnsupportedSchemaError, match="too many states"):
        divisors(fitting + 3)
    relaxed = divisors(fitting + 50, on_unsupported="relax")
    assert num_states(relaxed) < MAX_ALL_STATES + 12, "the last state may add one for each character"
    assert len(relaxed.report) >= 48


def test_the_largest_indent() -> None:
    nested = {"type": "array", "items": {"$ref": "#"}}
    maskwright.Grammar.from_json_schema(nested, any_whitespace=False, indent=MAX_INDENT)
    for indent in (MAX_INDENT + 1, 10**30):
        with pytest.raises(maskwright.OptionError, match="from 0 to 100"):
            maskwright.Grammar.from_json_schema(nested, any_whitespace=False, indent=indent)
