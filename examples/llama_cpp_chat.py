"""A chat answered as a JSON record by a GGUF model, with llama-cpp-python.

pip install . llama-cpp-python
python examples/llama_cpp_chat.py path/to/model.gguf
"""

import json
import sys

from llama_cpp import Llama

from maskwright import GrammarCompiler
from maskwright.integrations.llama_cpp import GrammarLogitsProcessor

MODEL = sys.argv[1] if len(sys.argv) > 1 else "SmolLM2-135M-Instruct.Q4_1.gguf"
SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "country": {"type": "string"},
        "sights": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["city", "country", "sights"],
    "additionalProperties": False,
}

llama = Llama(MODEL, n_ctx=1024, verbose=False)
compiled = GrammarCompiler(llama).compile_json_schema(SCHEMA)
messages = [{"role": "user", "content": "Describe Paris as JSON with city, country and sights."}]

with GrammarLogitsProcessor(compiled, llama, max_tokens=80) as processor:
    answer = llama.create_chat_completion(messages, logits_processor=processor, max_tokens=80, temperature=0.7)

print(json.loads(answer["choices"][0]["message"]["content"]))
