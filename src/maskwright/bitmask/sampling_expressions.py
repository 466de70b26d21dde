"""What `triton_sampling` calculates, as expressions of torch: for the CPU and devices without Triton.

The arguments are those of the kernels' launchers, and so are the results, but for what `exp` gives in its last place.
Tested by tests/kernel/test_sampling.py and tests/kernel/test_triton.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from maskwright.bitmask.expressions import allowed_columns
from maskwright.bitmask.philox import uniform

if TYPE_CHECKING:
    import torch


def argmax(
    logits: torch.Tensor, bitmask: torch.Tensor, masked_rows: torch.Tensor | None, width: int, tokens: torch.Tensor
) -> None:
    tokens.copy_(_best(_values(logits, bitmask, masked_rows, width)))


def softmax(
    logits: torch.Tensor,
    bitmask: torch.Tensor,
    masked_rows: torch.Tensor | None,
    width: int,
    inverse_temperatures: torch.Tensor,
    result: torch.Tensor,
) -> None:
    values = _scaled(_values(logits, bitmask, masked_rows, width), inverse_temperatures)
    result.zero_()
    result[:, :width] = values.softmax(dim=-1).nan_to_num(0.0)


def sample(
    logits: torch.Tensor,
    bitmask: torch.Tensor,
    masked_rows: torch.Tensor | None,
    width: int,
    inverse_temperatures: torch.Tensor,
    top_k: torch.Tensor | None,
    top_p: torch.Tensor | None,
    seeds: torch.Tensor,
    positions: torch.Tensor,
    tokens: torch.Tensor,
) -> None:
    import torch

    greedy = inverse_temperatures == 0
    values = _values(logits, bitmask, masked_rows, width)
    values = _scaled(values, inverse_temperatures.masked_fill(greedy, 1))
    best = _best(values)
    weights = _weights(values)
    if top_k is not None:
        weights = _keep_top_k(values, weights, top_k)
    if top_p is not None:
        weights = _keep_top_p(values, weights, top_p)
    reached = weights.cumsum(dim=-1)
    total = reached[:, -1]
    shares = [uniform(seed, position) for seed, position in zip(seeds.tolist(), positions.tolist(), strict=True)]
    drawn = (torch.tensor(shares, dtype=torch.float64) * total.cpu().double()).long().to(total.device)
    drawn = torch.minimum(drawn, total - 1)
    sampled = (reached <= drawn.unsqueeze(-1)).sum(dim=-1)
    tokens.copy_(torch.where(greedy | (best < 0), best, sampled))


def _values(logits: torch.Tensor, bitmask: torch.Tensor, masked_rows: torch.Tensor | None, width: int) -> torch.Tensor:
    """Logits as float32, minus infinity for what is refused and for NaN."""
    import torch

    allowed = allowed_columns(bitmask, width)
    if masked_rows is not None:
        allowed = allowed | ~masked_rows.bool().unsqueeze(-1)
    values = logits[:, :width].float()
    return values.masked_fill(~allowed | values.isnan(), -torch.inf)


def _scaled(values: torch.Tensor, inverse_temperatures: torch.Tensor) -> torch.Tensor:
    return values * inverse_temperatures.unsqueeze(-1) + 0.0


def _best(values: torch.Tensor) -> torch.Tensor:
    """The first column of the largest value of each row, -1 where all are minus infinity."""
    import torch

    largest = values.amax(dim=-1, keepdim=True)
    first = (values == largest).int().argmax(dim=-1)
    return torch.where(largest.squeeze(-1) == -torch.inf, -1, first)


def _weights(values: torch.Tensor) -> torch.Tensor:
    import torch

    largest = values.amax(dim=-1, keepdim=True)
    shares = torch.where(values == largest, 1.0, (values - largest).exp())
    return (shares * 2.0**32 + 0.5).long().masked_fill(values == -torch.inf, 0)


def _keep_top_k(values: torch.Tensor, weights: torch.Tensor, top_k: torch.Tensor) -> torch.Tensor:
    """Leave the k largest values, and those that equal the last of them; all where k is 0."""
    width = values.shape[1]
    ranks = top_k.long().masked_fill(top_k <= 0, width).clamp(max=width) - 1
    limits = values.sort(dim=-1, descending=True).values.gather(1, ranks.unsqueeze(-1))
    return weights.masked_fill(values < limits, 0)


def _keep_top_p(values: torch.Tensor, weights: torch.Tensor, top_p: torch.Tensor) -> torch.Tensor:
    """Leave the fewest values, largest first, whose weights are at least p of all, and those that equal the last."""
    total = weights.sum(dim=-1)
    need = (top_p.double() * total.double()).ceil().long()
    ordered, columns = values.sort(dim=-1, descending=True)
    enough = weights.gather(1, columns).cumsum(dim=-1) >= need.unsqueeze(-1)
    limits = ordered.gather(1, enough.int().argmax(dim=-1, keepdim=True))
    return weights.masked_fill((values < limits) & (need < total).unsqueeze(-1), 0)
