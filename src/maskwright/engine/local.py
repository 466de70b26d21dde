"""`LocalEngine`: a decoding loop on a thread of its own, behind the interface of engines.

    engine = LocalEngine(EmbeddedCausalModel())
    for output in generate(engine, Request(engine.encode("Name: "), grammar=compiled)): print(output.data)
    engine.close()

Matchers are made where requests are submitted, so that what can be refused is refused there; those of grammars that
are still being compiled, by the thread that compiles them.
Tested by tests/engine/test_local.py.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from maskwright.compiling.compiled_grammar import CompiledGrammar, checked_compiled
from maskwright.engine.interface import EngineStats, Handle, OnOutput
from maskwright.engine.loop import DecodingLoop
from maskwright.engine.models import CausalModel
from maskwright.engine.outputs import Output
from maskwright.engine.requests import Request, check_token_ids
from maskwright.engine.sequence import Sequence as OutputSequence
from maskwright.errors import EngineError, LimitError, TokenizerError
from maskwright.integrations.budgets import budget_of_context
from maskwright.matcher import GrammarMatcher
from maskwright.support.arguments import instance
from maskwright.tokenizer import TokenizerInfo

if TYPE_CHECKING:
    from typing_extensions import Self

_LOGGER = logging.getLogger("maskwright.engine")


class LocalEngine:
    """Generates with a model in this process.

    Args:
        model: The model; the engine closes it.
        max_draft: The most drafted tokens of an output that are looked at in a step.
        precompute_us: How long to compute the masks that an output needs first, while the model reads its prompt.
    """

    def __init__(self, model: CausalModel, *, max_draft: int = 8, precompute_us: float = 1000.0) -> None:
        self._model = model
        self._precompute_us = precompute_us
        self._loop = DecodingLoop(model, max_draft=max_draft, precompute_us=precompute_us)
        self._changed = threading.Condition()
        self._arrived: list[OutputSequence] = []
        self._open: set[OutputSequence] = set()
        self._is_poked = self._is_draining = self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="maskwright.engine", daemon=True)
        self._thread.start()

    @property
    def model_name(self) -> str:
        return self._model.model_name

    @property
    def tokenizer_info(self) -> TokenizerInfo:
        return self._model.tokenizer_info

    @property
    def max_model_len(self) -> int:
        return self._model.max_model_len

    @property
    def has_chat_template(self) -> bool:
        return self._model.has_chat_template

    def encode(self, text: str, *, add_special_tokens: bool = True) -> list[int]:
        """Return the token ids of a text; see `Engine.encode`."""
        return self._model.encode(instance("text", text, str), add_special_tokens=add_special_tokens)

    def apply_chat_template(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any] | None = None, **options: Any
    ) -> list[int]:
        """Return the token ids of a chat; see `Engine.apply_chat_template`."""
        return self._model.apply_chat_template(messages, tools, **options)

    def submit(self, request: Request, on_output: OnOutput) -> Handle:
        """Have an output generated; see `Engine.submit`."""
        instance("request", request, Request)
        check_token_ids(request, self.tokenizer_info.vocab_size)
        sequence = OutputSequence(request, on_output, self.tokenizer_info, self._room_of(request))
        sequence.on_output = lambda output: self._deliver(sequence, on_output, output)
        grammar = request.grammar
        if isinstance(grammar, CompiledGrammar):
            sequence.outcome = self._matcher(sequence, grammar)
        with self._changed:
            if self._is_closed or self._is_draining:
                state = "closed" if self._is_closed else "finishing what it has, and takes no more requests"
                raise EngineError(f"the engine is {state}", hint="load another one")
            self._open.add(sequence)
            self._arrived.append(sequence)
            self._changed.notify_all()
        if isinstance(grammar, Future):
            grammar.add_done_callback(lambda done: self._compiled(sequence, done))
        return sequence

    def cancel(self, handle: Handle) -> None:
        """End an output soon; see `Engine.cancel`."""
        instance("handle", handle, OutputSequence, "pass what submit returned").is_cancelled = True
        self._poke()

    def stats(self) -> EngineStats:
        """Return figures; see `Engine.stats`."""
        loop = self._loop
        return EngineStats(
            num_waiting=len(loop.waiting) + len(self._arrived),
            num_running=len(loop.running),
            num_slots=self._model.num_slots,
            cached_tokens=sum(sequence.num_cached for sequence in list(loop.running)),
            **loop.totals,  # type: ignore[arg-type]
        )

    def drain(self, timeout_s: float | None = None) -> bool:
        """Take no more requests, and wait for those there are; see `Engine.drain`."""
        with self._changed:
            self._is_draining = True
            return self._changed.wait_for(lambda: not self._open, timeout_s)

    def close(self) -> None:
        """Cancel all requests, and free what the engine holds. A second call does nothing."""
        with self._changed:
            if self._is_closed:
                return
            self._is_closed = True
            for sequence in self._open:
                sequence.is_cancelled = True
            self._changed.notify_all()
        self._thread.join()
        self._model.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # When a request comes

    def _room_of(self, request: Request) -> int:
        """How many tokens an output may have."""
        size, wanted = len(request.prompt_ids), request.params.max_tokens
        room = self.max_model_len - size
        if room < 1:
            raise LimitError(
                f"the prompt has {size} tokens, which fill the model's context of {self.max_model_len}",
                limit="max_model_len",
                hint="shorten the prompt",
            )
        return room if wanted is None else min(wanted, room)

    def _matcher(self, sequence: OutputSequence, grammar: CompiledGrammar) -> GrammarMatcher:
        info, own = grammar.tokenizer_info, self.tokenizer_info
        if info is not own and info.fingerprint != own.fingerprint:
            raise TokenizerError(
                "the grammar was compiled for another tokenizer than the model's",
                hint="compile it with GrammarCompiler(engine.tokenizer_info)",
            )
        num_prompt, room = sequence.num_prompt, self.max_model_len - sequence.num_prompt
        is_asked = sequence.max_tokens == sequence.request.params.max_tokens
        with nullcontext() if is_asked else budget_of_context(num_prompt, room):
            return sequence.matcher_of(grammar)

    def _compiled(self, sequence: OutputSequence, done: Future[CompiledGrammar]) -> None:
        """Take a grammar that was awaited, on the thread that compiled it."""
        try:
            matcher = self._matcher(sequence, checked_compiled("grammar", done.result()))
            if self._precompute_us and sequence.held_row is None:  # else the prompt is read, and its logits wait
                matcher.precompute(self._precompute_us)
            sequence.outcome = matcher
        except CancelledError:
            sequence.is_cancelled = True
        except Exception as error:
            sequence.outcome = error
        self._poke()

    def _poke(self) -> None:
        with self._changed:
            self._is_poked = True
            self._changed.notify_all()

    # The thread

    def _run(self) -> None:
        while self._wait_for_work():
            self._step()
        self._step()  # drops what was cancelled
        self._loop.close()

    def _step(self) -> None:
        try:
            self._loop.step()
        except Exception as error:  # a mistake of ours: what runs ends, the engine lives
            _LOGGER.exception("a step failed")
            self._loop.fail_all(error)

    def _wait_for_work(self) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: self._arrived or self._is_poked or self._is_closed or self._loop.has_work)
            for sequence in self._arrived:
                self._loop.add(sequence)
            self._arrived.clear()
            self._is_poked = False
            return not self._is_closed

    def _deliver(self, sequence: OutputSequence, on_output: OnOutput, output: Output) -> None:
        try:
            on_output(output)
        except Exception:
            _LOGGER.exception("on_output of %s failed", sequence.request_id)
            sequence.is_cancelled = True
        if output.finish_reason is not None:
            with self._changed:
                self._open.discard(sequence)
                self._changed.notify_all()
