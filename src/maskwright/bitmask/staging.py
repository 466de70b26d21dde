"""Bitmasks on their way to a GPU: filled in page-locked memory, copied while the GPU calculates.

    masks = StagedBitmasks(batch_size=64, vocab_size=128_256, device="cuda")
    while generating:
        logits = model(...)                            # queued, the GPU is busy
        batch.fill_next_token_bitmask(masks.host())    # meanwhile
        apply_token_bitmask_inplace(logits, masks.send())

There are two buffers in turn: one is filled while the other is copied or used. `send` does not wait: copies go by a
stream of their own, the current stream waits for them, and they for the last use of the buffer that they overwrite,
which is over when what was queued up to the next `send` is done. `host` waits if the copy from its buffer, two steps
ago, is still under way. On the CPU the host's buffer is the result, on devices without streams it is a plain copy.
Tested by tests/kernel/test_staging.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maskwright.bitmask.allocate import allocate_token_bitmask
from maskwright.errors import BitmaskError
from maskwright.support.arguments import as_integer

if TYPE_CHECKING:
    import torch


class StagedBitmasks:
    """Two bitmasks in turn, on the host and on a device. For one thread at a time."""

    def __init__(self, batch_size: int, vocab_size: int, device: torch.device | str) -> None:
        """Allocate the buffers.

        Args:
            batch_size: Rows.
            vocab_size: Tokens a row, the padding of the model's logits included.
            device: Where the logits are.

        Raises:
            ArgumentError: A size is not an int.
            BitmaskError: A size is not positive, or the device does not exist.
        """
        import torch

        try:
            self.device = torch.device(device)
        except (RuntimeError, TypeError) as error:
            raise BitmaskError(f"{device!r} is not a valid device", hint='for example "cuda:0" or "cpu"') from error
        make = _CudaSlot if self.device.type == "cuda" else _PlainSlot
        self._slots: list[Any] = [make(batch_size, vocab_size, self.device) for _ in range(2)]
        self._turn = 0

    def host(self) -> torch.Tensor:
        """Return the bitmask to fill next: (batch_size, words) int32 on the CPU. It holds what was there before."""
        bitmask: torch.Tensor = self._slots[self._turn].host()
        return bitmask

    def send(self, num_rows: int | None = None) -> torch.Tensor:
        """Start to copy what was filled, and return the bitmask on the device, to be used on the current stream.

        It is valid until `send` was called once more.

        Args:
            num_rows: Copy and return only so many rows; by default all.

        Raises:
            ArgumentError: `num_rows` is not an int.
            BitmaskError: There are not so many rows.
        """
        slot, other = self._slots[self._turn], self._slots[1 - self._turn]
        most = slot.buffer.shape[0]
        rows = most if num_rows is None else as_integer("num_rows", num_rows)
        if not 1 <= rows <= most:
            raise BitmaskError(f"num_rows must be from 1 to {most}, not {rows}")
        other.mark_used()
        self._turn = 1 - self._turn
        bitmask: torch.Tensor = slot.send(rows)
        return bitmask


class _PlainSlot:
    """A buffer that is copied when it is sent, or used as it is on the CPU."""

    def __init__(self, batch_size: int, vocab_size: int, device: torch.device) -> None:
        self.buffer = allocate_token_bitmask(batch_size, vocab_size, library="torch")
        self._device = device

    def host(self) -> Any:
        return self.buffer

    def mark_used(self) -> None:
        """What was queued before is not looked at: copies wait for it anyway."""

    def send(self, rows: int) -> Any:
        return self.buffer[:rows].to(self._device)


class _CudaSlot:
    """A page-locked buffer, its copy on the GPU, and the events between which the copy may run."""

    def __init__(self, batch_size: int, vocab_size: int, device: torch.device) -> None:
        import torch

        self.buffer = allocate_token_bitmask(batch_size, vocab_size, library="torch", pin_memory=True)
        self._on_device = torch.empty_like(self.buffer, device=device)
        cuda: Any = torch.cuda
        self._stream = cuda.Stream(device)
        self._copied, self._used = cuda.Event(), cuda.Event()

    def host(self) -> Any:
        self._copied.synchronize()
        return self.buffer

    def mark_used(self) -> None:
        import torch

        self._used.record(torch.cuda.current_stream(self._on_device.device))

    def send(self, rows: int) -> Any:
        import torch

        with torch.cuda.stream(self._stream):
            self._stream.wait_event(self._used)
            self._on_device[:rows].copy_(self.buffer[:rows], non_blocking=True)
            self._copied.record(self._stream)
        torch.cuda.current_stream(self._on_device.device).wait_event(self._copied)
        return self._on_device[:rows]
