"""What do masks cost in a decoding loop: per token, until the first token, and with forced text inserted?

    python benchmarks/bench_engine.py --model build/models/toy --batch 1 4 16
    python benchmarks/bench_engine.py --model build/models/smollm2 --batch 1 4 16 --tokens 32

All run in the loop of `maskwright.engine`, XGrammar and llguidance with their own matchers, batch fills and threads.
Modes take turns, step by step, so that all meet the same machine; a ratio is the median over rounds of neighbours.

    TPOT       wall-clock time of a step of the batch, every output being held to a schema of its own kind
    TTFT       of one request, from submitting it with a schema that is not compiled yet to its first token
    forced     per token, of objects with long names, against free text of as many tokens

`alone` is Maskwright with masks filled before the model starts, not beside it: what overlapping hides.
Models: tests/engines/models.py makes them. Needs torch and transformers; rivals that are not installed are left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from maskwright import GrammarCompiler, GrammarMatcher
from maskwright.engine import LocalEngine, Request, SamplingParams, complete
from maskwright.engine.beside import Beside
from maskwright.engine.loading import _load_model
from maskwright.engine.loop import DecodingLoop
from maskwright.engine.masks import StepMasks
from maskwright.engine.sequence import Sequence as OutputSequence

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "email": {"type": "string", "pattern": "^[a-z.]+@[a-z.]+$"},
        "tags": {"type": "array", "items": {"enum": ["new", "vip", "staff", "guest"]}},
    },
    "required": ["name", "age", "email", "tags"],
    "additionalProperties": False,
}
MANY = {"type": "array", "items": PERSON, "minItems": 1000}
LONG_NAMES = {
    "type": "object",
    "properties": {
        "number_of_employees_in_the_department": {"type": "integer", "minimum": 0, "maximum": 999},
        "is_currently_accepting_applications": {"type": "boolean"},
        "preferred_contact_language": {"enum": ["english", "spanish", "french"]},
        "estimated_delivery_time_in_days": {"type": "integer", "minimum": 0, "maximum": 99},
        "requires_signature_on_delivery": {"type": "boolean"},
    },
    "additionalProperties": False,
}
LONG_NAMES["required"] = list(LONG_NAMES["properties"])  # type: ignore[call-overload]
PROMPT = "Write what is asked for as JSON, and nothing else. " * 8


class Rival:
    """What the loop asks of a matcher, answered for one that has no more than a mask and `accept`."""

    stop_token_ids: Sequence[int] = ()

    def temperature(self) -> None:
        return None

    def text_may_follow(self) -> bool:
        return True

    def precompute(self, budget_us: float) -> None:
        """Rivals compute their masks when they compile."""

    def is_completed(self) -> bool:
        return False


class XGrammar:
    """XGrammar's compiler, matchers and batch fill."""

    def __init__(self, engine_info: Any, tokenizer: Any) -> None:
        import xgrammar

        self._library = xgrammar
        info = xgrammar.TokenizerInfo.from_huggingface(tokenizer, vocab_size=engine_info.vocab_size)
        self._compiler = xgrammar.GrammarCompiler(info, cache_enabled=False)
        self._batch = xgrammar.BatchGrammarMatcher(max_threads="auto")

    def matcher(self, schema: Any) -> Rival:
        native = self._library.GrammarMatcher(self._compiler.compile_json_schema(json.dumps(schema)))

        class Matcher(Rival):
            inner = native

            def accept_token(self, token: int) -> bool:
                return bool(native.accept_token(token))

            def is_terminated(self) -> bool:
                return bool(native.is_terminated())

        return Matcher()

    def fill(self, matchers: Sequence[Any], bitmask: Any, rows: list[int]) -> None:
        import torch

        tensor = torch.from_numpy(bitmask)
        if len(matchers) == 1:
            matchers[0].inner.fill_next_token_bitmask(tensor, rows[0])
        else:
            self._batch.batch_fill_next_token_bitmask([each.inner for each in matchers], tensor, rows)


