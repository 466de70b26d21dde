"""Masks on logits of MLX and JAX, against the kernel: the real packages, where they are installed."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import maskwright as mw

LIBRARIES = {"mlx": "mlx.core", "jax": "jax.numpy"}
DTYPES = ("float32", "float16", "bfloat16")


@pytest.fixture(params=sorted(LIBRARIES))
def library(request: pytest.FixtureRequest) -> Any:
    """The library's arrays and our function for it."""
    module = pytest.importorskip(LIBRARIES[request.param], reason=f"{request.param} is not installed: make engines")
    return module, importlib.import_module(f"maskwright.bitmask.{request.param}").apply_token_bitmask


def draw(rows: int, columns: int, words: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(columns)
    # Values that all dtypes hold.
    logits = rng.integers(-100, 100, (rows, columns)).astype(np.float32)
    return logits, rng.integers(-(2**31), 2**31, (rows, words), np.int32)


def as_numpy(module: Any, array: Any) -> Any:
    return np.array(array.astype(module.float32))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("columns", "words", "vocab_size"), [(100, 4, None), (100, 3, None), (64, 4, 40), (31, 1, 0)])
@pytest.mark.parametrize("indices", [None, [2, 0], []])
def test_as_the_kernel(library: Any, dtype: str, columns: int, words: int, vocab_size: Any, indices: Any) -> None:
    module, apply = library
    logits, bitmask = draw(3, columns, words)
    given = module.array(logits).astype(getattr(module, dtype))
    mw.apply_token_bitmask_inplace(logits, bitmask, vocab_size=vocab_size, indices=indices)
    for mask in (bitmask, module.array(bitmask)):
        masked = apply(given, mask, vocab_size=vocab_size, indices=indices)
        assert masked.dtype == given.dtype
        assert np.array_equal(as_numpy(module, masked), logits)


def test_one_row_and_one_mask_for_all(library: Any) -> None:
    module, apply = library
    logits, bitmask = draw(3, 40, 2)
    alone = as_numpy(module, apply(module.array(logits[1]), bitmask[1]))
    assert alone.shape == (40,)
    shared = as_numpy(module, apply(module.array(logits), bitmask[1:2]))
    assert np.array_equal(shared[1], alone)
    assert (np.isinf(shared) == np.isinf(shared[1])).all()


def test_refusals(library: Any) -> None:
    module, apply = library
    logits, bitmask = draw(3, 40, 2)
    given = module.array(logits)
    for arguments, options, words in (
        ((logits, bitmask), {}, "must be an array of"),
        ((given.astype(module.int32), bitmask), {}, "float32"),
        ((given, bitmask.astype(np.float32)), {}, "int32"),
        ((given, [[1, 2]]), {}, "int32"),
        ((given, bitmask[:2]), {}, "3 rows"),
        ((given[None], bitmask), {}, "shape"),
        ((given, bitmask), {"vocab_size": 41}, "41"),
        ((given[:, :32], bitmask), {}, "32 logits, but the bitmask is for at least 33 tokens"),
        ((given, bitmask), {"indices": [3]}, "row 3"),
    ):
        with pytest.raises(mw.BitmaskError, match=words):
            apply(*arguments, **options)


def test_changing_in_place_is_refused_with_the_way_out(library: Any) -> None:
    module, apply = library
    logits, bitmask = draw(1, 40, 2)
    with pytest.raises(mw.BitmaskError, match=apply.__module__):
        mw.apply_token_bitmask_inplace(module.array(logits), bitmask)


def test_jax_compiles_it() -> None:
    jax = pytest.importorskip("jax", reason="jax is not installed: make engines")
    from maskwright.bitmask.jax import apply_token_bitmask

    logits, bitmask = draw(3, 100, 4)
    compiled = jax.jit(lambda x, mask, rows: apply_token_bitmask(x, mask, indices=rows).argmax(axis=-1))
    tokens = compiled(jax.numpy.array(logits), jax.numpy.array(bitmask), jax.numpy.array([0, 2, 9]))
    mw.apply_token_bitmask_inplace(logits, bitmask, indices=[0, 2])
    assert tokens.tolist() == logits.argmax(axis=1).tolist()
    rows = jax.vmap(apply_token_bitmask)(jax.numpy.array(logits), jax.numpy.array(bitmask))
    mw.apply_token_bitmask_inplace(logits, bitmask)
    assert np.array_equal(np.array(rows), logits)
