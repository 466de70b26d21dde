"""From logits and bitmasks to probabilities or tokens on a GPU, by one Triton kernel without masked logits in memory.

One program takes one row. Tokens that are refused are not read. Greedy choice reads the row once, softmax twice.
Sampling finds the limits of top-k and top-p by halving the range of values, at most 32 readings each, none where
neither is asked for; then it draws by inverting the cumulative distribution.

Sampling calculates with integers: the weight of a value x is `round(2^32 exp(x - max))`, so sums are the same in any
order, and the same token is chosen whatever the size of blocks. Weights below 2^-33 of the largest are 0.
Tested by tests/kernel/test_triton.py, against `sampling_expressions` and a model in numpy.
"""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl

from maskwright.bitmask.triton_apply import is_allowed

_BLOCK = 4096


@triton.jit
def _scaled(logits, bitmask, start, width, num_words, masked, inverse_temperature, BLOCK: tl.constexpr):
    """A block of values: logits by temperature, minus infinity for what is refused and for NaN; never -0."""
    column = start + tl.arange(0, BLOCK)
    allowed = (column < width) & tl.where(masked == 0, True, is_allowed(bitmask, column, num_words))
    value = tl.load(logits + column, mask=allowed, other=float("-inf")).to(tl.float32)
    value = tl.where(value == value, value, float("-inf"))
    return value * inverse_temperature + 0.0


@triton.jit
def _key(value):
    """An integer for each float32, in the same order."""
    bits = value.to(tl.int32, bitcast=True)
    return bits ^ ((bits >> 31) & 0x7FFFFFFF)


@triton.jit
def _weight(value, largest):
    """An integer in proportion to the probability: 2^32 for the largest value."""
    share = tl.where(value == largest, 1.0, tl.exp(value - largest))
    return tl.where(value == float("-inf"), 0, (share * 4294967296.0 + 0.5).to(tl.int64))


@triton.jit
def _best(logits, bitmask, width, num_words, masked, inverse, BLOCK: tl.constexpr):
    """The largest value of a row and the first column that has it, -1 if all are minus infinity."""
    largest = tl.full((), float("-inf"), tl.float32)
    best = tl.full((), -1, tl.int64)
    for start in range(0, width, BLOCK):
        value = _scaled(logits, bitmask, start, width, num_words, masked, inverse, BLOCK)
        top = tl.max(value, axis=0)
        if top > largest:
            largest = top
            at = tl.where(value == top, tl.arange(0, BLOCK), BLOCK)
            best = (start + tl.min(at, axis=0)).to(tl.int64)
    return largest, best


@triton.jit
def _reach(
    logits, bitmask, width, num_words, masked, inverse, largest, limit, BY_WEIGHT: tl.constexpr, BLOCK: tl.constexpr
):
    """How many values are at least the limit, or their weight."""
    total = tl.full((), 0, tl.int64)
    for start in range(0, width, BLOCK):
        value = _scaled(logits, bitmask, start, width, num_words, masked, inverse, BLOCK)
        taken = _key(value) >= limit
        if BY_WEIGHT:
            total += tl.sum(tl.where(taken, _weight(value, largest), 0), axis=0)
        else:
            total += tl.sum(tl.where(taken, 1, 0).to(tl.int64), axis=0)
    return total