class LLGuidance:
    """llguidance's tokenizer, matchers and executor."""

    def __init__(self, engine_info: Any, tokenizer: Any) -> None:
        import llguidance
        import llguidance.hf
        import llguidance.numpy

        self._library = llguidance
        self._tokenizer = llguidance.hf.from_tokenizer(tokenizer, n_vocab=engine_info.vocab_size)
        self._executor = llguidance.LLExecutor()

    def matcher(self, schema: Any) -> Rival:
        native = self._library.LLMatcher(self._tokenizer, self._library.grammar_from("json_schema", json.dumps(schema)))

        class Matcher(Rival):
            inner = native

            def accept_token(self, token: int) -> bool:
                return bool(native.consume_token(token))

            def is_terminated(self) -> bool:
                return bool(native.is_stopped())

        return Matcher()

    def fill(self, matchers: Sequence[Any], bitmask: Any, rows: list[int]) -> None:
        import llguidance.numpy

        if len(matchers) == 1:
            llguidance.numpy.fill_next_token_bitmask(matchers[0].inner, bitmask, rows[0])
        else:
            pairs = [(each.inner, row) for each, row in zip(matchers, rows, strict=True)]
            llguidance.numpy.fill_next_token_bitmask_par(self._executor, pairs, bitmask)


class Maskwright:
    """Ours."""

    def __init__(self, engine_info: Any, tokenizer: Any) -> None:
        self._compiler = GrammarCompiler(engine_info, cache_enabled=False)

    def matcher(self, schema: Any) -> GrammarMatcher:
        return GrammarMatcher(self._compiler.compile_json_schema(schema))

    fill = None


class RivalMasks(StepMasks):
    """The masks of a step, filled by a rival."""

    def __init__(self, fill: Callable[..., None], num_slots: int, vocab_size: int) -> None:
        super().__init__(num_slots, vocab_size)
        self._fill_rival = fill

    def _fill(self, held: list[OutputSequence], firsts: list[int]) -> None:
        self._fill_rival([each.matcher for each in held], self._bitmask, firsts)


class Inline(Beside):
    """Work that is done at once, not beside the model."""

    def start(self, function: Callable[[], None]) -> None:
        function()


class Lane:
    """A mode: a batch of outputs in a loop of its own, over the model that all share."""

    def __init__(self, model: Any, kind: Any, is_inline: bool) -> None:
        self.loop = DecodingLoop(model, precompute_us=0)
        self.kind = kind
        info = model.tokenizer_info
        if kind is not None and kind.fill is not None:
            self.loop._masks = RivalMasks(kind.fill, model.num_slots, info.vocab_size)
        if is_inline:
            self.loop._beside.close()
            self.loop._beside = Inline()
        self._model = model

    def begin(self, batch: int, first_slot: int, prompt: list[int]) -> None:
        """Read the prompts; from here on, a step is a token of each output."""
        self.loop._free_slots = list(range(first_slot, first_slot + batch))
        for seed in range(batch):
            params = SamplingParams(temperature=0.8, seed=seed, ignore_eos=True)
            request = Request([*prompt, *prompt[: seed % 7]], params, jump_forward=False)
            sequence = OutputSequence(request, lambda output: None, self._model.tokenizer_info, 10**6)
            sequence.matcher = None if self.kind is None else self.kind.matcher({**MANY, "title": str(seed)})
            self.loop.add(sequence)
        for _ in range(3):
            self.loop.step()

    def step(self) -> float:
        """The seconds of one step."""
        began = time.perf_counter()
        self.loop.step()
        return time.perf_counter() - began

    def end(self) -> None:
        for sequence in self.loop.running:
            sequence.is_cancelled = True
        self.loop.step()


def per_token(model: Any, kinds: dict[str, Any], batch: int, num_tokens: int) -> None:
    """TPOT of each mode, and as a ratio to free text: the modes take turns at every step."""
    lanes = {"free": Lane(model, None, False)}
    lanes |= {name: Lane(model, kind, False) for name, kind in kinds.items()}
    lanes["alone"] = Lane(model, kinds["maskwright"], True)
    prompt = model.encode(PROMPT)
    times: dict[str, list[float]] = {name: [] for name in lanes}
    for first, lane in enumerate(lanes.values()):
        lane.begin(batch, first * batch, prompt)
    names = list(lanes)
    for turn in range(num_tokens):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            times[name].append(lanes[name].step())
    print(f"\nTPOT, batch {batch}, {num_tokens} steps")
    print(f"{'':12}{'ms, median':>12}{'to free':>10}{'mask wait, µs a step':>24}")
    for name, found in times.items():
        ratio = statistics.median(a / b for a, b in zip(found, times["free"], strict=True))
        waited = lanes[name].loop.totals["mask_wait_s"] * 1e6 / (num_tokens + 3)
        print(f"{name:12}{statistics.median(found) * 1e3:12.2f}{ratio:10.3f}{waited:24.1f}", flush=True)
    for lane in lanes.values():
        lane.end()
        lane.loop.close()


