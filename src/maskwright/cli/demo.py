"""`maskwright demo`: a model with and without a structure, the same prompt and seed, side by side.

Both outputs are in one batch of the engine, and shown as they come. Nothing is prepared: the text is sampled while it
is shown, and parsers of the standard library say what they think of it.

Tested by tests/cli/test_demo.py.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from maskwright import CompiledGrammar, GrammarMatcher
from maskwright.engine import Completion, Engine, Output, Request, SamplingParams, generate

from .demo_cases import CASES, Case, Verdict
from .errors import EXIT_INCOMPLETE, EXIT_OK
from .generate import load_model, prompt_ids
from .output import Figures, Utf8Decoder

_MAX_TOKENS = 400
_MAX_FREE_TOKENS = 120
_DEFAULT_PACE_MS = 6.0
_TEMPERATURE = 0.8
_TOP_P = 0.95


@dataclass
class Side:
    """One of the two runs of a case: its text so far, in pieces that the grammar forced or that were sampled."""

    whole: Completion = field(default_factory=Completion)
    compile_us: float = 0.0
    pieces: list[tuple[str, bool]] = field(default_factory=list)
    verdict: Verdict | None = None
    _decoder: Utf8Decoder = field(default_factory=Utf8Decoder)

    @property
    def text(self) -> str:
        return "".join(piece for piece, _ in self.pieces)

    @property
    def figures(self) -> Figures:
        return Figures.of(self.whole, self.compile_us)

    def add(self, output: Output, token_bytes: Sequence[bytes]) -> None:
        replaced = self.whole.token_ids[len(self.whole.token_ids) - output.num_replaced :]
        num_shown = sum(len(token_bytes[token]) for token in replaced)
        for token, forced in zip(output.token_ids, output.forced, strict=True):
            data = token_bytes[token]
            self._append(self._decoder.feed(data[num_shown:]), forced)
            num_shown = max(0, num_shown - len(data))
        self.whole.add(output)

    def finish(self, case: Case, compiled: CompiledGrammar) -> None:
        self._append(self._decoder.finish(), False)
        self.verdict = case.judge(self.text)
        if self.verdict.ok:
            self.verdict = _check_structure(self.verdict, compiled, self.text)

    def _append(self, text: str, forced: bool) -> None:
        if text:
            self.pieces.append((text, forced))


@dataclass
class Run:
    """A case and what came of it."""

    case: Case
    seed: int
    held: Side = field(default_factory=Side)
    free: Side = field(default_factory=Side)


class View(Protocol):
    """Shows the demo to a person."""

    def start(self, engine: Engine, seconds_to_load: float) -> None: ...

    def showing(self, run: Run) -> AbstractContextManager[None]: ...

    def update(self, run: Run) -> None: ...

    def summary(self, runs: list[Run]) -> None: ...


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return the exit code: not zero if a structure did not hold."""
    from .demo_view import make_view

    view = make_view(plain=arguments.plain)
    pace_ms: float = arguments.pace if arguments.pace is not None else _DEFAULT_PACE_MS * sys.stdout.isatty()
    started = time.perf_counter()
    with load_model(arguments.model, num_slots=2) as engine:
        view.start(engine, time.perf_counter() - started)
        runs = []
        for offset, case in enumerate(CASES):
            current = Run(case, arguments.seed + offset)
            runs.append(current)
            with view.showing(current):
                for _ in _steps(engine, current):
                    view.update(current)
                    time.sleep(pace_ms / 1e3)
    view.summary(runs)
    sys.stdout.flush()
    held = all(r.held.whole.finish_reason == "stop" and r.held.verdict is not None and r.held.verdict.ok for r in runs)
    return EXIT_OK if held else EXIT_INCOMPLETE


def _steps(engine: Engine, run: Run) -> Iterator[None]:
    """Show what is new of both sides in turn, until both are done, and have them judged."""
    info = engine.tokenizer_info
    compiled, run.held.compile_us = run.case.structure.compiled(info)
    ids = prompt_ids(engine, run.case.prompt)

    def outputs(max_tokens: int, grammar: CompiledGrammar | None) -> Iterator[Output]:
        params = SamplingParams(max_tokens, _TEMPERATURE, _TOP_P, seed=run.seed)
        return generate(engine, Request(ids, params, grammar=grammar))

    running = [(run.held, outputs(_MAX_TOKENS, compiled)), (run.free, outputs(_MAX_FREE_TOKENS, None))]
    while running:
        for pair in tuple(running):
            side, coming = pair
            output = next(coming, None)
            if output is None:
                side.finish(run.case, compiled)
                running.remove(pair)
            else:
                side.add(output, info.token_bytes)
        yield


def _check_structure(verdict: Verdict, compiled: CompiledGrammar, text: str) -> Verdict:
    """What parses may still not be what was asked for."""
    matcher = GrammarMatcher(compiled)
    for position, character in enumerate(text):
        if not matcher.accept_string(character):
            return Verdict(False, f"{verdict.message}, but breaks the structure at {text[position:][:16]!r}")
    if not matcher.is_completed():
        return Verdict(False, f"{verdict.message}, but is not all that was asked for")
    return verdict
