"""transformers: drafts from the grammar, so that the model takes fewer steps; the outputs are the same.

pip install ".[transformers]"
python examples/transformers_drafts.py
"""

from transformers import AutoModelForCausalLM, AutoTokenizer

import maskwright as mw
from maskwright.engine import GrammarDrafts
from maskwright.integrations.transformers import with_drafts

NAME = "HuggingFaceTB/SmolLM2-135M-Instruct"
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 20}, "continent": {"enum": ["Africa", "Asia", "Europe"]}},
    "required": ["city", "continent"],
    "additionalProperties": False,
}

tokenizer = AutoTokenizer.from_pretrained(NAME)
model = AutoModelForCausalLM.from_pretrained(NAME)
drafting = with_drafts(model, GrammarDrafts())  # once: it learns from one output to the next

steps = []
model.register_forward_hook(lambda *_: steps.append(1))
for city in ("Paris", "Tokyo", "Cairo"):
    for each in (model, drafting):
        steps.clear()
        value = mw.generate(each, tokenizer, f"{city} as JSON: ", SCHEMA, max_new_tokens=40, temperature=0)
        print(f"{'with drafts' if each is drafting else 'without':11}", len(steps), "steps", value)
