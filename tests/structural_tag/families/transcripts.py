"""Outputs in the published format of each family: what must be accepted, and what must not.

`{call}` in a sample stands for one call of the tool `get_weather` with city Paris and days 3, as `CALLS` spells it.
Each rejected text is an accepted one with a single fault.
"""

from __future__ import annotations

from typing import Any, NamedTuple

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}
TIME = {"type": "function", "function": {"name": "get_time", "parameters": {"type": "object", "properties": {}}}}
TOOLS: list[dict[str, Any]] = [WEATHER, TIME]
JSON = '{"city": "Paris", "days": 3}'


class Family(NamedTuple):
    """`section` holds `{calls}`, joined by `between`; `think` is its reasoning, begin and end."""

    call: str
    section: str = "{calls}"
    between: str = ""
    think: tuple[str, str] | None = ("<think>", "</think>")

    def calls(self, count: int = 1) -> str:
        return self.section.replace("{calls}", self.between.join([self.call] * count))


_DSML = '<｜DSML｜{s}invoke name="get_weather">\n<｜DSML｜{s}parameter name="city" string="true">Paris</｜DSML｜{s}parameter>\n<｜DSML｜{s}parameter name="days" string="false">3</｜DSML｜{s}parameter>\n</｜DSML｜{s}invoke>\n'  # noqa: E501
_M3 = "]<]minimax[>["
_QWEN = "<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>"
_MARK = "<｜tool▁calls▁begin｜>{calls}<｜tool▁calls▁end｜>"

_HERMES = Family(f'<tool_call>\n{{"name": "get_weather", "arguments": {JSON}}}\n</tool_call>', between="\n")
_LLAMA = Family(f'{{"name": "get_weather", "parameters": {JSON}}}', between="\n", think=None)
_MINIMAX = (
    '<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n'
    '<parameter name="days">3</parameter>\n</invoke>\n'
)
_LISTED = f'{{"name": "get_weather", "arguments": {JSON}}}'
_COMMAND_THINK = ("<|START_THINKING|>", "<|END_THINKING|>")

