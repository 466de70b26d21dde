"""Handlers of signals run all along a long compile, and so do other threads, be the front-ends compiled or not.

Threads that compile share the interpreter in slices, and the garbage collector lets them alone meanwhile.
Times are the process's own, as other work on the machine makes no difference to them.
"""

from __future__ import annotations

import gc
import itertools
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest

import maskwright as mw
from maskwright.support.interruption import compiling, interrupt_checkpoint

resource = pytest.importorskip("resource")
pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")

TRIES = 5  # the system may leave a thread waiting for a core; code that lets nobody in does so in every try
SCHEMA = {"properties": {f"p{i}": {"type": "array", "prefixItems": [{"const": i}] * 9} for i in range(3000)}}
LONG: dict[str, Callable[[], object]] = {
    "assertions": lambda: mw.Grammar.from_regex(r"(\w+\b\W*)" * 400),
    "lookaheads": lambda: mw.Grammar.from_regex("(?=a)a" * 3000),
    "schema": lambda: mw.Grammar.from_json_schema(SCHEMA),
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
    assert any(handlers_run_during(work) for _ in range(TRIES))


def handlers_run_during(work: Callable[[], object]) -> bool:
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
    return longest < (end - begin) / 3


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


@pytest.fixture
def no_forced_switches() -> Iterator[None]:
    """CPython itself takes the interpreter from no thread, so that others run only where they are let in."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("no_forced_switches")
@pytest.mark.parametrize("work", LONG.values(), ids=LONG)
def test_other_threads_run_meanwhile(work: Callable[[], object]) -> None:
    """A thread that wakes up now and then does so all along: the time that the work took between is a part of it."""
    assert any(others_run_during(work) for _ in range(TRIES))


def others_run_during(work: Callable[[], object]) -> bool:
    is_done, may_end = threading.Event(), threading.Event()
    taken: list[float] = []

    def compile_it() -> None:
        begin = time.thread_time()
        work()
        taken.append(time.thread_time() - begin)
        is_done.set()
        may_end.wait(60)  # its clock goes with it

    worker = threading.Thread(target=compile_it)
    worker.start()
    times = [0.0]
    clock = time.pthread_getcpuclockid(worker.ident or 0)
    while not is_done.wait(0.0005):
        times.append(time.clock_gettime(clock))
    may_end.set()
    worker.join()
    longest = max(b - a for a, b in itertools.pairwise([*times, taken[0]]))
    return longest < taken[0] / 3 and len(times) > taken[0] / 0.02


@pytest.mark.skipif(not hasattr(resource, "RUSAGE_THREAD"), reason="the system does not count a thread's switches")
def test_a_thread_alone_does_not_lie_still() -> None:
    """It hands the interpreter over every fifth of a millisecond, and goes on at once where nobody waits for it."""

    def share_that_lies_still() -> float:
        begin, before = time.thread_time(), resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
        LONG["schema"]()
        times = (time.thread_time() - begin) / 0.0002
        return float(resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw - before) / times

    assert any(share_that_lies_still() < 0.1 for _ in range(TRIES))


def test_threads_that_compile_take_turns() -> None:
    """Two that each want the interpreter have it for milliseconds at a time; handing it over costs little, then."""
    had: list[int] = []
    both = threading.Barrier(2)

    def work(name: int) -> None:
        both.wait(60)
        with compiling:
            begin = time.thread_time()
            while time.thread_time() - begin < 0.1:
                interrupt_checkpoint()
                had.append(name)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    num_turns = 1 + sum(a != b for a, b in itertools.pairwise(had))
    assert 3 <= num_turns <= 200  # 40 of 5 ms; a thousand, were it handed over whenever others are let in


def test_a_thread_that_waits_lets_others_compile() -> None:
    is_working, may_end = threading.Event(), threading.Event()

    def wait_within() -> None:
        with compiling:
            interrupt_checkpoint()
            is_working.set()
            may_end.wait(60)

    waiting = threading.Thread(target=wait_within)
    waiting.start()
    is_working.wait(60)
    mw.Grammar.from_json_schema({"properties": {f"p{i}": {"const": i} for i in range(300)}})
    assert waiting.is_alive()
    may_end.set()
    waiting.join()


@pytest.mark.parametrize("work", LONG.values(), ids=LONG)
def test_the_collector_lets_a_thread_alone_that_reads_a_grammar(work: Callable[[], object]) -> None:
    """What is freed by its reference counts sets off no collection: one comes at most, once the grammar is there."""
    gc.enable()
    collecting: list[int] = []

    def note(phase: str, _: object) -> None:
        if phase == "start":
            collecting.append(threading.get_ident())

    gc.callbacks.append(note)
    try:
        work()
    finally:
        gc.callbacks.remove(note)
    assert collecting.count(threading.get_ident()) <= 1
    assert gc.isenabled()


@pytest.mark.usefixtures("no_forced_switches")
def test_the_collector_is_on_whenever_others_run() -> None:
    gc.enable()
    begun, go = threading.Event(), threading.Event()
    enabled: list[bool] = []

    def look() -> None:
        begun.set()
        go.wait(60)
        enabled.append(gc.isenabled())

    other = threading.Thread(target=look)
    other.start()
    begun.wait(60)
    with compiling:
        go.set()
        while not enabled:
            interrupt_checkpoint()
        with compiling:
            pass
        assert not gc.isenabled()
    assert enabled == [True]
    assert gc.isenabled()


def test_a_collector_that_was_switched_off_stays_so() -> None:
    assert not gc.isenabled()
    with pytest.raises(ZeroDivisionError), compiling:
        raise ZeroDivisionError
    assert not gc.isenabled()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_of_fork_has_the_collector_on() -> None:
    gc.enable()
    is_within, may_end = threading.Event(), threading.Event()

    def wait_within() -> None:
        with compiling:
            is_within.set()
            may_end.wait(60)

    thread = threading.Thread(target=wait_within)
    thread.start()
    is_within.wait(60)
    child = os.fork()
    if not child:
        os._exit(0 if gc.isenabled() else 1)
    may_end.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert gc.isenabled()
