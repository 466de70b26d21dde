"""The decoding loop: a batch of outputs, a step of the model at a time, with masks at no cost in time.

                step n                                          step n + 1
    model     ──┤ forward: tokens n of all outputs            ├─┬─────┬─┤ forward: tokens n + 1          ├──
    beside      ├ masks behind tokens n ┤ report tokens n ┤      │     │ ├ masks behind n + 1 ┤ report ┤
    loop                                                         └ end ┘
                                                      mask the logits, choose tokens n + 1, accept them,
                                                      insert forced text, draft

A mask depends on the token before it, and that is known when the step of the model begins: so it is filled while the
model calculates. Reporting happens then, too. What remains between two steps is the end: applying masks, choosing,
accepting. A new output's first step reads its prompt, while its grammar is compiled elsewhere and its first masks are
computed; an output whose grammar is not there yet keeps its logits and waits, alone.

    loop = DecodingLoop(model)
    loop.add(sequence)
    while loop.has_work: loop.step()

A step gives the model what is pending of each output: a prompt, in chunks; a token; with forced text several; with a
draft more, which are taken back where they turn out wrong (`speculation`).

Invariants: an error of one output ends that output; only an error of the model ends all that took part in the step.
For one thread. Tested by tests/engine/test_loop.py.
"""

from __future__ import annotations

import heapq
import time
from collections import deque
from typing import Any

import numpy as np

from maskwright.engine.beside import Beside
from maskwright.engine.device_rows import copied, drawn_on_device, is_on_device, joined, on_host
from maskwright.engine.forced import ForcedText
from maskwright.engine.masks import StepMasks
from maskwright.engine.models import CausalModel, Step
from maskwright.engine.outputs import TokenLogprobs
from maskwright.engine.sampling import ModelLogprobs, no_finite_logit
from maskwright.engine.sequence import Sequence
from maskwright.engine.speculation import drafted
from maskwright.errors import MaskwrightError

_MAX_CHUNK = 512  # tokens of a prompt that are read in one step
_HAND_OVER_S = 100e-6  # what waking a thread costs the model, and what waiting for the GIL does
_BLOCKED_S = 1e-3  # what is done at once took so long: `on_output` blocks, which processor time does not show
_STEPS_BESIDE = 64  # for which nothing is done at once after that


