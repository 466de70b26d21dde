"""A JSON record from an ONNX model, with ONNX Runtime GenAI.

pip install . onnxruntime-genai transformers
python -m onnxruntime_genai.models.builder -m HuggingFaceTB/SmolLM2-135M-Instruct -p int4 -e cpu \\
    -o SmolLM2-135M-Instruct-onnx
python examples/onnxruntime_genai_generate.py SmolLM2-135M-Instruct-onnx
"""

import json
import sys

import onnxruntime_genai as og
from transformers import AutoTokenizer

from maskwright import GrammarCompiler
from maskwright.integrations.onnxruntime_genai import generate

MODEL = sys.argv[1] if len(sys.argv) > 1 else "SmolLM2-135M-Instruct-onnx"
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "country": {"type": "string"}},
    "required": ["city", "country"],
    "additionalProperties": False,
}

model = og.Model(MODEL)
tokenizer = og.Tokenizer(model)
compiled = GrammarCompiler(AutoTokenizer.from_pretrained(MODEL)).compile_json_schema(SCHEMA)

prompt = tokenizer.encode("Paris, described as JSON with city and country: ")
params = og.GeneratorParams(model)
params.set_search_options(max_length=len(prompt) + 40, do_sample=True, temperature=0.7)
generator = og.Generator(model, params)
generator.append_tokens(prompt)

tokens = [token for (token,) in generate(generator, compiled, max_tokens=40)]
print(json.loads(tokenizer.decode(tokens)))
