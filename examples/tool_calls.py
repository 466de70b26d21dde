"""A tool call in the format of a model family, with arguments that are valid: no parser, no retries.

pip install .
python examples/tool_calls.py
"""

import json

from maskwright import GrammarCompiler
from maskwright.engine import Request, SamplingParams, complete, load_engine
from maskwright.events import CallDone
from maskwright.structural_tag import get_model_structural_tag

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "The weather of a city",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"enum": ["Rome", "Oslo"]},
                    "days": {"type": "integer", "minimum": 1, "maximum": 7},
                },
                "required": ["city", "days"],
                "additionalProperties": False,
            },
        },
    },
    {"type": "function", "function": {"name": "get_time", "parameters": {"type": "object", "properties": {}}}},
]

with load_engine() as engine:
    compiler = GrammarCompiler(engine.tokenizer_info)
    # The family of the model ("llama", "qwen_3", "harmony", ...) says what a call looks like: docs/model_families.md.
    tag = get_model_structural_tag("hermes", TOOLS, tool_choice="required")
    grammar = compiler.compile_structural_tag(tag)
    params = SamplingParams(max_tokens=100, seed=5)
    output = complete(engine, Request(engine.encode("A call: "), params, grammar=grammar, read_events=True))

for event in output.events:
    if isinstance(event, CallDone):
        print("call", event.name, "with", json.loads(event.arguments))
