"""Readers of models' outputs, written from the formats' descriptions alone: from text to calls.

`read(family, text, schemas, thinks=…)` returns `[(name, arguments), …]`. JSON arguments are read by Python's decoder
from where they begin; elements are cut by their first end, as the models' own parsers do.
"""

from __future__ import annotations

import json
import re
from typing import Any

Call = tuple[str, Any]

_NAMED = r'\{"name": "(\w+)", "arguments": '
_JSON_CALLS = {
    "hermes": r'<tool_call>\n\{"name": "(\w+)", "arguments": ',
    "exaone": r'<tool_call>\{"name": "(\w+)", "arguments": ',
    "llama": r'\{"name": "(\w+)", "parameters": ',
    "granite": _NAMED,
    "mistral_v3": _NAMED,
    "phi_4_mini": _NAMED,
    "command_a": r'"tool_name": "(\w+)", "parameters": ',
    "kimi": r"functions\.(\w+):[0-9]+<\|tool_call_argument_begin\|>",
    "deepseek_r1": r"<｜tool▁call▁begin｜>function<｜tool▁sep｜>(\w+)\n```json\n",
    "deepseek_v3_1": r"<｜tool▁call▁begin｜>(\w+)<｜tool▁sep｜>",
    "mistral": r"\[TOOL_CALLS\](\w+)\[ARGS\]",
    "harmony": r" to=functions\.(\w+)(?:<\|channel\|>commentary)? ?(?:<\|constrain\|>)?json<\|message\|>",
}
# A call with its body; a member with its name and text.
_ELEMENTS = {
    "qwen_3_coder": (r"<function=(\w+)>(.*?)</function>", r"<parameter=(\w+)>(.*?)</parameter>"),
    "mimo": (r"<function=(\w+)>(.*?)</function>", r"<parameter=(\w+)>(.*?)</parameter>"),
    "glm_4_5": (
        r"<tool_call>(\w+)(.*?)</tool_call>",
        r"<arg_key>(\w+)</arg_key>\s*<arg_value>(.*?)</arg_value>",
    ),
    "deepseek_v3_2": (
        r'<｜DSML｜invoke name="(\w+)">(.*?)</｜DSML｜invoke>',
        r'<｜DSML｜parameter name="(\w+)" string="(?:true|false)">(.*?)</｜DSML｜parameter>',
    ),
    "deepseek_v4_1": (
        r'<｜DSML｜ invoke name="(\w+)">(.*?)</｜DSML｜ invoke>',
        r'<｜DSML｜ parameter name="(\w+)" string="(?:true|false)">(.*?)</｜DSML｜ parameter>',
    ),
    "minimax": (
        r'<invoke name="(\w+)">(.*?)</invoke>',
        r'<parameter name="(\w+)">(.*?)</parameter>',
    ),
    "kimi_k3": (
        r'<\|open\|>call tool="(\w+)" index="[0-9]+"<\|sep\|>(.*?)<\|close\|>call<\|sep\|>',
        r'<\|open\|>argument key="(\w+)" type="\w+"<\|sep\|>(.*?)<\|close\|>argument<\|sep\|>',
    ),
}
_PADDED = ("qwen_3_coder", "mimo")
JSON_FAMILIES, ELEMENT_FAMILIES = tuple(_JSON_CALLS), tuple(_ELEMENTS)


_THINK = {"mistral": ("[THINK]", "[/THINK]"), "command_a": ("<|START_THINKING|>", "<|END_THINKING|>")}
_MARKS = {
    "granite": "<|tool_call|>[",
    "mistral_v3": "[TOOL_CALLS][",
    "phi_4_mini": "functools[",
    "command_a": "<|START_ACTION|>",
}


def read(family: str, text: str, schemas: dict[str, Any], *, thinks: bool) -> list[Call]:
    begin, end = _THINK.get(family, ("<think>", "</think>"))
    if thinks or text.startswith(begin):
        text = text.split(end, 1)[-1]  # what is thought calls nothing
    if family in _MARKS:
        text = text.partition(_MARKS[family])[2]
    if family in _JSON_CALLS:
        return _read_json(_JSON_CALLS[family], text)
    call, member = _ELEMENTS[family]
    return [
        (name, _members(member, body, schemas[name], family in _PADDED))
        for name, body in re.findall(call, text, re.DOTALL)
    ]


def _read_json(pattern: str, text: str) -> list[Call]:
    calls, at, decoder = [], 0, json.JSONDecoder()
    while found := re.search(pattern, text[at:]):
        value, length = decoder.raw_decode(text[at + found.end() :])
        calls.append((found[1], value))
        at += found.end() + length
    return calls


def _members(pattern: str, body: str, schema: Any, padded: bool) -> dict[str, Any]:
    out = {}
    for name, raw in re.findall(pattern, body, re.DOTALL):
        value = raw.removeprefix("\n").removesuffix("\n") if padded else raw
        out[name] = value if schema["properties"][name].get("type") == "string" else json.loads(raw)
    return out
