"""The fields about sampling, as the engine takes them: one request for each output.

Tested by tests/serve/test_chat.py and test_completions.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from maskwright.engine import Request, SamplingParams
from maskwright.errors import MaskwrightError
from maskwright.serve.errors import api_error
from maskwright.serve.protocol.sampling import PenaltiesAndStops, Sampling
from maskwright.serve.structure.structures import Structure


def engine_requests(
    asked: Sampling,
    prompts: Sequence[Sequence[int]],
    budgets: Sequence[int],
    structure: Structure,
    logprobs: int | None,
) -> list[Request]:
    """Return what the engine is to do: the outputs of the first prompt, then those of the next.

    Each output of a prompt has a seed of its own, which the request's determines.

    Raises:
        ApiError: A value is out of range.
    """
    given: dict[str, Any] = {name: getattr(asked, name) for name in ("temperature", "top_p", "top_k", "min_p")}
    n, seed = 1, None
    if isinstance(asked, PenaltiesAndStops):
        n, seed = asked.n, asked.seed
        names = ("frequency_penalty", "presence_penalty", "repetition_penalty", "stop", "stop_token_ids", "logit_bias")
        given.update((name, getattr(asked, name)) for name in names)
        given["include_stop"] = asked.include_stop_str_in_output
    try:
        return [
            Request(
                prompt,
                SamplingParams(
                    max_tokens=budget, logprobs=logprobs, seed=None if seed is None else seed + i * n + j, **given
                ),
                grammar=structure.compiled,
                read_events=structure.has_parts,
            )
            for i, (prompt, budget) in enumerate(zip(prompts, budgets, strict=True))
            for j in range(n)
        ]
    except MaskwrightError as error:
        option = getattr(error, "option", None)
        raise api_error(error, None if option is None else f"/{option}") from error
