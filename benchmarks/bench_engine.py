"""What do masks cost in a decoding loop: per token, until the first token, and with forced text inserted?

    python benchmarks/bench_engine.py --model build/models/toy --batch 1 4 16
    python benchmarks/bench_engine.py --model build/models/smollm2 --batch 1 4 16

All run in the loop of `maskwright.engine`, XGrammar and llguidance with their own matchers, batch fills and threads,
filled beside the model. Modes take turns, step by step, so that all meet the same machine.

    TPOT       wall-clock ms of a step of the batch, with objects of any length and without; `to free` is the median of
               the ratios of neighbouring steps, with the interval in which it lies with 95 % confidence, `of sums` that
               of all steps together, rare slow ones included
    TTFT       ms of one request, from submitting it with a schema that is not compiled yet to its first token, and the
               median of the differences to free text
    forced     ms per token of objects with long names, with forced text inserted and without, and how many times
               faster that is than free text of as many tokens
    drafts     ms per token of objects for one prompt after another, forced text inserted, without drafts, with
               prompt_lookup, and with GrammarDrafts that learn from the objects before; tokens taken of those drafted

Each part takes about `--seconds`. The model calculates with all processors but one, unless `--threads` says otherwise.
Models: tests/engines/models.py makes them. Needs torch and transformers; rivals that are not installed are left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from importlib.metadata import version
from typing import Any

import maskwright
from maskwright import GrammarCompiler, GrammarMatcher
from maskwright.engine import GrammarDrafts, LocalEngine, Request, SamplingParams, complete, prompt_lookup
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
ORDER = {
    "type": "object",
    "properties": {
        "number": {"type": "integer"},
        "lines": {"type": "array", "items": {"type": "object", "properties": {"item": {"type": "string"}}}},
        "note": {"type": "string"},
        "paid": {"type": "boolean"},
    },
    "required": ["number", "lines", "note", "paid"],
}
KINDS = [{"type": "array", "items": each, "minItems": 1000} for each in (PERSON, ORDER)]
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
PARTS = ("tpot", "ttft", "forced", "drafts")
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

    def mask_is_known(self) -> bool:
        return False


class XGrammar:
    """XGrammar's compiler, matchers and batch fill."""

    def __init__(self, engine_info: Any, tokenizer: Any) -> None:
        import xgrammar

        self._library = xgrammar
        info = xgrammar.TokenizerInfo.from_huggingface(tokenizer, vocab_size=engine_info.vocab_size)
        self._compiler = xgrammar.GrammarCompiler(info, cache_enabled=False)
        self._batch = xgrammar.BatchGrammarMatcher(max_threads="auto")

    def compile(self, schema: Any) -> Any:
        return self._compiler.compile_json_schema(json.dumps(schema))

    def matcher(self, compiled: Any) -> Rival:
        native = self._library.GrammarMatcher(compiled)

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

    def compile(self, schema: Any) -> Any:
        return self._library.grammar_from("json_schema", json.dumps(schema))

    def matcher(self, compiled: Any) -> Rival:
        native = self._library.LLMatcher(self._tokenizer, compiled)

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

    def compile(self, schema: Any) -> Any:
        return self._compiler.compile_json_schema(schema)

    def matcher(self, compiled: Any) -> GrammarMatcher:
        return GrammarMatcher(compiled)

    fill = None


class RivalMasks(StepMasks):
    """The masks of a step, filled by a rival."""

    def __init__(self, fill: Callable[..., None], num_slots: int, vocab_size: int) -> None:
        super().__init__(num_slots, vocab_size)
        self._fill_rival = fill

    def _fill(self, held: list[OutputSequence], firsts: list[int]) -> None:
        self._fill_rival([each.matcher for each in held], self._bitmask, firsts)


class Lane:
    """A mode: a batch of outputs in a loop of its own, over the model that all share."""

    def __init__(self, model: Any, kind: Any) -> None:
        self.loop = DecodingLoop(model, precompute_us=0)
        self.kind = kind
        if kind is not None and kind.fill is not None:
            self.loop._masks = RivalMasks(kind.fill, model.num_slots, model.tokenizer_info.vocab_size)
        self._model = model

    def begin(self, batch: int, first_slot: int, prompt: list[int]) -> None:
        """Read the prompts; from here on, a step is a token of each output."""
        self.loop._free_slots = list(range(first_slot, first_slot + batch))
        grammars = [self.kind.compile(schema) for schema in KINDS] if self.kind is not None else []
        for seed in range(batch):
            params = SamplingParams(temperature=0.8, seed=seed, ignore_eos=True)
            request = Request([*prompt, *prompt[: seed % 7]], params, jump_forward=False)
            sequence = OutputSequence(request, lambda output: None, self._model.tokenizer_info, 10**6)
            if grammars:
                sequence.matcher = self.kind.matcher(grammars[seed % len(grammars)])
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


