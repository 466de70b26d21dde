"""How long does applying a bitmask to logits take on the CPU, next to copying the logits?

    python benchmarks/bench_apply.py
    python benchmarks/bench_apply.py --vocab 151936 --batches 1,64 --threads 2

For each dtype, batch and share of tokens that are allowed, the time as a multiple of copying the same logits once, in
the same process and on the same number of threads: ours, XGrammar's kernel for the CPU, and torch's `masked_fill_` with
the mask as booleans. Random masks draw each bit by itself; masks in runs allow or refuse 512 tokens together. Each
figure is the least of several rounds, in which the candidates take turns; "-" is where a dtype is not supported.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np
import torch

import maskwright as mw
from maskwright import _kernel

try:
    import xgrammar
except ImportError:
    xgrammar = None

DENSITIES = (0.0, 0.01, 0.5, 0.95, 0.979, 0.999, 1.0)
DTYPES = ("float32", "bfloat16", "float16", "float64")


def draw_mask(batch: int, vocab: int, density: float, run: int) -> Any:
    """A bitmask in which runs of so many tokens are allowed together."""
    rng = np.random.default_rng(0)
    width = (vocab + 31) // 32 * 32
    runs = rng.random((batch, (width + run - 1) // run)) < density
    bits = np.repeat(runs, run, axis=1)[:, :width]
    return torch.from_numpy(np.packbits(bits, axis=1, bitorder="little").view(np.int32).copy())


def candidates(logits: Any, bitmask: Any, threads: int) -> dict[str, Callable[[], Any]]:
    """What is timed, by name."""
    vocab = logits.shape[1]
    target = torch.empty_like(logits)
    bits = np.unpackbits(bitmask.numpy().view(np.uint8), axis=1, bitorder="little")[:, :vocab]
    refused = torch.from_numpy(bits == 0)
    found = {
        "copy": lambda: target.copy_(logits),
        "ours": lambda: mw.apply_token_bitmask_inplace(logits, bitmask, max_threads=threads),
        "masked_fill_": lambda: logits.masked_fill_(refused, -torch.inf),
    }
    if xgrammar is not None:
        found["XGrammar"] = lambda: xgrammar.apply_token_bitmask_inplace(logits, bitmask, backend="cpu")
    return found


def is_supported(call: Callable[[], Any]) -> bool:
    try:
        call()
    except Exception:  # each library has its own
        return False
    return True


def least_times(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float | None]:
    """Seconds for each call, None where it is not supported."""
    times = {name: float("inf") if is_supported(call) else None for name, call in calls.items()}
    for _ in range(rounds):
        for name, call in calls.items():
            best = times[name]
            if best is not None:
                begin = time.perf_counter()
                call()
                times[name] = min(best, time.perf_counter() - begin)
    return times


def ratio(time_of: float | None, copy: float) -> str:
    return "-" if time_of is None else f"{time_of / copy:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocab", type=int, default=128256)
    parser.add_argument("--batches", default="1,8,64")
    parser.add_argument("--dtypes", default=",".join(DTYPES))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--megabytes", type=int, default=1500, help="logits masked for each figure")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    versions = f"torch {torch.__version__}, XGrammar {version('xgrammar') if xgrammar else 'none'}"
    print(f"{platform.machine()}, vectors of {_kernel.simd_bytes()} bytes, {options.threads} thread(s), {versions}\n")
    print("| dtype | batch | allowed | copy, µs | ours / copy | XGrammar / copy | masked_fill_ / copy |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    worst = 0.0
    for dtype in options.dtypes.split(","):
        for batch in map(int, options.batches.split(",")):
            logits = torch.randn((batch, options.vocab), dtype=torch.float32).to(getattr(torch, dtype))
            size = logits.numel() * logits.element_size()
            rounds = max(5, min(300, options.megabytes * 10**6 // size // 10))
            for run, density in [(1, d) for d in DENSITIES] + [(512, 0.5), (512, 0.95)]:
                bitmask = draw_mask(batch, options.vocab, density, run)
                times = least_times(candidates(logits, bitmask, options.threads), rounds)
                copy = times["copy"] or float("nan")
                worst = max(worst, (times["ours"] or 0) / copy)
                kind = f"{density:.1%}" + (" in runs" if run > 1 else "")
                figures = [ratio(times.get(name), copy) for name in ("ours", "XGrammar", "masked_fill_")]
                print(f"| {dtype} | {batch} | {kind} | {copy * 1e6:.1f} | {' | '.join(figures)} |", flush=True)
    print(f"\nworst of ours: {worst:.2f} copies")


if __name__ == "__main__":
    main()
