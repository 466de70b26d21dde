"""How long do masking logits, and choosing tokens from masked logits, take on a GPU, next to what its memory allows?

    python benchmarks/bench_apply_gpu.py
    python benchmarks/bench_apply_gpu.py --batches 1,64 --vocabs 128256 --dtypes bfloat16

Masking: microseconds, and as a multiple of the time in which the GPU's memory moves the bitmask and the logits that are
refused, at the speed of a large copy on this GPU; beside it XGrammar's Triton kernel and torch's `masked_fill_`.
Choosing: our single kernels, and the same by masking and then torch. First the results are compared with the CPU's.
Timed by CUDA events with a cold second-level cache (`triton.testing.do_bench`), medians. Without a GPU it says so.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import maskwright as mw
from maskwright.bitmask.sampling import masked_argmax, masked_sample, masked_softmax

try:
    import xgrammar
except ImportError:
    xgrammar = None

DENSITIES = (0.0, 0.01, 0.5, 0.95, 1.0)


def draw_mask(batch: int, vocab: int, density: float) -> Any:
    """A bitmask of up to 64 different rows, repeated."""
    rng = np.random.default_rng(0)
    bits = rng.random((min(batch, 64), (vocab + 31) // 32 * 32)) < density
    words = torch.from_numpy(np.packbits(bits, axis=1, bitorder="little").view(np.int32).copy())
    return words.repeat((batch + 63) // 64, 1)[:batch].contiguous()


def microseconds(call: Callable[[], Any]) -> float:
    from triton.testing import do_bench

    return float(do_bench(call, warmup=10, rep=50, return_mode="median")) * 1000


def bytes_per_microsecond() -> float:
    """What a copy of 1 GiB moves, read and written."""
    source = torch.empty(2**30, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    return 2 * 2**30 / microseconds(lambda: target.copy_(source))


def check(vocab: int) -> None:
    """Compare with the CPU, bit for bit; probabilities but for rounding."""
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        logits, bitmask = torch.randn((8, vocab)).to(dtype), draw_mask(8, vocab, 0.3)
        on_gpu, on_cpu, mask = logits.cuda(), logits.clone(), bitmask.cuda()
        mw.apply_token_bitmask_inplace(on_gpu, mask)
        mw.apply_token_bitmask_inplace(on_cpu, bitmask)
        assert torch.equal(on_gpu.cpu(), on_cpu), "masked logits differ"
        assert torch.equal(masked_argmax(logits.cuda(), mask).cpu(), masked_argmax(logits, bitmask)), "argmax differs"
        shares = masked_softmax(logits.cuda(), mask, temperature=0.8).cpu()
        assert torch.allclose(shares, masked_softmax(logits, bitmask, temperature=0.8), atol=1e-6), "softmax differs"
        options: Any = {"temperature": 0.8, "top_k": 40, "top_p": 0.9, "seeds": list(range(8))}
        same = masked_sample(logits.cuda(), mask, **options).cpu() == masked_sample(logits, bitmask, **options)
        print(f"{dtype}: masks, argmax and softmax as on the CPU, {int(same.sum())} of 8 samples the same")


def masking(options: argparse.Namespace) -> None:
    speed = bytes_per_microsecond()
    print(f"\na large copy moves {speed / 1e3:.0f} GB/s\n")
    print(
        "| dtype | vocabulary | batch | allowed | ours, µs | ours / limit | XGrammar / limit | masked_fill_ / limit |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for dtype in options.dtypes.split(","):
        for vocab in map(int, options.vocabs.split(",")):
            for batch in map(int, options.batches.split(",")):
                logits = torch.randn((batch, vocab), device="cuda", dtype=getattr(torch, dtype))
                for density in DENSITIES:
                    row = masking_row(logits, draw_mask(batch, vocab, density).cuda(), density, speed)
                    print(f"| {dtype} | {vocab} | {batch} | {density:.0%} | {row} |", flush=True)


def masking_row(logits: Any, bitmask: Any, density: float, speed: float) -> str:
    moved = bitmask.numel() * 4 + (1 - density) * logits.numel() * logits.element_size()
    limit = moved / speed
    ours = microseconds(lambda: mw.apply_token_bitmask_inplace(logits, bitmask))
    theirs = "-"
    if xgrammar is not None:
        apply = xgrammar.apply_token_bitmask_inplace
        theirs = f"{microseconds(lambda: apply(logits, bitmask, backend='triton')) / limit:.2f}"
    bits = (bitmask.unsqueeze(-1) >> torch.arange(32, dtype=torch.int32, device="cuda")) & 1
    refused = bits.flatten(1)[:, : logits.shape[1]] == 0
    filled = microseconds(lambda: logits.masked_fill_(refused, -torch.inf))
    return f"{ours:.1f} | {ours / limit:.2f} | {theirs} | {filled / limit:.2f}"


def choosing(options: argparse.Namespace) -> None:
    print("\n| vocabulary | batch | allowed | what | ours, µs | masking, then torch, µs |")
    print("| --- | --- | --- | --- | --- | --- |")
    for vocab in map(int, options.vocabs.split(",")):
        for batch in map(int, options.batches.split(",")):
            logits = torch.randn((batch, vocab), device="cuda", dtype=torch.float32)
            for density in (0.01, 0.5, 0.95):
                for what, (ours, apart) in ways(logits, draw_mask(batch, vocab, density).cuda()).items():
                    figures = f"{microseconds(ours):.1f} | {microseconds(apart):.1f}"
                    print(f"| {vocab} | {batch} | {density:.0%} | {what} | {figures} |", flush=True)


def ways(logits: Any, mask: Any) -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """For each task our kernel, and torch after masking."""
    batch = len(logits)
    seeds, k = torch.arange(batch, device="cuda"), torch.full((batch,), 40, device="cuda")
    p = torch.full((batch,), 0.9, device="cuda")

    def masked() -> Any:
        return masked_in_place(logits, mask)

    return {
        "argmax": (lambda: masked_argmax(logits, mask), lambda: masked().argmax(-1)),
        "softmax": (lambda: masked_softmax(logits, mask), lambda: masked().softmax(-1)),
        "sample": (lambda: masked_sample(logits, mask, seeds=seeds), lambda: by_torch(masked())),
        "sample, top-k and top-p": (
            lambda: masked_sample(logits, mask, top_k=k, top_p=p, seeds=seeds),
            lambda: by_torch(keep_likely(masked())),
        ),
    }


def masked_in_place(logits: Any, bitmask: Any) -> Any:
    """Mask in place, as engines do."""
    mw.apply_token_bitmask_inplace(logits, bitmask)
    return logits


def by_torch(logits: Any) -> Any:
    """Exponential races, as serving engines sample."""
    shares = logits.softmax(-1)
    return shares.div_(torch.empty_like(shares).exponential_()).argmax(-1)


def keep_likely(logits: Any) -> Any:
    """Top-k of 40 and top-p of 0.9 by sorting."""
    ordered, columns = logits.sort(dim=-1, descending=True)
    ordered[:, 40:] = -torch.inf
    reached = ordered.softmax(-1).cumsum(-1)
    ordered[:, 1:].masked_fill_(reached[:, :-1] >= 0.9, -torch.inf)
    return torch.empty_like(logits).scatter_(1, columns, ordered)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocabs", default="128256,151936,262144")
    parser.add_argument("--batches", default="1,8,64,256,1024,4096")
    parser.add_argument("--dtypes", default="bfloat16,float32")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("no GPU: nothing was measured")
        return
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    check(int(options.vocabs.split(",")[0]))
    masking(options)
    choosing(options)


if __name__ == "__main__":
    main()
