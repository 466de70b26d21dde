"""What `bench_vllm.py` asks a server for: real schemas, regexes, grammars and tools, each with a judge of its own.

Outputs are judged by libraries that are not ours: `jsonschema`, `re`, and `lark`, which gets each grammar once more in
its own notation. Which schemas are asked for is decided by their place in the corpus, not by who can compile them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import lark
from bench_schemas import records
from tool_sets import tool_set
from vocabulary import SHARED

Judge = Callable[[Any], bool]
_HERE = Path(__file__).resolve().parent
_PROMPT_CHARACTERS = 1200


@dataclass(frozen=True)
class Asked:
    """A request: what goes into its body beside model and sampling, and who judges the answer."""

    name: str
    kind: str
    prompt: str
    body: dict[str, Any]
    judge: Judge

    def unconstrained(self) -> Asked:
        """The same prompt, and any answer is right."""
        return Asked(self.name, self.kind, self.prompt, {}, lambda _message: True)


def all_requests(num_schemas: int = 60) -> list[Asked]:
    """The schemas, ten regexes, ten grammars and ten tool sets, mixed."""
    asked = [*_schemas(num_schemas), *_regexes(), *_grammars(), *_tools()]
    return [asked[i * 37 % len(asked)] for i in range(len(asked))]  # 37 is prime to 90: no two of a kind in a row


def new_schema(number: int) -> dict[str, Any]:
    """A tool's parameters that no other number has, of the size that tools have."""
    return dict(tool_set(1, seed=1_000_000 + number)[0]["function"]["parameters"])


def _schemas(count: int) -> list[Asked]:
    beside = SHARED / "corpora" / "maskbench-dev.jsonl.gz"
    lines = records(beside if beside.exists() else _HERE / "data" / "schemas.jsonl")
    chosen = [json.loads(lines[i * len(lines) // count]) for i in range(count)]
    return [_schema(record["id"], record["schema"]) for record in chosen]


def _schema(name: str, schema: Any) -> Asked:
    validator = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)(schema)
    text = json.dumps(schema)[:_PROMPT_CHARACTERS]
    response_format = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    return Asked(
        name,
        "json_schema",
        f"Answer with JSON that fits this schema: {text}",
        {"response_format": response_format},
        lambda message: _valid_json(message.content, validator),
    )


def _valid_json(text: str | None, validator: Any) -> bool:
    try:
        return bool(validator.is_valid(json.loads(text or "")))
    except ValueError:
        return False


_REGEXES = {
    "a date": r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])",
    "an e-mail address": r"[a-z0-9._]{1,20}@[a-z0-9]{1,15}\.(com|org|net)",
    "an IPv4 address": r"((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])",
    "a sentiment": r"positive|negative|neutral",
    "a telephone number": r"\+[1-9][0-9]{0,2} [0-9]{3} [0-9]{4,8}",
    "a colour": r"#[0-9a-f]{6}",
    "a version": r"v?[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}(-(alpha|beta|rc)\.[0-9]{1,2})?",
    "a short sentence": r"[A-Z][a-z]{1,12}( [a-z]{1,12}){2,8}\.",
    "a UUID": r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
    "a list of numbers": r"\[[0-9]{1,5}(, [0-9]{1,5}){0,20}\]",
}


def _regexes() -> list[Asked]:
    return [_regex(name, pattern) for name, pattern in _REGEXES.items()]


def _regex(name: str, pattern: str) -> Asked:
    def judge(message: Any) -> bool:
        return re.fullmatch(pattern, message.content or "") is not None

    return Asked(name, "regex", f"Write {name}.", {"structured_outputs": {"regex": pattern}}, judge)


