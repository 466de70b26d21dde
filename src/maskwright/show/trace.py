"""An output held to a grammar, token by token, written down: what was allowed, what was refused and why, at what cost.

    found = trace(GrammarMatcher(compiled), token_ids)
    [step.num_allowed for step in found.steps]

Limits: `MOST_TOKENS` tokens are read; of the first `MOST_EXPLAINED`, tokens that a model might have wanted are
explained where they are refused. A mask is filled twice: the first time is that of a state never seen before, unless
the grammar was used already. Tested by tests/show/test_trace.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maskwright import _kernel
from maskwright.errors import LimitError, wrong_argument
from maskwright.report.rejection import Explanation

if TYPE_CHECKING:
    from maskwright.matcher import Capture, GrammarMatcher

MOST_TOKENS = 500
MOST_EXPLAINED = 100  # steps
_REFUSED = 3  # tokens a step

Likely = Callable[[bytes], Iterable[bytes]]  # texts that may follow this one, the likeliest first


class Step(NamedTuple):
    """A token, and what the matcher said where it stood."""

    token_id: int
    text: bytes  # of special tokens, their name
    num_allowed: int  # tokens
    first_us: float  # to fill the mask
    again_us: float
    is_forced: bool  # no other text could stand there
    is_accepted: bool
    refused: tuple[Explanation, ...]  # likely tokens that are not allowed


class Trace(NamedTuple):
    """What happened to an output."""

    steps: tuple[Step, ...]  # up to the first that is refused
    unread: tuple[bytes, ...]  # the texts of the tokens behind it
    num_left_out: int  # tokens beyond the limit
    refusal: Explanation | None  # of the last step
    num_allowed: int  # behind the last step
    is_complete: bool
    expected: tuple[str, ...]  # behind the last step, in words
    captures: tuple[Capture, ...]


def trace(matcher: GrammarMatcher, token_ids: Sequence[int], likely: Likely | None = None) -> Trace:
    """Hold tokens to a grammar, from where a matcher stands; it moves to the last one that is accepted.

    Args:
        matcher: A matcher.
        token_ids: The output's tokens.
        likely: What might follow a text, as a model has it.

    Raises:
        ArgumentError: `matcher` or `token_ids` is something else.
        LimitError: The grammar is too ambiguous.
        TokenizerError: A token id is outside the vocabulary.
    """
    if not isinstance(matcher, _kernel.Matcher):
        raise wrong_argument("matcher", matcher, "a GrammarMatcher", "make one with GrammarMatcher(compiled_grammar)")
    if isinstance(token_ids, str | bytes):
        raise wrong_argument("token_ids", token_ids, "a sequence of ints", "encode the text first")
    info = matcher.compiled_grammar.tokenizer_info
    read = list(token_ids[:MOST_TOKENS])
    ids_of = {text: i for i, text in enumerate(info.token_bytes)} if likely is not None else {}
    steps: list[Step] = []
    for number, token_id in enumerate(read):
        wanted: list[int] = []
        if likely is not None and number < MOST_EXPLAINED:
            wanted = [ids_of[text] for text in likely(info.decode(read[:number])) if text in ids_of]
        steps.append(_step(matcher, token_id, wanted))
        if not steps[-1].is_accepted:
            break
    refusal = None if not steps or steps[-1].is_accepted else matcher.explain(steps[-1].token_id)
    num_allowed, _ = _filled(matcher)
    over = matcher.is_terminated()
    return Trace(
        steps=tuple(steps),
        unread=tuple(_text(info, i) for i in read[len(steps) :]),
        num_left_out=len(token_ids) - len(read),
        refusal=refusal,
        num_allowed=int(_bits(num_allowed).sum()),
        is_complete=over or matcher.is_completed(),
        expected=() if over else matcher.expected(),
        captures=_captures(matcher),
    )


def _step(matcher: GrammarMatcher, token_id: int, wanted: Iterable[int]) -> Step:
    mask, first_us = _filled(matcher)
    _, again_us = _filled(matcher)
    allowed = _bits(mask)
    text = _text(matcher.compiled_grammar.tokenizer_info, token_id)
    forced = matcher.forced_bytes()
    num_allowed = int(allowed.sum())
    refused = [i for i in wanted if not allowed[i]][:_REFUSED]
    reasons = tuple(matcher.compiled_grammar.explainer.explanation(matcher, i) for i in refused)
    is_forced = num_allowed == 1 or (bool(text) and forced.startswith(text))
    return Step(token_id, text, num_allowed, first_us, again_us, is_forced, matcher.accept_token(token_id), reasons)


def _filled(matcher: GrammarMatcher) -> tuple[Any, float]:
    """The mask of the next token, and the time it took in µs."""
    mask = np.zeros((matcher.compiled_grammar.tokenizer_info.vocab_size + 31) // 32, np.int32)
    began = perf_counter_ns()
    matcher.fill_next_token_bitmask(mask)
    return mask, (perf_counter_ns() - began) / 1e3


def _bits(mask: Any) -> Any:
    return np.unpackbits(mask.view(np.uint8), bitorder="little")


def _text(info: Any, token_id: int) -> bytes:
    return info.token_bytes[token_id] if 0 <= token_id < len(info.token_bytes) else b""


def _captures(matcher: GrammarMatcher) -> tuple[Capture, ...]:
    if not matcher.compiled_grammar.has_captures:
        return ()
    try:
        return tuple(matcher.get_capture_spans())
    except LimitError:
        return ()
