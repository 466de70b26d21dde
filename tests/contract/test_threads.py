"""Threads, forks and exits: matchers belong to one thread at a time, a second one is told so, and nothing crashes."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import maskwright
from contract.test_exactness import SCHEMA
from maskwright.ir import alt, seq, star
from oracle.comparing import compile_fresh, compile_ir, scaled
from oracle.grammars import A, B, grammar
from oracle.vocabularies import BYTES, SMALL
from timing import processor_seconds

WORDS = (BYTES.vocab_size + 31) // 32


def schema_grammar(**options: int) -> maskwright.CompiledGrammar:
    return maskwright.GrammarCompiler(BYTES.info(), **options).compile_json_schema(SCHEMA)


def outputs(seed: int, count: int, length: int) -> list[list[int]]:
    """Random outputs of the schema's grammar, as tokens."""
    matcher, rng, out = maskwright.GrammarMatcher(schema_grammar()), random.Random(seed), []
    bitmask = maskwright.allocate_token_bitmask(1, BYTES.vocab_size)
    for _ in range(count):
        matcher.reset()
        tokens: list[int] = []
        while len(tokens) < length and not matcher.is_terminated():
            matcher.fill_next_token_bitmask(bitmask)
            bits = np.unpackbits(bitmask.view(np.uint8), bitorder="little")
            tokens.append(rng.choice(np.flatnonzero(bits).tolist()))
            assert matcher.accept_token(tokens[-1])
        out.append(tokens)
    return out


def masks_alone(tokens: list[int]) -> list[bytes]:
    matcher, out = maskwright.GrammarMatcher(schema_grammar()), []
    for token in tokens:
        bitmask = maskwright.allocate_token_bitmask(1, BYTES.vocab_size)
        matcher.fill_next_token_bitmask(bitmask)
        out.append(bitmask.tobytes())
        matcher.accept_token(token)
    return out


@pytest.mark.parametrize("limit", [64 << 20, 100_000], ids=["roomy", "flushing"])
def test_batches_in_many_threads_agree_with_one(limit: int) -> None:
    """All threads share one grammar, whose memory is flushed again and again in the second case."""
    texts = outputs(1, 12, 60)
    expected = [masks_alone(tokens) for tokens in texts]
    shared = schema_grammar(grammar_limit_bytes=limit)

    def work(seed: int) -> None:
        order = random.Random(seed).sample(range(len(texts)), 8)
        matchers = [maskwright.GrammarMatcher(shared) for _ in order]
        batch = maskwright.BatchGrammarMatcher(matchers)
        bitmask = maskwright.allocate_token_bitmask(len(order), BYTES.vocab_size)
        for step in range(60):
            batch.fill_next_token_bitmask(bitmask)
            for row, text in enumerate(order):
                if step < len(texts[text]):
                    assert bitmask[row].tobytes() == expected[text][step], (seed, step, text)
            accepted = batch.accept_tokens([texts[text][step : step + 1] for text in order])
            assert accepted == [len(texts[text][step : step + 1]) for text in order]

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(scaled(12))))
    assert (shared.stats().num_flushes > 0) == (limit < 1 << 20)


def calls_on(matcher: maskwright.GrammarMatcher) -> list[Callable[[], object]]:
    bitmask = maskwright.allocate_token_bitmask(3, BYTES.vocab_size)
    return [
        lambda: matcher.accept_token(ord("{")),
        lambda: matcher.accept_tokens([ord("{"), ord('"')]),
        lambda: matcher.accept_string('{"na'),
        lambda: matcher.validate_tokens([ord("{"), ord('"')]),
        lambda: matcher.fill_next_token_bitmask(bitmask),
        lambda: matcher.fill_draft_bitmask([ord("{"), ord('"')], bitmask),
        lambda: matcher.traverse_draft_tree([1, -1], [-1, -1], [0, ord("{")], bitmask),
        matcher.find_jump_forward_string,
        matcher.forced_token,
        lambda: matcher.precompute(200),
        lambda: matcher.rollback(matcher.num_accepted_tokens),
        matcher.reset,
        matcher.fork,
        matcher.is_completed,
        matcher.is_terminated,
        lambda: matcher.num_accepted_tokens,
        lambda: maskwright.BatchGrammarMatcher([matcher]).fill_next_token_bitmask(bitmask),
        lambda: maskwright.BatchGrammarMatcher([matcher]).accept_token([ord("{")]),
        lambda: maskwright.BatchGrammarMatcher([matcher]).fill_draft_bitmask([[ord("{")]], bitmask),
    ]


