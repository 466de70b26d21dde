"""One output in progress: its tokens, what the model has seen of them, its matcher, and what is to be reported.

    ids:   prompt ............ | output .........................
           num_cached: the model has seen these ^  pending: these are for the next step

Invariants: the matcher has accepted exactly `output_ids`, and the stop token if that came. `ids` beyond `num_cached`
are never empty while the output goes on and no logits are held.
Tested by tests/engine/test_loop.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from maskwright.engine.outputs import FinishReason, Output, Timing, TokenLogprobs, Usage
from maskwright.engine.requests import Request
from maskwright.engine.sampling import Chooser, Logits
from maskwright.engine.text import OutputText
from maskwright.errors import MatcherError
from maskwright.events import EventReader
from maskwright.matcher import GrammarMatcher, matcher_for_engine
from maskwright.outputs.grammar_drafts import OutputReader
from maskwright.tokenizer import TokenizerInfo

if TYPE_CHECKING:
    from maskwright.compiling.compiled_grammar import CompiledGrammar
    from maskwright.events import Event


class Sequence:
    """An output in progress, and the handle of its request.

    Attributes:
        ids: Prompt and output.
        num_cached: How many of these the model has seen.
        draft: Tokens that may come next, for the model to look at.
        draft_reader: What learns from this output, if drafts are learnt.
        matcher: None until the grammar is there, and without one.
        held_row: Logits for the next token, kept until the grammar is there.
        budget_caveat: As in `Handle`.
    """

    def __init__(
        self, request: Request, on_output: Callable[[Output], None], info: TokenizerInfo, max_tokens: int
    ) -> None:
        self.request, self.on_output = request, on_output
        self.request_id = request.request_id
        self.params = request.params
        self.max_tokens = max_tokens
        self.ids = list(request.prompt_ids)
        self.num_prompt = len(self.ids)
        self.num_cached = 0
        self.slot = -1
        self.draft: list[int] = []
        self.draft_reader: OutputReader | None = None
        self.matcher: GrammarMatcher | None = None
        self.outcome: GrammarMatcher | Exception | None = None  # of compiling, not looked at yet
        self.held_row: Logits | None = None
        self.budget_caveat: str | None = None
        self.chooser = Chooser(request.params, request.prompt_ids)
        self.is_cancelled = False
        self.finish_reason: FinishReason | None = None
        self.timing = Timing()
        self._began = time.perf_counter()
        self._error: Exception | None = None
        self._stop_reason: str | int | None = None
        self._info = info
        self._stops = frozenset(request.params.stop_token_ids)
        self._ends = frozenset() if request.params.ignore_eos else frozenset(info.stop_token_ids)
        self._text = OutputText(info, request.params)
        self._reader: EventReader | None = None
        self._forced: list[bool] = []
        self._logprobs: list[TokenLogprobs] = []
        self._num_sent = 0
        self._num_replaced = 0  # of those that were sent
        self._num_drafted = self._num_accepted = 0
        self._is_over = False  # whether the last output was made

    @property
    def output_ids(self) -> list[int]:
        return self.ids[self.num_prompt :]

    @property
    def num_output(self) -> int:
        return len(self.ids) - self.num_prompt

    @property
    def vocab_size(self) -> int:
        return self._info.vocab_size

    @property
    def num_pending(self) -> int:
        return len(self.ids) - self.num_cached

    @property
    def awaits_grammar(self) -> bool:
        return self.request.grammar is not None and self.matcher is None

    @property
    def num_fixed(self) -> int:
        """How many output tokens must not be replaced: what events were read of is settled."""
        return self._num_sent if self.request.read_events else 0

    def now(self) -> float:
        """Seconds since the request came."""
        return time.perf_counter() - self._began

    def matcher_of(self, grammar: CompiledGrammar) -> GrammarMatcher:
        """A matcher for this output, within its tokens if that can be."""
        matcher, self.budget_caveat = matcher_for_engine(grammar, self.max_tokens)
        return matcher

    def bind(self, matcher: GrammarMatcher) -> None:
        """Hold the output to a grammar from here on."""
        self.matcher = matcher
        if self.request.read_events and matcher.compiled_grammar.has_captures:
            self._reader = EventReader(matcher)

    def take(self, token: int, logprobs: TokenLogprobs | None = None) -> None:
        """Go on with a token that was chosen."""
        matcher = self.matcher
        if matcher is not None:
            if not matcher.accept_token(token):
                raise MatcherError(f"token {token} is allowed by the mask but was not accepted")
            if matcher.is_terminated() and token in matcher.stop_token_ids:
                self.finish("stop")
                return
        elif token in self._ends:
            self.finish("stop")
            return
        if token in self._stops:
            self.finish("stop", token)
            return
        self._append(token, forced=False)
        self._text.add(token)
        if logprobs is not None:
            self._logprobs.append(logprobs)
        self._look_for_the_end()

    def insert(self, token_ids: list[int], num_replaced: int) -> None:
        """Go on with forced tokens, in place of the last ones. The matcher has accepted them."""
        matcher = self.matcher
        assert matcher is not None
        kept = len(self.ids) - num_replaced
        num_known = len(b"".join(self._info.token_bytes[i] for i in self.ids[kept:]))
        self._num_replaced += max(0, self._num_sent - (kept - self.num_prompt))
        self._num_sent = min(self._num_sent, kept - self.num_prompt)
        del self.ids[kept:], self._forced[kept - self.num_prompt :]
        self.num_cached = min(self.num_cached, kept)
        for token in token_ids:
            self._append(token, forced=num_known <= 0)
            size = len(self._info.token_bytes[token])
            self._text.add(token, skip=min(size, max(0, num_known)))
            num_known -= size
        self._look_for_the_end()

    def _append(self, token: int, *, forced: bool) -> None:
        self.ids.append(token)
        self._forced.append(forced)
        at = self.now()
        if self.timing.first_token_s is None:
            self.timing.first_token_s = at
        self.timing.last_token_s = at

    def _look_for_the_end(self) -> None:
        if self._text.stopped_by is not None:
            self.finish("stop", self._text.stopped_by)
        elif self.matcher is not None and self.matcher.is_terminated():
            self.finish("stop")
        elif self.num_output >= self.max_tokens:
            is_whole = self.matcher is not None and self.matcher.is_completed()
            self.finish("stop" if is_whole else "length")

    def count_draft(self, num_accepted: int) -> None:
        """Note how many tokens of the draft turned out to be right."""
        self._num_drafted += len(self.draft)
        self._num_accepted += num_accepted

    def finish(self, reason: FinishReason, stop_reason: str | int | None = None) -> None:
        """End the output."""
        if self.finish_reason is None:
            self.finish_reason, self._stop_reason = reason, stop_reason
            self.timing.total_s = self.now()

    def fail(self, error: Exception) -> None:
        """End the output with an error."""
        self._error = error
        self.finish("error")

    def next_output(self) -> Output | None:
        """What is new since the last call; None if nothing is."""
        if self._is_over:
            return None
        self._is_over = is_last = self.finish_reason is not None
        data = self._text.take(is_last=is_last)
        at = self._num_sent
        token_ids = tuple(self.ids[self.num_prompt + at :])
        if not (token_ids or data or is_last):
            return None
        more: dict[str, Any] = {"usage": self.usage(), "timing": self.timing} if is_last else {}
        output = Output(
            request_id=self.request_id,
            token_ids=token_ids,
            data=data,
            forced=tuple(self._forced[at:]),
            logprobs=tuple(self._logprobs),
            events=tuple(self._new_events()),
            num_replaced=self._num_replaced,
            finish_reason=self.finish_reason,
            stop_reason=self._stop_reason,
            error=self._error,
            **more,
        )
        self._num_sent, self._num_replaced = self.num_output, 0
        self._logprobs.clear()
        return output

    def _new_events(self) -> list[Event]:
        return self._reader.read() if self._reader is not None and self._error is None else []

    def usage(self) -> Usage:
        return Usage(self.num_prompt, self.num_output, sum(self._forced), self._num_drafted, self._num_accepted)
