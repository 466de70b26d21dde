"""Readers of models' outputs, written from the formats' descriptions alone: from text to calls.

`read(family, text, schemas, thinks=…)` returns the parts of an output in their order: `("reasoning", text)`,
`("content", text)` and `("call", name, arguments)`. JSON arguments are read by Python's decoder from where they begin;
elements are cut by their first end, as the models' own parsers do.
"""

from __future__ import annotations

import ast
import json
import re
from typing import Any

Part = tuple[Any, ...]

_NAMED = r'\{"name": "(\w+)", "arguments": '
_JSON_CALLS = {
    "hermes": r'<tool_call>\n\{"name": "(\w+)", "arguments": ',
    "exaone": r'<tool_call>\{"name": "(\w+)", "arguments": ',
    "llama": r'(?:<\|python_tag\|>\{\s*(?:"type": ?"function",\s*)?"name": ?|\{(?:"type": "function", )?"name": )'
    r'"(\w+)",\s*"parameters": ?',
    "granite": _NAMED,
    "mistral_v3": _NAMED,
    "phi_4_mini": _NAMED,
    "command_a": r'"tool_name": "(\w+)", "parameters": ',
    "kimi": r"functions\.(\w+):[0-9]+<\|tool_call_argument_begin\|>",
    "deepseek_r1": r"<｜tool▁call▁begin｜>function<｜tool▁sep｜>(\w+)\n```json\n",
    "deepseek_v3_1": r"<｜tool▁call▁begin｜>(\w+)<｜tool▁sep｜>",
    "ernie_4_5": r'<tool_call>\n\{"name": "(\w+)", "arguments": ',
    "longcat": r'<longcat_tool_call>\n\{"name": "(\w+)", "arguments": ',
    "internlm_2_5": r'<\|action_start\|> ?<\|plugin\|>\n\{"name": "(\w+)", "(?:parameters|arguments)": ',
    "granite_20b_functioncalling": r'<function_call> \{"name": "(\w+)", "arguments": ',
    "gigachat_3": r'(?:<\|message_sep\|>\n\n)?function call<\|role_sep\|>\n\{"name": "(\w+)", "arguments": ',
    "functionary_v3_1": r"<function=(\w+)>",
    "minimax_m1": _NAMED,
    "nemotron_nano_2": _NAMED,
    "hunyuan_a13b": _NAMED,
    "jamba": _NAMED,
    "apertus": r'\{"(\w+)": (?=\{)',
    "mistral": r"\[TOOL_CALLS\](\w+)\[ARGS\]",
    "mistral_v11": r"\[TOOL_CALLS\](\w+?)(?:\[CALL_ID\]\w{9})?\[ARGS\]",
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
    "deepseek_v4": (
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
    "dots": (
        r'<invoke name="(\w+)">(.*?)</invoke>',
        r'<parameter name="(\w+)">(.*?)</parameter>',
    ),
    "seed_oss": (r"<function=(\w+)>(.*?)</function>", r"<parameter=(\w+)>(.*?)</parameter>"),
    "step_3": (
        r'<steptml:invoke name="(\w+)">(.*?)</steptml:invoke>',
        r'<steptml:parameter name="(\w+)">(.*?)</steptml:parameter>',
    ),
    "hunyuan_3": (
        r"<tool_call>(\w+)<tool_sep>(.*?)</tool_call>",
        r"<arg_key>(\w+)</arg_key>\s*<arg_value>(.*?)</arg_value>",
    ),
}
_K3 = (
    r'<\|open\|>call tool="(\w+)" index="[0-9]+"<\|sep\|>(.*?)<\|close\|>call<\|sep\|>',
    r'<\|open\|>argument key="(\w+)" type="\w+"<\|sep\|>(.*?)<\|close\|>argument<\|sep\|>',
)
_PADDED = ("qwen_3_coder",)
# A call whose members are nested elements; the reader of its body is below.
_M3 = "]<]minimax[>["
_NESTED = {
    "minimax_m3": rf'{re.escape(_M3)}<invoke name="(\w+)">(.*?){re.escape(_M3)}</invoke>',
    "cohere": r'<cofl:tool_call id="[\w-]+" name="(\w+)">(.*?)</cofl:tool_call>',
    "gemma_4": r"<\|tool_call>call:(\w+)(.*?)<tool_call\|>",
    "functiongemma": r"<start_function_call>call:(\w+)(.*?)<end_function_call>",
}
# Between which marks calls in Python's syntax stand; those that may also be JSON are.
_PYTHON = {
    "llama_4_pythonic": ("", ""),
    "gemma_3": ("", ""),
    "lfm_2": ("<|tool_call_start|>", "<|tool_call_end|>"),
    "olmo_3": ("<function_calls>\n", "\n</function_calls>"),
}
FAMILIES = (*_JSON_CALLS, *_ELEMENTS, *_NESTED, *_PYTHON, "harmony", "kimi_k3", "xlam")

_COMMAND_THINK = ("<|START_THINKING|>", "<|END_THINKING|>")
_THINK = {
    "mistral": ("[THINK]", "[/THINK]"),
    "command_a": _COMMAND_THINK,
    "cohere": _COMMAND_THINK,
    "minimax_m3": ("<mm:think>", "</mm:think>"),
    "gemma_4": ("<|channel>thought\n", "<channel|>"),
    "longcat": ("<longcat_think>", "</longcat_think>"),
    "seed_oss": ("<seed:think>", "</seed:think>"),
    "apertus": ("<|inner_prefix|>", "<|inner_suffix|>"),
}
_NEVER_THINK = (
    *("llama", "mistral_v3", "mistral_v11", "phi_4_mini", "granite_20b_functioncalling", "gigachat_3", "jamba"),
    *("functiongemma", "llama_4_pythonic", "gemma_3", "xlam", "functionary_v3_1"),
)
_ANSWERS = {
    "granite": r"\s*<response>(.*)</response>",
    "command_a": r"\s*<\|START_(?:TEXT|RESPONSE)\|>(.*)<\|END_(?:TEXT|RESPONSE)\|>",
}
_ANSWERS["ernie_4_5"] = _ANSWERS["granite"] + r"\s*"
_ANSWERS["hunyuan_a13b"] = r"\s*<answer>(.*)</answer>\s*"
_ANSWERS["cohere"] = _ANSWERS["command_a"]
_SECTIONS = {
    "granite": "<|tool_call|>[",
    "mistral_v3": "[TOOL_CALLS]",
    "phi_4_mini": "functools[",
    "command_a": "<|START_ACTION|>",
    "kimi": "<|tool_calls_section_begin|>",
    "deepseek_r1": "<｜tool▁calls▁begin｜>",
    "deepseek_v3_1": "<｜tool▁calls▁begin｜>",
    "deepseek_v3_2": "<｜DSML｜function_calls>",
    "deepseek_v4": "<｜DSML｜tool_calls>",
    "deepseek_v4_1": "<｜DSML｜ calls>",
    "minimax": "<minimax:tool_call>",
    "minimax_m3": f"{_M3}<tool_call>",
    "cohere": "<cofl:tool_calls>",
    "minimax_m1": "<tool_calls>",
    "nemotron_nano_2": "<TOOLCALL>",
    "hunyuan_a13b": "<tool_calls>",
    "jamba": "<tool_calls>",
    "apertus": "<|tools_prefix|>",
    "dots": "<dots_function_call>",
    "step_3": "<｜tool_calls_begin｜>",
    "hunyuan_3": "<tool_calls>",
}
# What stands around the call in text.
_AROUND = {
    "hermes": ("", "}\n</tool_call>"),
    "exaone": ("", "}</tool_call>"),
    "llama": ("", "}"),
    "ernie_4_5": ("", "}\n</tool_call>"),
    "longcat": ("", "}\n</longcat_tool_call>"),
    "internlm_2_5": ("", r"}<\|action_end\|>"),
    "granite_20b_functioncalling": ("", "}"),
    "gigachat_3": ("", "}"),
    "functionary_v3_1": ("", "</function>"),
    "qwen_3_coder": ("<tool_call>\n", "\n</tool_call>"),
    "seed_oss": ("<seed:tool_call>\n", "\n</seed:tool_call>"),
    "mimo": (r"<tool_call>\n?", r"\n?</tool_call>"),
}


def read(family: str, text: str, schemas: dict[str, Any], *, thinks: bool) -> list[Part]:
    if family == "harmony":
        return _read_harmony(text)
    if family == "kimi_k3":
        return _read_kimi_k3(text, schemas)
    parts: list[Part] = []
    begin, end = _THINK.get(family, ("<think>", "</think>"))
    if family not in _NEVER_THINK and (thinks or text.lstrip().startswith(begin)):
        text = text.lstrip().removeprefix(begin) if text.lstrip().startswith(begin) else text
        thought, _, text = text.partition(end)
        parts.append(("reasoning", thought))
    answer = re.fullmatch(_ANSWERS.get(family, "x^"), text, re.DOTALL)
    if answer:
        return [part for part in [*parts, ("content", answer[1])] if part[1]]
    if family in _PYTHON:
        return [part for part in [*parts, *_read_python(text, *_PYTHON[family])] if part[0] == "call" or part[1]]
    if family == "xlam" and text.lstrip().startswith("["):
        return [*parts, *[("call", call["name"], call["arguments"]) for call in json.loads(text)]]
    if family == "xlam":
        return [*parts, ("content", text)] if text else parts
    calls = []
    if family in _SECTIONS:
        section = _SECTIONS[family]
        if family == "granite" and "<tool_call>[" in text.partition(section)[0]:
            section = "<tool_call>["
        text, _, calls_text = text.partition(section)
        calls = [part for part in _read_calls(family, calls_text, schemas) if part[0] == "call"]
        parts.append(("content", text))
    else:
        calls = _read_calls(family, text, schemas)
    return [part for part in [*parts, *calls] if part[0] == "call" or part[1]]


def _read_calls(family: str, text: str, schemas: dict[str, Any]) -> list[Part]:
    before, after = _AROUND.get(family, ("", ""))
    if family in _JSON_CALLS:
        return _read_json(_JSON_CALLS[family], after, text, ";" if family == "llama" else "")
    call, member = _ELEMENTS.get(family) or (_NESTED[family], "")
    parts: list[Part] = []
    at = 0
    for found in re.finditer(f"{before}{call}{after}", text, re.DOTALL):
        name, body = found[1], found[2]
        nested = {
            "minimax_m3": _read_m3,
            "cohere": _read_cohere,
            "gemma_4": _read_gemma,
            "functiongemma": _read_function_gemma,
        }.get(family)
        arguments = nested(body, schemas[name]) if nested else _members(member, body, schemas[name], family in _PADDED)
        parts += [("content", text[at : found.start()]), ("call", name, arguments)]
        at = found.end()
    return [*parts, ("content", text[at:])]


def _read_harmony(text: str) -> list[Part]:
    parts: list[Part] = []
    message = r"(.*?)<\|message\|>(.*?)(?:<\|end\|>|<\|call\|>|<\|return\|>)"
    for head, body in re.findall(message, text, re.DOTALL):
        name = re.search(r"to=functions\.(\w+)", head)
        if name:
            parts.append(("call", name[1], json.loads(body)))
        elif body:
            kind = "reasoning" if "analysis" in head else "content"
            if parts and parts[-1][0] == kind:  # messages of a kind that follow each other are one
                body = parts.pop()[1] + body
            parts.append((kind, body))
    return parts


def _read_python(text: str, begin: str, end: str) -> list[Part]:
    if not begin:
        listed = text.lstrip().startswith("[")
        return _python_calls(text.strip()) if listed else [("content", text)] if text else []
    parts: list[Part] = []
    while begin in text:
        before, _, rest = text.partition(begin)
        inner, _, text = rest.partition(end)
        if inner.startswith('[{"name"'):
            calls = [("call", call["name"], call["arguments"]) for call in json.loads(inner)]
        else:
            calls = _python_calls(inner if inner.startswith("[") else f"[{', '.join(inner.splitlines())}]")
        parts += [("content", before), *calls]
    return [part for part in [*parts, ("content", text)] if part[0] == "call" or part[1]]


_CONSTANTS = {"true": True, "false": False, "null": None}


def _python_calls(text: str) -> list[Part]:
    calls = ast.parse(text, mode="eval").body.elts
    return [("call", c.func.id, {k.arg: literal(k.value) for k in c.keywords}) for c in calls]


def literal(node: Any) -> Any:
    """A literal, where JSON's constants are some as well."""
    if isinstance(node, ast.Name):
        return _CONSTANTS[node.id]
    if isinstance(node, ast.List):
        return [literal(each) for each in node.elts]
    if isinstance(node, ast.Dict):
        return {literal(key): literal(value) for key, value in zip(node.keys, node.values, strict=True)}
    return ast.literal_eval(node)


def _read_kimi_k3(text: str, schemas: dict[str, Any]) -> list[Part]:
    parts: list[Part] = []
    if text.partition("<|close|>")[2].startswith("think"):  # the prompt may have opened it
        thought, _, text = text.removeprefix("<|open|>think<|sep|>").partition("<|close|>think<|sep|>")
        parts.append(("reasoning", thought))
    answer, _, text = text.removeprefix("<|open|>response<|sep|>").partition("<|close|>response<|sep|>")
    parts.append(("content", answer))
    call, member = _K3
    calls = re.findall(call, text, re.DOTALL)
    parts += [("call", name, _members(member, body, schemas[name], False)) for name, body in calls]
    return [part for part in parts if part[0] == "call" or part[1]]


def _read_m3(body: str, schema: Any) -> Any:
    out, at = {}, 0
    while found := re.compile(rf"\s*{re.escape(_M3)}<(\w+)>").match(body, at):
        name, inner = found[1], schema["properties"][found[1]]
        close = f"{_M3}</{name}>"
        at = body.index(close, found.end())
        raw = body[found.end() : at]
        if inner.get("type") == "array":
            items = re.findall(rf"{re.escape(_M3)}<item>(.*?){re.escape(_M3)}</item>", raw, re.DOTALL)
            out[name] = [item if item == "x" else json.loads(item) for item in items]
        else:
            out[name] = raw if inner.get("type") == "string" else json.loads(raw)
        at += len(close)
    return out


def _read_cohere(body: str, schema: Any) -> Any:
    def value(at: int) -> tuple[str, Any, int] | None:
        found = re.compile(r'\s*<cofl:value(?: name="(\w+)")? type="(raw|json|list)">').match(body, at)
        if not found:
            return None
        at, items = found.end(), []
        if found[2] == "list":
            while item := value(at):
                items.append(item[1])
                at = item[2]
        end = body.index("</cofl:value>", at)
        raw = body[at:end]
        read = items if found[2] == "list" else raw if found[2] == "raw" else json.loads(raw)
        return found[1], read, end + len("</cofl:value>")

    out, at = {}, 0
    while member := value(at):
        out[member[0]] = member[1]
        at = member[2]
    return out


def _read_function_gemma(body: str, schema: Any) -> Any:
    return _read_gemma(body, schema, "<escape>")


def _read_gemma(body: str, schema: Any, quote: str = '<|"|>') -> Any:
    strings = []
    parts = body.split(quote)
    for i in range(1, len(parts), 2):  # strings out of the way, then it is JSON but for the names
        strings.append(parts[i])
        parts[i] = f'"{len(strings) - 1}"'
    text = re.sub(r"([{,])(\w+):", r'\1"\2":', "".join(parts))
    data = json.loads(re.sub(r"\bNone\b", "null", text))
    fill = lambda value: strings[int(value)] if isinstance(value, str) else value  # noqa: E731
    return {k: [fill(item) for item in v] if isinstance(v, list) else fill(v) for k, v in data.items()}


def _read_json(pattern: str, after: str, text: str, separator: str) -> list[Part]:
    parts: list[Part] = []
    at, decoder = 0, json.JSONDecoder()
    while found := re.compile(pattern).search(text, at):
        value, end = decoder.raw_decode(text, found.end())
        parts += [("content", text[at : found.start()]), ("call", found[1], value)]
        closed = re.compile(rf"[ \n]*{after}").match(text, end)
        at = closed.end() if closed else end
        at += bool(separator) and text.startswith(separator, at)
    return [*parts, ("content", text[at:])]


def _members(pattern: str, body: str, schema: Any, padded: bool) -> dict[str, Any]:
    out = {}
    for name, raw in re.findall(pattern, body, re.DOTALL):
        value = raw.removeprefix("\n").removesuffix("\n") if padded else raw
        out[name] = value if schema["properties"][name].get("type") == "string" else json.loads(raw)
    return out
