"""Outputs that are complete within max_tokens, however few they are; and a budget that no output fits.

pip install .
python examples/token_budget.py
"""

import json

from maskwright import GrammarCompiler, UnsatisfiableError
from maskwright.engine import Request, SamplingParams, complete, load_engine

LIST = {"type": "array", "items": {"type": "string", "minLength": 3}, "minItems": 2}

with load_engine() as engine:
    grammar = GrammarCompiler(engine.tokenizer_info).compile_json_schema(LIST)
    prompt = engine.encode("Some names as JSON: ")
    for max_tokens in (60, 30, 20):
        params = SamplingParams(max_tokens=max_tokens, seed=7)
        output = complete(engine, Request(prompt, params, grammar=grammar))
        names = json.loads(output.text)  # never cut off
        print(f"{output.usage.completion_tokens:2} of {max_tokens} tokens: {names}")
    try:
        complete(engine, Request(prompt, SamplingParams(max_tokens=3), grammar=grammar))
    except UnsatisfiableError as error:
        print("refused:", error)
