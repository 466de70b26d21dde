"""XGrammar, Fig. 11: what does jump-forward save: forced text inserted without asking the model?

    python benchmarks/papers/xgrammar_fig11.py                      a simulation: a step takes 6 ms
    python benchmarks/papers/xgrammar_fig11.py --model smollm2      in MASKWRIGHT_MODELS, or as for load_engine

`maskwright.engine` writes objects with long names, with and without jump-forward, and unconstrained text of as many
tokens, in turns. In the simulation, the embedded n-gram model chooses, and a step also sleeps.
    ms a token     wall-clock time of the output by its tokens, those that were inserted included
    ratio          to unconstrained text, as the median of neighbours: below 1 is faster than no structure at all
    forced         the share of tokens that were inserted
Source: Dong et al., "XGrammar: Flexible and Efficient Structured Generation Engine for LLMs" (2024); Zheng et al.,
"SGLang" (2024).
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import decoding
from common import in_turns, ratio, report, table

from maskwright import GrammarCompiler
from maskwright.engine import LocalEngine, Request, SamplingParams, complete, load_engine
from maskwright.engine.models.embedded import EmbeddedCausalModel

SCHEMA = {
    "type": "object",
    "properties": {
        "number_of_employees_in_the_department": {"type": "integer", "minimum": 0, "maximum": 999},
        "is_currently_accepting_applications": {"type": "boolean"},
        "preferred_contact_language": {"enum": ["english", "spanish", "french"]},
        "estimated_delivery_time_in_days": {"type": "integer", "minimum": 0, "maximum": 99},
        "requires_signature_on_delivery": {"type": "boolean"},
        "customer_satisfaction_score": {"type": "integer", "minimum": 1, "maximum": 10},
    },
    "additionalProperties": False,
}
SCHEMA["required"] = list(SCHEMA["properties"])  # type: ignore[call-overload]


class SleepingModel(EmbeddedCausalModel):
    """The embedded model, with a step that takes as long as that of a large one."""

    def __init__(self, step_ms: float) -> None:
        super().__init__(num_slots=1)
        self._step_ms = step_ms

    def forward(self, steps: Any) -> Any:
        time.sleep(self._step_ms / 1e3)
        return super().forward(steps)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="without it, a simulation")
    parser.add_argument("--step-ms", type=float, default=6.0, help="of the simulation")
    parser.add_argument("--rounds", type=int, default=8)
    arguments = parser.parse_args()
    decoding.leave_a_processor()
    if arguments.model:
        folder = decoding.MODELS / arguments.model
        engine: Any = load_engine(folder if folder.is_dir() else arguments.model)
    else:
        engine = LocalEngine(SleepingModel(arguments.step_ms))
    what = arguments.model or f"a simulation: a step of the embedded model also sleeps {arguments.step_ms:g} ms"
    report("XGrammar, Fig. 11: jump-forward on and off", what)
    compiled = GrammarCompiler(engine.tokenizer_info).compile_json_schema(SCHEMA, any_whitespace=False)
    prompt = engine.encode("A form, filled in: ")
    done: dict[str, list[Any]] = {"unconstrained": [], "constrained": [], "jump-forward": []}

    def write(mode: str) -> float:
        size = done["constrained"][-1].usage.completion_tokens if done["constrained"] else 80
        params = SamplingParams(
            max_tokens=size if mode == "unconstrained" else None, seed=len(done[mode]), ignore_eos=True
        )
        grammar = None if mode == "unconstrained" else compiled
        request = Request(prompt, params, grammar=grammar, jump_forward=mode == "jump-forward")
        begin = time.perf_counter()
        done[mode].append(complete(engine, request))
        return (time.perf_counter() - begin) / done[mode][-1].usage.completion_tokens

    write("constrained")  # what a process does once
    times = in_turns({mode: lambda mode=mode: write(mode) for mode in done}, arguments.rounds)
    rows = []
    for mode, found in times.items():
        usages = [each.usage for each in done[mode][-arguments.rounds :]]
        tokens, forced = (
            sum(getattr(each, kind) for each in usages) for kind in ("completion_tokens", "forced_tokens")
        )
        steps = statistics.median(each.timing.num_steps for each in done[mode])
        ms = f"{statistics.median(found) * 1e3:,.2f}"
        rows.append([mode, ms, f"{ratio(found, times['unconstrained']):.2f}", f"{forced / tokens:.0%}", f"{steps:g}"])
    table(["", "ms a token", "ratio", "forced", "steps an output"], rows)
    engine.close()


if __name__ == "__main__":
    main()
