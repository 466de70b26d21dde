"""A JSON object that is valid against a JSON Schema, from the small model that comes with the package.

pip install .
python examples/json_schema.py
"""

import json

from maskwright import GrammarCompiler
from maskwright.engine import Request, SamplingParams, complete, load_engine

ORDER = {
    "type": "object",
    "properties": {
        "item": {"type": "string", "maxLength": 20},
        "quantity": {"type": "integer", "minimum": 1, "maximum": 99},
        "express": {"type": "boolean"},
    },
    "required": ["item", "quantity", "express"],
    "additionalProperties": False,
}

with load_engine() as engine:  # or a folder, a .gguf file, "smollm2": docs/engine.md
    compiler = GrammarCompiler(engine.tokenizer_info)  # once per process
    grammar = compiler.compile_json_schema(ORDER)
    prompt = engine.encode("Write an order as JSON.\n")
    output = complete(engine, Request(prompt, SamplingParams(max_tokens=80, seed=1), grammar=grammar))

print(output.text)
print("read by json.loads:", json.loads(output.text))