def lanes_of(model: Any, kinds: dict[str, Any]) -> dict[str, Lane]:
    return {"free": Lane(model, None), **{name: Lane(model, kind) for name, kind in kinds.items()}}


def rounds(names: Sequence[str], seconds: float, least: int, most: int) -> Iterator[list[str]]:
    """The names again and again, each time in another order, until the time is over."""
    end = time.perf_counter() + seconds
    for turn in range(most):
        if turn >= least and time.perf_counter() > end:
            break
        shift = turn % len(names)
        yield [*names[shift:], *names[:shift]][:: 1 if turn % 2 else -1]


def median(values: Sequence[float]) -> tuple[float, float, float]:
    """The median, and the order statistics between which that of the population lies with 95 % confidence."""
    ordered, n = sorted(values), len(values)
    reach = math.ceil(0.98 * math.sqrt(n))
    return statistics.median(ordered), ordered[max(0, n // 2 - reach)], ordered[min(n - 1, n // 2 + reach)]


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table in Markdown."""
    print(f"\n{title}\n\n| {' | '.join(['', *columns])} |\n| --- |{' ---: |' * len(columns)}")
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


def per_token(model: Any, kinds: dict[str, Any], batch: int, seconds: float) -> None:
    """TPOT of each mode, and as a ratio to free text: the modes take turns at every step."""
    lanes = lanes_of(model, kinds)
    prompt = model.encode(PROMPT)
    times: dict[str, list[float]] = {name: [] for name in lanes}
    for first, lane in enumerate(lanes.values()):
        lane.begin(batch, first * batch, prompt)
    for names in rounds(list(lanes), seconds, least=10, most=2000):
        for name in names:
            times[name].append(lanes[name].step())
    rows = []
    for name, found in times.items():
        ratio, low, high = median([a / b for a, b in zip(found, times["free"], strict=True)])
        sums = sum(found) / sum(times["free"])
        waited = lanes[name].loop.totals["mask_wait_s"] * 1e6 / len(found)
        ms = statistics.median(found) * 1e3
        to_free = "1" if name == "free" else f"{ratio:.3f} ({low:.3f} to {high:.3f})"
        rows.append([name, f"{ms:.2f}", to_free, f"{sums:.3f}", f"{waited:.0f}"])
    columns = ["ms a step", "to free", "of sums", "mask wait, us a step"]
    table(f"TPOT, batch {batch}, {len(times['free'])} steps", columns, rows)
    for lane in lanes.values():
        lane.end()
        lane.loop.close()


def first_token(model: Any, kinds: dict[str, Any], seconds: float) -> None:
    """TTFT of one request whose schema is compiled while the model reads the prompt."""
    threads, lanes = ThreadPoolExecutor(1), lanes_of(model, kinds)
    prompt = model.encode(PROMPT)
    times: dict[str, list[float]] = {name: [] for name in lanes}
    for turn, names in enumerate(rounds(list(lanes), seconds, least=6, most=200)):
        for name in names:
            took = time_to_first_token(model, lanes[name], threads, prompt, turn)
            if turn:  # the first ones are slower
                times[name].append(took * 1e3)
    rows = []
    for name, found in times.items():
        over, low, high = median([a - b for a, b in zip(found, times["free"], strict=True)])
        shown = "0" if name == "free" else f"{over:+.2f} ({low:+.2f} to {high:+.2f})"
        rows.append([name, f"{statistics.median(found):.2f}", shown])
    table(f"TTFT, {len(times['free'])} requests, {len(prompt)} tokens of prompt", ["ms", "over free, ms"], rows)
    for lane in lanes.values():
        lane.loop.close()


def time_to_first_token(model: Any, lane: Lane, threads: ThreadPoolExecutor, prompt: list[int], turn: int) -> float:
    pending: Future[Any] | None = None if lane.kind is None else Future()
    request = Request(prompt, SamplingParams(seed=turn), grammar=pending, jump_forward=False)
    sequence = OutputSequence(request, lambda output: None, model.tokenizer_info, 10**6)

    def compile_it() -> None:
        member = {f"member_{turn}": {"type": "string"}}  # so that it was not compiled before
        schema = {**PERSON, "properties": {**PERSON["properties"], **member}}  # type: ignore[dict-item]
        sequence.outcome = lane.kind.matcher(lane.kind.compile(schema))

    compiling = None if pending is None else threads.submit(compile_it)
    lane.loop.add(sequence)
    while sequence.timing.first_token_s is None:
        if compiling is not None and not lane.loop.has_work:
            compiling.result()
        lane.loop.step()
    took = sequence.timing.first_token_s
    lane.end()
    return took


def forced_text(engine: LocalEngine, seconds: float) -> None:
    """Per token of objects with long names, with and without jump-forward, and of free text as long."""
    compiled = GrammarCompiler(engine.tokenizer_info).compile_json_schema(LONG_NAMES, any_whitespace=False)
    prompt, size, share = engine.encode(PROMPT), 40, 0.0
    times: dict[str, list[float]] = {name: [] for name in ("free", "held", "forced")}

    def write(name: str, turn: int) -> Any:
        grammar = None if name == "free" else compiled
        params = SamplingParams(max_tokens=size if grammar is None else None, seed=turn, ignore_eos=True)
        return complete(engine, Request(prompt, params, grammar=grammar, jump_forward=name == "forced"))

    for turn, names in enumerate(rounds(list(times), seconds, least=3, most=100)):
        for name in names:
            whole = write(name, turn)
            if name == "forced":
                size, share = whole.usage.completion_tokens, whole.usage.forced_tokens / whole.usage.completion_tokens
            if turn:
                times[name].append(whole.timing.decode_s * 1e3 / max(1, whole.usage.completion_tokens - 1))
    rows = []
    for name, found in times.items():
        faster, low, high = median([b / a for a, b in zip(found, times["free"], strict=True)])
        shown = "1" if name == "free" else f"{faster:.2f} ({low:.2f} to {high:.2f})"
        rows.append([name, f"{statistics.median(found):.2f}", shown])
    columns = ["ms a token", "times faster than free"]
    table(f"Forced text, {len(times['free'])} outputs, {share:.0%} of the tokens forced", columns, rows)


def drafts(engine: LocalEngine, seconds: float) -> None:
    """Per token of objects, with drafts and without."""
    compiled = GrammarCompiler(engine.tokenizer_info).compile_json_schema(
        {"type": "array", "items": PERSON, "minItems": 3, "maxItems": 3}, any_whitespace=False
    )
    proposers: dict[str, Any] = {"none": None, "prompt_lookup": prompt_lookup(), "GrammarDrafts": GrammarDrafts()}
    times: dict[str, list[float]] = {name: [] for name in proposers}
    counts = {name: [0, 0, 0] for name in proposers}  # tokens, drafted, taken
    for turn, names in enumerate(rounds(list(times), seconds, least=6, most=100)):
        prompt = engine.encode(f"{PROMPT}Department {turn}: ")
        for name in names:
            params = SamplingParams(max_tokens=200, seed=turn, temperature=0.7)
            whole = complete(engine, Request(prompt, params, grammar=compiled, propose=proposers[name]))
            usage = whole.usage
            if turn:
                times[name].append(whole.timing.decode_s * 1e3 / max(1, usage.completion_tokens - 1))
                found = (usage.completion_tokens, usage.drafted_tokens, usage.accepted_draft_tokens)
                counts[name] = [a + b for a, b in zip(counts[name], found, strict=True)]
    rows = []
    for name, found_ms in times.items():
        faster, low, high = median([b / a for a, b in zip(found_ms, times["none"], strict=True)])
        tokens, drafted, taken = counts[name]
        shown = "1" if name == "none" else f"{faster:.2f} ({low:.2f} to {high:.2f})"
        rows.append([name, f"{statistics.median(found_ms):.2f}", shown, f"{taken:,} of {drafted:,}", f"{tokens:,}"])
    columns = ["ms a token", "times faster than without", "drafted tokens taken", "tokens"]
    table(f"Drafts, {len(times['none'])} outputs", columns, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="a folder for transformers")
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--seconds", type=float, default=30.0, help="of each part")
    parser.add_argument("--threads", type=int, default=max(1, (os.cpu_count() or 1) - 1), help="of the model")
    parser.add_argument("--only", choices=PARTS, nargs="+", default=PARTS)
    arguments = parser.parse_args()
    import torch

    torch.set_num_threads(arguments.threads)
    began = time.perf_counter()
    rivals = {"xgrammar": XGrammar, "llguidance": LLGuidance}
    found = {name: kind for name, kind in rivals.items() if importlib.util.find_spec(name)}
    kinds: dict[str, Any] = {"maskwright": Maskwright, **found}
    model = _load_model(arguments.model, {"num_slots": (len(kinds) + 1) * max(arguments.batch)})
    made = {name: kind(model.tokenizer_info, model._tokenizer) for name, kind in kinds.items()}
    versions = ", ".join(f"{name} {version(name)}" for name in (*found, "torch", "transformers"))
    print(f"{os.path.basename(arguments.model)}, {model.tokenizer_info.vocab_size:,} tokens; {platform.machine()},")
    print(
        f"{os.cpu_count()} processors, {arguments.threads} for the model, load {os.getloadavg()[0]:.1f} at the start;"
    )
    print(f"Python {platform.python_version()}, maskwright {maskwright.__version__}, {versions}", flush=True)
    parts = {"tpot": [partial(per_token, model, made, batch) for batch in arguments.batch]}
    parts["ttft"] = [partial(first_token, model, made)]
    for name in ("tpot", "ttft"):
        for part in parts[name] if name in arguments.only else ():
            part(arguments.seconds)
    with LocalEngine(model) as engine:
        for part in (forced_text, drafts):
            if part.__name__.removesuffix("_text") in arguments.only:
                part(engine, arguments.seconds)
    print(f"\n{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
