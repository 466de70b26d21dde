"""Mutations of one kind, run as a script: every input to every entrance ends in a result or a typed error, in time.

    cd tests && python -m mutations.batch schema 0 250

prints a line for each case before it runs, `{"case": [number, entrance, input]}`, and a line for each fault,
`{"fault": …}`; the last line has the figures. A case that hangs is ended with its traceback.
Used by test_mutations.py, which so knows which case a crash belongs to.
"""

from __future__ import annotations

import faulthandler
import gzip
import json
import os
import random
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import maskwright as mw
from corpora import MASKBENCH
from mutations.entrances import (
    FAMILIES,
    INFO,
    Case,
    from_choices,
    from_name,
    from_parameters,
    from_request,
    from_schema,
    from_tag,
    from_text,
)
from mutations.mutate import mutated_data, mutated_text
from mutations.seeds import CHOICES, MODELS, PARAMETERS, REQUESTS, SCHEMAS, TAGS
from timing import SLOWER

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SECONDS = 2 * SLOWER  # four times what is promised, as machines differ
HANGS = 30 * SLOWER
SEED = os.environ.get("MASKWRIGHT_SEED", "")
WITH_REAL = int(os.environ.get("MASKWRIGHT_MUTATIONS", "1")) > 1
CORPUS = Path(__file__).parents[1] / "corpus"


class Kind(NamedTuple):
    """How many mutations CI tries, what of, how they are made, and what reads them."""

    count: int
    seeds: Callable[[], list[Any]]
    mutate: Callable[[Any, random.Random], Any]
    cases: Callable[[Any, random.Random, mw.GrammarCompiler], list[Case]]


def schemas() -> list[Any]:
    found = list(SCHEMAS)
    if WITH_REAL and MASKBENCH.exists():
        with gzip.open(MASKBENCH, "rt", encoding="utf-8") as lines:
            found += [json.loads(line)["schema"] for line in lines if len(line) < 20_000]
    return found


def texts(language: str) -> list[str]:
    cases = [case for path in sorted(CORPUS.glob("*.toml")) for case in tomllib.loads(path.read_text("utf-8"))["case"]]
    return [c["grammar"] for c in cases if c["language"] == language and len(c.get("grammar", "x" * 999)) < 900]


KINDS = {
    "schema": Kind(250, schemas, mutated_data, from_schema),
    "tag": Kind(150, lambda: list(TAGS), mutated_data, from_tag),
    "request": Kind(150, lambda: list(REQUESTS), mutated_data, from_request),
    "parameters": Kind(100, lambda: list(PARAMETERS), mutated_data, from_parameters),
    "choices": Kind(50, lambda: list(CHOICES), mutated_data, from_choices),
    "name": Kind(150, lambda: [*MODELS, *FAMILIES], mutated_text, from_name),
    "ebnf": Kind(250, lambda: texts("ebnf"), mutated_text, from_text("ebnf")),
    "lark": Kind(250, lambda: texts("lark"), mutated_text, from_text("lark")),
    "regex": Kind(250, lambda: texts("regex"), mutated_text, from_text("regex")),
}


def wrong_with(run: Callable[[], object]) -> tuple[str | None, float]:
    """Run it: what it did that it must not do, and its processor time."""
    wrong = None
    begin = time.process_time()
    try:
        run()
    except mw.MaskwrightError as error:
        if len(str(error)) > 3_000:
            wrong = f"a message of {len(str(error))} characters: {error}"[:120]
    except Exception as error:
        wrong = f"{type(error).__name__}: {error}"[:120]
    seconds = time.process_time() - begin
    return wrong or (f"took {seconds:.1f} s" if seconds > SECONDS else None), seconds


def tell(**what: Any) -> None:
    print(json.dumps(what), flush=True)


def run_batch(kind: str, first: int, end: int) -> None:
    made = KINDS[kind]
    sources = made.seeds()
    compiler = mw.GrammarCompiler(INFO)
    num_cases, slowest = 0, (0.0, -1, "")
    for number in range(first, end):
        rng = random.Random(f"{kind} {number} {SEED}")
        data = rng.choice(sources)
        for _ in range(rng.choice((1, 1, 2, 4))):
            data = made.mutate(data, rng)
        for entrance, run in made.cases(data, rng, compiler):
            tell(case=[number, entrance, repr(data)[:600]])
            faulthandler.dump_traceback_later(HANGS, exit=True)
            wrong, seconds = wrong_with(run)
            num_cases += 1
            slowest = max(slowest, (seconds, number, entrance))
            if wrong:
                tell(fault=wrong)
    faulthandler.cancel_dump_traceback_later()
    tell(done=num_cases, slowest=slowest)


if __name__ == "__main__":
    faulthandler.enable()
    warnings.simplefilter("ignore")
    run_batch(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
