"""One decoding loop for all engines: the same tokens, models and steps, with masks filled beside the model or after it.

    schemas, texts = choose(encode, engines, 8)     what sequences write: valid instances of schemas
    times = tpots(model, peers("batches"), grammars, texts, prompt, steps=24)
    print(differences(times))                       {"unconstrained": "6.10", "xgrammar, serial": "+0.14 (+2.3%)", …}

A step calculates logits, applies the masks, takes the most likely token, and then goes on with the token of the text in
its place, whatever was chosen: so every run does the same work to the last token, and only masks differ. Overlapped,
the masks are filled on another thread while the model calculates; serially, afterwards. Runs take turns step by step,
each with a cache of its own, so that ratios in one run are fair on a machine that is not quiet.
"""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from common import BENCHMARKS, ablation, bench_batch, in_turns

import maskwright as mw

UNCONSTRAINED = "unconstrained"
MODELS = Path(os.environ.get("MASKWRIGHT_MODELS", BENCHMARKS.parent / "build" / "models"))


def leave_a_processor() -> None:
    """Have models use all processors but one, which is for what happens beside them."""
    import torch

    torch.set_num_threads(max(1, (os.cpu_count() or 1) - 1))


class StepModel(Protocol):
    """Calculates logits of a batch, (batch, vocab_size) float32, and returns when they are there."""

    info: mw.TokenizerInfo

    def start(self, prompt: list[int], batch: int) -> Any:
        """Read the prompt, the same in all rows; return the cache behind it."""

    def step(self, tokens: list[int], state: Any) -> Any:
        """Append a token to each row; return the logits behind it."""


class Transformer:
    """A transformers model, with one processor left for what is beside it.

    `name` is a folder in MASKWRIGHT_MODELS (tests/engines/models.py makes them).
    """

    def __init__(self, name: str) -> None:
        import transformers
        from transformers import AutoModelForCausalLM, AutoTokenizer

        transformers.utils.logging.disable_progress_bar()
        leave_a_processor()
        self.name = name
        self.model = AutoModelForCausalLM.from_pretrained(MODELS / name).float().eval()
        # transformers 5.24 renamed the argument past_key_values to cache
        known = inspect.signature(self.model.forward).parameters
        self.cache_argument = "cache" if "cache" in known else "past_key_values"
        self.tokenizer = AutoTokenizer.from_pretrained(MODELS / name)
        self.info = mw.TokenizerInfo.from_huggingface(self.tokenizer, vocab_size=self.model.config.vocab_size)

    def encode(self, text: bytes) -> list[int]:
        return list(self.tokenizer.encode(text.decode(), add_special_tokens=False))

    def start(self, prompt: list[int], batch: int) -> Any:
        import torch
        from transformers import DynamicCache

        cache = DynamicCache(config=self.model.config)
        with torch.inference_mode():
            self.model(torch.tensor([prompt] * batch), use_cache=True, logits_to_keep=1, **{self.cache_argument: cache})
        return cache

    def step(self, tokens: list[int], state: Any) -> Any:
        import torch

        with torch.inference_mode():
            ids = torch.tensor(tokens)[:, None]
            cached = {self.cache_argument: state}
            return self.model(ids, use_cache=True, logits_to_keep=1, **cached).logits[:, -1]


class Sleeper:
    """A simulation: a step takes a given time on another processor, as on a GPU, and its logits are always the same."""

    def __init__(self, info: mw.TokenizerInfo, step_ms: float, max_batch: int) -> None:
        import torch

        self.info, self.step_ms = info, step_ms
        self._logits = torch.rand(1, info.vocab_size).expand(max_batch, -1)

    def start(self, prompt: list[int], batch: int) -> Any:
        return None

    def step(self, tokens: list[int], state: Any) -> Any:
        time.sleep(self.step_ms / 1e3)
        return self._logits[: len(tokens)]