# Each in EBNF, which all backends read, and for the judge in Lark.
_GRAMMARS = {
    "a sum": (
        'root ::= term (("+" | "-") term)*\nterm ::= [0-9]+ | "(" root ")"',
        'start: term (("+" | "-") term)*\nterm: /[0-9]+/ | "(" start ")"',
    ),
    "a SQL query": (
        'root ::= "SELECT " columns " FROM " name (" WHERE " name " = " value)?\ncolumns ::= "*" | name (", " name)*\n'
        'name ::= [a-z] [a-z_]{0,12}\nvalue ::= [0-9]{1,6} | "\'" [a-z ]{0,12} "\'"',
        'start: "SELECT " columns " FROM " NAME (" WHERE " NAME " = " value)?\ncolumns: "*" | NAME (", " NAME)*\n'
        "NAME: /[a-z][a-z_]{0,12}/\nvalue: /[0-9]{1,6}/ | /'[a-z ]{0,12}'/",
    ),
    "a list of facts": (
        'root ::= ("- " [A-Za-z ,]{3,40} "\\n"){2,4}',
        "start: item~2..4\nitem: /- [A-Za-z ,]{3,40}\\n/",
    ),
    "balanced brackets": (
        'root ::= pair+\npair ::= "(" pair* ")" | "[" pair* "]"',
        'start: pair+\npair: "(" pair* ")" | "[" pair* "]"',
    ),
    "an XML element": (
        'root ::= "<note>" (text | bold)+ "</note>"\nbold ::= "<b>" text "</b>"\ntext ::= [a-zA-Z ,.]{1,30}',
        'start: "<note>" (TEXT | bold)+ "</note>"\nbold: "<b>" TEXT "</b>"\nTEXT: /[a-zA-Z ,.]{1,30}/',
    ),
    "an assignment": (
        'root ::= name " = " expression ";"\nexpression ::= value (" * " value)*\nvalue ::= name | [0-9]{1,4}\n'
        "name ::= [a-z]{1,10}",
        'start: NAME " = " expression ";"\nexpression: value (" * " value)*\nvalue: NAME | /[0-9]{1,4}/\n'
        "NAME: /[a-z]{1,10}/",
    ),
    "a dialogue": (
        'root ::= ("A: " line "B: " line){1,3}\nline ::= [A-Za-z ,.?!]{1,40} "\\n"',
        'start: turn~1..3\nturn: "A: " LINE "B: " LINE\nLINE: /[A-Za-z ,.?!]{1,40}\\n/',
    ),
    "a chess opening": (
        'root ::= "1. " move " " move " 2. " move " " move\nmove ::= [NBRQK]? [a-h] [1-8] | "O-O"',
        'start: "1. " MOVE " " MOVE " 2. " MOVE " " MOVE\nMOVE: /[NBRQK]?[a-h][1-8]|O-O/',
    ),
    "a Lisp expression": (
        'root ::= "(" atom (" " (atom | root))* ")"\natom ::= [a-z]{1,8} | [0-9]{1,4}',
        'start: "(" ATOM (" " (ATOM | start))* ")"\nATOM: /[a-z]{1,8}|[0-9]{1,4}/',
    ),
    "a table row": (
        'root ::= "|" cell{3} "\\n|" cell{3}\ncell ::= " " [A-Za-z0-9]{1,12} " |"',
        'start: "|" CELL~3 "\\n|" CELL~3\nCELL: / [A-Za-z0-9]{1,12} \\|/',
    ),
}


def _grammars() -> list[Asked]:
    return [_grammar(name, ebnf, for_judge) for name, (ebnf, for_judge) in _GRAMMARS.items()]


def _grammar(name: str, ebnf: str, for_judge: str) -> Asked:
    parser = lark.Lark(for_judge, parser="earley", lexer="dynamic_complete")

    def judge(message: Any) -> bool:
        try:
            parser.parse(message.content or "")
        except lark.exceptions.LarkError:
            return False
        return True

    return Asked(name, "grammar", f"Write {name}.", {"structured_outputs": {"grammar": ebnf}}, judge)


def _tools() -> list[Asked]:
    return [_tool_set(count, seed) for seed, count in enumerate((1, 1, 2, 3, 4, 5, 8, 8, 16, 32))]


def _tool_set(count: int, seed: int) -> Asked:
    tools = [_strict(tool) for tool in tool_set(count, seed=seed)]
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in tools}

    def judge(message: Any) -> bool:
        calls = message.tool_calls or []
        return bool(calls) and all(_valid_call(call.function, schemas) for call in calls)

    return Asked(
        f"{count} tools ({seed})",
        "tools",
        f"Call {next(iter(schemas))}.",
        {"tools": tools, "tool_choice": "required"},
        judge,
    )


def _strict(tool: dict[str, Any]) -> dict[str, Any]:
    """The tool with `strict`, without which vLLM leaves the arguments free."""
    return tool | {"function": tool["function"] | {"strict": True}}


def _valid_call(function: Any, schemas: dict[str, Any]) -> bool:
    if function.name not in schemas:
        return False
    return _valid_json(function.arguments, jsonschema.Draft202012Validator(schemas[function.name]))