def attempt(call: Callable[[], object]) -> str:
    """Run it; return why it was refused, or nothing."""
    try:
        call()
    except maskwright.MatcherError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("limit", [64 << 20, 100_000], ids=["roomy", "flushing"])
def test_one_matcher_in_many_threads(limit: int) -> None:
    """Every call does its work, or says that the matcher is in use: nothing else, and no crash."""
    matcher = maskwright.GrammarMatcher(schema_grammar(grammar_limit_bytes=limit))
    end = time.monotonic() + 1.0

    def work(seed: int) -> set[str]:
        calls, rng, answers = calls_on(matcher), random.Random(seed), set()
        while time.monotonic() < end:
            answers.add(attempt(rng.choice(calls)))
        return answers

    with ThreadPoolExecutor(4) as threads:
        answers = set.union(*threads.map(work, range(4)))
    assert "" in answers
    assert all("in use" in text or "cannot roll back" in text for text in answers - {""})
    matcher.reset()
    assert matcher.accept_token(ord("{"))


def test_a_matcher_in_use_is_refused_and_free_again() -> None:
    """A long precomputation holds the matcher; meanwhile other threads run, and are refused it."""
    other, refused = maskwright.GrammarMatcher(schema_grammar()), set()
    for _ in range(20):  # the machine may be so busy that a whole precomputation passes unseen
        compiler = maskwright.GrammarCompiler(BYTES.info(), cache_enabled=False)
        matcher = maskwright.GrammarMatcher(compiler.compile_regex("([a-z]{1,40}[0-9]{1,40}){1,400}"))
        batch = maskwright.BatchGrammarMatcher([other, matcher])
        with ThreadPoolExecutor(1) as threads:
            holder = threads.submit(matcher.precompute, 300_000)
            while not holder.done():
                refused.add(attempt(lambda batch=batch: batch.accept_token([-1, -1])))
                assert not other.accept_token(-1), "let go of after the refusal"
        if any("sequence 1 is in use" in text for text in refused):
            break
    else:
        pytest.fail(f"never refused, but {refused}")
    assert matcher.accept_token(ord("a"))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # nanobind warns besides
@pytest.mark.filterwarnings("ignore:nanobind.*already-initialized:RuntimeWarning")
def test_a_matcher_is_made_once() -> None:
    compiled = compile_fresh(grammar(star(A)), SMALL)
    matcher = maskwright.GrammarMatcher(compiled)
    matcher.accept_token(0)
    with pytest.raises(TypeError):
        matcher.__init__(compile_fresh(grammar(star(B)), SMALL))  # type: ignore[misc]
    assert (matcher.num_accepted_tokens, matcher.compiled_grammar) == (1, compiled)
    batch = maskwright.BatchGrammarMatcher([matcher])
    with pytest.raises(TypeError):
        batch.__init__([matcher.fork()])  # type: ignore[misc]
    assert batch.accept_token([0]) == [True]


def in_child(work: Callable[[], None]) -> int:
    """Run in a forked child; return its exit status, or -1 if it hangs."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            os._exit(1)
    end = time.monotonic() + 30
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    return -1


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
# Python says since 3.12 that forking with threads may hang, which is what is tested here.
may_fork = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")


def cold_batch() -> None:
    """Many unknown masks at once, so that the kernel's threads take part."""
    compiler = maskwright.GrammarCompiler(BYTES.info())
    matchers = [
        maskwright.GrammarMatcher(compiler.compile_regex(f"[a-z]{{{n}}}x.*y|[0-9]{{{n}}}|(ab|ba){{{n}}}"))
        for n in range(2, 10)
    ]
    bitmask = maskwright.allocate_token_bitmask(len(matchers), BYTES.vocab_size)
    batch = maskwright.BatchGrammarMatcher(matchers)
    batch.fill_next_token_bitmask(bitmask)
    assert bitmask.any(axis=1).all()
    assert batch.accept_token([ord("a")] * len(matchers)) == [True] * len(matchers)
    batch.fill_next_token_bitmask(bitmask)


