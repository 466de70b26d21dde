"""Masking as an operator of torch: what the compiler sees of it is true, and compiled functions give the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import maskwright as mw

torch = pytest.importorskip("torch", reason="an optional dependency")

from maskwright.bitmask import expressions  # noqa: E402
from maskwright.bitmask.torch_op import apply_token_bitmask_  # noqa: E402


def draw(rows: int = 4, columns: int = 100) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    logits = torch.from_numpy(rng.normal(size=(rows, columns)).astype(np.float32))
    return logits, torch.from_numpy(rng.integers(-(2**31), 2**31, (rows, (columns + 31) // 32), np.int32))


@pytest.mark.parametrize("options", [(), (40,), (None, [2, 0]), (40, [1])])
def test_what_the_compiler_relies_on(options: tuple[Any, ...]) -> None:
    logits, bitmask = draw()
    vocab_size = options[0] if options else None
    indices = torch.tensor(options[1]) if len(options) > 1 else None
    torch.library.opcheck(apply_token_bitmask_, (logits, bitmask, vocab_size, indices))


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compiled_without_a_break(backend: str) -> None:
    @torch.compile(fullgraph=True, backend=backend)  # type: ignore[untyped-decorator]
    def choose(hidden: Any, bitmask: Any) -> Any:
        logits = hidden * 2.0
        apply_token_bitmask_(logits, bitmask, 90)
        return logits, logits.argmax(dim=-1)

    hidden, bitmask = draw()
    expected = hidden * 2.0
    mw.apply_token_bitmask_inplace(expected, bitmask, vocab_size=90)
    masked, tokens = choose(hidden, bitmask)
    assert torch.equal(masked, expected)
    assert torch.equal(tokens, expected.argmax(dim=-1))


def test_the_kernel_and_the_expression_agree() -> None:
    """The expression is what runs on devices that the kernel does not reach."""
    for columns, words, width in ((100, 4, 100), (100, 2, 100), (100, 5, 70), (31, 1, 31), (64, 2, 0)):
        logits, _ = draw(columns=columns)
        bitmask = draw(columns=32 * words)[1]
        for rows in (None, [3, 1]):
            by_kernel, by_expression = logits.clone(), logits.clone()
            mw.apply_token_bitmask_inplace(by_kernel, bitmask, vocab_size=width, indices=rows)
            expressions.apply(by_expression, bitmask, width, None if rows is None else torch.tensor(rows))
            assert torch.equal(by_kernel, by_expression)


def test_errors_come_through() -> None:
    logits, bitmask = draw()
    with pytest.raises(mw.BitmaskError, match="indices="):
        apply_token_bitmask_(logits, bitmask[:2])


def test_devices_that_hold_no_data_are_refused() -> None:
    logits, bitmask = draw()
    for pair, words in (
        ((logits.to("meta"), bitmask.to("meta")), "meta"),
        ((logits.to("meta"), bitmask), "meta"),
        ((logits.to("meta"), bitmask.numpy()), "torch tensor"),
        ((logits, bitmask.to("meta")), "CPU"),
    ):
        with pytest.raises(mw.BitmaskError, match=words):
            mw.apply_token_bitmask_inplace(*pair)
