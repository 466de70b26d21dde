"""`maskwright demo`: a model with and without a structure, the same prompt and seed, side by side.

Both outputs are in one batch of the engine, and shown as they come. Nothing is prepared: the text is sampled while it
is shown, and parsers of the standard library say what they think of it.

Tested by tests/cli/test_demo.py.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator

from maskwright import CompiledGrammar
from maskwright.engine import Engine, Output, Request, SamplingParams, generate

from ..errors import EXIT_INCOMPLETE, EXIT_OK
from ..generate import load_model, prompt_ids
from .cases import CASES
from .runs import Run

_MAX_TOKENS = 400
_MAX_FREE_TOKENS = 120
_DEFAULT_PACE_MS = 6.0
_TEMPERATURE = 0.8
_TOP_P = 0.95


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return the exit code: not zero if a structure did not hold."""
    from .view import make_view

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
