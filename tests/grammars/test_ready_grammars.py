"""The ready grammars: samples by hand, and random outputs that the format's usual parser has to read."""

from __future__ import annotations

import ast
import csv
import datetime
import io
import json
import random
import sys
import urllib.parse
import warnings
import xml.etree.ElementTree
from collections.abc import Callable

import pytest

from maskwright import Grammar, GrammarError, GrammarMatcher, grammars
from oracle.accepting import COMPILER
from oracle.comparing import scaled
from oracle.sampling import NoSampleError, Sampler

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# accepted and rejected texts, by grammar
SAMPLES: dict[str, tuple[list[str], list[str]]] = {
    "arithmetic": (
        ["1", " 1 + 2*(3 - -4.5) ", "2^3^4/5", "-(1)", "0.5"],
        ["", "1 +", "01", "(1", "1 2", "--1", "1.", "1 + * 2"],
    ),
    "chess_san": (
        ["1. e4 e5 2. Nf3 Nc6 3. Bb5 *", "12... Qxd8+!?", "1. O-O O-O-O#", "1. exd8=Q R1a3", "9. Nbd7 1-0"],
        ["", "e4", "0. e4", "1. e9", "1. e8", "1. Pe4", "1. O-O-O-O", "1. e4 e5 e6", "1. ed=Q"],
    ),
    "csv": (["a,b\r\nc,d\r\n", 'a,"b ""x"", c"\n1,', "", '"\n"'], ['a"b', '"a', '"a"b', "a\rb"]),
    "graphql_query": (
        [
            "{a}",
            "query Q($id: ID! = 1, $l: [Int!]) @d { user(id: $id) { name friends(first: 10, on: null) { ...F } } }",
            "fragment F on User { id, x: y }",
            'mutation { a(b: {c: [1, -2.5e3, "x\\n", """b "c" d"""]}) ... on T @include(if: true) { z } }',
            "{ # c\n a #d\n}",
        ],
        [
            "",
            "{}",
            "{a",
            "queryQ{a}",
            "query Q",
            "{a(b:)}",
            "{a(: 1)}",
            "fragment on on T {a}",
            "{ ... on }",
            "{ # c }",
        ],
    ),
    "iso_dates": (
        ["2024-02-29", "2023-12-31T23:59:59Z", "0001-01-01", "00:00:00.5", "2000-02-29T01:02:03.25+05:30"],
        ["2023-02-29", "1900-02-29", "2023-04-31", "0000-01-01", "2023-13-01", "24:00:00", "2023-01-01T", "2023-1-1"],
    ),
    "json": (
        ['{"a": [1, -2.5e+3, "x\\u00e9\\n", true, null, {}]}', ' "" \n', "0", "[[],[[]]]"],
        ["", "{a: 1}", "[1,]", "01", '"\t"', "'a'", "1 2", "nul", '{"a" 1}', '"\\x"', "[", "-", "1."],
    ),
    "markdown_table": (
        ["| a | b |\n| --- | :--: |\n| 1 | x y |\n", "| a |\n| --- |\n", "| a\\|b |\n| ---- |\n|  |\n"],
        ["| a | b |\n| --- |\n", "| a |\n", "a | b\n---|---\n", "| a |\n| == |\n", "| a |\n| --- |\n| 1 | 2 |\n"],
    ),
    "python_subset": (
        [
            "x = 1",
            "def f(a, b=2, *c) -> int: return a + b",
            "print('hello', end='')",
            "for i, j in z: x += i; continue",
            "y = [i**2 for i in xs if i % 2 == 0]\nz = {'a': 1}",
            "x = y if z else lambda a, b: w",
            "import os.path as p\n\n# c\nfrom a import b as c, d  # e",
            "a.b[1:2][::c](3, k=not x)",
            "if x is not None: y: int = 1; z = 2",
            "class A(B): pass",
            "with open(f) as g: del g[0]",
            "assert x not in y, 'z'\n",
        ],
        [
            "",
            "x = ",
            "if = 3",
            "f(a=1, 2)",
            "1x = 3",
            "x y",
            "def f(a=1, b): pass",
            "for 1 in x: pass",
            "x = 'a",
            "a = 01",
        ],
    ),
    "sql_select": (
        [
            "SELECT * FROM t",
            "SELECT a, COUNT(*) AS n FROM t JOIN u ON t.i = u.i WHERE a > 3 AND b LIKE 'x%' GROUP BY a HAVING c > 2",
            "WITH x AS (SELECT 1) SELECT * FROM x ORDER BY y DESC NULLS LAST LIMIT 10 OFFSET 5;",
            "SELECT CASE WHEN a = 1 THEN 'it''s' ELSE CAST(b AS TEXT) END FROM (SELECT c FROM d) AS e",
            'SELECT DISTINCT t.*, "odd name" FROM s.t AS t LEFT OUTER JOIN u ON NOT a IS NULL UNION SELECT a FROM b',
            "SELECT a IN (1, 2), b NOT BETWEEN 1 AND 2, EXISTS (SELECT 1)",
        ],
        [
            "",
            "SELECT FROM t",
            "SELECTa FROM t",
            "SELECT * FROM where",
            "SELECT a FROM t WHERE",
            "SELECT (1",
            "select a from t",
            "SELECT 'a",
            "SELECT a a FROM t",
        ],
    ),
    "toml": (
        [
            "",
            'a = 1\n[b.c]\nd = "x\\n" # e\n',
            "[[t]]\nk.'l'.\"m\" = [1, 2.5, [ ], {a = 1}, # c\n 0xFF,\n]",
            "d = 1979-05-27T07:32:00Z\nt = 07:32:00.5\nl = 2024-02-29",
            "m = \"\"\"a\"b\"\"c\n\"\"\"\nn = ''''x'''''",
            "f = -inf\ng = 1e6\ni = +1_000",
        ],
        [
            "a",
            "= 1",
            "a = 01",
            "a = 1 b = 2",
            "[a",
            "a = 'x\n'",
            "a = {\n}",
            "d = 2023-02-29",
            'a = "\\x"',
            "a = 1_",
            "a = .5",
        ],
    ),
    "url": (
        [
            "https://example.org",
            "http://u:p@a.b-c.de:8080/x/%20y;z?q=1&r#f",
            "ftp://127.0.0.1/",
            "a+b://[::1]:65535/",
            "x://[1:2:3:4:5:6:7:8]",
        ],
        [
            "example.org",
            "http://",
            "http://a b",
            "http://a/%2",
            "http://[::1",
            "http://a:65536",
            "http://-a",
            "1x://a",
            "x://[1::2::3]",
        ],
    ),
    "xml": (
        [
            '<?xml version="1.0"?>\n<catalog id="x"><item>a &amp; b</item><!-- c --></catalog>',
            "<item/>",
            "<list><row class='a' lang=\"b\"/><![CDATA[<]] >]]></list>",
            "<note>&#65;<?do it?></note>\n",
        ],
        [
            "",
            "<item></list>",
            '<item id="a" id="b"/>',
            "<item>]]></item>",
            "<a/>",
            "<item>&x;</item>",
            "<item",
            "<item/><item/>",
            "<item>a & b</item>",
        ],
    ),
}


