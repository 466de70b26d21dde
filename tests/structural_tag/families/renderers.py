"""What chat templates and makers' libraries write for calls, in our own code: one function a family.

    RENDERERS["hermes"]([("f", {"city": "Paris"})])    "<tool_call>\n{"name": "f", …}\n</tool_call>"

Each was written from the published template that its line in SOURCES names, and writes what that does for the calls of
one message, from where the calls begin to where the message's end token stands. `tojson` is Jinja's in transformers:
json.dumps without escapes beyond ASCII.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

Call = tuple[str, dict[str, Any]]

SOURCES = {
    "hermes": "the prompt of Hermes 2 Pro and 3, and the templates of Qwen 2.5 and Granite 4.0",
    "qwen_3": "Qwen/Qwen3-8B",
    "exaone": "LGAI-EXAONE/EXAONE-4.0-32B",
    "llama": "meta-llama/Llama-3.1-8B-Instruct; parallel calls as its models write them",
    "llama_4_pythonic": "the prompt format of Llama 4, with literals of Python",
    "granite": "ibm-granite/granite-3.3-8b-instruct",
    "phi_4_mini": "vLLM's template for Phi-4-mini",
    "mistral_v3": "mistral-common, tokenizer v3",
    "mistral_v11": "mistral-common, tokenizer v11",
    "mistral": "mistral-common, tokenizer v13",
    "command_a": "CohereLabs/c4ai-command-r7b-12-2024",
    "qwen_3_coder": "Qwen/Qwen3-Coder-30B-A3B-Instruct, as vLLM has it",
    "mimo": "XiaomiMiMo/MiMo-V2.5",
    "glm_4_5": "zai-org/GLM-4.6, as llama.cpp has it",
    "glm_4_7": "zai-org/GLM-4.7",
    "kimi": "moonshotai/Kimi-K2-Thinking",
    "kimi_k3": "Kimi K3, as llama.cpp has it",
    "deepseek_r1": "deepseek-ai/DeepSeek-R1, as vLLM has it",
    "deepseek_v3_1": "deepseek-ai/DeepSeek-V3.1, as vLLM has it",
    "deepseek_v3_2": "DeepSeek V3.2, as llama.cpp has it",
    "minimax": "MiniMaxAI/MiniMax-M2, as llama.cpp has it",
    "gemma_4": "google/gemma-4, as vLLM has it",
    "harmony": "openai/gpt-oss-20b and openai-harmony",
}


def tojson(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _bare(value: Any) -> str:
    """A string as it is, everything else as JSON."""
    return value if isinstance(value, str) else tojson(value)


def _objects(calls: Sequence[Call], arguments: str = "arguments") -> list[str]:
    return [f'{{"name": "{name}", "{arguments}": {tojson(given)}}}' for name, given in calls]


def hermes(calls: Sequence[Call]) -> str:
    return "\n".join(f"<tool_call>\n{call}\n</tool_call>" for call in _objects(calls))


def exaone(calls: Sequence[Call]) -> str:
    return "\n".join(f"<tool_call>{call}</tool_call>" for call in _objects(calls))


def llama(calls: Sequence[Call]) -> str:
    return "; ".join(_objects(calls, "parameters"))


def llama_4_pythonic(calls: Sequence[Call]) -> str:
    return f"[{', '.join(_python_call(*call) for call in calls)}]"


def _python_call(name: str, given: dict[str, Any]) -> str:
    return f"{name}({', '.join(f'{key}={_python(value)}' for key, value in given.items())})"


def _python(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{tojson(key)}: {_python(each)}' for key, each in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_python, value))}]"
    return tojson(value) if isinstance(value, str) else repr(value)


def granite(calls: Sequence[Call]) -> str:
    return f"<|tool_call|>[{', '.join(_objects(calls))}]"


def phi_4_mini(calls: Sequence[Call]) -> str:
    return f"functools[{', '.join(_objects(calls))}]"


def mistral_v3(calls: Sequence[Call]) -> str:
    listed = [f'{call[:-1]}, "id": "{i:09d}"}}' for i, call in enumerate(_objects(calls))]
    return f"[TOOL_CALLS][{', '.join(listed)}]"


def mistral_v11(calls: Sequence[Call]) -> str:
    return "".join(f"[TOOL_CALLS]{name}[CALL_ID]{i:09d}[ARGS]{tojson(given)}" for i, (name, given) in enumerate(calls))


def mistral(calls: Sequence[Call]) -> str:
    return "".join(f"[TOOL_CALLS]{name}[ARGS]{tojson(given)}" for name, given in calls)


def command_a(calls: Sequence[Call]) -> str:
    listed = [
        f'    {{"tool_call_id": "{i}", "tool_name": "{name}", "parameters": {tojson(given)}}}'
        for i, (name, given) in enumerate(calls)
    ]
    return "<|START_ACTION|>[\n" + ",\n".join(listed) + "\n]<|END_ACTION|>"


def qwen_3_coder(calls: Sequence[Call]) -> str:
    def text(value: Any) -> str:
        return tojson(value) if isinstance(value, (dict, list)) else str(value)

    def call(name: str, given: dict[str, Any]) -> str:
        members = "".join(f"<parameter={key}>\n{text(value)}\n</parameter>\n" for key, value in given.items())
        return f"<tool_call>\n<function={name}>\n{members}</function>\n</tool_call>"

    return "\n".join(call(*each) for each in calls)


def mimo(calls: Sequence[Call]) -> str:
    def text(value: Any) -> str:
        return tojson(value) if isinstance(value, (dict, list)) else str(value)

    def call(name: str, given: dict[str, Any]) -> str:
        members = "".join(f"<parameter={key}>{text(value)}</parameter>\n" for key, value in given.items())
        return f"<tool_call>\n<function={name}>\n{members}</function>\n</tool_call>"

    return "".join(call(*each) for each in calls)


def glm_4_5(calls: Sequence[Call]) -> str:
    def call(name: str, given: dict[str, Any]) -> str:
        members = [f"<arg_key>{key}</arg_key>\n<arg_value>{_bare(value)}</arg_value>\n" for key, value in given.items()]
        return f"\n<tool_call>{name}\n{''.join(members)}</tool_call>"

    return "".join(call(*each) for each in calls)


def glm_4_7(calls: Sequence[Call]) -> str:
    def call(name: str, given: dict[str, Any]) -> str:
        members = [f"<arg_key>{key}</arg_key><arg_value>{_bare(value)}</arg_value>" for key, value in given.items()]
        return f"<tool_call>{name}{''.join(members)}</tool_call>"

    return "".join(call(*each) for each in calls)


def kimi(calls: Sequence[Call]) -> str:
    listed = [
        f"<|tool_call_begin|>functions.{name}:{i}<|tool_call_argument_begin|>{tojson(given)}<|tool_call_end|>"
        for i, (name, given) in enumerate(calls)
    ]
    return f"<|tool_calls_section_begin|>{''.join(listed)}<|tool_calls_section_end|>"


def kimi_k3(calls: Sequence[Call]) -> str:
    def escaped(name: str) -> str:
        return name.replace("&", "&amp;").replace('"', "&quot;")

    def kind(value: Any) -> str:
        kinds = {bool: "boolean", type(None): "null", int: "number", float: "number", str: "string", dict: "object"}
        return kinds.get(type(value), "array")

    def call(i: int, name: str, given: dict[str, Any]) -> str:
        members = [
            f'<|open|>argument key="{escaped(key)}" type="{kind(value)}"<|sep|>{_bare(value)}<|close|>argument<|sep|>'
            for key, value in given.items()
        ]
        return f'<|open|>call tool="{name}" index="{i}"<|sep|>{"".join(members)}<|close|>call<|sep|>'

    listed = "".join(call(i, *each) for i, each in enumerate(calls, 1))
    response = "<|open|>response<|sep|><|close|>response<|sep|>"
    return f"{response}<|open|>tools<|sep|>{listed}<|close|>tools<|sep|><|close|>message<|sep|>"


def deepseek_r1(calls: Sequence[Call]) -> str:
    listed = [
        f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{tojson(given)}\n```<｜tool▁call▁end｜>"
        for name, given in calls
    ]
    return "<｜tool▁calls▁begin｜>" + "\n".join(listed) + "<｜tool▁calls▁end｜>"


def deepseek_v3_1(calls: Sequence[Call]) -> str:
    listed = [f"<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{tojson(given)}<｜tool▁call▁end｜>" for name, given in calls]
    return f"<｜tool▁calls▁begin｜>{''.join(listed)}<｜tool▁calls▁end｜>"


def deepseek_v3_2(calls: Sequence[Call]) -> str:
    def member(key: str, value: Any) -> str:
        is_string = "true" if isinstance(value, str) else "false"
        return f'<｜DSML｜parameter name="{key}" string="{is_string}">{_bare(value)}</｜DSML｜parameter>'

    def call(name: str, given: dict[str, Any]) -> str:
        members = "\n".join(member(*each) for each in given.items())
        return f'\n<｜DSML｜invoke name="{name}">\n{members}\n</｜DSML｜invoke>'

    return f"\n\n<｜DSML｜function_calls>{''.join(call(*each) for each in calls)}\n</｜DSML｜function_calls>"


def minimax(calls: Sequence[Call]) -> str:
    def call(name: str, given: dict[str, Any]) -> str:
        members = "".join(f'<parameter name="{key}">{_bare(value)}</parameter>\n' for key, value in given.items())
        return f'<invoke name="{name}">\n{members}</invoke>\n'

    return f"\n<minimax:tool_call>\n{''.join(call(*each) for each in calls)}</minimax:tool_call>"


def gemma_4(calls: Sequence[Call]) -> str:
    def text(value: Any) -> str:
        if isinstance(value, str):
            return f'<|"|>{value}<|"|>'
        if isinstance(value, dict):
            return f"{{{members(value)}}}"
        if isinstance(value, list):
            return f"[{','.join(map(text, value))}]"
        return tojson(value) if isinstance(value, bool) else str(value)

    def members(given: dict[str, Any]) -> str:
        return ",".join(f"{key}:{text(given[key])}" for key in sorted(given, key=str.lower))

    return "".join(f"<|tool_call>call:{name}{{{members(given)}}}<tool_call|>" for name, given in calls)


def harmony(calls: Sequence[Call]) -> str:
    listed = [
        f" to=functions.{name}<|channel|>commentary json<|message|>{tojson(given)}<|call|>" for name, given in calls
    ]
    return "<|start|>assistant".join(listed)


RENDERERS: dict[str, Callable[[Sequence[Call]], str]] = {
    name: globals()["hermes" if name == "qwen_3" else name] for name in SOURCES
}
