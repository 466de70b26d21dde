"""Valid inputs that test_mutations.py changes: of the kinds that users send, with all features between them."""

from __future__ import annotations

from typing import Any

SCHEMAS: list[Any] = [
    {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://example.test/order",
        "type": "object",
        "properties": {
            "id": {"type": "string", "format": "uuid"},
            "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}, "minItems": 1, "maxItems": 50},
            "total": {"type": "number", "minimum": 0, "exclusiveMaximum": 1e6, "multipleOf": 0.01},
            "state": {"enum": ["open", "paid", None]},
            "sum": {"type": "string", "x-grammar": {"syntax": "lark", "definition": 'start: "(" start ")" | /[0-9]+/'}},
            "tags": {"type": "array", "uniqueItems": True, "items": {"enum": ["a", "b", "c"]}},
        },
        "required": ["id", "lines"],
        "additionalProperties": False,
        "$defs": {
            "line": {
                "$anchor": "line",
                "type": "object",
                "properties": {"sku": {"type": "string", "pattern": "^[A-Z]{2}-\\d+$"}, "count": {"type": "integer"}},
                "required": ["sku"],
            }
        },
    },
    {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {
            "node": {
                "type": "object",
                "properties": {
                    "value": {"type": ["string", "null"], "maxLength": 20},
                    "children": {"type": "array", "items": {"$ref": "#/definitions/node"}},
                },
            }
        },
        "$ref": "#/definitions/node",
    },
    {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "id": "http://example.test/root.json",
        "definitions": {"a": {"id": "#a", "type": "integer", "minimum": 0, "exclusiveMinimum": True}},
        "properties": {"x": {"$ref": "#a"}, "y": {"$ref": "root.json#/definitions/a"}},
        "dependencies": {"x": ["y"]},
    },
    {
        "oneOf": [
            {"type": "object", "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}}},
            {"type": "object", "properties": {"kind": {"const": "box"}, "w": {"type": "integer", "minimum": 1}}},
        ],
        "required": ["kind"],
        "unevaluatedProperties": False,
    },
    {
        "type": "object",
        "patternProperties": {"^x-": {"type": "string"}, "^[0-9]+$": {"type": "integer"}},
        "propertyNames": {"maxLength": 12},
        "minProperties": 1,
        "maxProperties": 4,
        "if": {"required": ["x-a"]},
        "then": {"required": ["x-b"]},
        "else": {"not": {"required": ["x-b"]}},
    },
    {
        "type": "array",
        "prefixItems": [{"type": "string", "format": "date"}, {"type": "boolean"}],
        "items": {"allOf": [{"type": "integer"}, {"minimum": -5, "maximum": 5}]},
        "contains": {"const": 3},
        "minContains": 1,
        "maxContains": 2,
    },
    {"anyOf": [{"type": "string", "minLength": 2, "maxLength": 5}, {"not": {"type": ["string", "object"]}}]},
    {"$defs": {"t": {"$dynamicAnchor": "t", "items": {"$dynamicRef": "#t"}}}, "$ref": "#/$defs/t", "maxItems": 3},
]
_TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "unit": {"enum": ["C", "F"]}},
            "required": ["city"],
            "additionalProperties": False,
        },
        "strict": True,
    },
}
_OTHER = {"type": "function", "function": {"name": "get_time", "parameters": {"type": "object", "properties": {}}}}
TAGS: list[Any] = [
    {
        "type": "structural_tag",
        "format": {
            "type": "triggered_tags",
            "triggers": ["<function="],
            "tags": [
                {
                    "begin": "<function=a>",
                    "content": {"type": "json_schema", "json_schema": SCHEMAS[6]},
                    "end": "</function>",
                }
            ],
            "at_least_one": True,
            "stop_after_first": False,
        },
    },
    {
        "type": "structural_tag",
        "format": {
            "type": "sequence",
            "elements": [
                {"type": "tag", "begin": "<think>", "content": {"type": "any_text"}, "end": "</think>"},
                {
                    "type": "or",
                    "elements": [{"type": "regex", "pattern": "[a-z]+"}, {"type": "const_string", "value": "x"}],
                },
                {"type": "grammar", "grammar": 'root ::= "a" root | "b"'},
            ],
        },
    },
    {
        "type": "structural_tag",
        "format": {
            "type": "tags_with_separator",
            "tags": [{"begin": "[", "content": {"type": "qwen_xml_parameter", "json_schema": SCHEMAS[0]}, "end": "]"}],
            "separator": ",",
            "at_least_one": False,
            "stop_after_first": False,
        },
    },
]
REQUESTS: list[Any] = [
    {"model": "m", "messages": [], "tools": [_TOOL, _OTHER], "tool_choice": "auto", "parallel_tool_calls": True},
    {"tools": [_TOOL], "tool_choice": {"type": "function", "function": {"name": "get_weather"}}},
    {"tools": [_TOOL, _OTHER], "tool_choice": "required", "parallel_tool_calls": False},
    {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMAS[0], "strict": True}}},
    {"response_format": TAGS[0], "messages": []},
    {"text": {"format": {"type": "json_schema", "name": "n", "schema": SCHEMAS[3]}}, "tools": []},
]
PARAMETERS: list[Any] = [  # of vLLM and of SGLang
    {"json": SCHEMAS[0], "disable_any_whitespace": True},
    {"json": SCHEMAS[5], "whitespace_pattern": "[ \\n]?", "disable_additional_properties": True},
    {"regex": "[a-z]+\\d{2,3}(?=x)x"},
    {"choice": ["yes", "no", ""]},
    {"grammar": 'root ::= "a" root | [b-d]{2}'},
    {"json_object": True},
    {"structural_tag": TAGS[1]},
    {"json_schema": '{"type": "object", "properties": {"a": {"type": "integer"}}}', "temperature": 0.5},
    {"ebnf": 'root ::= x ("," x)*\nx ::= [0-9]'},
]
CHOICES: list[Any] = [["yes", "no"], ["a", "ab", "abc", ""], ["é", "\U0001f600", b"\xff"]]
MODELS = [
    *("Qwen/Qwen3-8B-AWQ", "mistralai/Mistral-7B-v0.3", "Qwen3-4B-Thinking-2507", "NousResearch/Hermes-3-Llama-3.1-8B"),
    *("meta-llama/Llama-3.3-70B-Instruct-FP8", "unsloth/gemma-4-31b-it-GGUF", "DeepSeek-R1-Distill-Qwen-7B"),
    *("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "zai-org/GLM-4.5-Air", "openai/gpt-oss-120b", "MiniMax-M1-80k"),
]