class DecodingLoop:
    """Decodes outputs with one model.

    Args:
        model: The model. Nobody else may use it.
        max_draft: The most drafted tokens of an output that are looked at in a step.
        precompute_us: How long to compute the masks that a new output needs first, while the model reads its prompt.

    Attributes:
        waiting: Outputs that have no slot yet.
        running: Outputs that have one.
        totals: Figures of all steps, by their names in `EngineStats`.
    """

    def __init__(self, model: CausalModel, *, max_draft: int = 8, precompute_us: float = 1000.0) -> None:
        self._model = model
        self._max_draft, self._precompute_us = max_draft, precompute_us
        self._beside = Beside()
        self._masks = StepMasks(model.num_slots, model.tokenizer_info.vocab_size, model.device)
        self._forced = ForcedText(model.tokenizer_info, lambda text: model.encode(text, add_special_tokens=False))
        self._free_slots = list(range(model.num_slots))  # a heap: slots that are used lie together
        self._to_report: dict[Sequence, None] = {}  # in order, each once
        self._drawn: dict[int, int] = {}  # tokens of this step that were drawn on a device, by their rows
        self._work_s = 0.0  # processor time of what was done beside the model in the last step
        self._steps_beside = 0  # for which nothing is done at once
        self.waiting: deque[Sequence] = deque()
        self.running: list[Sequence] = []
        self.totals = dict.fromkeys(_COUNTED, 0) | dict.fromkeys(_TIMED, 0.0)

    @property
    def has_work(self) -> bool:
        """Whether there is something to do now: outputs that wait for their grammar only do not count."""
        return bool((self.waiting and self._free_slots) or self._to_report) or any(map(_can_go_on, self.running))

    def add(self, sequence: Sequence) -> None:
        """Take an output in; it starts when there is a slot."""
        self.waiting.append(sequence)

    def step(self) -> None:
        """Take every output that can go on one step further."""
        self._drop_cancelled()
        self._admit()
        self._bind_grammars()
        self._let_go()
        steps = [(sequence, step) for sequence in self.running if (step := self._step_of(sequence)) is not None]
        choosing = [sequence for sequence, step in steps if step.num_logits]
        choosing += [sequence for sequence in self.running if sequence.held_row is not None and sequence.matcher]
        self._start_beside(choosing)
        try:
            logits = self._run_model(steps)
        finally:
            self._wait_for_masks(choosing)
        if self._compiled():  # while the model calculated
            self._bind_grammars()
            self._masks.fill(choosing)
            self._fail_those_without_mask()
        if logits is not None:
            self._choose(choosing, self._with_held_rows(choosing, logits))
        self._let_go()
        if not any(map(_can_go_on, self.running)):
            self._report(list(self._to_report))
            self._to_report = {}

    def fail_all(self, error: Exception) -> None:
        """End all outputs that run."""
        for sequence in self.running:
            sequence.fail(error)
        self._let_go()

    def close(self) -> None:
        """Report what is left, and end the thread beside."""
        self._report(list(self._to_report))
        self._beside.close()

    # Between two steps of the model

    def _drop_cancelled(self) -> None:
        for sequence in [*self.waiting, *self.running]:
            if sequence.is_cancelled:
                sequence.finish("cancelled")
        gone = [sequence for sequence in self.waiting if sequence.finish_reason is not None]
        if gone:
            self.waiting = deque(sequence for sequence in self.waiting if sequence.finish_reason is None)
            self._to_report |= dict.fromkeys(gone)
        self._let_go()

    def _admit(self) -> None:
        while self.waiting and self._free_slots:
            sequence = self.waiting.popleft()
            sequence.slot = heapq.heappop(self._free_slots)
            sequence.timing.admitted_s = sequence.now()
            self.running.append(sequence)
            self.totals["prompt_tokens"] += sequence.num_prompt
            self.running.sort(key=lambda each: each.slot)

    def _bind_grammars(self) -> None:
        """Hold outputs to grammars that are there by now."""
        for sequence in self._compiled():
            outcome = sequence.outcome
            assert outcome is not None
            if isinstance(outcome, Exception):
                sequence.fail(outcome)
                continue
            sequence.bind(outcome)
            sequence.timing.grammar_s = sequence.now()
            self._guarded(sequence, self._insert_forced)

    def _compiled(self) -> list[Sequence]:
        """Outputs whose grammar is there, and not looked at yet."""
        return [each for each in self.running if each.outcome is not None and each.awaits_grammar]

    def _step_of(self, sequence: Sequence) -> Step | None:
        """What the model is to read of an output next."""
        if sequence.num_pending == 0:
            return None
        pending = sequence.ids[sequence.num_cached : sequence.num_cached + _MAX_CHUNK]
        if len(pending) < sequence.num_pending:
            return Step(sequence.slot, pending, 0)
        return Step(sequence.slot, pending + sequence.draft, 1 + len(sequence.draft))

    def _run_model(self, steps: list[tuple[Sequence, Step]]) -> Any:
        """The logits that these steps asked for; None if the model failed."""
        if not steps:
            return np.empty((0, self._model.tokenizer_info.vocab_size), np.float32)
        began = time.perf_counter()
        try:
            logits = self._model.forward([step for _, step in steps])
        except Exception as error:  # whatever a library raises: the outputs end, the engine lives
            for sequence, _ in steps:
                sequence.fail(error)
            return None
        for sequence, step in steps:
            sequence.num_cached += len(step.token_ids)
            sequence.timing.num_steps += 1
        self.totals["model_s"] += time.perf_counter() - began
        self.totals["num_steps"] += 1
        return logits

    # Beside the model

    def _start_beside(self, choosing: list[Sequence]) -> None:
        """Have done what takes no logits: beside the model, or at once where that is less than waking a thread."""
        new = [sequence for sequence in self.running if sequence.num_cached == 0]
        report, self._to_report = list(self._to_report), {}
        self._steps_beside = max(0, self._steps_beside - 1)
        is_short = self._work_s < _HAND_OVER_S and not self._steps_beside
        if new or not is_short or not self._masks.are_known(choosing):
            self._beside.start(lambda: self._work_beside(choosing, report, new))
            return
        began = time.perf_counter()
        self._work_beside(choosing, report, new)
        if time.perf_counter() - began > _BLOCKED_S:
            self._steps_beside = _STEPS_BESIDE

    def _work_beside(self, choosing: list[Sequence], report: list[Sequence], new: list[Sequence]) -> None:
        began = time.thread_time()
        self._masks.fill(choosing)
        self._report(report)
        self._work_s = time.thread_time() - began
        for sequence in new:
            if sequence.matcher is not None and self._precompute_us:
                sequence.matcher.precompute(self._precompute_us)

    def _report(self, sequences: list[Sequence]) -> None:
        for sequence in sequences:
            try:
                output = sequence.next_output()
            except MaskwrightError as error:  # of reading events
                sequence.fail(error)
                output = sequence.next_output()
            if output is not None:
                sequence.on_output(output)

    def _wait_for_masks(self, choosing: list[Sequence]) -> None:
        began = time.perf_counter()
        self._beside.wait()
        waited = time.perf_counter() - began
        for sequence in choosing:
            sequence.timing.mask_wait_us += waited * 1e6
        self.totals["mask_wait_s"] += waited
        self.totals["mask_s"] += self._masks.fill_s
        self._fail_those_without_mask()

    def _fail_those_without_mask(self) -> None:
        for sequence, error in self._masks.failed:
            sequence.fail(error)

    # The end of a step

    def _with_held_rows(self, choosing: list[Sequence], logits: Any) -> Any:
        """The logits of this step, and those that outputs kept until their grammar was there."""
        rows = [sequence.held_row for sequence in choosing if sequence.held_row is not None]
        for sequence in choosing:
            sequence.held_row = None
        return joined(logits, rows) if rows else logits

    def _choose(self, choosing: list[Sequence], logits: Any) -> None:
        began = time.perf_counter()
        first = 0
        is_drawn = bool(choosing) and is_on_device(logits)
        self._drawn = drawn_on_device(choosing, logits, self._masks.send()) if is_drawn else {}
        for sequence in choosing:
            count = 1 + len(sequence.draft)
            if sequence.awaits_grammar:
                sequence.held_row = copied(logits[first])
            elif sequence.finish_reason is None and sequence.num_pending <= 0:  # else forced text has just come
                self._guarded(sequence, self._take_tokens, logits[first : first + count], first)
                self._to_report[sequence] = None
            first += count
        self.totals["sample_s"] += time.perf_counter() - began

    def _take_tokens(self, sequence: Sequence, rows: Any, first: int) -> None:
        """Choose a token behind the last one, and behind each drafted token for as long as the draft is right.

        Args:
            sequence: The output.
            rows: (1 + len(draft), vocab_size), the logits.
            first: The index of the first row's mask.
        """
        draft, num_right = sequence.draft, 0
        num_read = len(sequence.ids) + len(draft)
        for index, row in enumerate(rows):
            token, logprobs = self._next_token(sequence, row, first + index)
            sequence.take(token, logprobs)
            if sequence.finish_reason is not None or index == len(draft) or token != draft[index]:
                break
            num_right += 1
        sequence.count_draft(num_right)
        sequence.draft = []
        sequence.num_cached = num_read - len(draft) + num_right
        if sequence.finish_reason is not None:
            return
        if num_right < len(draft):
            self._model.truncate(sequence.slot, sequence.num_cached)
        self._insert_forced(sequence)
        if sequence.finish_reason is None and sequence.request.propose is not None:
            sequence.draft = drafted(sequence, self._max_draft)

    def _next_token(self, sequence: Sequence, row: Any, index: int) -> tuple[int, TokenLogprobs | None]:
        """Choose from a row of logits, held to the mask of that index."""
        if index in self._drawn:
            return _checked(self._drawn[index]), None
        row = on_host(row)
        num_top, allowed, temperature = sequence.params.logprobs, None, None
        logprobs = None if num_top is None else ModelLogprobs(row, num_top)  # the model's own, so before the mask
        if sequence.matcher is not None:
            allowed, temperature = self._masks.apply(row, index), sequence.matcher.temperature()
        token = sequence.chooser(row, sequence.output_ids, temperature, allowed)
        return token, None if logprobs is None else logprobs.of(token)

    def _insert_forced(self, sequence: Sequence) -> None:
        """Write what the grammar forces next; end the output if nothing may follow."""
        matcher, num_cached = sequence.matcher, sequence.num_cached
        assert matcher is not None or sequence.request.grammar is None
        if matcher is None:
            return
        if sequence.request.jump_forward and sequence.params.logprobs is None:
            inserted = self._forced.insert(matcher, sequence.output_ids, sequence.num_fixed)
            if inserted.token_ids:
                sequence.held_row = None
                sequence.insert(inserted.token_ids, inserted.num_replaced)
                self._to_report[sequence] = None
                if sequence.num_cached < num_cached:
                    self._model.truncate(sequence.slot, sequence.num_cached)
        if (
            matcher.is_completed()
            and not matcher.text_may_follow()
            and matcher.forced_token() in matcher.stop_token_ids
        ):
            sequence.finish("stop")

    def _guarded(self, sequence: Sequence, do: Any, *arguments: Any) -> None:
        """Do something for an output; an error ends it, and no other."""
        try:
            do(sequence, *arguments)
        except Exception as error:
            sequence.fail(error)

    def _let_go(self) -> None:
        """Free the slots of outputs that are over."""
        for sequence in self.running:
            if sequence.finish_reason is not None:
                self._model.free(sequence.slot)
                heapq.heappush(self._free_slots, sequence.slot)
                self._count(sequence)
                self._to_report[sequence] = None
        self.running = [sequence for sequence in self.running if sequence.finish_reason is None]

    def _count(self, sequence: Sequence) -> None:
        usage = sequence.usage()
        self.totals["num_finished"] += 1
        for name in ("completion_tokens", "forced_tokens", "drafted_tokens", "accepted_draft_tokens"):
            self.totals[name] += getattr(usage, name)


_COUNTED = (
    *("num_finished", "num_steps", "prompt_tokens", "completion_tokens", "forced_tokens", "drafted_tokens"),
    "accepted_draft_tokens",
)
_TIMED = ("model_s", "mask_s", "mask_wait_s", "sample_s")


def _checked(token: int) -> int:
    """A token that was drawn on a device."""
    if token < 0:
        raise no_finite_logit()
    return token


def _can_go_on(sequence: Sequence) -> bool:
    """Whether an output has something to read or to choose."""
    return sequence.num_pending > 0 or sequence.outcome is not None or not sequence.awaits_grammar
