"""Arguments that are compiled when a tool is called, in all styles: they can be, and are what they are at once."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import maskwright as mw
from frontends.json_schema.test_schema_evident import random_schema
from maskwright.ir import OP_CALL, OP_GUARD, OP_SPAN, OP_SUBGRAMMAR, OP_TOKENS, Expr, GrammarIR, Rule, seq, text
from maskwright.ir.subgrammars import spelled_out
from maskwright.ir.walks import postorder
from maskwright.structural_tag import arguments as module
from maskwright.structural_tag.formats import JSONSchemaFormat
from maskwright.structural_tag.kept_schemas import SCHEMAS
from maskwright.structural_tag.tokens import tokens_of
from maskwright.structural_tag.xml_styles import STYLES
from oracle.comparing import mask_of

WORDS = [b"</parameter>", b"<parameter=", b' "', b'":', b"true", b"<arg_key>", b"string", b"\n<", b">\n"]
STOP = 256 + len(WORDS)
INFO = mw.TokenizerInfo.from_vocab([*(bytes([b]) for b in range(256)), *WORDS, b"</s>"], stop_token_ids=[STOP])
TOKENS = tokens_of(INFO)
DEFERRED = [
    "json",
    "qwen_xml",
    "mimo_xml",
    "minimax_xml",
    "glm_xml",
    "deepseek_xml",
    "deepseek_v4_1_xml",
    "cohere_xml",
    "kimi_k3_xml",
]
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def snippet(it: JSONSchemaFormat) -> Expr:
    SCHEMAS.clear()
    return module.arguments(it, TOKENS, "").expr


def is_deferred(expr: Expr) -> bool:
    return expr[0] == OP_SUBGRAMMAR and expr[1].deferred is not None


def matcher(body: Expr) -> mw.GrammarMatcher:
    grammar = mw.Grammar(GrammarIR((Rule("root", seq(text("<f>"), body, text("!"))),), 0))
    return mw.GrammarMatcher(mw.GrammarCompiler(INFO, cache_enabled=False).compile_grammar(grammar))


@pytest.mark.parametrize("style", ["json", *STYLES])
def test_which_styles(style: str) -> None:
    assert is_deferred(snippet(JSONSchemaFormat(CITY, style=style))) == (style in DEFERRED)


@pytest.mark.parametrize("style", DEFERRED)
def test_the_same_as_at_once(style: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(style)
    num_deferred = 0
    for _ in range(10_000):
        excludes = rng.choice([(), ("</",), ("</function>",)]) if style != "json" else ()
        capture = rng.choice([None, "arguments"])
        it = JSONSchemaFormat(random_schema(rng, 0), style=style, excludes=excludes, capture=capture)
        try:
            late = snippet(it)
        except mw.MaskwrightError:
            continue
        if not is_deferred(late):
            continue
        num_deferred += 1
        with monkeypatch.context() as patch:
            patch.setattr(module, "cannot_fail", lambda *_: False)
            at_once = snippet(it)
        compare(matcher(late), matcher(at_once), rng)
        for rule in spelled_out(late[1].ir).rules:
            assert {part[0] for part in postorder(rule.body)}.isdisjoint((OP_CALL, OP_GUARD, OP_SPAN, OP_TOKENS))
        if num_deferred == 60:
            break
    assert num_deferred == 60


def compare(late: mw.GrammarMatcher, at_once: mw.GrammarMatcher, rng: random.Random) -> None:
    assert late.accept_string("<f>")
    assert at_once.accept_string("<f>")
    for _ in range(40):
        allowed = mask_of(late, STOP + 1)
        assert allowed == mask_of(at_once, STOP + 1)
        assert allowed
        words = [token for token in allowed if token >= 256]
        token = rng.choice(words if words and rng.random() < 0.5 else sorted(allowed))
        assert late.accept_token(token)
        assert at_once.accept_token(token)
        if token == STOP:
            break
    assert late.get_captures() == at_once.get_captures()


@pytest.mark.parametrize(
    "changed",
    [
        {"required": []},  # there may be no member
        {"properties": {"city": {"type": "string", "format": "date"}}},
        {"properties": {"city": {"type": "string", "maxLength": 3}}},
        {"properties": {"city": {"enum": ["x</parameter>"]}}},
        {"properties": {"city": {"type": "string", "pattern": "x"}}},
    ],
)
def test_schemas_that_an_xml_style_takes_at_once(changed: dict[str, Any]) -> None:
    try:
        assert not is_deferred(snippet(JSONSchemaFormat({**CITY, **changed}, style="qwen_xml")))
    except mw.UnsatisfiableError:
        assert "</parameter>" in json.dumps(changed)


def test_errors_come_when_the_tag_is_compiled() -> None:
    compiler = mw.GrammarCompiler(INFO)

    def tag(schema: Any, **more: Any) -> dict[str, Any]:
        content = {"type": "json_schema", "json_schema": schema, "style": "qwen_xml", **more}
        return {"format": {"type": "tag", "begin": "<f>", "content": content, "end": "</f>"}}

    enum = {**CITY, "properties": {"city": {"type": "string", "enum": ["a</b"]}}}
    with pytest.raises(mw.StructuralTagError):
        compiler.compile_structural_tag(tag(enum, excludes=["</b"]))
    compiled = compiler.compile_structural_tag(tag(enum))
    for text_, accepted in [
        ("<f><parameter=city>a</b</parameter></f>", True),
        ("<f>\n<parameter=city>\na</b\n</parameter>\n</f>", True),
        ("<f></f>", False),
    ]:
        it = mw.GrammarMatcher(compiled)
        assert (it.accept_string(text_) and it.is_completed()) == accepted