def evaluate(text: str) -> None:
    ast.parse(text.strip().replace("^", "**"), mode="eval")


def parse_sql(text: str) -> None:
    sqlglot = pytest.importorskip("sqlglot", reason="the SQL parser to compare with")
    sqlglot.parse_one(text)


def parse_toml(text: str) -> None:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        # Keys defined twice are not the grammar's business.
        if not str(error).startswith(("Cannot", "Duplicate")):
            raise


def parse_date(text: str) -> None:
    if ":" in text[:3]:
        datetime.time.fromisoformat(text)
    else:
        datetime.datetime.fromisoformat(text)


def parse_table(text: str) -> None:
    markdown_it = pytest.importorskip("markdown_it", reason="the Markdown parser to compare with")
    kinds = [token.type for token in markdown_it.MarkdownIt("gfm-like", {"linkify": False}).parse(text)]
    assert kinds[0] == "table_open"
    assert kinds[-1] == "table_close"
    assert kinds.count("tr_open") == text.count("\n") - 1


def parse_url(text: str) -> None:
    parts = urllib.parse.urlsplit(text)
    assert parts.scheme
    assert parts.hostname
    assert parts.port is None or parts.port < 65536


PARSERS: dict[str, Callable[[str], object]] = {
    "arithmetic": evaluate,
    "csv": lambda text: list(csv.reader(io.StringIO(text, newline=""), strict=True)),
    "iso_dates": parse_date,
    "json": json.loads,
    "markdown_table": parse_table,
    "python_subset": ast.parse,
    "sql_select": parse_sql,
    "toml": parse_toml,
    "url": parse_url,
    "xml": lambda text: xml.etree.ElementTree.fromstring(text.encode()),
}


def accepts(grammar: Grammar, text: str) -> bool:
    matcher = GrammarMatcher(COMPILER.compile_grammar(grammar))
    return matcher.accept_string(text) and matcher.is_completed()


def test_every_grammar_has_samples() -> None:
    assert set(SAMPLES) == set(grammars.NAMES)


@pytest.mark.parametrize("name", grammars.NAMES)
def test_samples(name: str) -> None:
    accepted, rejected = SAMPLES[name]
    for text in accepted:
        assert accepts(grammars.load(name), text), text
        if name in PARSERS:
            PARSERS[name](text)
    for text in rejected:
        assert not accepts(grammars.load(name), text), text


@pytest.mark.parametrize("name", PARSERS)
def test_generated_outputs_are_parsed(name: str) -> None:
    rng = random.Random(name)
    sampler, parsed = Sampler(grammars.load(name).ir, rng), 0
    for _ in range(scaled(150)):
        try:
            text = sampler.text(rng.choice([20, 80, 200, 500])).decode()
        except NoSampleError:
            continue
        assert accepts(grammars.load(name), text), text
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            PARSERS[name](text)
        parsed += 1
    assert parsed > scaled(100)


def test_unknown_names() -> None:
    with pytest.raises(GrammarError, match="no ready-made grammar 'yaml'") as info:
        grammars.load("yaml")
    assert "json" in (info.value.hint or "")
