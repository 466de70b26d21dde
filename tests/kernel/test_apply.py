"""Masking logits on the CPU: every width around the sizes of words and vectors, type, vector size and address, against
a loop over single bits. What lies around the logits, and what is allowed, keeps every bit.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import maskwright as mw
from maskwright import _kernel

Words = npt.NDArray[np.uint32]
# Name: (LogitType of the kernel, an integer type of its size, minus infinity as bits).
TYPES: dict[str, tuple[int, type, int]] = {
    "float32": (0, np.uint32, 0xFF800000),
    "float16": (1, np.uint16, 0xFC00),
    "bfloat16": (2, np.uint16, 0xFF80),
    "float64": (3, np.uint64, 0xFFF0000000000000),
}
GUARD = 70  # values before and after


def expected(values: npt.NDArray[Any], words: Words, minus_infinity: int) -> npt.NDArray[Any]:
    """What masking leaves of a row of logits, seen as integers."""
    masked = values.copy()
    for column in range(len(values)):
        word = int(words[column // 32]) if column // 32 < len(words) else 0
        if not word >> column % 32 & 1:
            masked[column] = minus_infinity
    return masked


def masks(num_words: int, rng: np.random.Generator) -> list[Words]:
    """Nothing, all, one bit, all but one, and random words at several densities, among them words of ones."""
    single = np.zeros(num_words, np.uint32)
    if num_words:
        single[rng.integers(num_words)] = 1 << int(rng.integers(32))
    drawn = [
        np.packbits(rng.random((num_words, 32)) < density, axis=1, bitorder="little").view(np.uint32).reshape(-1)
        for density in (0.05, 0.5, 0.97)
    ]
    mixed = np.where(rng.random(num_words) < 0.5, np.uint32(0xFFFFFFFF), drawn[1])
    return [np.zeros(num_words, np.uint32), np.full(num_words, 0xFFFFFFFF, np.uint32), single, ~single, mixed, *drawn]


def apply_by_kernel(kind: int, logits: npt.NDArray[Any], words: Words, simd_bytes: int, max_threads: int = 1) -> None:
    rows, columns = logits.shape
    _kernel.apply_mask(
        logits.ctypes.data,
        kind,
        logits.strides[0],
        columns,
        words.ctypes.data,
        words.strides[0],
        words.shape[1],
        rows,
        None,
        max_threads,
        simd_bytes,
    )


@pytest.mark.parametrize("simd_bytes", [16, 32])
@pytest.mark.parametrize("name", TYPES)
def test_every_width_and_address(name: str, simd_bytes: int) -> None:
    if simd_bytes > _kernel.simd_bytes():
        pytest.skip(f"this processor has no vectors of {simd_bytes} bytes")
    kind, integer, minus_infinity = TYPES[name]
    rng = np.random.default_rng(simd_bytes)
    for width in itertools.chain(range(1, 101), (127, 128, 129, 160, 191, 200)):
        needed = (width + 31) // 32
        for num_words in {max(needed - 1, 1), needed, needed + 1}:
            for number, words in enumerate(masks(num_words, rng)):
                offset = (width + number) % 64
                whole = rng.integers(0, np.iinfo(integer).max, GUARD + offset + width + GUARD, integer, endpoint=True)
                before = whole.copy()
                apply_by_kernel(kind, whole[None, GUARD + offset :][:, :width], words[None], simd_bytes)
                begin, end = GUARD + offset, GUARD + offset + width
                assert (whole[:begin] == before[:begin]).all()
                assert (whole[end:] == before[end:]).all()
                assert (whole[begin:end] == expected(before[begin:end], words, minus_infinity)).all()


@pytest.mark.parametrize("name", TYPES)
def test_rows_are_cut_into_pieces_and_shared_among_threads(name: str) -> None:
    """More than one piece a row, rows that do not end with a piece, and masks that end before or within the row."""
    kind, integer, minus_infinity = TYPES[name]
    rng = np.random.default_rng(0)
    rows, columns = 40, 2 * 65536 + 45
    logits = rng.integers(0, np.iinfo(integer).max, (rows, columns), integer)
    for num_words in (columns // 32 + 1, 2048, 2049, 5):
        words = rng.integers(0, 2**32, (rows, num_words), np.uint32)
        allowed = np.zeros((rows, columns), bool)
        bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, :columns]
        allowed[:, : bits.shape[1]] = bits
        masked = logits.copy()
        apply_by_kernel(kind, masked, words, 64, max_threads=4)
        assert (masked == np.where(allowed, logits, integer(minus_infinity))).all()


LAYOUTS: dict[str, Callable[[npt.NDArray[Any]], npt.NDArray[Any]]] = {
    "contiguous": lambda a: a[:3, :70],
    "every other row": lambda a: a[::2, :70],
    "reversed rows": lambda a: a[2::-1, 3:73],
    "one row": lambda a: a[1, :70],
    "one row of many": lambda a: a[1:2, 5:75],
    "one column": lambda a: a[:3, 4:5],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
def test_strided_rows(layout: str, dtype: type) -> None:
    rng = np.random.default_rng(1)
    whole = rng.normal(size=(6, 200)).astype(dtype)
    logits = LAYOUTS[layout](whole)
    rows, columns = (1, len(logits)) if logits.ndim == 1 else logits.shape
    words = rng.integers(0, 2**32, (2 * rows, 9), np.uint32)
    bitmask = words[::2, :3].view(np.int32)
    inside = np.zeros(whole.shape, bool)
    LAYOUTS[layout](inside)[...] = True
    before, kept = whole.copy(), logits.reshape(rows, columns).copy()
    mw.apply_token_bitmask_inplace(logits, bitmask, vocab_size=columns)
    assert (whole[~inside] == before[~inside]).all()
    for row in range(rows):
        view = np.uint32 if dtype == np.float32 else np.uint16 if dtype == np.float16 else np.uint64
        minus_infinity = int(np.array(-np.inf, dtype).view(view))
        masked = expected(kept[row].view(view), bitmask[row].view(np.uint32), minus_infinity)
        assert (logits.reshape(rows, columns)[row].view(view) == masked).all()


def test_fewer_logits_than_tokens_are_refused() -> None:
    """Unless `vocab_size` says how many there are; the last word may be for one token, and padding is fine."""
    bitmask = mw.allocate_token_bitmask(2, 65)
    for width in (1, 64):
        logits = np.zeros((2, width), np.float32)
        with pytest.raises(
            mw.BitmaskError, match=f"a row has {width} logits, but the bitmask is for at least 65 tokens"
        ) as raised:
            mw.apply_token_bitmask_inplace(logits, bitmask)
        assert f"vocab_size={width}" in str(raised.value.hint)
        mw.apply_token_bitmask_inplace(logits, bitmask, vocab_size=width)
    for width in (65, 66, 96, 97, 300):
        mw.apply_token_bitmask_inplace(np.zeros((2, width), np.float32), bitmask)


def test_one_mask_for_all_rows() -> None:
    mask = np.array([[0b110]], np.int32)
    for shared in (np.broadcast_to(mask, (3, 1)), np.broadcast_to(mask[0], (3, 1))):
        logits = np.ones((3, 4), np.float32)
        mw.apply_token_bitmask_inplace(logits, shared)
        assert (np.isinf(logits) == [True, False, False, True]).all()


def test_rows_named_twice_and_out_of_order() -> None:
    logits = np.ones((4, 33), np.float32)
    mw.apply_token_bitmask_inplace(logits, np.zeros((4, 2), np.int32), indices=[3, 1, 3])
    assert np.isinf(logits).all(axis=1).tolist() == [False, True, False, True]
    mw.apply_token_bitmask_inplace(logits, np.zeros((9, 2), np.int32), indices=[])
    assert np.isinf(logits).all(axis=1).tolist() == [False, True, False, True]


def test_allowed_values_keep_every_bit() -> None:
    nan = np.array([0x7FC12345, 0xFF812345, 0x80000000, 0x00000001], np.uint32)
    for word in (-1, 0b1111):
        logits = nan.copy().view(np.float32)
        mw.apply_token_bitmask_inplace(logits, np.array([word], np.int32))
        assert (logits.view(np.uint32) == nan).all()


@pytest.mark.parametrize("name", TYPES)
def test_torch(name: str) -> None:
    torch = pytest.importorskip("torch", reason="an optional dependency")
    rng = np.random.default_rng(2)
    logits = torch.from_numpy(rng.normal(size=(5, 301)).astype(np.float32)).to(getattr(torch, name))
    words = rng.integers(0, 2**32, (5, 10), np.uint32)
    bitmask = torch.from_numpy(words.view(np.int32).copy())
    allowed = torch.from_numpy(np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, :301] == 1)
    for shape in (slice(None), slice(None, None, 2)):
        masked = logits[shape].clone()
        mw.apply_token_bitmask_inplace(masked, bitmask[shape])
        assert torch.equal(masked, logits[shape].masked_fill(~allowed[shape], -torch.inf))
    masked = logits.clone()
    mw.apply_token_bitmask_inplace(masked, bitmask[:1].expand(5, -1))
    assert torch.equal(masked, logits.masked_fill(~allowed[:1], -torch.inf))


def refused(logits: Any, bitmask: Any, **options: Any) -> str:
    """The message with which these are refused."""
    with pytest.raises(mw.BitmaskError) as caught:
        mw.apply_token_bitmask_inplace(logits, bitmask, **options)
    return str(caught.value)


def test_refusals_say_what_to_pass() -> None:
    logits, bitmask = np.ones((2, 40), np.float32), np.zeros((2, 2), np.int32)
    unaligned = np.frombuffer(bytearray(4 * 40 + 1), np.uint8)[1:].view(np.float32)
    overlapping = np.lib.stride_tricks.as_strided(logits, (2, 40), (4, 4))
    assert "dtype float32" in refused(logits.astype(np.int8), bitmask)
    assert "numpy array or a torch tensor, not str" in refused("logits", bitmask)
    assert "allocate_token_bitmask" in refused(logits, bitmask.astype(np.int64))
    assert "allocate_token_bitmask" in refused(logits, np.ones((2, 40), bool))
    assert "contiguous" in refused(np.ones((2, 80), np.float32)[:, ::2], bitmask)
    assert "contiguous" in refused(logits, np.zeros((2, 4), np.int32)[:, ::2])
    assert "aligned" in refused(unaligned, bitmask[:1])
    assert "overlap" in refused(overlapping, bitmask)
    assert "numpy.broadcast_to" in refused(logits, bitmask[:1])
    assert "int32, not >i4" in refused(logits, bitmask.astype(">i4"))
    assert "41" in refused(logits, bitmask, vocab_size=41)
    assert (logits == 1).all()


def test_logits_of_a_whole_prompt_are_refused_with_the_way_to_the_last_token() -> None:
    logits, bitmask = np.zeros((1, 5, 40), np.float32), np.zeros((1, 2), np.int32)
    with pytest.raises(mw.BitmaskError, match=r"not \(1, 5, 40\)\n  hint: .*: logits\[:, -1\]"):
        mw.apply_token_bitmask_inplace(logits, bitmask)
    mw.apply_token_bitmask_inplace(logits[:, -1], bitmask)
    assert np.isinf(logits[:, -1]).all()
    assert not np.isinf(logits[:, :-1]).any()
    with pytest.raises(mw.BitmaskError, match="hint: create it with"):
        mw.apply_token_bitmask_inplace(logits[:, -1], bitmask[None])


def test_refusals_of_tensors_say_what_to_pass() -> None:
    torch = pytest.importorskip("torch", reason="an optional dependency")
    logits, bitmask = torch.ones((2, 40)), torch.zeros((2, 2), dtype=torch.int32)
    assert "detach" in refused(torch.ones((2, 40), requires_grad=True), bitmask)
    assert "to_dense" in refused(logits.to_sparse(), bitmask)
    assert "overlap" in refused(torch.ones(40).expand(2, 40), bitmask)
    assert "cpu" in refused(logits, bitmask.to("meta")).lower()
    assert "int32" in refused(logits, bitmask.to(torch.uint8))
    assert torch.equal(logits, torch.ones((2, 40)))


def test_memory_that_cannot_be_pinned() -> None:
    torch = pytest.importorskip("torch", reason="an optional dependency")
    with pytest.raises(mw.BitmaskError, match="numpy"):
        mw.allocate_token_bitmask(1, 10, pin_memory=True)
    if torch.cuda.is_available():
        assert mw.allocate_token_bitmask(1, 10, library="torch", pin_memory=True).is_pinned()
    else:
        with pytest.raises(mw.BitmaskError, match="pinned"):
            mw.allocate_token_bitmask(1, 10, library="torch", pin_memory=True)
