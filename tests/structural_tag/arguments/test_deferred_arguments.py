"""Arguments that are compiled when a tool is called, in all styles: they can be, and are what they are at once."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import pytest

import maskwright as mw
from frontends.json_schema.normalise.test_schema_deferral import random_schema
from maskwright import _kernel
from maskwright.frontends.json_schema import Finding
from maskwright.ir import OP_CALL, OP_GUARD, OP_SPAN, OP_SUBGRAMMAR, OP_TOKENS, Expr, GrammarIR, Rule, seq, text
from maskwright.ir.subgrammars import has_deferred, spelled_out
from maskwright.ir.walks import postorder
from maskwright.structural_tag import get_model_structural_tag, model_families
from maskwright.structural_tag.arguments import snippets as module
from maskwright.structural_tag.formats.classes import JSONSchemaFormat
from maskwright.structural_tag.formats.kept import KEPT
from maskwright.structural_tag.formats.xml_styles import STYLES
from maskwright.structural_tag.texts.tokens import tokens_of
from oracle.comparing import mask_of

WORDS = [b"</parameter>", b"<parameter=", b' "', b'":', b"true", b"<arg_key>", b"string", b"\n<", b">\n"]
STOP = 256 + len(WORDS)
INFO = mw.TokenizerInfo.from_vocab([*(bytes([b]) for b in range(256)), *WORDS, b"</s>"], stop_token_ids=[STOP])
MARKS = [b"<|open|>", b"<|close|>", b"<|sep|>", "｜DSML｜".encode(), b'<|"|>', b"]<]minimax[>[", b"<arg_key>"]
WITH_MARKS = mw.TokenizerInfo.from_vocab(
    [*(bytes([b]) for b in range(256)), *WORDS, b"</s>", *MARKS],
    stop_token_ids=[STOP],
    special_token_ids=range(STOP, STOP + 1 + len(MARKS)),
)
INFOS = {"text": INFO, "tokens": WITH_MARKS}
ALL = ["json", *STYLES]
WHITE_SPACE: list[dict[str, Any]] = [
    {},
    {"max_whitespace_cnt": 0},
    {"whitespace_pattern": r"[ \t]{0,32}"},
    {"whitespace_pattern": " |\n {2}"},
]
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def whole_snippet(it: JSONSchemaFormat, info: mw.TokenizerInfo = INFO) -> module.Snippet:
    KEPT.clear()
    return module.arguments(it, tokens_of(info), "")


def snippet(it: JSONSchemaFormat, info: mw.TokenizerInfo = INFO) -> Expr:
    return whole_snippet(it, info).expr


def reported_in(report: tuple[Finding, ...], style: str) -> set[Finding]:
    """What must be reported, whenever it is compiled: MiniMax M3 does not always write members of any name."""
    repeats_names = style == "minimax_m3_xml"
    return {found for found in report if not (repeats_names and "/additionalProperties/" in found.pointer)}


def is_deferred(expr: Expr) -> bool:
    return expr[0] == OP_SUBGRAMMAR and expr[1].deferred is not None


def matcher(body: Expr, info: mw.TokenizerInfo = INFO, max_tokens: int | None = None) -> mw.GrammarMatcher:
    grammar = mw.Grammar(GrammarIR((Rule("root", seq(text("<f>"), body, text("!"))),), 0))
    compiled = mw.GrammarCompiler(info, cache_enabled=False).compile_grammar(grammar)
    return mw.GrammarMatcher(compiled, max_tokens=max_tokens)


@pytest.mark.parametrize("any_order", [False, True])
@pytest.mark.parametrize("marks", INFOS)
@pytest.mark.parametrize("style", ALL)
def test_usual_arguments_are_deferred(style: str, marks: str, any_order: bool) -> None:
    assert is_deferred(snippet(JSONSchemaFormat(CITY, style=style, any_order=any_order), INFOS[marks]))


@pytest.mark.parametrize("family", model_families())
def test_every_family_defers_them(family: str) -> None:
    tools = [
        {"type": "function", "function": {"name": f"f{i}", "parameters": CITY | {"title": str(i)}}} for i in (1, 2)
    ]
    made = mw.Grammar.from_structural_tag(get_model_structural_tag(family, tools=tools))
    assert has_deferred(made.compact_ir)


def test_white_space_is_read_at_once() -> None:
    for pattern in (r"(?=\t) ", "x", "["):
        with pytest.raises(mw.MaskwrightError, match=r"whitespace_pattern|no value"):
            snippet(JSONSchemaFormat(CITY, whitespace_pattern=pattern))


@pytest.mark.parametrize("marks", INFOS)
@pytest.mark.parametrize("style", ALL)
def test_the_same_as_at_once(style: str, marks: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(style)
    info = INFOS[marks]
    num_deferred = 0
    for _ in range(10_000):
        excludes = rng.choice([(), ("</",), ("</function>",)]) if style != "json" else ()
        capture = rng.choice([None, "arguments"])
        any_order = rng.random() < 0.3
        it = JSONSchemaFormat(
            random_schema(rng, 0),
            style=style,
            excludes=excludes,
            capture=capture,
            any_order=any_order,
            strict_mode=rng.random() < 0.3,
            **rng.choice(WHITE_SPACE),
        )
        try:
            late, report = whole_snippet(it, info)
        except mw.MaskwrightError:
            continue
        if not is_deferred(late):
            continue
        num_deferred += 1
        with monkeypatch.context() as patch:
            patch.setattr(_kernel, "can_defer", lambda *_: None)  # which compiled front-ends look up as well
            at_once, all_reported = whole_snippet(it, info)
        assert not is_deferred(at_once)
        assert reported_in(report, style) == reported_in(all_reported, style)
        compare(matcher(late, info), matcher(at_once, info), rng, info.vocab_size)
        parts = {part[0] for rule in spelled_out(late[1].ir).rules for part in postorder(rule.body)}
        assert OP_SPAN not in parts
        assert any_order or parts.isdisjoint((OP_CALL, OP_GUARD))
        assert marks == "tokens" or OP_TOKENS not in parts
        if num_deferred == 30:
            break
    assert num_deferred == 30


def compare(late: mw.GrammarMatcher, at_once: mw.GrammarMatcher, rng: random.Random, vocab_size: int) -> None:
    assert late.accept_string("<f>")
    assert at_once.accept_string("<f>")
    for _ in range(40):
        allowed = mask_of(late, vocab_size)
        assert allowed == mask_of(at_once, vocab_size)
        assert allowed
        words = [token for token in allowed if token >= 256]
        token = rng.choice(words if words and rng.random() < 0.5 else sorted(allowed))
        assert late.accept_token(token)
        assert at_once.accept_token(token)
        if token == STOP:
            break
    assert late.get_captures() == at_once.get_captures()


@pytest.mark.parametrize("free", [{}, True, {"type": "array"}, {"type": ["array", "null"]}])
def test_values_that_may_be_anything_are_deferred_where_members_must_be_declared(free: Any) -> None:
    schema = {**CITY, "properties": {**CITY["properties"], "rest": free}}
    it = JSONSchemaFormat(schema, style="minimax_m3_xml")
    assert is_deferred(snippet(it))
    # Their objects are then reported as what cannot be enforced.
    assert not is_deferred(snippet(replace(it, on_unsupported="relax")))


def test_members_of_any_name_whose_end_repeats_it() -> None:
    """The kernel is told beforehand that text will be remembered."""
    it = JSONSchemaFormat({**CITY, "properties": {**CITY["properties"], "rest": {"type": "object"}}})
    mark = "]<]minimax[>["
    body = snippet(replace(it, style="minimax_m3_xml"))
    assert is_deferred(body)
    one = matcher(body)
    assert one.accept_string(f"<f>{mark}<city>x{mark}</city>{mark}<rest>{mark}<ab>1{mark}</")
    assert not one.accept_string("ac")
    assert one.accept_string(f"ab>{mark}</rest>!")
    assert one.is_completed()
    text_of_one = f"<f>{mark}<city>x{mark}</city>{mark}<rest>{mark}<ab>1{mark}</ab>{mark}</rest>!"
    limited = matcher(body, max_tokens=len(text_of_one))  # which needs to know of all texts that may be remembered
    for byte in text_of_one.encode():
        assert byte in mask_of(limited, INFO.vocab_size)
        assert limited.accept_token(byte)
    with pytest.raises(mw.UnsatisfiableError):
        matcher(body, max_tokens=10)
    assert not is_deferred(snippet(JSONSchemaFormat({"type": "object", "properties": {}}, style="minimax_m3_xml")))


@pytest.mark.parametrize("style", ALL)
def test_what_other_dialects_say_is_deferred_as_well(style: str) -> None:
    members = {
        "city": {"type": "string", "nullable": True, "x-order": 1},
        "zip": {"type": "string", "pattern": "^[0-9]{5}$", "maxLength": 60},
        "radius": {"type": "integer", "format": "int32"},
        "angle": {"type": "number", "format": "double"},
    }
    made, report = whole_snippet(JSONSchemaFormat({**CITY, "properties": members}, style=style))
    assert is_deferred(made)
    assert {(each.pointer, each.reason) for each in report} == {
        ("/properties/city/nullable", 'unknown keyword \'nullable\'; write "type": ["string", "null"]'),
        ("/properties/city/x-order", "it is not a keyword of JSON Schema"),
        ("/properties/angle/format", "unknown format 'double'"),
    }


def test_what_is_reported_of_a_deferred_schema_points_into_each_request() -> None:
    schema = {**CITY, "properties": {"city": {"type": "string", "format": "iata"}}}
    tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
    other = {"type": "function", "function": {"name": "g", "parameters": CITY}}
    for tools, at in (([tool], 0), ([other, tool], 1), ([tool, other], 0)):
        grammar = mw.Grammar.from_structural_tag(get_model_structural_tag("hermes", tools))
        pointers = [each.pointer for each in grammar.report]
        assert pointers == [f"/tools/{at}/function/parameters/properties/city/format"]


@pytest.mark.parametrize(
    "changed",
    [
        {"properties": {"city": {"enum": ["x</parameter>"]}}},
        {"properties": {"city": {"type": "string", "maxLength": 10**6}}},
        {"properties": {"city": {"type": "string", "pattern": "x(?=y)"}}},
        {"properties": {}, "required": [], "additionalProperties": False},  # nothing but white space
    ],
)
def test_schemas_that_an_xml_style_takes_at_once(changed: dict[str, Any]) -> None:
    try:
        assert not is_deferred(snippet(JSONSchemaFormat({**CITY, **changed}, style="qwen_xml")))
    except mw.UnsatisfiableError:
        assert "</parameter>" in json.dumps(changed)
    except mw.SchemaError:
        assert "(?=" in json.dumps(changed)


def test_what_a_style_cannot_write_is_found_at_once() -> None:
    schema = {"type": "object", "properties": {"from": {"type": "string"}}}
    with pytest.raises(mw.SchemaError):
        snippet(JSONSchemaFormat(schema, style="python"))


@pytest.mark.parametrize("marks", INFOS)
def test_a_constant_may_hold_text_of_its_end_that_does_not_end_it(marks: str) -> None:
    schema = {"type": "object", "properties": {"a": {"enum": ["argument"]}}, "required": ["a"]}
    it = matcher(snippet(JSONSchemaFormat(schema, style="kimi_k3_xml"), INFOS[marks]), INFOS[marks])
    ids = {text: i for i, text in enumerate(INFOS[marks].token_bytes)}
    written = b'<f><|open|>argument key="a" type="string"<|sep|>argument<|close|>argument<|sep|>!'
    while written:
        size = next((n for n in (9, 8, 7) if written[:n] in ids and ids[written[:n]] > STOP), 1)
        assert it.accept_token(ids[written[:size]])
        written = written[size:]
    assert it.is_completed()


def test_any_order_starts_over_when_instances_have_piled_up() -> None:
    names = [f"p{i:02}" for i in range(14)]
    schema = {"type": "object", "properties": {name: {"type": "integer"} for name in names}, "required": names[:7]}
    body = snippet(JSONSchemaFormat(schema, any_order=True))
    grammar = mw.Grammar(GrammarIR((Rule("root", seq(text("<f>"), body, text("!"))),), 0))
    compiler = mw.GrammarCompiler(INFO, grammar_limit_bytes=200_000)
    compiled = compiler.compile_grammar(grammar)
    rng = random.Random(1)
    most = 0
    for _ in range(150):
        rng.shuffle(names)
        it = mw.GrammarMatcher(compiled)
        assert it.accept_string("<f>{" + ",".join(f'"{name}":1' for name in names) + "}!")
        assert it.is_completed()
        assert not mw.GrammarMatcher(compiled).accept_string(f'<f>{{"{names[0]}":1,"{names[0]}"')
        most = max(most, compiled._native.num_instances)
    assert compiled.stats().num_flushes > 1
    assert compiled._native.num_instances < most


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
