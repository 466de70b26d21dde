"""How many steps of the model do drafts from the grammar save in vLLM, in its n-gram slot?

    python benchmarks/drafts/vllm_ngram.py --model build/models/smollm2

One request after another, greedy, each held to the same schema: without drafts, with vLLM's prompt lookup, and with the
backend's drafts, which learn from one output to the next. All run in one engine, in turns, prompt by prompt: the
backend's drafts are switched off for the others, and all drafts for the first. Tokens a second are of wall-clock time.

Needs vLLM, in the environment of `make engines`.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from assisted_generation import CITIES, MAX_NEW_TOKENS, SCHEMA


class Mode:
    """A way to draft, and what it took."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.outputs: list[list[int]] = []
        self.seconds: list[float] = []
        self.accepted: list[int] = []

    def row(self, begin: int, end: int | None) -> str:
        tokens = sum(map(len, self.outputs[begin:end]))
        steps = tokens - sum(self.accepted[begin:end])
        seconds = sum(self.seconds[begin:end])
        return f"{tokens} tokens, {tokens / steps:.2f} a step, {tokens / seconds:.2f} a second"


@contextmanager
def drafting(manager: Any, name: str) -> Iterator[None]:
    """Switch off what the mode does not have."""
    backend, kept = manager.backend, manager.backend._drafts
    if name != "grammar":
        backend._drafts = None
    if name == "nothing":
        manager.validate_tokens = lambda _request, _draft: []
    yield
    backend._drafts = kept
    vars(manager).pop("validate_tokens", None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--prompts", type=int, default=len(CITIES))
    arguments = parser.parse_args()
    os.environ.update(VLLM_ENABLE_V1_MULTIPROCESSING="0", HF_HUB_OFFLINE="1")
    torch.set_num_threads(1)  # several wait for each other where other processes want the cores
    torch.set_num_threads = lambda _number: None  # vLLM would set more
    from vllm import LLM, SamplingParams  # reads the environment
    from vllm.sampling_params import StructuredOutputsParams

    llm = LLM(
        model=arguments.model,
        dtype="float32",
        max_model_len=256,
        max_num_seqs=2,
        enforce_eager=True,
        disable_log_stats=False,
        structured_outputs_config={"backend": "maskwright"},
        speculative_config={
            "method": "ngram",
            "num_speculative_tokens": 8,
            "prompt_lookup_max": 3,
            "prompt_lookup_min": 2,
        },
    )
    manager = llm.llm_engine.engine_core.engine_core.structured_output_manager
    structure = StructuredOutputsParams(json=SCHEMA)
    params = SamplingParams(max_tokens=MAX_NEW_TOKENS, temperature=0.0, structured_outputs=structure)

    def accepted() -> int:
        return sum(each.value for each in llm.get_metrics() if each.name == "vllm:spec_decode_num_accepted_tokens")

    def ask(city: str) -> list[int]:
        messages = [{"role": "user", "content": f"Describe the city of {city} as JSON."}]
        return list(llm.chat(messages, params, use_tqdm=False)[0].outputs[0].token_ids)

    ask("Berlin")  # makes the backend
    manager.backend._drafts = type(manager.backend._drafts)(8)  # and that output is forgotten
    modes = [Mode(name) for name in ("nothing", "prompt lookup", "grammar")]
    for city in CITIES[: arguments.prompts]:
        for mode in modes:
            with drafting(manager, mode.name):
                before, begin = accepted(), time.perf_counter()
                mode.outputs.append(ask(city))
                mode.seconds.append(time.perf_counter() - begin)
                mode.accepted.append(accepted() - before)
    for mode in modes:
        print(
            f"{mode.name}: {mode.row(0, None)}; the first: {mode.row(0, 1)}; second half: "
            f"{mode.row(arguments.prompts // 2, None)}; same outputs: {mode.outputs == modes[0].outputs}"
        )


if __name__ == "__main__":
    main()
