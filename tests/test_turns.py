"""Handlers of signals run all along a long compile, and so do other threads, be the front-ends compiled or not.

Times are the process's own, as other work on the machine makes no difference to them.
"""

from __future__ import annotations

import gc
import itertools
import signal
import time
from collections.abc import Callable, Iterator

import pytest

import maskwright as mw

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")

LONG: dict[str, Callable[[], object]] = {
    "assertions": lambda: mw.Grammar.from_regex(r"(\w+\b\W*)" * 400),
    "lookaheads": lambda: mw.Grammar.from_regex("(?=a)a" * 3000),
    "schema": lambda: mw.Grammar.from_json_schema(
        {"properties": {f"p{i}": {"type": "array", "prefixItems": [{"const": i}] * 9} for i in range(3000)}}
    ),
    "EBNF": lambda: mw.Grammar.from_ebnf("root ::= " + '"a" [b] ' * 100_000),
}


@pytest.fixture(autouse=True)
def no_collector() -> Iterator[None]:
    """Collecting all that other tests left is no doing of the compiler's, and what handlers raise meanwhile is lost."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("work", LONG.values(), ids=LONG)
def test_handlers_run_meanwhile(work: Callable[[], object]) -> None:
    times: list[float] = []
    before = signal.signal(signal.SIGVTALRM, lambda *_: times.append(time.process_time()))
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.002, 0.002)
    begin = time.process_time()
    try:
        work()
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        end = time.process_time()
        signal.signal(signal.SIGVTALRM, before)
    longest = max(b - a for a, b in itertools.pairwise([begin, *times, end]))
    assert longest < (end - begin) / 3


def test_a_handler_that_raises_ends_the_compile() -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.02)
    try:
        with pytest.raises(KeyboardInterrupt):
            LONG["assertions"]()
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    assert mw.Grammar.from_json_schema({"type": "null"}).ir.rules
