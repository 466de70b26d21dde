"""Scripts of calls, for the functions of the Python package and of the npm package: dump_functions.py runs them.

A step is the name of a method and its arguments; `rows(n)` stands for a bitmask.
"""

from __future__ import annotations

import base64
from typing import Any

from maskwright import Grammar, TokenizerInfo

WORDS = ["ab", "abc", '{"', '":', '", "', '"}', "true", "12", "  ", "é", "日", "</s>", "<tool_call>", "</tool_call>"]
TOKENS: list[bytes | str] = [*(bytes((b,)) for b in range(256)), *WORDS]
ID = {word: 256 + i for i, word in enumerate(WORDS)}
STOP, CALL, END = ID["</s>"], ID["<tool_call>"], ID["</tool_call>"]
INFO = TokenizerInfo.from_vocab(TOKENS, special_token_ids=[STOP, CALL, END], stop_token_ids=[STOP], vocab_size=290)
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "days": {"type": "array", "items": {"type": "integer"}}},
                "required": ["city"],
            },
        },
    }
    for name in ("weather", "news")
]

Step = list[Any]


def rows(count: int) -> dict[str, int]:
    """A bitmask of so many rows, as an argument."""
    return {"rows": count}


def matcher_cases() -> list[tuple[str, Grammar, dict[str, Any], list[Step]]]:
    """Name, grammar, options of the matcher, and calls."""
    letters = Grammar.from_regex("[ab]{2,5}|xyz")
    schema = Grammar.from_json_schema(
        {"type": "object", "properties": {"name": {"const": "abc"}, "n": {"type": "integer"}}, "required": ["name"]},
        any_whitespace=False,
    )
    captures = Grammar.from_lark(
        'start: key "=" value\nkey[capture]: /[a-z]+/\nvalue[capture="v"]: /[0-9]+/ ("," value)?'
    )
    warm = Grammar.from_lark('start: "x" hot\nhot[temperature=0.5]: /[0-9]+/')
    bad_ids: list[Step] = [["accept_token", each] for each in (-1, -5, 290, 5000, 2**31, 2**40, 1.5, "a", None)]
    return [
        (
            "accept, validate and roll back",
            letters,
            {},
            [
                ["num_accepted_tokens"],
                ["accept_token", 97],
                ["accept_token", 99],
                ["accept_tokens", [98, ID["ab"], 120]],
                ["num_accepted_tokens"],
                ["validate_tokens", [97, 97]],
                ["validate_tokens", []],
                ["accept_tokens", []],
                ["is_completed"],
                ["fill_next_token_bitmask", rows(1)],
                ["rollback", 2],
                ["fill_next_token_bitmask", rows(1)],
                ["rollback", 9],
                ["rollback", -1],
                ["rollback", 0],
                ["rollback"],
                ["reset"],
                ["num_accepted_tokens"],
                ["accept_string", "xyz"],
                ["rollback", 1],
                ["accept_string", "xyq"],
                ["accept_string", "x"],
                ["is_terminated"],
                ["accept_string", "yz"],
                ["accept_token", STOP],
                ["is_terminated"],
                ["fill_next_token_bitmask", rows(1)],
                ["accept_token", 97],
                ["rollback"],
                ["is_terminated"],
            ],
        ),
        (
            "ids that do not exist",
            letters,
            {},
            [
                *bad_ids,
                ["accept_tokens", [97, 10**6]],
                ["accept_tokens", 5],
                ["validate_tokens", None],
                ["num_accepted_tokens"],
            ],
        ),
        (
            "bitmasks",
            letters,
            {},
            [
                ["fill_next_token_bitmask", rows(3), 2],
                ["fill_next_token_bitmask", rows(1), 1],
                ["fill_next_token_bitmask", rows(1), -1],
                ["fill_next_token_bitmask", None],
                ["fill_draft_bitmask", [97, 98], rows(2)],
                ["fill_draft_bitmask", [97, 98], rows(4), 1],
            ],
        ),
        (
            "drafts",
            schema,
            {},
            [
                ["fill_draft_bitmask", [ID['{"'], 110, 97], rows(4)],
                ["fill_draft_bitmask", [], rows(1)],
                ["fill_draft_bitmask", [ID['{"'], 5, 97], rows(4)],
                ["fill_draft_bitmask", [123, 34, 110], rows(5), 1],
                ["traverse_draft_tree", [1, 2, -1, -1], [-1, 3, -1, -1], [0, ID['{"'], 110, 123], rows(4)],
                ["traverse_draft_tree", [1, -1], [-1, -1], [0, 97], rows(2)],
                ["traverse_draft_tree", [1, 0], [-1, -1], [0, 97], rows(2)],
                ["traverse_draft_tree", [1, 2], [-1], [0, 97], rows(2)],
                ["num_accepted_tokens"],
            ],
        ),
        (
            "jump-forward",
            schema,
            {},
            [
                ["find_jump_forward_string"],
                ["forced_token"],
                ["accept_string", '{"name'],
                ["find_jump_forward_string"],
                ["accept_string", '":"abc"'],
                ["find_jump_forward_string"],
                ["accept_token", 125],
                ["forced_token"],
                ["find_jump_forward_tokens"],
            ],
        ),
        (
            "jump-forward in half a character",
            Grammar.from_regex("日本|日木|é*x"),
            {},
            [
                ["find_jump_forward_string"],
                ["accept_token", 0xE6],
                ["find_jump_forward_string"],
                ["accept_string", {"b64": base64.b64encode("日".encode()[1:]).decode()}],
                ["find_jump_forward_string"],
                ["fork"],
                ["accept_string", "本"],
                ["is_completed"],
            ],
        ),
        (
            "captures",
            captures,
            {},
            [
                ["get_captures"],
                ["accept_string", "ab=1"],
                ["get_captures"],
                ["get_open_captures"],
                ["get_capture_spans"],
                ["accept_string", "2,34"],
                ["get_capture_spans", {"order": "end"}],
                ["get_capture_spans", {"order": "x"}],
                ["rollback"],
                ["get_captures"],
                ["accept_token", STOP],
                ["get_captures"],
                ["fork"],
                ["get_capture_spans"],
            ],
        ),
        (
            "temperature",
            warm,
            {"default_temperature": 0.75},
            [
                ["temperature"],
                ["accept_string", "x"],
                ["temperature"],
                ["accept_string", "1"],
                ["temperature"],
            ],
        ),
        ("no temperature", warm, {}, [["temperature"], ["accept_string", "x"], ["temperature"]]),
        (
            "a budget",
            schema,
            {"max_tokens": 9},
            [
                ["fill_next_token_bitmask", rows(1)],
                ["accept_token", ID['{"']],
                ["fill_next_token_bitmask", rows(1)],
                ["accept_string", 'name":'],
                ["fill_next_token_bitmask", rows(1)],
            ],
        ),
        (
            "a quick budget",
            letters,
            {"max_tokens": 2, "budget": "quick"},
            [
                ["fill_next_token_bitmask", rows(1)],
                ["accept_token", 97],
                ["fill_next_token_bitmask", rows(1)],
            ],
        ),
        ("a budget that is too small", Grammar.from_regex("q{30}"), {"max_tokens": 2}, []),
        ("no budget at all", letters, {"max_tokens": 0}, []),
        ("a budget that is no number", letters, {"max_tokens": "many"}, []),
        ("an unknown kind of budget", letters, {"budget": "slow"}, []),
        ("a negative temperature", letters, {"default_temperature": -1}, []),
        (
            "other stop tokens",
            letters,
            {"override_stop_tokens": [120, STOP]},
            [
                ["fill_next_token_bitmask", rows(1)],
                ["accept_tokens", [97, 97]],
                ["fill_next_token_bitmask", rows(1)],
                ["accept_token", 120],
                ["is_terminated"],
            ],
        ),
        ("one other stop token", letters, {"override_stop_tokens": 120}, [["stop_token_ids"]]),
        ("a stop token outside the vocabulary", letters, {"override_stop_tokens": [290]}, []),
        (
            "without a stop token",
            letters,
            {"terminate_without_stop_token": True},
            [
                ["accept_string", "xyz"],
                ["is_terminated"],
                ["fill_next_token_bitmask", rows(1)],
            ],
        ),
    ]


