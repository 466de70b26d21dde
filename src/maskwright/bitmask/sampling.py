"""From logits and bitmasks to tokens or probabilities, without masked logits in between.

    >>> import torch
    >>> logits, bitmask = torch.tensor([[0.0, 3.0, 1.0]]), torch.tensor([[0b101]], dtype=torch.int32)
    >>> masked_argmax(logits, bitmask)
    tensor([2])
    >>> masked_sample(logits, bitmask, temperature=0.7, top_p=0.9, seeds=[1])
    tensor([2])

On a GPU with Triton this is one kernel (`triton_sampling`), elsewhere expressions of torch (`sampling_expressions`).
The logits are not changed. Values are calculated in float32; the order of operations is that of serving engines: mask,
temperature, top-k, top-p. Values that equal the last one kept are kept as well, so the order of tokens does not count.
Tested by tests/kernel/test_sampling.py and tests/kernel/test_triton.py.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from maskwright.bitmask.apply import masked_width
from maskwright.bitmask.buffers import is_tensor
from maskwright.bitmask.devices import checked_rows, listed_rows, row_tensor, uses_triton
from maskwright.errors import BitmaskError, OptionError
from maskwright.support.arguments import as_integer, as_number, as_tuple

if TYPE_CHECKING:
    import torch

Numbers: TypeAlias = "float | Sequence[float] | torch.Tensor"

# Below, a temperature asks for the most likely token.
GREEDY_BELOW = 1e-5


def masked_argmax(
    logits: torch.Tensor,
    bitmask: torch.Tensor,
    *,
    vocab_size: int | None = None,
    indices: Sequence[int] | torch.Tensor | None = None,
) -> torch.Tensor:
    """Return the allowed token with the largest logit of each row, the first one of several: (batch,) int64.

    It is -1 where no token is allowed that has a logit above minus infinity. NaN counts as minus infinity.

    Args:
        logits: (batch, vocab) float32, float16, bfloat16 or float64, the last dimension contiguous.
        bitmask: (batch, words) int32 on the same device. Tokens beyond its words are not allowed.
        vocab_size: How many columns of the logits are tokens; by default all. The others are never chosen.
        indices: The rows that have a mask, by default all; in the others every token is allowed. Row i of the bitmask
            belongs to row i of the logits.

    Raises:
        ArgumentError: `vocab_size` or one of `indices` is not an int.
        BitmaskError: A tensor has the wrong type, dtype, shape, device or layout.
    """
    import torch

    call = _Call(logits, bitmask, vocab_size, indices)
    tokens = torch.empty(len(call.logits), dtype=torch.int64, device=call.logits.device)
    call.backend.argmax(*call.tensors, call.width, tokens)
    return tokens


def masked_softmax(
    logits: torch.Tensor,
    bitmask: torch.Tensor,
    *,
    temperature: Numbers = 1.0,
    vocab_size: int | None = None,
    indices: Sequence[int] | torch.Tensor | None = None,
) -> torch.Tensor:
    """Return the probabilities of all tokens, 0 for those that are not allowed: (batch, vocab) float32.

    A row in which no token can be chosen is all 0.

    Args:
        logits: As for `masked_argmax`, and so are `bitmask`, `vocab_size` and `indices`.
        temperature: A number, or one for each row, at least 1e-5. Smaller ones in a tensor count as 1e-5.

    Raises:
        ArgumentError: An argument is not of its type.
        BitmaskError: A tensor has the wrong type, dtype, shape, device or layout.
        OptionError: A temperature is too small.
    """
    import torch

    call = _Call(logits, bitmask, vocab_size, indices)
    temperatures = call.row_numbers("temperature", temperature, torch.float32, GREEDY_BELOW, float("inf"))
    result = torch.empty(call.logits.shape, dtype=torch.float32, device=call.logits.device)
    call.backend.softmax(*call.tensors, call.width, temperatures.clamp(min=GREEDY_BELOW).reciprocal(), result)
    return result


def masked_sample(
    logits: torch.Tensor,
    bitmask: torch.Tensor,
    *,
    temperature: Numbers = 1.0,
    top_k: int | Sequence[int] | torch.Tensor | None = None,
    top_p: Numbers | None = None,
    seeds: Sequence[int] | torch.Tensor | None = None,
    positions: int | Sequence[int] | torch.Tensor = 0,
    vocab_size: int | None = None,
    indices: Sequence[int] | torch.Tensor | None = None,
) -> torch.Tensor:
    """Return a token drawn for each row: (batch,) int64, -1 as in `masked_argmax`.

    A row's token depends on its values, its seed and its position only, not on the batch: the same seed and position
    give the same number (Philox), with which the cumulative distribution is inverted.

    Args:
        logits: As for `masked_argmax`, and so are `bitmask`, `vocab_size` and `indices`.
        temperature: A number, or one for each row. Below 1e-5 it is a greedy choice.
        top_k: The most tokens to choose from, a number or one for each row; 0 for all.
        top_p: Choose from the most likely tokens whose probabilities add up to this, a number from 0 to 1 or one for
            each row.
        seeds: (batch,) integers; by default drawn from torch's generator for the CPU.
        positions: How many tokens each row has drawn before with its seed, a number or one for each row.

    Raises:
        ArgumentError: An argument is not of its type.
        BitmaskError: A tensor has the wrong type, dtype, shape, device or layout.
        OptionError: A number is out of range. Numbers in a tensor are not checked, as that would wait for the device.
    """
    import torch

    call = _Call(logits, bitmask, vocab_size, indices)
    temperatures = call.row_numbers("temperature", temperature, torch.float32, 0.0, float("inf"))
    inverse = torch.where(temperatures < GREEDY_BELOW, 0.0, temperatures.reciprocal())
    if seeds is None:
        seeds = torch.randint(-(2**63), 2**63 - 1, (len(call.logits),), dtype=torch.int64)
    tokens = torch.empty(len(call.logits), dtype=torch.int64, device=call.logits.device)
    call.backend.sample(
        *call.tensors,
        call.width,
        inverse,
        None if top_k is None else call.row_numbers("top_k", top_k, torch.int64, 0, 2**62),
        None if top_p is None else call.row_numbers("top_p", top_p, torch.float32, 0.0, 1.0),
        call.row_numbers("seeds", seeds, torch.int64, -(2**63), 2**63 - 1),
        call.row_numbers("positions", positions, torch.int64, 0, 2**63 - 1),
        tokens,
    )
    return tokens


class _Call:
    """The checked arguments that all functions have, and the module that does the work."""

    def __init__(self, logits: Any, bitmask: Any, vocab_size: int | None, indices: Any) -> None:
        self.logits, self.bitmask = checked_rows(logits, bitmask)
        self.width = masked_width(self.logits.shape[1], self.bitmask.shape[1], vocab_size)
        if self.width == 0:
            raise BitmaskError("vocab_size must be at least 1")
        name = "triton_sampling" if uses_triton(self.logits) else "sampling_expressions"
        self.backend = importlib.import_module(f"maskwright.bitmask.{name}")
        if self.bitmask.shape[0] != self.logits.shape[0]:
            raise BitmaskError(
                f"the logits have {self.logits.shape[0]} rows, but the bitmask has {self.bitmask.shape[0]}",
                hint="pass a row of the bitmask for each row, also for those that are not in indices",
            )
        self.tensors = (self.logits, self.bitmask, self._masked_rows(indices))

    def _masked_rows(self, indices: Any) -> torch.Tensor | None:
        """For each row whether it is masked; None stands for all."""
        import torch

        if indices is None:
            return None
        flags: torch.Tensor = torch.zeros(len(self.logits), dtype=torch.uint8, device=self.logits.device)
        if is_tensor(indices) and indices.device.type != "cpu":
            rows: Any = row_tensor(indices, self.logits, self.bitmask)
            flags[rows.long()] = 1
            return flags
        for row in listed_rows(indices, len(self.logits)):
            flags[row] = 1
        return flags

    def row_numbers(self, name: str, value: Any, dtype: torch.dtype, least: float, most: float) -> torch.Tensor:
        """A number for each row, on the device of the logits."""
        import torch

        batch, device = len(self.logits), self.logits.device
        numbers: torch.Tensor = value
        if not is_tensor(value):
            numbers = torch.tensor(_checked_numbers(name, value, dtype.is_floating_point, least, most), dtype=dtype)
        if numbers.dim() > 1 or (numbers.dim() == 1 and len(numbers) != batch):
            raise BitmaskError(
                f"{name} must be one number, or one for each of {batch} rows, not {tuple(numbers.shape)}"
            )
        return numbers.to(device=device, dtype=dtype, non_blocking=True).expand(batch).contiguous()


def _checked_numbers(name: str, value: Any, as_float: bool, least: float, most: float) -> Any:
    """A number, or a list of numbers, within its range."""
    if hasattr(value, "__iter__"):
        return [_checked_number(name, v, as_float, least, most) for v in as_tuple(name, value, "a number or a list")]
    return _checked_number(name, value, as_float, least, most)


def _checked_number(name: str, value: Any, as_float: bool, least: float, most: float) -> Any:
    number = as_number(name, value) if as_float else as_integer(name, value)
    if not least <= number <= most:
        limits = f"from {least} to {most}" if most < 2**53 else f">= {least}"
        raise OptionError(f"{name} must be {limits}, not {number}", option=name)
    return number
