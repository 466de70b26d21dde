"""How many steps of the model do drafts from the grammar save in mlx-lm?

    python benchmarks/drafts/mlx_draft_model.py --model build/models/smollm2

One chat after another, greedy, each held to the same schema: without drafts, and with a `GrammarDraftModel` that learns
from one output to the next. The weights are converted to float32, so that steps over several tokens round like steps
over one. Tokens a second are of processor time, on MLX's CPU backend.

Needs mlx-lm. The model is made by tests/engines/models.py.
"""

from __future__ import annotations

import argparse
import time
from importlib.metadata import version
from typing import Any

import mlx.core as mx
import mlx_lm
from assisted_generation import CITIES, MAX_NEW_TOKENS, SCHEMA

from maskwright import GrammarCompiler
from maskwright.engine import GrammarDrafts
from maskwright.integrations.mlx import GrammarDraftModel, GrammarLogitsProcessor


class CountedModel:
    """Counts how often a model is asked."""

    def __init__(self, model: Any) -> None:
        self._model, self.layers = model, model.layers
        self.num_steps = 0

    def __call__(self, inputs: Any, cache: Any, **options: Any) -> Any:
        self.num_steps += 1
        return self._model(inputs, cache=cache, **options)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--prompts", type=int, default=len(CITIES))
    parser.add_argument("--num-draft-tokens", type=int, default=4)
    arguments = parser.parse_args()
    loaded, tokenizer = mlx_lm.load(arguments.model)
    loaded.set_dtype(mx.float32)
    model = CountedModel(loaded)
    compiled, drafts = GrammarCompiler(tokenizer).compile_json_schema(SCHEMA), GrammarDrafts(arguments.num_draft_tokens)
    drafted = {"draft_model": GrammarDraftModel(drafts, compiled), "num_draft_tokens": arguments.num_draft_tokens}
    modes: dict[str, dict[str, Any]] = {"nothing": {}, "GrammarDraftModel": drafted}
    outputs: dict[str, list[list[int]]] = {name: [] for name in modes}
    steps, seconds = dict.fromkeys(modes, 0), dict.fromkeys(modes, 0.0)
    for city in CITIES[: arguments.prompts]:
        messages = [{"role": "user", "content": f"Describe the city of {city} as JSON."}]
        prompt = tokenizer.apply_chat_template(messages, add_generation_prompt=True)
        for name, options in modes.items():
            processors = [GrammarLogitsProcessor(compiled, max_tokens=MAX_NEW_TOKENS)]
            options = {"max_tokens": MAX_NEW_TOKENS, "logits_processors": processors, **options}
            begin, model.num_steps = time.process_time(), 0
            made = [each.token for each in mlx_lm.stream_generate(model, tokenizer, prompt, **options)]
            seconds[name] += time.process_time() - begin
            steps[name] += model.num_steps - 1  # one reads the prompt
            outputs[name].append(made)
    print(f"mlx-lm {version('mlx-lm')}, mlx {version('mlx')}")
    for name, made in outputs.items():
        tokens = sum(map(len, made))
        same = sum(a == b for a, b in zip(made, outputs["nothing"], strict=True))
        print(
            f"{name}: {tokens} tokens, {tokens / steps[name]:.2f} a step, {tokens / seconds[name]:.2f} a second; "
            f"same outputs: {same} of {len(made)}"
        )


if __name__ == "__main__":
    main()