class Run:
    """One batch on its way, unconstrained (`engine` None) or constrained by an adapter of bench_batch.py.

    Args:
        texts: What each sequence writes, over and over, as tokens.
        grammars: What the adapter compiled, one a sequence.
        overlapped: Whether masks are filled beside the model.
        applies: Whether logits are masked and looked at; a GPU does that in a simulation.
    """

    def __init__(
        self,
        model: Any,
        texts: list[list[list[int]]],
        prompt: list[int],
        engine: Any = None,
        grammars: list[Any] | None = None,
        *,
        overlapped: bool = True,
        applies: bool = True,
        threads: int = 1,
    ) -> None:
        self._model, self._texts, self._engine = model, texts, engine
        self._overlapped, self._applies = overlapped, applies
        self._at = [(0, 0)] * len(texts)
        self._executor = ThreadPoolExecutor(1)
        self._bitmask = mw.allocate_token_bitmask(len(texts), model.info.vocab_size)
        self._tokens = [prompt[-1]] * len(texts)
        self._state = model.start(prompt[:-1] or prompt, len(texts))
        if engine is not None:
            engine.start(grammars, threads)
            self._batch = {name: each for name, each in vars(engine).items() if name in ("batch", "matchers", "rows")}

    def step(self) -> float:
        """Take a token in every sequence; return the seconds from one token to the next."""
        if self._engine is not None:
            vars(self._engine).update(self._batch)  # an adapter holds one batch at a time, and runs take turns
        begin = time.perf_counter()
        if self._engine is not None and self._overlapped:
            filled = self._executor.submit(self._fill)
            logits = self._model.step(self._tokens, self._state)
            filled.result()
        else:
            logits = self._model.step(self._tokens, self._state)
            self._fill()
        if self._applies:
            if self._engine is not None:
                mw.apply_token_bitmask_inplace(logits, self._bitmask)
            logits.argmax(-1).tolist()
        self._tokens = [self._texts[i][text][at] for i, (text, at) in enumerate(self._at)]
        if self._engine is not None and not self._engine.accept(self._tokens):
            raise SystemExit("a valid instance was refused")
        took = time.perf_counter() - begin
        for i, (text, at) in enumerate(self._at):
            self._at[i] = (text, at + 1)
            if at + 1 == len(self._texts[i][text]):
                self._at[i] = ((text + 1) % len(self._texts[i]), 0)
                if self._engine is not None:
                    self._engine.restart(i)
        return took

    def _fill(self) -> None:
        if self._engine is not None:
            self._engine.fill(self._bitmask)


def choose(encode: Callable[[bytes], list[int]], engines: dict[str, Any], count: int) -> tuple[list[Any], list[Any]]:
    """Return schemas that all engines take, and the tokens of their valid instances."""
    chosen, texts = [], []
    for record in ablation.records(20 * count):
        instances = bench_batch.instances(record, encode)
        if len(chosen) == count or sum(map(len, instances)) < 40:
            continue
        if all(bench_batch.usable(engine, record, encode) for engine in engines.values()):
            chosen.append(record["schema"])
            texts.append(instances)
    if not chosen:
        raise SystemExit("there is no schema that all engines take")
    return chosen, texts


def modes_of(engines: dict[str, Any]) -> dict[str, tuple[Any, bool]]:
    """What is compared: which engine, and whether its masks are filled beside the model."""
    how = {"overlapped": True, "serial": False}
    constrained = {f"{name}, {each}": (engine, how[each]) for name, engine in engines.items() for each in how}
    return {UNCONSTRAINED: (None, False), **constrained}


def tpots(
    model: Any,
    engines: dict[str, Any],
    grammars: dict[str, list[Any]],
    texts: list[list[list[int]]],
    prompt: list[int],
    steps: int,
    **options: Any,
) -> dict[str, list[float]]:
    """Return the seconds of each step of a batch, in every mode; `grammars` has those of its sequences by engine."""
    names = {id(engine): name for name, engine in engines.items()}
    runs = {}
    for mode, (engine, overlapped) in modes_of(engines).items():
        compiled = None if engine is None else grammars[names[id(engine)]]
        runs[mode] = Run(model, texts, prompt, engine, compiled, overlapped=overlapped, **options)
    return in_turns({mode: run.step for mode, run in runs.items()}, steps)


def differences(times: dict[str, list[float]]) -> dict[str, str]:
    """Return the time without constraints in ms, and how much more it is in the other modes, in ms and as a share."""
    reference = times[UNCONSTRAINED]
    out = {UNCONSTRAINED: f"{milliseconds(reference):,.2f}"}
    for mode, found in times.items():
        if mode != UNCONSTRAINED:
            more = milliseconds([a - b for a, b in zip(found, reference, strict=True)])
            out[mode] = f"{more:+,.2f} ({more / milliseconds(reference):+.1%})"
    return out


def milliseconds(seconds: list[float]) -> float:
    return float(np.median(seconds) * 1e3)
