"""transformers: several grammars in one batch of `model.generate`, streamed text, and drafts looked up in the prompt.

pip install ".[transformers]"
python examples/transformers_processor.py
"""

import json

from transformers import AutoModelForCausalLM, AutoTokenizer, TextStreamer

import maskwright as mw
from maskwright.integrations.transformers import GrammarLogitsProcessor

NAME = "HuggingFaceTB/SmolLM2-135M-Instruct"
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}

tokenizer = AutoTokenizer.from_pretrained(NAME, padding_side="left")
model = AutoModelForCausalLM.from_pretrained(NAME)
info = mw.TokenizerInfo.from_huggingface(tokenizer, vocab_size=model.config.vocab_size)
compiler = mw.GrammarCompiler(info)  # once per process

# One grammar a prompt, None for a prompt whose output is free.
grammars = [compiler.compile_json_schema(SCHEMA), compiler.compile_regex(r"(?a)\d{4}-\d\d-\d\d"), None]
prompts = ["A person as JSON: ", "The date of the first moon landing: ", "Once upon a time"]
inputs = tokenizer(prompts, return_tensors="pt", padding=True)
processor = GrammarLogitsProcessor(grammars, max_new_tokens=24, pad_token_id=tokenizer.pad_token_id)
output = model.generate(**inputs, logits_processor=[processor], max_new_tokens=24, do_sample=False)
texts = tokenizer.batch_decode(output[:, inputs.input_ids.shape[1] :], skip_special_tokens=True)
print(json.loads(texts[0]), *texts[1:], sep="\n")

# A streamer prints the text while it is written; drafted tokens are checked against the grammar as well.
processor = GrammarLogitsProcessor(grammars[0], max_new_tokens=24)
inputs = tokenizer('Copy this: {"name": "Ada Lovelace"}\nThe copy: ', return_tensors="pt")
model.generate(
    **inputs,
    logits_processor=[processor],
    max_new_tokens=24,
    do_sample=False,
    prompt_lookup_num_tokens=8,
    streamer=TextStreamer(tokenizer, skip_prompt=True, skip_special_tokens=True),
)