def first_token(model: Any, kinds: dict[str, Any], rounds: int) -> None:
    """TTFT of one request whose schema is compiled while the model reads the prompt."""
    threads = ThreadPoolExecutor(1)
    prompt, times = model.encode(PROMPT), {name: list[float]() for name in ("free", *kinds)}
    lanes = {name: Lane(model, kinds.get(name), False) for name in times}
    for turn in range(rounds):
        for name, lane in lanes.items():
            pending: Future[Any] | None = None if name == "free" else Future()
            request = Request(prompt, SamplingParams(seed=turn), grammar=pending, jump_forward=False)
            sequence = OutputSequence(request, lambda output: None, model.tokenizer_info, 10**6)
            if name != "free":
                schema = {**PERSON, "title": f"{name}{turn}"}

                def compile_it(into: OutputSequence = sequence, kind: Any = lane.kind, schema: Any = schema) -> None:
                    into.outcome = kind.matcher(schema)

                compiling = threads.submit(compile_it)
            lane.loop.add(sequence)
            while sequence.timing.first_token_s is None:
                if not lane.loop.has_work:
                    compiling.result()
                lane.loop.step()
            if turn:
                times[name].append(sequence.timing.first_token_s * 1e3)
            lane.end()
    free = times["free"]
    print(f"\nTTFT, ms, {rounds - 1} rounds\n{'':12}{'median':>12}{'over free':>12}")
    for name, found in times.items():
        over = statistics.median(a - b for a, b in zip(found, free, strict=True))
        print(f"{name:12}{statistics.median(found):12.2f}{over:12.2f}", flush=True)
    for lane in lanes.values():
        lane.loop.close()


def forced_text(engine: LocalEngine, rounds: int) -> None:
    """Per token of objects with long names, with and without jump-forward, and of free text as long."""
    compiled = GrammarCompiler(engine.tokenizer_info).compile_json_schema(LONG_NAMES, any_whitespace=False)
    prompt = engine.encode(PROMPT)
    modes = {"free": (None, False), "held": (compiled, False), "forced": (compiled, True)}
    times: dict[str, list[float]] = {name: [] for name in modes}
    size, share = 40, 0.0
    for turn in range(rounds):
        for name in ("forced", "held", "free"):
            grammar, jump = modes[name]
            params = SamplingParams(max_tokens=None if grammar else size, seed=turn, ignore_eos=True)
            whole = complete(engine, Request(prompt, params, grammar=grammar, jump_forward=jump))
            if name == "forced":
                size, share = whole.usage.completion_tokens, whole.usage.forced_tokens / whole.usage.completion_tokens
            if turn:
                times[name].append(whole.timing.decode_s * 1e3 / max(1, whole.usage.completion_tokens - 1))
    print(f"\nForced text, {rounds - 1} rounds, {share:.0%} forced\n{'':12}{'ms a token':>12}{'times faster':>14}")
    for name, found in times.items():
        faster = statistics.median(b / a for a, b in zip(found, times["free"], strict=True))
        print(f"{name:12}{statistics.median(found):12.2f}{faster:14.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="a folder for transformers")
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", choices=("tpot", "ttft", "forced"), nargs="+", default=("tpot", "ttft", "forced"))
    arguments = parser.parse_args()
    began = time.perf_counter()
    rivals = {"xgrammar": XGrammar, "llguidance": LLGuidance}
    found = {name: kind for name, kind in rivals.items() if importlib.util.find_spec(name)}
    kinds: dict[str, Any] = {"maskwright": Maskwright, **found}
    model = _load_model(arguments.model, {"num_slots": (len(kinds) + 2) * max(arguments.batch)})
    made = {name: kind(model.tokenizer_info, model._tokenizer) for name, kind in kinds.items()}
    print(
        f"{arguments.model}, {model.tokenizer_info.vocab_size:,} tokens; {platform.processor() or platform.machine()}"
    )
    if "tpot" in arguments.only:
        for batch in arguments.batch:
            per_token(model, made, batch, arguments.tokens)
    if "ttft" in arguments.only:
        first_token(model, made, arguments.rounds)
    if "forced" in arguments.only:
        with LocalEngine(model) as engine:
            forced_text(engine, arguments.rounds)
    print(f"\n{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
