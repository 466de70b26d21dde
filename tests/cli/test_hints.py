"""The hints of the command line name its options, and nothing that exists in Python alone."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from maskwright.support.entrances import in_words_of

Cli = Callable[..., tuple[int, str, str]]
PYTHON = re.compile(r"compile_\w+|Grammar\.|json\.\w+\(|json\.dumps|yaml\.|\bdict\b|pass \w+=|root_rule_name|registry")


@pytest.mark.parametrize(
    ("option", "text", "hint"),
    [
        ("--schema", "{'type': 'object'}", "write JSON: strings and names in double quotes"),
        ("--schema", '{"type": "structural_tag"}', "use --tag"),
        ("--schema", '{"type": "function"}', "use --tools"),
        ("--schema", '{"$ref": "http://example.org/s"}', "embed the schema in $defs"),
        ("--tag", '{"type": "object"}', "for a JSON Schema, use --schema;"),
        ("--grammar", 'a ::= "x"', "rename one to 'root'"),
        ("--grammar", 'root ::= "a"\n%ignore " "', "use --lark"),
        ("--lark", "start: @x\n", "write its rules here"),
        ("--lark", 'a: "x"\n', "rename one to 'start'"),
        ("--lark", "[a-z]+\n", "use --regex"),
    ],
)
def test_hints_name_options(cli: Cli, option: str, text: str, hint: str) -> None:
    code, _, err = cli("explain", option, text, "--text", "x")
    assert code == 2
    assert hint in err
    assert not PYTHON.search(err)


def test_a_regex_in_another_language_is_warned_of(cli: Cli) -> None:
    _, _, err = cli("explain", "--regex", 'root ::= "a"', "--text", "x")
    assert err.startswith("warning: this looks like EBNF, but is matched as a regular expression\n")
    assert "use --grammar;" in err


def test_words_are_replaced() -> None:
    assert in_words_of([("a", "b"), ("c", "")], "a, c") == "b, "
