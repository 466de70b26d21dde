"""What docs/coming_from.md says of other engines, compared with them where they are installed.

Our half of each statement is in the page itself, whose code blocks tests/test_documentation.py runs. A line here says
what each engine does with a text: True, False, or "error" where it refuses the grammar. Where a newer version of a peer
differs, the page is to be changed with the line.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pytest

from maskwright import Grammar, GrammarMatcher, GrammarWarning, MaskwrightError
from oracle.accepting import COMPILER

BYTES = [bytes((byte,)) for byte in range(256)]
ERROR = "error"
Answer = bool | str

OPEN = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}
ITEMS = {"type": "array", "uniqueItems": True, "items": {"enum": [1, 2]}}
EITHER = {"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 3}]}
LONG = {"type": "string", "minLength": 2, "pattern": "^a"}
# schema, text, and what is said of: Maskwright, XGrammar 0.2.8, llguidance 1.9.1
SCHEMAS: list[tuple[dict[str, Any], str, Answer, Answer, Answer]] = [
    (OPEN, '{"a": 1, "more": true}', True, False, True),
    (OPEN, '{"b": "x", "a": 1}', False, False, False),
    (OPEN, '{"a": 1.0}', False, False, False),
    (OPEN, "{" + 33 * " " + "}", False, True, True),
    (OPEN, " {}", False, False, False),
    ({"type": "number"}, "1e999", False, True, True),
    ({"type": "string", "pattern": "b"}, '"abc"', True, False, True),
    ({"type": "string", "format": "date"}, '"2023-02-31"', False, True, False),
    ({"type": "string", "format": "foo"}, '"x"', True, True, ERROR),
    (EITHER, "5", False, True, ERROR),
    (ITEMS, "[1,1]", False, True, ERROR),
    (LONG, '"a"', False, True, False),
]
RECIPE = r"""
start: ( f_foo )* f_end
f_end: TEXT
TEXT: /(.|\n)*/
f_foo_hd[lazy]: TEXT "<function"
f_foo: f_foo_hd "=foo>" %json {"type": "object", "required": ["x"]} "</function>"
"""
IGNORING = 'start: "a" "b"\n%ignore / /'
ONCE = '%llguidance {"ignore_once": true}\n' + IGNORING
# grammar, text, Maskwright, llguidance
LARK: list[tuple[str, str, Answer, Answer]] = [
    ('start: /[a-z]+/ "b"', "aab", True, False),
    ("start: /[0-9]+/ /[0-9]/", "12", True, False),
    ('start: "a" b | "ab" "d"\nb: "bc"', "abc", True, False),
    (RECIPE, '<function=foo>{"x":1}</function>', True, True),
    (RECIPE, "<function=foo>{}</function>", True, False),
    (IGNORING, "a  b", True, True),
    (IGNORING, " ab", True, False),
    (IGNORING, "ab ", True, False),
    (ONCE, "a b", True, True),
    (ONCE, "a  b", False, False),
    ('start: /".*?"/', '"a"b"', False, True),
    ('start: "<" a ">"\na[max_tokens=0]: /x*/', "<>", True, True),
    ('start: "<" a ">"\na[max_tokens=0]: /x*/', "<x>", False, False),
    ("start: %json true", "[1]", True, True),
    ('start: A\nA: "x" %regex {"substring_words": "to be or"} "y"', "xbe ory", True, True),
    ('start: x::0\nx::_[capture]: "a" %if is_zeros(_)', "a", True, True),
]
# pattern, text, Maskwright, XGrammar, llguidance
PATTERNS: list[tuple[str, str, Answer, Answer, Answer]] = [
    ("a.c", "a\nc", False, True, False),
    ("(?=a)ab", "ab", True, ERROR, ERROR),
    (r"\d+", "१", True, False, True),
    ("ab", "xaby", False, False, False),
    ("[a-z&&[^aeiou]]+", "xyz", True, False, True),
    ("[a-z&&[^aeiou]]+", "xaz", False, False, False),
    ("[[a-z]--[aeiou]]+", "xaz", False, False, False),
    ("[a-c[x-z]]", "y", ERROR, False, True),
    (r"\U{1F600}", "😀", True, ERROR, True),
    (r"(?-u:\w)", "é", False, ERROR, False),
    ("(?R)a", "a", ERROR, ERROR, True),
    (r"\<a", "<a", ERROR, True, ERROR),
]


def _answer(ask: Callable[[], bool]) -> Answer:
    try:
        return ask()
    except (MaskwrightError, RuntimeError, ValueError):
        return ERROR


def _ours(make: Callable[[], Grammar], text: str) -> Answer:
    def ask() -> bool:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GrammarWarning)
            matcher = GrammarMatcher(COMPILER.compile_grammar(make()))
        return matcher.accept_string(text) and matcher.is_completed()

    return _answer(ask)


@pytest.mark.parametrize(("schema", "text", "ours"), [case[:3] for case in SCHEMAS])
def test_our_schemas(schema: dict[str, Any], text: str, ours: Answer) -> None:
    assert _ours(lambda: Grammar.from_json_schema(schema), text) == ours


@pytest.mark.parametrize(("source", "text", "ours"), [case[:3] for case in LARK])
def test_our_lark(source: str, text: str, ours: Answer) -> None:
    assert _ours(lambda: Grammar.from_lark(source), text) == ours


@pytest.mark.parametrize(("pattern", "text", "ours"), [case[:3] for case in PATTERNS])
def test_our_patterns(pattern: str, text: str, ours: Answer) -> None:
    assert _ours(lambda: Grammar.from_regex(pattern), text) == ours


def _peer(name: str, expected: str) -> Any:
    """The package, if it is there in the version that the page speaks of."""
    try:
        found = version(name)
    except PackageNotFoundError:
        pytest.skip(f"{name} is not installed")
    if found != expected:
        pytest.skip(f"the page is about {name} {expected}, and {found} is installed")
    return pytest.importorskip(name)


@pytest.fixture(scope="module")
def llguidance() -> Callable[[str, str, str], Answer]:
    peer = _peer("llguidance", "1.9.1")

    class Tokenizer:
        eos_token_id = 256
        bos_token_id = None
        tokens = (*BYTES, b"<eos>")
        special_token_ids = (256,)

        def __call__(self, text: str | bytes) -> list[int]:
            return list(text.encode() if isinstance(text, str) else text)

    tokenizer = peer.LLTokenizer(peer.TokenizerWrapper(Tokenizer()))

    def accepts(kind: str, source: str, text: str) -> Answer:
        matcher = peer.LLMatcher(tokenizer, getattr(peer.LLMatcher, f"grammar_from_{kind}")(source))
        if matcher.is_error():
            return ERROR
        data = list(text.encode())
        return bool(matcher.try_consume_tokens(data) == len(data) and matcher.is_accepting())

    return accepts


@pytest.fixture(scope="module")
def xgrammar() -> Callable[[str, str, str], Answer]:
    peer = _peer("xgrammar", "0.2.8")
    info = peer.TokenizerInfo([*BYTES, b"<eos>"], vocab_type=peer.VocabType.RAW, stop_token_ids=[256])
    compiler = peer.GrammarCompiler(info)

    def accepts(kind: str, source: str, text: str) -> Answer:
        def ask() -> bool:
            matcher = peer.GrammarMatcher(getattr(compiler, f"compile_{kind}")(source))
            return all(map(matcher.accept_token, text.encode())) and bool(matcher.accept_token(256))

        return _answer(ask)

    return accepts


@pytest.mark.parametrize("case", SCHEMAS, ids=lambda case: f"{json.dumps(case[0])[:40]} {case[1][:20]}")
def test_their_schemas(case: Any, xgrammar: Any, llguidance: Any) -> None:
    schema, text, _, theirs, others = case
    assert xgrammar("json_schema", json.dumps(schema), text) == theirs
    assert llguidance("json_schema", json.dumps(schema), text) == others


@pytest.mark.parametrize("case", LARK, ids=lambda case: f"{case[0][:40]} {case[1]}")
def test_their_lark(case: Any, llguidance: Any) -> None:
    source, text, _, theirs = case
    assert llguidance("lark", source, text) == theirs


@pytest.mark.parametrize("case", PATTERNS, ids=lambda case: f"{case[0]} {case[1]}")
def test_their_patterns(case: Any, xgrammar: Any, llguidance: Any) -> None:
    pattern, text, _, theirs, others = case
    assert xgrammar("regex", pattern, text) == theirs
    assert llguidance("regex", pattern, text) == others