FAMILIES: dict[str, Family] = {
    "hermes": _HERMES,
    "qwen_3": _HERMES,
    "granite_4": _HERMES,
    "exaone": _HERMES._replace(call=_HERMES.call.replace("\n", "")),
    "llama": _LLAMA,
    "llama_4": _LLAMA,
    "llama_4_pythonic": Family('get_weather(city="Paris", days=3)', "[{calls}]", ", ", None),
    "granite": Family(_LISTED, "<|tool_call|>[{calls}]", ", "),
    "mistral_v3": Family(f'{_LISTED[:-1]}, "id": "a1B2c3D4e"}}', "[TOOL_CALLS][{calls}]", ", ", None),
    "phi_4_mini": Family(_LISTED, "functools[{calls}]", ", ", None),
    "command_a": Family(
        f'    {{"tool_call_id": "0", "tool_name": "get_weather", "parameters": {JSON}}}',
        "<|START_ACTION|>[\n{calls}\n]<|END_ACTION|>",
        ",\n",
        _COMMAND_THINK,
    ),
    "qwen_3_coder": Family(f"<tool_call>\n{_QWEN}\n</tool_call>", between="\n"),
    "qwen_3_5": Family(f"<tool_call>\n{_QWEN}\n</tool_call>", between="\n"),
    "mimo": Family(
        "<tool_call>\n<function=get_weather>\n<parameter=city>Paris</parameter>\n<parameter=days>3</parameter>\n"
        "</function>\n</tool_call>"
    ),
    "glm_4_5": Family(
        "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n"
        "<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
        between="\n",
    ),
    "kimi": Family(
        f"<|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{JSON}<|tool_call_end|>",
        "<|tool_calls_section_begin|>{calls}<|tool_calls_section_end|>",
    ),
    "deepseek_r1": Family(
        f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{JSON}\n```<｜tool▁call▁end｜>", _MARK, "\n"
    ),
    "deepseek_v3_1": Family(f"<｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{JSON}<｜tool▁call▁end｜>", _MARK),
    "deepseek_v3_2": Family(_DSML.replace("{s}", ""), "<｜DSML｜function_calls>\n{calls}</｜DSML｜function_calls>"),
    "deepseek_v4": Family(_DSML.replace("{s}", ""), "<｜DSML｜tool_calls>\n{calls}</｜DSML｜tool_calls>"),
    "deepseek_v4_1": Family(_DSML.replace("{s}", " "), "<｜DSML｜ calls>\n{calls}</｜DSML｜ calls>"),
    "minimax": Family(_MINIMAX, "<minimax:tool_call>\n{calls}</minimax:tool_call>"),
    "minimax_m3": Family(
        f'{_M3}<invoke name="get_weather">{_M3}<city>Paris{_M3}</city>{_M3}<days>3{_M3}</days>{_M3}</invoke>\n',
        f"{_M3}<tool_call>\n{{calls}}{_M3}</tool_call>",
        think=("<mm:think>", "</mm:think>"),
    ),
    "gemma_4": Family(
        '<|tool_call>call:get_weather{city:<|"|>Paris<|"|>,days:3}<tool_call|>',
        think=("<|channel>thought\n", "<channel|>"),
    ),
    "mistral": Family(f"[TOOL_CALLS]get_weather[ARGS]{JSON}", think=("[THINK]", "[/THINK]")),
    "mistral_v11": Family(f"[TOOL_CALLS]get_weather[CALL_ID]a1B2c3D4e[ARGS]{JSON}", think=None),
    "ernie_4_5": _HERMES,
    "longcat": Family(
        f"<longcat_tool_call>\n{_LISTED}\n</longcat_tool_call>",
        between="\n",
        think=("<longcat_think>", "</longcat_think>"),
    ),
    "internlm_2_5": Family(
        f'<|action_start|><|plugin|>\n{{"name": "get_weather", "parameters": {JSON}}}<|action_end|>', between="\n"
    ),
    "granite_20b_functioncalling": Family(f"<function_call> {_LISTED}", between="\n", think=None),
    "functionary_v3_1": Family(f"<function=get_weather>{JSON}</function>", think=None),
    "minimax_m1": Family(f"{_LISTED}\n", "<tool_calls>\n{calls}</tool_calls>"),
    "nemotron_nano_2": Family(_LISTED, "<TOOLCALL>[{calls}]</TOOLCALL>", ", "),
    "hunyuan_a13b": Family(_LISTED, "<tool_calls>[{calls}]</tool_calls>", ", "),
    "jamba": Family(_LISTED, "<tool_calls>[\n    {calls}\n]</tool_calls>", ",\n    ", None),
    "apertus": Family(
        f'{{"get_weather": {JSON}}}',
        "<|tools_prefix|>[{calls}]<|tools_suffix|>",
        ", ",
        ("<|inner_prefix|>", "<|inner_suffix|>"),
    ),
    "xlam": Family(_LISTED, "[{calls}]", ", ", None),
    "gemma_3": Family('get_weather(city="Paris", days=3)', "[{calls}]", ", ", None),
    "lfm_2": Family("get_weather(city='Paris', days=3)", "<|tool_call_start|>[{calls}]<|tool_call_end|>", ", "),
    "olmo_3": Family("get_weather(city='Paris', days=3)", "<function_calls>\n{calls}\n</function_calls>", "\n"),
    "seed_oss": Family(
        "<seed:tool_call>\n<function=get_weather>\n<parameter=city>Paris</parameter>\n"
        "<parameter=days>3</parameter>\n</function>\n</seed:tool_call>",
        between="\n",
        think=("<seed:think>", "</seed:think>"),
    ),
    "step_3": Family(
        '<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="get_weather">\n'
        '<steptml:parameter name="city">Paris</steptml:parameter>\n'
        '<steptml:parameter name="days">3</steptml:parameter>\n</steptml:invoke><｜tool_call_end｜>\n',
        "<｜tool_calls_begin｜>\n{calls}<｜tool_calls_end｜>",
    ),
    "hunyuan_3": Family(
        "<tool_call>get_weather<tool_sep>\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n"
        "<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>\n",
        "<tool_calls>\n{calls}</tool_calls>",
    ),
    "dots": Family(_MINIMAX, "<dots_function_call>\n{calls}</dots_function_call>"),
    "functiongemma": Family(
        "<start_function_call>call:get_weather{city:<escape>Paris<escape>,days:3}<end_function_call>", think=None
    ),
    "cohere": Family(
        '<cofl:tool_call id="0" name="get_weather"><cofl:value name="city" type="raw">Paris</cofl:value>'
        '<cofl:value name="days" type="json">3</cofl:value></cofl:tool_call>',
        "<cofl:tool_calls>{calls}</cofl:tool_calls>",
        think=_COMMAND_THINK,
    ),
}

# Families whose calls have no mark of their own: they look like an answer, and come at once where they must.
UNMARKED = ("llama", "llama_4", "llama_4_pythonic", "xlam", "gemma_3")
# Those in which nothing but calls may follow the first one, although there is no section around them.
CALLS_LAST = ("mistral", "mistral_v11")

# Families whose answer is no free text with calls in it: whole outputs by hand.
HARMONY_CALL = f"<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{JSON}<|call|>"
_ANALYSIS = "<|channel|>analysis<|message|>Look < at it.<|end|><|start|>assistant"
_FINAL = "<|channel|>final<|message|>It is sunny.<|return|>"
_K3_CALL = (
    '<|open|>call tool="get_weather" index="0"<|sep|><|open|>argument key="city" type="string"<|sep|>Paris'
    '<|close|>argument<|sep|><|open|>argument key="days" type="number"<|sep|>3<|close|>argument<|sep|>'
    "<|close|>call<|sep|>"
)
K3_TEXT = "<|open|>response<|sep|>Sunny.<|close|>response<|sep|>"
K3_END = "<|close|>message<|sep|>"
K3_TOOLS = f"<|open|>tools<|sep|>{_K3_CALL}<|close|>tools<|sep|>"
_K3_OPEN = "<|open|>think<|sep|>"
_K3_THINK = "Hm.<|close|>think<|sep|>"

_GIGACHAT = f"function call<|role_sep|>\n{_LISTED}"
_GIGACHAT_TEXT = "It is < 5 degrees."

_FUNCTIONARY = f"get_weather\n{JSON}"

OTHERS: list[tuple[str, dict[str, Any], list[str], list[str]]] = [
    (
        "gigachat_3",
        {},
        ["", _GIGACHAT_TEXT, _GIGACHAT, f"{_GIGACHAT_TEXT}<|message_sep|>\n\n{_GIGACHAT}"],
        [_GIGACHAT[:-1], _GIGACHAT * 2, _GIGACHAT.replace("Paris", "Paris\x00"), f"{_GIGACHAT}Done."],
    ),
    (
        "functionary_v3_2",
        {},
        [
            "all\nIt is < 5 > 4 >> 3.",
            _FUNCTIONARY,
            f">>>{_FUNCTIONARY}",
            f"{_FUNCTIONARY}>>>{_FUNCTIONARY}",
            f"all\nSee:>>>{_FUNCTIONARY}>>>get_time\n{{}}",
        ],
        ["", "Sunny.", f"{_FUNCTIONARY}{_FUNCTIONARY}", _FUNCTIONARY[:-1], f"all\n>>>all\n>>>{_FUNCTIONARY}"],
    ),
    (
        "functionary_v3_2",
        {"parallel_tool_calls": False},
        [_FUNCTIONARY, f"all\nSee:>>>{_FUNCTIONARY}"],
        [f"{_FUNCTIONARY}>>>{_FUNCTIONARY}"],
    ),
    ("functionary_v3_2", {"tool_choice": "required"}, [_FUNCTIONARY], ["all\nSunny.", ""]),
    ("functionary_v3_2", {"tool_choice": "none"}, ["all\nSunny."], [_FUNCTIONARY, f"all\n>>>{_FUNCTIONARY}"]),
    ("gigachat_3", {"tool_choice": "required"}, [_GIGACHAT], ["", _GIGACHAT_TEXT]),
    ("gigachat_3", {"tool_choice": "none"}, ["", _GIGACHAT_TEXT], [_GIGACHAT]),
    (
        "harmony",
        {},
        [
            _FINAL,
            _ANALYSIS + _FINAL,
            _ANALYSIS + HARMONY_CALL,
            _ANALYSIS + _ANALYSIS + HARMONY_CALL,
            HARMONY_CALL + "<|start|>assistant" + HARMONY_CALL,
            f" to=functions.get_weather<|channel|>commentary json<|message|>{JSON}<|call|>",
            "<|channel|>commentary<|message|>I will call.<|end|><|start|>assistant" + HARMONY_CALL,
        ],
        [
            "It is sunny.",
            HARMONY_CALL.replace("get_weather", "get_wether"),
            HARMONY_CALL.replace("Paris", 'Paris", "zip": "1'),
            _FINAL + _FINAL,
            _ANALYSIS,
        ],
    ),
    ("harmony", {"tool_choice": "required"}, [_ANALYSIS + HARMONY_CALL], [_FINAL, _ANALYSIS + _FINAL]),
    ("harmony", {"tool_choice": "none"}, [_FINAL, _ANALYSIS + _FINAL], [HARMONY_CALL]),
    ("harmony", {"reasoning": "disabled"}, [_FINAL, HARMONY_CALL], [_ANALYSIS + _FINAL]),
    (
        "kimi_k3",
        {},
        [_K3_THINK + K3_TEXT + K3_END, _K3_THINK + K3_TEXT + K3_TOOLS + K3_END],
        [K3_TEXT + K3_TOOLS, _K3_THINK + K3_TEXT + K3_TOOLS.replace('"number"', '"string"') + K3_END],
    ),
    ("kimi_k3", {"reasoning": "disabled"}, [K3_TEXT + K3_END], ["Sunny.", _K3_THINK + K3_TEXT + K3_END]),
    (
        "kimi_k3",
        {"tool_choice": "required", "reasoning": "auto"},
        [
            K3_TEXT + K3_TOOLS + K3_END,
            _K3_OPEN + _K3_THINK + K3_TEXT + K3_TOOLS + K3_END,
        ],
        [K3_TEXT + K3_END],
    ),
]