@needs_fork
@may_fork
def test_a_child_has_threads_of_its_own() -> None:
    cold_batch()
    assert in_child(cold_batch) == 0
    assert in_child(lambda: in_child(cold_batch) == 0 or os._exit(1)) == 0
    cold_batch()


@needs_fork
@may_fork
def test_forks_in_the_middle_of_work() -> None:
    """Other threads fill and compile all the time; a child can do the same with what it inherits."""
    shared = maskwright.GrammarCompiler(BYTES.info())
    end = time.monotonic() + scaled(3)

    def churn(seed: int) -> None:
        rng = random.Random(seed)
        while time.monotonic() < end:
            compiled = shared.compile_regex(f"[a-z]{{1,{rng.randrange(2, 99)}}}{rng.randrange(10**6)}.*")
            use(compiled)

    def use(compiled: maskwright.CompiledGrammar) -> None:
        matchers = [maskwright.GrammarMatcher(compiled) for _ in range(4)]
        batch = maskwright.BatchGrammarMatcher(matchers)
        bitmask = maskwright.allocate_token_bitmask(4, BYTES.vocab_size)
        for text in ("a", "b", "c"):
            batch.fill_next_token_bitmask(bitmask)
            batch.accept_token([ord(text)] * 4)

    known = shared.compile_regex("[a-z]{1,50}.*x")

    def child() -> None:
        use(known)
        use(shared.compile_regex("[a-z]{1,50}.*yz"))
        use(shared.compile_regex_async("[a-z]{1,50}.*zz").result(20))

    with ThreadPoolExecutor(3) as threads:
        churning = [threads.submit(churn, seed) for seed in range(3)]
        statuses = []
        while time.monotonic() < end:
            statuses.append(in_child(child))
        for future in churning:
            future.result()
    assert set(statuses) == {0}


EXIT_WITH_WORK_LEFT = """
import threading, maskwright
info = maskwright.TokenizerInfo.from_vocab([bytes((b,)) for b in range(256)], stop_token_ids=[])
compiler = maskwright.GrammarCompiler(info)
bitmask = maskwright.allocate_token_bitmask(16, 256)
started = threading.Event()
def work():
    n = 0
    while True:
        n += 1
        compiled = [compiler.compile_regex(f"[a-z]{{1,{n + i}}}[0-9]+.*x{n}") for i in range(16)]
        batch = maskwright.BatchGrammarMatcher([maskwright.GrammarMatcher(c) for c in compiled])
        batch.fill_next_token_bitmask(bitmask)
        started.set()
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
started.wait()
print("out")
"""


@pytest.mark.parametrize("attempt", range(3))
def test_exit_with_threads_at_work(attempt: int) -> None:
    done = subprocess.run([sys.executable, "-c", EXIT_WITH_WORK_LEFT], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "out\n"), done.stderr[-2000:]


def test_long_histories_are_let_go_of_without_recursion() -> None:
    matcher = maskwright.GrammarMatcher(compile_fresh(grammar(star(alt(A, B))), SMALL))
    assert matcher.accept_tokens([0, 1] * 200_000) == 400_000
    forks = [matcher.fork() for _ in range(3)]
    forks[1].rollback(399_999)
    forks[1].accept_tokens([1] * 100)
    del matcher, forks[0]
    assert forks[0].num_accepted_tokens == 101
    del forks


def test_forks_of_accepted_texts_cost_the_same_however_many() -> None:
    compiled = compile_ir(grammar(star(seq(A, B))), maskwright.GrammarCompiler(SMALL.info()))

    def fork_time(num_texts: int) -> float:
        matcher = maskwright.GrammarMatcher(compiled)
        for _ in range(num_texts):
            assert matcher.accept_string("ab")
        return processor_seconds(lambda: [matcher.fork() for _ in range(20)], runs=30)

    assert fork_time(50_000) < 10 * fork_time(10)


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has a GIL")
def test_python_without_a_gil_stays_without() -> None:
    assert not sys._is_gil_enabled()
