"""Outputs as the makers of the models write them: what their own chat templates and libraries make of one conversation.

Each is cut where the prompt ends. `TRANSCRIPTS` gives for each: the family, what was asked for, the output, and what it
says: reasoning, content, calls.
"""

from __future__ import annotations

from typing import Any

from structural_tag.transcripts import TIME, WEATHER

ALARM = {
    "type": "function",
    "function": {
        "name": "set_alarm",
        "parameters": {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]},
    },
}
SEARCH = {"type": "browser.search", "parameters": {"properties": {"query": {"type": "string"}}}}
TOOLS = [WEATHER, TIME, ALARM, SEARCH]

PARIS = {"city": "Paris", "days": 3}
BOTH = [("get_weather", PARIS), ("get_time", {})]
JSON = '{"city": "Paris", "days": 3}'
_M3 = "]<]minimax[>["

TRANSCRIPTS: dict[str, tuple[str, dict[str, Any], str, tuple[str, str, list[Any]]]] = {
    # openai-harmony 0.0.8: render_conversation
    "harmony: a call after reasoning": (
        "harmony",
        {},
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant to=functions.get_weather<|channel|>commentary "
        f"<|constrain|>json<|message|>{JSON}<|call|>",
        ("Hm.", "", BOTH[:1]),
    ),
    "harmony: the content type as text": (
        "harmony",
        {},
        f" to=functions.get_weather<|channel|>commentary json<|message|>{JSON}<|call|>",
        ("", "", BOTH[:1]),
    ),
    "harmony: no content type": (
        "harmony",
        {},
        f" to=functions.get_weather<|channel|>commentary<|message|>{JSON}<|call|>",
        ("", "", BOTH[:1]),
    ),
    "harmony: a tool that is built in": (
        "harmony",
        {},
        ' to=browser.search<|channel|>analysis code<|message|>{"query": "x"}<|call|>',
        ("", "", [("browser.search", {"query": "x"})]),
    ),
    "harmony: an answer": (
        "harmony",
        {},
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Sunny.<|return|>",
        ("Hm.", "Sunny.", []),
    ),
    # CohereLabs/c4ai-command-r7b-12-2024: the chat template for tools
    "command_r7b: calls": (
        "command_r7b",
        {"reasoning": "auto"},
        '<|START_THINKING|>Hm.<|END_THINKING|><|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "get_weather", '
        f'"parameters": {JSON}}},\n    {{"tool_call_id": "1", "tool_name": "get_time", "parameters": {{}}}}\n'
        "]<|END_ACTION|>",
        ("Hm.", "", BOTH),
    ),
    "command_r7b: an answer": (
        "command_r7b",
        {"reasoning": "auto"},
        "<|START_RESPONSE|>Sunny.<|END_RESPONSE|>",
        ("", "Sunny.", []),
    ),
    # as servers describe Cohere's North models, whose prompts open the reasoning
    "cohere: an answer": (
        "cohere",
        {},
        "Hm.<|END_THINKING|><|START_TEXT|>Sunny.<|END_TEXT|>",
        ("Hm.", "Sunny.", []),
    ),
    # zai-org/GLM-4.6 and GLM-5.3-Flash, which writes what 4.7 does: chat templates
    "glm_4_6": (
        "glm_4_6",
        {},
        "\n<think>Hm.</think>\nLet me see.\n<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris"
        "</arg_value>\n<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>\n<tool_call>get_time\n</tool_call>",
        ("Hm.", "\nLet me see.\n\n", BOTH),
    ),
    "glm_4_7": (
        "glm_4_7",
        {},
        "Hm.</think>Let me see.<tool_call>get_weather<arg_key>city</arg_key><arg_value>Paris</arg_value><arg_key>days"
        "</arg_key><arg_value>3</arg_value></tool_call><tool_call>get_time</tool_call>",
        ("Hm.", "Let me see.", BOTH),
    ),
    # moonshotai/Kimi-K2-Thinking, and Kimi-K3 as llama.cpp has it: chat templates
    "kimi_k2": (
        "kimi_k2",
        {},
        "<think>Hm.</think>Let me see.<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
        f"<|tool_call_argument_begin|>{JSON}<|tool_call_end|><|tool_call_begin|>functions.get_time:1"
        "<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
        ("Hm.", "Let me see.", BOTH),
    ),
    "kimi_k3": (
        "kimi_k3",
        {},
        "Hm.<|close|>think<|sep|><|open|>response<|sep|>Let me see.<|close|>response<|sep|><|open|>tools<|sep|><|open|>"
        'call tool="get_weather" index="1"<|sep|><|open|>argument key="city" type="string"<|sep|>Paris<|close|>argument'
        '<|sep|><|open|>argument key="days" type="number"<|sep|>3<|close|>argument<|sep|><|close|>call<|sep|><|open|>'
        'call tool="get_time" index="2"<|sep|><|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|>',
        ("Hm.", "Let me see.", BOTH),
    ),
    "kimi_k3: the prompt opens the answer": (
        "kimi_k3",
        {"reasoning": "disabled"},
        "Sunny.<|close|>response<|sep|><|close|>message<|sep|>",
        ("", "Sunny.", []),
    ),
    # deepseek-ai/DeepSeek-V3.1 and R1 with vLLM's chat template for tools; V3.2 as llama.cpp has it
    "deepseek_r1": (
        "deepseek_r1",
        {"reasoning": "disabled"},
        "Let me see.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n"
        f"{JSON}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>get_time\n```json\n{{}}\n```"
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        ("", "Let me see.", BOTH),
    ),
    "deepseek_v3_1": (
        "deepseek_v3_1",
        {},
        "Hm.</think>Let me see.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>"
        f"{JSON}<｜tool▁call▁end｜><｜tool▁call▁begin｜>get_time<｜tool▁sep｜>{{}}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        ("Hm.", "Let me see.", BOTH),
    ),
    "deepseek_v3_2": (
        "deepseek_v3_2",
        {},
        'Hm.</think>Let me see.\n\n<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter '
        'name="city" string="true">Paris</｜DSML｜parameter>\n<｜DSML｜parameter name="days" string="false">3'
        '</｜DSML｜parameter>\n</｜DSML｜invoke>\n<｜DSML｜invoke name="get_time">\n\n</｜DSML｜invoke>\n'
        "</｜DSML｜function_calls>",
        ("Hm.", "Let me see.\n\n", BOTH),
    ),
    # vLLM's documentation of its parser for V4; a published output of V4.1
    "deepseek_v4": (
        "deepseek_v4",
        {"reasoning": "auto"},
        '<think>\nHm.\n</think>\n<｜DSML｜tool_calls>\n<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter '
        'name="city" string="true">杭州</｜DSML｜parameter>\n<｜DSML｜parameter name="days" string="false">5'
        "</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>",
        ("\nHm.\n", "\n", [("get_weather", {"city": "杭州", "days": 5})]),
    ),
    "deepseek_v4_1": (
        "deepseek_v4_1",
        {"reasoning": "disabled"},
        '\n\n<｜DSML｜ calls>\n<｜DSML｜ invoke name="get_weather">\n<｜DSML｜ parameter name="city" string="true">'
        'goals/g-ca9b.md</｜DSML｜ parameter>\n</｜DSML｜ invoke>\n<｜DSML｜ invoke name="get_time">\n\n'
        "</｜DSML｜ invoke>\n</｜DSML｜ calls>",
        ("", "\n\n", [("get_weather", {"city": "goals/g-ca9b.md"}), BOTH[1]]),
    ),
    # MiniMaxAI/MiniMax-M2: the chat template; M3: descriptions of its chat template in parsers for it
    "minimax_m2": (
        "minimax_m2",
        {},
        'Hm.\n</think>\n\nLet me see.\n<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Paris'
        '</parameter>\n<parameter name="days">3</parameter>\n</invoke>\n<invoke name="get_time">\n</invoke>\n'
        "</minimax:tool_call>",
        ("Hm.\n", "\n\nLet me see.\n", BOTH),
    ),
    "minimax_m3": (
        "minimax_m3",
        {"reasoning": "disabled"},
        f'{_M3}<tool_call>\n{_M3}<invoke name="get_weather">\n{_M3}<city>Paris{_M3}</city>\n{_M3}<days>3{_M3}</days>\n'
        f'{_M3}</invoke>\n{_M3}<invoke name="get_time">{_M3}</invoke>\n{_M3}</tool_call>',
        ("", "", BOTH),
    ),
    # google/gemma-4: the chat templates that vLLM and llama.cpp have
    "gemma_4": (
        "gemma_4",
        {},
        '<|channel>thought\nHm.\n<channel|><|tool_call>call:get_weather{city:<|"|>Paris<|"|>,days:3}<tool_call|>'
        "<|tool_call>call:get_time{}<tool_call|>",
        ("Hm.\n", "", BOTH),
    ),
    # Qwen/Qwen3-8B, Qwen3-Coder, Qwen 3.5 and XiaomiMiMo/MiMo-V2.5: chat templates
    "qwen_3": (
        "qwen_3",
        {},
        f'<think>\nHm.\n</think>\n\nLet me see.\n<tool_call>\n{{"name": "get_weather", "arguments": {JSON}}}\n'
        '</tool_call>\n<tool_call>\n{"name": "get_time", "arguments": {}}\n</tool_call>',
        ("\nHm.\n", "\n\nLet me see.\n\n", BOTH),
    ),
    "qwen_3_coder": (
        "qwen_3_coder",
        {"reasoning": "disabled"},
        "Let me see.\n\n<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n<parameter=days>\n3"
        "\n</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=get_time>\n</function>\n</tool_call>",
        ("", "Let me see.\n\n\n", BOTH),
    ),
    "qwen_3_5: a boolean": (
        "qwen_3_5",
        {},
        "Hm.\n</think>\n\n<tool_call>\n<function=set_alarm>\n<parameter=on>\nTrue\n</parameter>\n</function>\n</tool_call>",
        ("Hm.\n", "\n\n", [("set_alarm", {"on": True})]),
    ),
    "mimo": (
        "mimo",
        {},
        "Hm.</think><tool_call>\n<function=get_weather>\n<parameter=city>Paris</parameter>\n<parameter=days>3</parameter>"
        "\n</function>\n</tool_call><tool_call>\n<function=set_alarm>\n<parameter=on>False</parameter>\n</function>\n"
        "</tool_call>",
        ("Hm.", "", [*BOTH[:1], ("set_alarm", {"on": False})]),
    ),
    "mimo: newlines are of the value": (
        "mimo",
        {"reasoning": "disabled"},
        "<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n</tool_call>",
        ("", "", [("get_weather", {"city": "\nParis\n"})]),
    ),
    # LGAI-EXAONE/EXAONE-4.0, meta-llama/Llama-3.1: chat templates
    "exaone_4": (
        "exaone_4",
        {},
        f'Hm.\n</think>\n\n<tool_call>{{"name": "get_weather", "arguments": {JSON}}}</tool_call>\n'
        '<tool_call>{"name": "get_time", "arguments": {}}</tool_call>',
        ("Hm.\n", "\n\n\n", BOTH),
    ),
    "llama_3_1": (
        "llama_3_1",
        {},
        f'{{"name": "get_weather", "parameters": {JSON}}}',
        ("", "", BOTH[:1]),
    ),
    # llama-models 0.3.0: `encode_tool_call`, and the output that its page on prompts shows
    "llama_3_1: encoded": (
        "llama_3_1",
        {},
        f'{{"type": "function", "name": "get_weather", "parameters": {JSON}}}',
        ("", "", BOTH[:1]),
    ),
    "llama_3_1: shown": (
        "llama_3_1",
        {},
        '<|python_tag|>{\n    "type": "function",\n    "name": "get_weather",\n    "parameters": {\n        "city": '
        '"Paris",\n        "days": 3\n    }\n}',
        ("", "", BOTH[:1]),
    ),
    # granite-io 0.5.3: the output processor of Granite 3.3
    "granite_3: calls": (
        "granite_3",
        {"reasoning": "disabled"},
        f'<tool_call>[{{"name": "get_weather", "arguments": {JSON}}}, {{"name": "get_time", "arguments": {{}}}}]',
        ("", "", BOTH),
    ),
    # ibm-granite/granite-3.3: the system prompt of its chat template asks for these elements
    "granite_3": (
        "granite_3",
        {},
        "<think>Hm.</think><response>Sunny.</response>",
        ("Hm.", "Sunny.", []),
    ),
    # microsoft/Phi-4-mini-instruct: the chat template that vLLM has for it
    "phi_4_mini": (
        "phi_4_mini",
        {},
        f'functools[{{"name": "get_weather", "arguments": {JSON}}}, {{"name": "get_time", "arguments": {{}}}}]',
        ("", "", BOTH),
    ),
}
SPECIAL = [
    *["<|channel|>", "<|message|>", "<|call|>", "<|end|>", "<|return|>", "<|start|>", "<|constrain|>"],
    *["<|open|>", "<|close|>", "<|sep|>", "<|channel>", "<channel|>", "<|tool_call>", "<tool_call|>", '<|"|>'],
    *["<|START_ACTION|>", "<|END_ACTION|>", "<|START_THINKING|>", "<|END_THINKING|>"],
    *["<|python_tag|>", "<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>"],
    *[
        "<｜tool▁calls▁begin｜>",
        "<｜tool▁calls▁end｜>",
        "<｜tool▁call▁begin｜>",
        "<｜tool▁call▁end｜>",
        "<｜tool▁sep｜>",
    ],
    *["<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", "<|tool_call_begin|>", "<|tool_call_end|>"],
    *["<|tool_call_argument_begin|>", "｜DSML｜", "<minimax:tool_call>", "</minimax:tool_call>", _M3],
]
