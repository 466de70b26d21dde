"""Hostile inputs, by kind and name; run as a script, tries one of them and prints how it ended.

    python hostile_inputs.py regex "30k parentheses"

prints "result" or the name of the typed error, then the peak memory in megabytes. Anything else is a failure.
Used by test_hostile.py, which runs each in a process of its own.
"""

from __future__ import annotations

import os
import re
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import maskwright
from maskwright import ir
from maskwright.ir import (
    ANY_BYTE,
    EMPTY,
    Expr,
    GrammarIR,
    Rule,
    alt,
    and_,
    not_,
    optional,
    ref,
    repeat,
    seq,
    star,
    text,
)

Input = Callable[[], Any]


def nested(depth: int, inner: Any, wrap: Callable[[Any], Any]) -> Any:
    for _ in range(depth):
        inner = wrap(inner)
    return inner


def chain(link: str, last: str, count: int = 30_000) -> str:
    """EBNF rules r0, r1, ..., each made from the number of the next by `link`."""
    rules = [f"r{i} ::= " + link.format(f"r{i + 1}") for i in range(count)]
    return "\n".join(["root ::= r0", *rules, f"r{count} ::= {last}"])


def ring(link: str, count: int) -> str:
    """EBNF rules r0, r1, ..., each made by `link` from the numbers of the next two, and back to the first."""
    rules = [f"r{i} ::= " + link.format(f"r{(i + 1) % count}", f"r{(i + 2) % count}") for i in range(count)]
    return "\n".join(["root ::= r0", *rules])


def grammar(*bodies: Any) -> maskwright.Grammar:
    return maskwright.Grammar(GrammarIR(tuple(Rule(f"r{i}", body) for i, body in enumerate(bodies)), 0))


def containing(needle: str) -> Expr:
    return seq(star(ANY_BYTE), text(needle), star(ANY_BYTE))