@triton.jit
def _highest_limit(
    logits, bitmask, width, num_words, masked, inverse, largest, low, need,
    BY_WEIGHT: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """The highest limit from `low` on that values of at least `need` reach; `low` if that reaches too few."""
    high = _key(largest).to(tl.int64)
    while low < high:
        middle = (low + high + 1) >> 1
        reached = _reach(logits, bitmask, width, num_words, masked, inverse, largest, middle, BY_WEIGHT, BLOCK)
        if reached >= need:
            low = middle
            if reached == need:
                high = middle
        else:
            high = middle - 1
    return low


@triton.jit
def _row(logits, bitmask, masked_rows, logits_stride, bitmask_stride, HAS_ROWS: tl.constexpr):
    """Where this program's row and its mask begin, and whether it is masked."""
    row = tl.program_id(0).to(tl.int64)
    masked = tl.full((), 1, tl.int32)
    if HAS_ROWS:
        masked = tl.load(masked_rows + row).to(tl.int32)
    return row, logits + row * logits_stride, bitmask + row * bitmask_stride, masked


@triton.jit
def _argmax_kernel(
    logits, bitmask, masked_rows, tokens, logits_stride, bitmask_stride, width, num_words,
    HAS_ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row, logits, bitmask, masked = _row(logits, bitmask, masked_rows, logits_stride, bitmask_stride, HAS_ROWS)
    _, best = _best(logits, bitmask, width, num_words, masked, 1.0, BLOCK)
    tl.store(tokens + row, best)


@triton.jit
def _softmax_kernel(
    logits, bitmask, masked_rows, temperatures, result, logits_stride, bitmask_stride, result_stride,
    width, columns, num_words, HAS_ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row, logits, bitmask, masked = _row(logits, bitmask, masked_rows, logits_stride, bitmask_stride, HAS_ROWS)
    inverse = tl.load(temperatures + row)
    largest = tl.full((), float("-inf"), tl.float32)
    total = tl.full((), 0.0, tl.float32)
    for start in range(0, width, BLOCK):
        value = _scaled(logits, bitmask, start, width, num_words, masked, inverse, BLOCK)
        top = tl.maximum(largest, tl.max(value, axis=0))
        if top > float("-inf"):
            total = total * tl.exp(largest - top) + tl.sum(tl.exp(value - top), axis=0)
            largest = top
    largest = tl.where(largest == float("-inf"), 0.0, largest)  # nothing can be chosen: all shares are 0
    total = tl.where(total == 0.0, 1.0, total)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        value = _scaled(logits, bitmask, start, width, num_words, masked, inverse, BLOCK)
        tl.store(result + row * result_stride + column, tl.exp(value - largest) / total, mask=column < columns)


@triton.jit
def _draw(seed, position, total):
    """An integer from 0 to total - 1, by Philox: 53 bits as a float64 times the total, which is exact below 2^53."""
    zero = position.to(tl.int32) * 0
    first, second, _, _ = tl.philox(seed, position.to(tl.int32), (position >> 32).to(tl.int32), zero, zero)
    high = (first.to(tl.uint32, bitcast=True) >> 5).to(tl.float64)
    low = (second.to(tl.uint32, bitcast=True) >> 6).to(tl.float64)
    share = (high * 67108864.0 + low) * (1.0 / 9007199254740992.0)
    return tl.minimum((share * total.to(tl.float64)).to(tl.int64), total - 1)


@triton.jit
def _sample_kernel(
    logits, bitmask, masked_rows, inverse_temperatures, top_k, top_p, seeds, positions, tokens,
    logits_stride, bitmask_stride, width, num_words,
    HAS_ROWS: tl.constexpr, HAS_TOP_K: tl.constexpr, HAS_TOP_P: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row, logits, bitmask, masked = _row(logits, bitmask, masked_rows, logits_stride, bitmask_stride, HAS_ROWS)
    inverse = tl.load(inverse_temperatures + row)
    greedy = inverse == 0.0
    inverse = tl.where(greedy, 1.0, inverse)
    largest, token = _best(logits, bitmask, width, num_words, masked, inverse, BLOCK)
    if token >= 0 and greedy == 0:
        limit = tl.full((), -2139095041, tl.int64)  # the key of minus infinity
        if HAS_TOP_K:
            most = tl.load(top_k + row).to(tl.int64)
            if most > 0 and most < width:
                limit = _highest_limit(
                    logits, bitmask, width, num_words, masked, inverse, largest, limit, most, False, BLOCK
                )
        total = _reach(logits, bitmask, width, num_words, masked, inverse, largest, limit, True, BLOCK)
        if HAS_TOP_P:
            need = tl.ceil(tl.load(top_p + row).to(tl.float64) * total.to(tl.float64)).to(tl.int64)
            if need < total:
                limit = _highest_limit(
                    logits, bitmask, width, num_words, masked, inverse, largest, limit, need, True, BLOCK
                )
                total = _reach(logits, bitmask, width, num_words, masked, inverse, largest, limit, True, BLOCK)
        drawn = _draw(tl.load(seeds + row), tl.load(positions + row), total)
        before = tl.full((), 0, tl.int64)
        start = 0
        while before <= drawn and start < width:
            value = _scaled(logits, bitmask, start, width, num_words, masked, inverse, BLOCK)
            weight = tl.where(_key(value) >= limit, _weight(value, largest), 0)
            here = tl.sum(weight, axis=0)
            if before + here > drawn:
                passed = before + tl.cumsum(weight, axis=0) > drawn
                token = (start + tl.min(tl.where(passed, tl.arange(0, BLOCK), BLOCK), axis=0)).to(tl.int64)
            before += here
            start += BLOCK
    tl.store(tokens + row, token)


def argmax(logits: Any, bitmask: Any, masked_rows: Any | None, width: int, tokens: Any) -> None:
    """Write the token of the largest logit of each row to `tokens`, (batch,) int64."""
    _argmax_kernel[(logits.shape[0],)](
        *(logits, bitmask, masked_rows, tokens, logits.stride(0), bitmask.stride(0), width, bitmask.shape[1]),
        HAS_ROWS=masked_rows is not None,
        BLOCK=_BLOCK,
        num_warps=8,
    )


def softmax(
    logits: Any, bitmask: Any, masked_rows: Any | None, width: int, inverse_temperatures: Any, result: Any
) -> None:
    """Write the probabilities of each row to `result`, (batch, vocab) float32."""
    _softmax_kernel[(logits.shape[0],)](
        *(logits, bitmask, masked_rows, inverse_temperatures, result),
        *(logits.stride(0), bitmask.stride(0), result.stride(0), width, logits.shape[1], bitmask.shape[1]),
        HAS_ROWS=masked_rows is not None,
        BLOCK=_BLOCK,
        num_warps=8,
    )


def sample(
    logits: Any,
    bitmask: Any,
    masked_rows: Any | None,
    width: int,
    inverse_temperatures: Any,
    top_k: Any | None,
    top_p: Any | None,
    seeds: Any,
    positions: Any,
    tokens: Any,
) -> None:
    """Write a token drawn for each row to `tokens`, (batch,) int64. An inverse temperature of 0 is a greedy choice."""
    _sample_kernel[(logits.shape[0],)](
        *(logits, bitmask, masked_rows, inverse_temperatures, top_k, top_p, seeds, positions, tokens),
        *(logits.stride(0), bitmask.stride(0), width, bitmask.shape[1]),
        HAS_ROWS=masked_rows is not None,
        HAS_TOP_K=top_k is not None,
        HAS_TOP_P=top_p is not None,
        BLOCK=_BLOCK,
        num_warps=8,
    )
