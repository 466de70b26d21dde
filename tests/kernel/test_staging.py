"""Bitmasks in two buffers. Without a GPU this shows the order of the buffers; with one, that copies arrive in time."""

from __future__ import annotations

import pytest

import maskwright as mw

torch = pytest.importorskip("torch", reason="an optional dependency")

from maskwright.bitmask.staging import StagedBitmasks  # noqa: E402


def test_buffers_take_turns() -> None:
    masks = StagedBitmasks(3, 70, "cpu")
    first = masks.host()
    assert (tuple(first.shape), first.dtype) == ((3, 3), torch.int32)
    first.fill_(1)
    sent = masks.send()
    second = masks.host()
    second.fill_(2)
    assert sent.unique().tolist() == [1]
    assert masks.send(2).tolist() == [[2, 2, 2]] * 2
    assert masks.host().data_ptr() == first.data_ptr()


def test_refusals() -> None:
    masks = StagedBitmasks(2, 32, "cpu")
    for rows in (0, 3, -1):
        with pytest.raises(mw.BitmaskError, match="from 1 to 2"):
            masks.send(rows)
    with pytest.raises(mw.errors.ArgumentError):
        masks.send("all")  # type: ignore[arg-type]
    with pytest.raises(mw.BitmaskError, match="device"):
        StagedBitmasks(2, 32, "nowhere")
    with pytest.raises(mw.BitmaskError):
        StagedBitmasks(0, 32, "cpu")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_copies_to_a_gpu_arrive_before_they_are_used() -> None:
    masks = StagedBitmasks(64, 128_256, "cuda")
    work = torch.randn((2048, 2048), device="cuda")
    sums = []
    for step in range(20):
        for _ in range(5):
            work = (work @ work).clamp(-1, 1)
        masks.host().fill_(step)
        sums.append(masks.send().double().mean())
    assert [float(value) for value in sums] == [float(step) for step in range(20)]