def batch_cases() -> list[list[Step]]:
    """Calls of a batch of three matchers of [ab]{2,5}|xyz."""
    ab = ID["ab"]
    return [
        [
            ["accept_token", [97, 120, 99]],
            ["fill_next_token_bitmask", rows(3)],
            ["fill_next_token_bitmask", rows(5), [4, 0, 2]],
            ["fill_next_token_bitmask", rows(2)],
            ["fill_next_token_bitmask", rows(3), [0, 1]],
            ["fill_next_token_bitmask", rows(3), [0, 0, 1]],
            ["accept_tokens", [[97], [121, 122], [97, ab]]],
            ["is_terminated"],
            ["accept_token", [STOP, STOP, STOP]],
            ["is_terminated"],
            ["temperature"],
            ["rollback", [1, 2, 0]],
            ["rollback", 1],
            ["rollback", 50],
            ["rollback", [0, 0]],
            ["accept_token", [97]],
            ["accept_tokens", [[97]]],
            ["accept_string", ["a", "b"]],
            ["fill_next_token_bitmask", rows(3)],
        ],
        [
            ["accept_string", ["ab", "xy", "q"]],
            ["validate_tokens", [[97, 97], [122, STOP], [97, 98, STOP, 97]]],
            ["fill_draft_bitmask", [[97], [122, STOP], []], rows(6)],
            ["fill_draft_bitmask", [[97], [122, STOP], []], rows(8), [5, 0, 4]],
            ["fill_draft_bitmask", [[97], [122]], rows(6)],
            ["fill_draft_bitmask", [[97], [122, STOP], []], rows(5)],
        ],
    ]


def event_cases() -> list[tuple[str, list[Any]]]:
    """A family, and what is accepted (texts, ids, rollbacks) between reads."""
    call = '\n{"name": "weather", "arguments": {"city": "Par'
    return [
        ("hermes", ["I lo", "ok.", CALL, call, 'is\\n", "days": [1', ", 2]}}\n", END, STOP]),
        (
            "hermes",
            [
                "Hi",
                {"rollback": 1},
                "Ho",
                CALL,
                call,
                {"rollback": 1},
                call,
                'x"}}\n',
                END,
                {"rollback": 2},
                'yz"}}\n',
                END,
                CALL,
                '\n{"name": "news", "arguments": {"city": ""}}\n',
                END,
                STOP,
            ],
        ),
        (
            "qwen3_coder",
            [
                "é",
                CALL,
                '\n<function=weather>\n<parameter=city>\nA"b\n</parameter>\n',
                "<parameter=days>\n[1,2]\n</parameter>\n</function>\n",
                END,
                STOP,
            ],
        ),
    ]
