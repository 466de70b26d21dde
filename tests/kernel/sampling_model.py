"""What masked argmax, softmax and sampling mean, a row at a time, as short as it can be said."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from maskwright.bitmask.philox import uniform

Row = npt.NDArray[np.float32]
Exp = Callable[[Row], Row]


def values(logits: Row, words: npt.NDArray[np.uint32], width: int, masked: bool = True) -> Row:
    """Logits up to the width, minus infinity for what is refused and for NaN."""
    result = logits[:width].astype(np.float32).copy()
    for column in range(width):
        word = int(words[column // 32]) if column // 32 < len(words) else 0
        if (masked and not word >> column % 32 & 1) or math.isnan(result[column]):
            result[column] = -np.inf
    return result


def argmax(row: Row) -> int:
    return -1 if (row == -np.inf).all() else int(np.argmax(row))


def softmax(row: Row, temperature: float, columns: int) -> npt.NDArray[np.float64]:
    """In float64."""
    result = np.zeros(columns)
    if argmax(row) >= 0:
        scaled = row.astype(np.float64) / temperature
        result[: len(row)] = np.exp(scaled - scaled.max())
        result /= result.sum()
    return result


def sample(
    row: Row,
    temperature: float,
    top_k: int | None,
    top_p: float | None,
    seed: int,
    position: int,
    exp: Exp = np.exp,
) -> int:
    if temperature < 1e-5 or argmax(row) < 0:
        return argmax(row)
    scaled = row * (np.float32(1) / np.float32(temperature)) + np.float32(0)
    shares = exp((scaled - scaled.max()).astype(np.float32))
    weights = [int(float(np.float32(share * np.float32(2**32)) + np.float32(0.5))) for share in shares]
    ordered = sorted((float(v) for v in scaled), reverse=True)
    limit = ordered[top_k - 1] if top_k and top_k < len(ordered) else -np.inf
    kept: list[Any] = [(v, w) for v, w in zip(scaled.tolist(), weights, strict=True)]
    total = sum(w for v, w in kept if v >= limit)
    if top_p is not None:
        need = math.ceil(float(np.float32(top_p)) * total)
        limits = [v for v in ordered if v >= limit]
        limit = next((v for v in limits if sum(w for u, w in kept if u >= v) >= need), limit)
    weights = [w if v >= limit else 0 for v, w in kept]
    drawn = min(int(uniform(seed, position) * sum(weights)), sum(weights) - 1)
    return next(i for i in range(len(weights)) if sum(weights[: i + 1]) > drawn)
