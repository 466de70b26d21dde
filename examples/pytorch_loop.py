"""A batch of prompts, each with a structure of its own, in a decoding loop of one's own with PyTorch.

The loop works with any model that returns logits and a key-value cache; this one is loaded with transformers.

    pip install . torch transformers
    python examples/pytorch_loop.py path/to/model
"""

import inspect
import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, DynamicCache

import maskwright as mw

MODEL = sys.argv[1] if len(sys.argv) > 1 else "HuggingFaceTB/SmolLM2-135M-Instruct"
MAX_TOKENS = 24
TEMPERATURE = 0.7

tokenizer = AutoTokenizer.from_pretrained(MODEL, padding_side="left")
model = AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.float32).eval()
info = mw.TokenizerInfo.from_huggingface(tokenizer, vocab_size=model.config.vocab_size)
compiler = mw.GrammarCompiler(info)
work = {
    "Describe Paris as JSON: ": compiler.compile_json_schema(
        {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    ),
    "Is Paris in France? ": compiler.compile_regex("yes|no"),
    "The first day of spring, as in 2024-12-31: ": compiler.compile_regex("20[0-9]{2}-(0[1-9]|1[0-2])-[0-3][0-9]"),
}


def sample(logits: torch.Tensor, temperature: float) -> torch.Tensor:
    if temperature == 0:  # dividing by it would leave no order among the tokens
        return logits.argmax(-1)
    return torch.multinomial(torch.softmax(logits / temperature, -1), 1).squeeze(-1)


matchers = [mw.GrammarMatcher(compiled, max_tokens=MAX_TOKENS) for compiled in work.values()]
batch = mw.BatchGrammarMatcher(matchers)
bitmask = mw.allocate_token_bitmask(len(work), info.vocab_size, library="torch")
stop = info.stop_token_ids[0]
outputs: list[list[int]] = [[] for _ in work]

tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
inputs = tokenizer(list(work), return_tensors="pt", padding=True)
ids, attention = inputs["input_ids"], inputs["attention_mask"]
# transformers 5.24 renamed the argument past_key_values to cache
cache_argument = "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"
cached = {cache_argument: DynamicCache(config=model.config)}
with torch.inference_mode():
    while not all(matcher.is_terminated() for matcher in matchers):
        positions = (attention.cumsum(-1) - 1).clamp(min=0)[:, -ids.shape[1] :]
        step = model(input_ids=ids, attention_mask=attention, position_ids=positions, use_cache=True, **cached)
        logits = step.logits[:, -1].float()
        batch.fill_next_token_bitmask(bitmask)  # all rows in one call
        running = [row for row, matcher in enumerate(matchers) if not matcher.is_terminated()]
        mw.apply_token_bitmask_inplace(logits, bitmask, indices=running)
        tokens = sample(logits, TEMPERATURE).tolist()
        for row in running:
            if not matchers[row].accept_token(tokens[row]):
                raise RuntimeError(f"row {row}: token {tokens[row]} is not allowed")
            if not matchers[row].is_terminated():
                outputs[row].append(tokens[row])
        ids = torch.tensor([[tokens[row] if row in running else stop] for row in range(len(work))])
        attention = torch.cat([attention, torch.ones(len(work), 1, dtype=attention.dtype)], dim=1)

for prompt, output in zip(work, outputs, strict=True):
    print(prompt + tokenizer.decode(output))
