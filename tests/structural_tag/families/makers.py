"""Outputs as the makers of the models write them, from makers.toml, and the tools and special tokens in them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from structural_tag.families.transcripts import TIME, WEATHER

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ALARM = {
    "type": "function",
    "function": {
        "name": "set_alarm",
        "parameters": {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]},
    },
}
SEARCH = {"type": "browser.search", "parameters": {"properties": {"query": {"type": "string"}}}}
TOOLS = [WEATHER, TIME, ALARM]
TOOLS_OF_HARMONY = [*TOOLS, SEARCH]

PARIS = {"city": "Paris", "days": 3}
BOTH: list[tuple[str, dict[str, Any]]] = [("get_weather", PARIS), ("get_time", {})]
JSON = '{"city": "Paris", "days": 3}'

_CASES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["case"]
TRANSCRIPTS: dict[str, dict[str, Any]] = {case["name"]: case for case in _CASES}
assert len(TRANSCRIPTS) == len(_CASES), "names are unique"

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
    *["<|action_start|>", "<|plugin|>", "<|action_end|>", "<|role_sep|>", "<|message_sep|>"],
    *["<|tool_call_start|>", "<|tools_prefix|>", "<|tools_suffix|>", "<|inner_prefix|>", "<|inner_suffix|>"],
    *["<seed:tool_call>", "</seed:tool_call>", "<seed:think>", "</seed:think>"],
    *[
        "<｜tool_calls_begin｜>",
        "<｜tool_calls_end｜>",
        "<｜tool_call_begin｜>",
        "<｜tool_call_end｜>",
        "<｜tool_sep｜>",
    ],
    *["<start_function_call>", "<end_function_call>", "<escape>"],
    *["<|tool_call_argument_begin|>", "｜DSML｜", "<minimax:tool_call>", "</minimax:tool_call>", "]<]minimax[>["],
]
