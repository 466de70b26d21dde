"""`maskwright demo`: the embedded model with and without a structure, the same prompt and seed, side by side.

Both runs advance token by token in turn, so that a terminal shows them growing together. Nothing is prepared: the
text is sampled while it is shown, and parsers of the standard library say what they think of it.

Tested by tests/cli/test_demo.py.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from maskwright import CompiledGrammar, GrammarMatcher
from maskwright.generation import Chunk, GenerationStats, SamplingOptions, generate
from maskwright.lm import EmbeddedModel, load_embedded_model

from .demo_cases import CASES, Case, Verdict
from .errors import EXIT_INCOMPLETE, EXIT_OK
from .output import Utf8Decoder

_MAX_TOKENS = 400
_MAX_FREE_TOKENS = 120
_DEFAULT_PACE_MS = 6.0


@dataclass
class Side:
    """One of the two runs of a case: its text so far, in pieces that the mask forced or that were sampled."""

    stats: GenerationStats = field(default_factory=GenerationStats)
    pieces: list[tuple[str, bool]] = field(default_factory=list)
    verdict: Verdict | None = None
    _decoder: Utf8Decoder = field(default_factory=Utf8Decoder)

    @property
    def text(self) -> str:
        return "".join(piece for piece, _ in self.pieces)

    def add(self, chunk: Chunk) -> None:
        self._append(self._decoder.feed(chunk.data), chunk.forced)

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

    def start(self, model: EmbeddedModel, seconds_to_make: float) -> None: ...

    def showing(self, run: Run) -> AbstractContextManager[None]: ...

    def update(self, run: Run) -> None: ...

    def summary(self, runs: list[Run]) -> None: ...


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return the exit code: not zero if a structure did not hold."""
    from .demo_view import make_view

    view = make_view(plain=arguments.plain)
    pace_ms: float = arguments.pace if arguments.pace is not None else _DEFAULT_PACE_MS * sys.stdout.isatty()
    started = time.perf_counter()
    model = load_embedded_model()
    view.start(model, time.perf_counter() - started)
    runs = []
    for offset, case in enumerate(CASES):
        current = Run(case, arguments.seed + offset)
        runs.append(current)
        with view.showing(current):
            for _ in _steps(model, current):
                view.update(current)
                time.sleep(pace_ms / 1e3)
    view.summary(runs)
    sys.stdout.flush()
    held = all(r.held.stats.finish_reason == "stop" and r.held.verdict is not None and r.held.verdict.ok for r in runs)
    return EXIT_OK if held else EXIT_INCOMPLETE


def _steps(model: EmbeddedModel, run: Run) -> Iterator[None]:
    """Advance both sides by a token each, until both are done, and have them judged."""
    compiled, run.held.stats.compile_us = run.case.structure.compiled(model.tokenizer_info)
    held_options, free_options = (SamplingOptions(max_tokens=n, seed=run.seed) for n in (_MAX_TOKENS, _MAX_FREE_TOKENS))
    running = [
        (run.held, generate(model, run.case.prompt, compiled, options=held_options, stats=run.held.stats)),
        (run.free, generate(model, run.case.prompt, options=free_options, stats=run.free.stats)),
    ]
    while running:
        for pair in tuple(running):
            side, chunks = pair
            chunk = next(chunks, None)
            if chunk is None:
                side.finish(run.case, compiled)
                running.remove(pair)
            else:
                side.add(chunk)
        yield


def _check_structure(verdict: Verdict, compiled: CompiledGrammar, text: str) -> Verdict:
    """What parses may still not be what was asked for."""
    matcher = GrammarMatcher(compiled)
    for position, character in enumerate(text):
        if not matcher.accept_string(character):
            return Verdict(False, f"{verdict.message}, but is not what was asked for from {text[position:][:16]!r} on")
    if not matcher.is_completed():
        return Verdict(False, f"{verdict.message}, but is not all that was asked for")
    return verdict
