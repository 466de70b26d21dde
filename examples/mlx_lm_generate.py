"""A JSON record from an MLX model, with mlx-lm.

pip install . mlx-lm
python examples/mlx_lm_generate.py path/to/model
"""

import json
import sys

import mlx_lm

from maskwright import GrammarCompiler
from maskwright.integrations.mlx import GrammarLogitsProcessor

MODEL = sys.argv[1] if len(sys.argv) > 1 else "HuggingFaceTB/SmolLM2-135M-Instruct"
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "country": {"type": "string"}},
    "required": ["city", "country"],
    "additionalProperties": False,
}

model, tokenizer = mlx_lm.load(MODEL)
compiled = GrammarCompiler(tokenizer).compile_json_schema(SCHEMA)
processor = GrammarLogitsProcessor(compiled, max_tokens=24)
messages = [{"role": "user", "content": "Describe Paris as JSON with city and country."}]
prompt = tokenizer.apply_chat_template(messages, add_generation_prompt=True)

answer = mlx_lm.generate(model, tokenizer, prompt, logits_processors=[processor], max_tokens=24)

print(json.loads(answer))