REGEX: dict[str, Input] = {
    "30k parentheses": lambda: "(" * 30_000 + "a" + ")" * 30_000,
    "30k open parentheses": lambda: "(" * 30_000,
    "200k alternatives in each other": lambda: "(a|" * 200_000 + "b" + ")" * 200_000,
    "200k groups in each other": lambda: "(?:a" * 200_000 + "b" + ")?" * 200_000,
    "30k lookaheads": lambda: "(?=" * 30_000 + "a" + ")" * 30_000,
    "30k classes": lambda: "[" * 30_000,
    "30k stars": lambda: "a" + "*" * 30_000,
    "30k optional groups": lambda: "(a" * 30_000 + ")?" * 30_000,
    "NUL": lambda: "a\0b",
    "NUL in a class": lambda: "[\0-\1]+",
    "lone surrogate": lambda: "\ud800",
    "a million": lambda: "a{1000000}",
    "a million of a million": lambda: "(a{1000000}){1000000}",
    "a tower of bounds": lambda: nested(12, "a", lambda r: f"({r}){{2,100}}"),
    "a tower of ambiguous stars": lambda: nested(30, "a|aa", lambda r: f"({r})*"),
    "a row of ambiguous stars": lambda: "(a|aa)*" * 500,
    "a huge bound": lambda: "a{" + "9" * 5_000 + "}",
    "exponential subsets": lambda: "(a|b)*a(a|b){60}",
    "exponential subsets, twice": lambda: "((a|b)*a(a|b){25}c)*((a|b)*b(a|b){25}d)*",
    "50k alternatives": lambda: "|".join(f"w{i:x}" for i in range(50_000)),
    "many classes": lambda: r"[^\s\d\w]" * 500,
    "rare characters": lambda: ".{0,5000}\U0010ffff[^\U0001f600]{3,}",
    "a backreference": lambda: r"(a)\1",
    "texts that may be empty, recalled": lambda: "(a*)" * 90 + "".join(rf"\{i}" for i in range(1, 91)),
    "a long text recalled": lambda: r"(.{0,5000})-\1",
    "a class upside down": lambda: "[z-a]",
}
EBNF: dict[str, Input] = {
    "30k parentheses": lambda: "root ::= " + "(" * 30_000 + '"a"' + ")" * 30_000,
    "30k open parentheses": lambda: "root ::= " + "(" * 30_000,
    "200k alternatives in each other": lambda: "root ::= " + '("a"|' * 200_000 + '"b"' + ")" * 200_000,
    "30k rules in a chain": lambda: chain("{}", '"a"'),
    "30k rules, left recursive": lambda: chain('{} "b" | "a"', "root"),
    "30k rules, nested": lambda: chain('"(" {} ")"', '"a"'),
    "doubling rules": lambda: chain("{0} {0}", '"a" | ""', count=60),
    "doubling rules, each optional": lambda: chain("{0}? {0}?", '"a"?', count=60),
    "2,000 counted rules in each other": lambda: chain("({}?){{2,100}}", 'root "a" | "a"', count=2_000),
    "a thousand of a thousand of a thousand": lambda: 'root ::= ((("a"{1000}){1000}){1000} "b"?)*',
    "a ring of rules that may be empty": lambda: ring('{0}? {1}? "x"?', 100),
    "a ring, left recursive": lambda: ring('{0}? {1}? "x"', 60),
    "a large ring, left recursive": lambda: ring('{0}? "y"* {1} | {1} {0}? "x" | "x"', 300),
    "a ring of counted rules": lambda: ring('{0}{{2,100}} {1}? "x"? | "x"', 100),
    "a ring around a loop": lambda: ring('{0}* {1} "y"? | "y" {0}? | "x"', 200),
    "NUL": lambda: 'root ::= "\0"',
    "NUL outside": lambda: "root ::= \0",
    "no base case": lambda: 'root ::= "a" root',
    "itself": lambda: "root ::= root",
    "nullable cycle": lambda: 'root ::= a b\na ::= b a | ""\nb ::= a b | ""',
    "a million": lambda: 'root ::= "a"{1000000}',
    "a million rules of a million": lambda: 'root ::= r{1000000}\nr ::= "a"{1000000}',
    "a huge bound": lambda: 'root ::= "a"{' + "9" * 5_000 + "}",
    "a long literal": lambda: 'root ::= "' + "a" * 1_000_000 + '"',
}
SCHEMA: dict[str, Input] = {
    "deep arrays": lambda: nested(30_000, {}, lambda s: {"items": s}),
    "deep objects": lambda: nested(500, {}, lambda s: {"properties": {"a": s}, "required": ["a"]}),
    "deep anyOf": lambda: nested(30_000, {}, lambda s: {"anyOf": [s]}),
    "wide and deep anyOf": lambda: nested(40, {"type": "null"}, lambda s: {"anyOf": [s, s]}),
    "deep text": lambda: "[" * 100_000,
    "deep schema text": lambda: '{"items":' * 100_000 + "{}" + "}" * 100_000,
    "deep const": lambda: {"const": nested(30_000, [], lambda v: [v])},
    "$ref to itself": lambda: {"$ref": "#"},
    "$ref cycle": lambda: {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
    "anyOf cycle": lambda: {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
    "no finite instance": lambda: {"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]},
    "$ref to the network": lambda: {"$ref": "http://127.0.0.1:1/x.json"},
    "long enum": lambda: {"enum": ["x" * 100_000, "y" * 100_000]},
    "100k choices": lambda: {"enum": [f"{i * 7919 % 100_003}" for i in range(100_000)]},
    "1,000 optional properties": lambda: {"properties": {f"p{i}": {"type": "integer"} for i in range(1_000)}},
    "maxLength of a million": lambda: {"type": "string", "maxLength": 1_000_000},
    "a huge minLength": lambda: {"type": "string", "minLength": 10**30},
    "maxItems of a million": lambda: {"type": "array", "maxItems": 1_000_000, "items": {"type": "string"}},
    "huge integers": lambda: {"type": "integer", "minimum": -(10**300), "maximum": 10**300},
    "NaN": lambda: {"type": "number", "minimum": float("nan")},
    "an open pattern": lambda: {"type": "string", "pattern": "(" * 30_000},
    "an exponential pattern": lambda: {"type": "string", "pattern": "(a|b)*a(a|b){40}$", "maxLength": 100},
    "an open grammar": lambda: {"x-grammar": {"syntax": "lark", "definition": "start: " + "(" * 30_000}},
    "half a surrogate in a grammar": lambda: {"x-grammar": {"syntax": "ebnf", "definition": 'root ::= "\ud800"'}},
    "a huge grammar": lambda: {"x-grammar": {"syntax": "regex", "definition": "[a-z]{3}" * 100_000}, "minLength": 1},
    "strange property names": lambda: {"properties": {"\0\ud800": {"type": "null"}}},
    "many prefixItems": lambda: {"prefixItems": [{}] * 5_000},
}
IR: dict[str, Input] = {
    "100k choices": lambda: grammar(alt(*(text(f"{i * 7919 % 100_003}") for i in range(100_000)))),
    "nullable cycle": lambda: grammar(alt(ref(1), EMPTY), alt(ref(0), seq(ref(1), ref(0)))),
    "star of nullable": lambda: grammar(star(alt(ref(1), EMPTY)), star(star(ref(0)))),
    "a million": lambda: grammar(repeat(text("ab"), 10**6, 10**6)),
    "repeats in repeats": lambda: grammar(nested(40, text("a"), lambda e: repeat(alt(e, text("b")), 2, 1_000))),
    "intersections": lambda: grammar(and_(*(not_(containing(f"x{i}")) for i in range(200)))),
    "intersection of counts": lambda: grammar(and_(*(repeat(ANY_BYTE, i, 10**5 + i) for i in range(20)))),
    "doubling complements": lambda: grammar(not_(seq(star(ANY_BYTE), text("a"), repeat(ANY_BYTE, 40, 40)))),
    "2,000 levels": lambda: grammar(nested(2_000, text("a"), lambda e: alt(seq(text("("), e, text(")")), EMPTY))),
    "200k levels": lambda: grammar(
        nested(200_000, text("a"), lambda e: Expr((ir.OP_SEQ, text("b"), Expr((ir.OP_REPEAT, e, 0, 1)))))
    ),
    "many rules": lambda: grammar(
        alt(*map(ref, range(1, 20_000))), *(seq(text(f"{i}"), optional(ref(0))) for i in range(1, 20_000))
    ),
    "200k rules in a chain": lambda: grammar(*(seq(text("a"), ref(i + 1)) for i in range(200_000)), text("b")),
    "30k rules in a ring": lambda: grammar(
        alt(text("x"), seq(text("y"), ref(1))),
        *(alt(seq(text("a"), ref((i + 1) % 30_000)), seq(text("b"), ref(i - 1))) for i in range(1, 30_000)),
    ),
    "30k rules in a ring without an end": lambda: grammar(
        *(seq(text("a"), ref((i + 1) % 30_000)) for i in range(30_000))
    ),
    "2,000 left recursive rules in a ring": lambda: grammar(
        *(alt(seq(ref((i + 1) % 2_000), text("b")), text("a")) for i in range(2_000))
    ),
    "a reference to nowhere": lambda: grammar(ref(7)),
    "a negative reference": lambda: grammar(ref(-1)),
    "a negative repeat": lambda: grammar(Expr((ir.OP_REPEAT, text("a"), -5, 3))),
    "an unknown operator": lambda: grammar(Expr((99, text("a")))),
    "no expression": lambda: grammar("a"),
    "a literal of no bytes": lambda: grammar(Expr((ir.OP_LITERAL, 7))),
    "a set of more than bytes": lambda: grammar(Expr((ir.OP_SET, 1 << 400))),
    "no root": lambda: maskwright.Grammar(GrammarIR((), 0)),
    "a huge repeat": lambda: grammar(repeat(text("a"), 10**30)),
    "a rule inside a complement": lambda: grammar(Expr((ir.OP_NOT, ref(0)))),
    "tokens that do not exist": lambda: grammar(alt(ir.tokens([-1, 2**31, 10**6]), text("a"))),
}
LONG: dict[str, Input] = {
    "rules that repeat each other": lambda: use(
        COMPILER.compile_grammar(chain("({0}?){{2,100}}", '"a"?', 12)), b"a" * 20
    ),
    "2,000 grammars": lambda: [use(COMPILER.compile_regex(f"[a-z]{{{i},{i + 9}}}x{i}")) for i in range(2_000)],
    "a million bytes": lambda: use(COMPILER.compile_regex("[ab]*"), b"ab" * 500_000),
    "200k levels": lambda: use(COMPILER.compile_grammar('root ::= "a" root "b" | ""'), b"a" * 200_000 + b"b" * 200_000),
    "5,000 of a million": lambda: use(COMPILER.compile_regex("a{1000000}"), b"a" * 5_000),
    "2,000 bytes of ambiguity": lambda: use(COMPILER.compile_regex("(a|aa)*" * 8), b"a" * 2_000),
    "1,000 bytes of exponential subsets": lambda: use(COMPILER.compile_regex("(a|b)*a(a|b){60}"), b"ab" * 500),
    "2,000 nested arrays": lambda: use(COMPILER.compile_json_schema({"items": {"$ref": "#"}}), b"[" * 2_000),
    "100k choices": lambda: use(COMPILER.compile_choices([f"{i}" for i in range(100_000)]), b"4321"),
    "a choice of 100k bytes": lambda: use(COMPILER.compile_choices(["x" * 100_000]), b"x" * 5_000),
    "NUL": lambda: use(COMPILER.compile_regex("a\0b"), b"a\0b"),
}
KINDS = {"regex": REGEX, "ebnf": EBNF, "schema": SCHEMA, "ir": IR, "long": LONG}

TOKENS = [*(bytes((b,)) for b in range(256)), b"aaaa", b"[[", b"a" * 40, b"</s>"]
INFO = maskwright.TokenizerInfo.from_vocab(TOKENS, special_token_ids=[259], stop_token_ids=[259])
COMPILER = maskwright.GrammarCompiler(INFO)


def use(compiled: maskwright.CompiledGrammar, output: bytes = b"") -> None:
    """Fill, accept the output byte by byte, and use everything else once."""
    bitmask = maskwright.allocate_token_bitmask(1, INFO.vocab_size)
    matcher = maskwright.GrammarMatcher(compiled)
    matcher.fill_next_token_bitmask(bitmask)
    assert matcher.accept_tokens(list(output)) == len(output)
    matcher.fill_next_token_bitmask(bitmask)
    matcher.find_jump_forward_string()
    matcher.fork().rollback(len(output))


def run(kind: str, name: str) -> None:
    source = KINDS[kind][name]()
    if kind == "regex":
        use(COMPILER.compile_regex(source))
    elif kind == "schema":
        use(COMPILER.compile_json_schema(source))
    elif kind != "long":
        use(COMPILER.compile_grammar(source))


def peak_megabytes() -> int:
    """The peak resident memory of this program.

    On Linux, `ru_maxrss` covers what ran in the process before: the test process whose fork became this program.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return int(re.search(r"VmHWM:\s+(\d+) kB", status.read_text())[1]) // 1024  # type: ignore[index]
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1 << 20)  # macOS counts bytes


def main() -> None:
    if "LD_PRELOAD" not in os.environ:  # the sanitizers reserve terabytes
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    try:
        run(*sys.argv[1:])
        print("result")
    except (maskwright.MaskwrightError, TypeError) as error:
        public = next(c for c in type(error).__mro__ if c is TypeError or c.__name__ in maskwright.__all__)
        print(public.__name__ if len(str(error)) < 2_000 else "a message that leaks the input")
    print(peak_megabytes())


if __name__ == "__main__":
    main()
