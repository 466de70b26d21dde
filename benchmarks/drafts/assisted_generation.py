"""How many steps of the model do drafts from the grammar save in transformers' assisted generation?

    python benchmarks/drafts/assisted_generation.py --model build/models/smollm2

One prompt after another, greedy, each held to the same schema: without drafts, with transformers' prompt lookup, and
`with_drafts`, which learns from one output to the next. The modes take turns, prompt by prompt, so that all meet the
same machine; tokens a second are of processor time. The weights are converted to float32: in bfloat16, a step over
several tokens rounds otherwise than steps over one, and near ties fall otherwise whatever drafts.

Needs torch and transformers. The model is made by tests/engines/models.py.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from maskwright import CompiledGrammar, GrammarCompiler, TokenizerInfo
from maskwright.engine import GrammarDrafts
from maskwright.integrations.transformers import GrammarLogitsProcessor, with_drafts

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 30},
        "continent": {"enum": ["Africa", "Asia", "Europe", "North America", "Oceania", "South America"]},
        "population_in_millions": {"type": "number", "minimum": 0, "maximum": 50},
        "is_capital_of_its_country": {"type": "boolean"},
        "official_languages": {"type": "array", "items": {"type": "string", "maxLength": 20}, "maxItems": 3},
    },
    "required": [
        "city",
        "continent",
        "population_in_millions",
        "is_capital_of_its_country",
        "official_languages",
    ],
    "additionalProperties": False,
}
CITIES = ("Paris", "Tokyo", "Lima", "Cairo", "Sydney", "Toronto", "Madrid", "Nairobi", "Oslo", "Delhi", "Rome", "Seoul")
MAX_NEW_TOKENS = 96


@dataclass
class Mode:
    """A way to generate, and what it took."""

    name: str
    model: Any
    options: dict[str, Any] = field(default_factory=dict)
    outputs: list[list[int]] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def row(self, begin: int, end: int | None) -> str:
        tokens = sum(map(len, self.outputs[begin:end]))
        steps, seconds = sum(self.steps[begin:end]), sum(self.seconds[begin:end])
        return f"{tokens} tokens, {tokens / steps:.2f} a step, {tokens / seconds:.2f} a second"


class Steps:
    """Counts how often a model is asked."""

    def __init__(self, model: Any) -> None:
        self.number = 0
        model.register_forward_hook(self._count)

    def _count(self, *_: Any) -> None:
        self.number += 1


def generate(mode: Mode, tokenizer: Any, compiled: CompiledGrammar, city: str, steps: Steps) -> None:
    messages = [{"role": "user", "content": f"Describe the city of {city} as JSON."}]
    text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    inputs = tokenizer(text, return_tensors="pt")
    processor = GrammarLogitsProcessor(compiled, max_new_tokens=MAX_NEW_TOKENS)
    options = {"max_new_tokens": MAX_NEW_TOKENS, "do_sample": False, **mode.options}
    asked, begin = steps.number, time.process_time()
    with torch.no_grad():
        out = mode.model.generate(**inputs, logits_processor=[processor], **options)
    mode.seconds.append(time.process_time() - begin)
    mode.steps.append(steps.number - asked)
    mode.outputs.append(out[0, inputs.input_ids.shape[1] :].tolist())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--prompts", type=int, default=len(CITIES))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    tokenizer = AutoTokenizer.from_pretrained(arguments.model)
    model = AutoModelForCausalLM.from_pretrained(arguments.model).float().eval()
    info = TokenizerInfo.from_huggingface(tokenizer, vocab_size=model.config.vocab_size)
    compiled = GrammarCompiler(info).compile_json_schema(SCHEMA)
    steps = Steps(model)
    modes = (
        Mode("nothing", model),
        Mode("prompt lookup", model, {"prompt_lookup_num_tokens": 8}),
        Mode("with_drafts", with_drafts(model, GrammarDrafts())),
    )
    for city in CITIES[: arguments.prompts]:
        for mode in modes:
            generate(mode, tokenizer, compiled, city, steps)
    print(f"transformers {version('transformers')}, torch {version('torch')}")
    for mode in modes:
        print(
            f"{mode.name}: {mode.row(0, None)}; the first: {mode.row(0, 1)}; second half: "
            f"{mode.row(arguments.prompts // 2, None)}; same outputs: {mode.outputs == modes[0].outputs}"
        )
    print(tokenizer.decode(modes[0].outputs[0]))


if __name__ == "__main__":
    main()
