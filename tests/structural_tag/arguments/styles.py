"""What tests of the styles of arguments share: compiling a schema in a style, and how each style writes members."""

from __future__ import annotations

from typing import Any

import maskwright as mw
from structural_tag.spelling import accepts, vocabulary

INFO = vocabulary()
COMPILER = mw.GrammarCompiler(INFO)
M3 = "]<]minimax[>["


def compiled(schema: Any, style: str, **options: Any) -> mw.CompiledGrammar:
    data = {"type": "json_schema", "json_schema": schema, "style": style, **options}
    return COMPILER.compile_structural_tag({"format": data})


def check(schema: Any, style: str, accepted: list[str], rejected: list[str], **options: Any) -> None:
    grammar = compiled(schema, style, **options)
    assert [text for text in accepted if not accepts(grammar, text)] == [], style
    assert [text for text in rejected if accepts(grammar, text)] == [], style


def of(properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
        **more,
    }


MEMBERS = of({"s": {"type": "string"}, "n": {"type": "integer"}, "o": {"type": "object"}}, "s")
# By style: a string, an integer, an object without members, in members named s, n, o.
SPELLED = {
    "qwen_xml": ("<parameter=s>{}</parameter>", "<parameter=n>{}</parameter>", "<parameter=o>{{}}</parameter>"),
    "mimo_xml": ("<parameter=s>{}</parameter>", "<parameter=n>{}</parameter>", "<parameter=o>{{}}</parameter>"),
    "minimax_xml": (
        '<parameter name="s">{}</parameter>',
        '<parameter name="n">{}</parameter>',
        '<parameter name="o">{{}}</parameter>',
    ),
    "step_xml": (
        '<steptml:parameter name="s">{}</steptml:parameter>',
        '<steptml:parameter name="n">{}</steptml:parameter>',
        '<steptml:parameter name="o">{{}}</steptml:parameter>',
    ),
    "minimax_m3_xml": (f"{M3}<s>{{}}{M3}</s>", f"{M3}<n>{{}}{M3}</n>", ""),
    "deepseek_xml": (
        '<｜DSML｜parameter name="s" string="true">{}</｜DSML｜parameter>',
        '<｜DSML｜parameter name="n" string="false">{}</｜DSML｜parameter>',
        '<｜DSML｜parameter name="o" string="false">{{}}</｜DSML｜parameter>',
    ),
    "deepseek_v4_1_xml": (
        '<｜DSML｜ parameter name="s" string="true">{}</｜DSML｜ parameter>',
        '<｜DSML｜ parameter name="n" string="false">{}</｜DSML｜ parameter>',
        '<｜DSML｜ parameter name="o" string="false">{{}}</｜DSML｜ parameter>',
    ),
    "glm_xml": (
        "<arg_key>s</arg_key><arg_value>{}</arg_value>",
        "<arg_key>n</arg_key>\n<arg_value>{}</arg_value>",
        "<arg_key>o</arg_key><arg_value>{{}}</arg_value>",
    ),
    "cohere_xml": (
        '<cofl:value name="s" type="raw">{}</cofl:value>',
        '<cofl:value name="n" type="json">{}</cofl:value>',
        '<cofl:value name="o" type="dict"></cofl:value>',
    ),
    "kimi_k3_xml": (
        '<|open|>argument key="s" type="string"<|sep|>{}<|close|>argument<|sep|>',
        '<|open|>argument key="n" type="number"<|sep|>{}<|close|>argument<|sep|>',
        '<|open|>argument key="o" type="object"<|sep|>{{}}<|close|>argument<|sep|>',
    ),
}


def renamed(spelled: str, name: str) -> str:
    """The spelling of the member n for a member of another name."""
    for before, after in ('""', "=>", "><", "<>", "/>"):
        spelled = spelled.replace(f"{before}n{after}", f"{before}{name}{after}")
    return spelled
