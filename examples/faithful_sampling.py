"""Outputs from the model's own distribution over what a structure allows, beside those that masks alone give.

python examples/faithful_sampling.py
"""

from __future__ import annotations

from collections import Counter

import maskwright as mw
from maskwright.engine.models.embedded import EmbeddedCausalModel
from maskwright.sampling import StructureSampler

model = EmbeddedCausalModel()
grammar = mw.GrammarCompiler(model.tokenizer_info).compile_regex("( yes| no| maybe)[.!]")
sampler = StructureSampler(grammar, model, model.encode("The answer is"), max_tokens=20, seed=1)

faithful = Counter(sample.text for sample in sampler.sample(1000))
masked = Counter(sample.text for sample in sampler.masked(1000))
for text in sorted({*faithful, *masked}):
    print(f"{text:8s} faithful {faithful[text] / 10:5.1f} %   masked {masked[text] / 10:5.1f} %")
print(f"of all outputs, valid: at most {sampler.stats().valid_probability:.1e}")
