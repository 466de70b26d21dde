"""A case of the demo and what came of it, with a structure (`held`) and without (`free`).

    run.held.add(output, token_bytes)      as the output comes
    run.held.finish(run.case, compiled)    parsers of the standard library judge the text, then the structure does

Tested by tests/cli/test_demo.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from maskwright import CompiledGrammar, GrammarMatcher
from maskwright.engine import Completion, Output

from ..output import Figures, Utf8Decoder
from .cases import Case, Verdict


@dataclass
class Side:
    """One of the two runs of a case: its text so far, in pieces that the grammar forced or that were sampled."""

    whole: Completion = field(default_factory=Completion)
    compile_us: float = 0.0
    pieces: list[tuple[str, bool]] = field(default_factory=list)
    verdict: Verdict | None = None
    _decoder: Utf8Decoder = field(default_factory=Utf8Decoder)

    @property
    def text(self) -> str:
        return "".join(piece for piece, _ in self.pieces)

    @property
    def figures(self) -> Figures:
        return Figures.of(self.whole, self.compile_us)

    def add(self, output: Output, token_bytes: Sequence[bytes]) -> None:
        replaced = self.whole.token_ids[len(self.whole.token_ids) - output.num_replaced :]
        num_shown = sum(len(token_bytes[token]) for token in replaced)
        for token, forced in zip(output.token_ids, output.forced, strict=True):
            data = token_bytes[token]
            self._append(self._decoder.feed(data[num_shown:]), forced)
            num_shown = max(0, num_shown - len(data))
        self.whole.add(output)

    def finish(self, case: Case, compiled: CompiledGrammar) -> None:
        self._append(self._decoder.finish(), False)
        self.verdict = case.judge(self.text)
        if self.verdict.ok:
            self.verdict = _check_structure(self.verdict, compiled, self.text)

    def _append(self, text: str, forced: bool) -> None:
        if text:
            self.pieces.append((text, forced))


@dataclass
class Run:
    """A case and what came of it."""

    case: Case
    seed: int
    held: Side = field(default_factory=Side)
    free: Side = field(default_factory=Side)


def _check_structure(verdict: Verdict, compiled: CompiledGrammar, text: str) -> Verdict:
    """What parses may still not be what was asked for."""
    matcher = GrammarMatcher(compiled)
    for position, character in enumerate(text):
        if not matcher.accept_string(character):
            return Verdict(False, f"{verdict.message}, but breaks the structure at {text[position:][:16]!r}")
    if not matcher.is_completed():
        return Verdict(False, f"{verdict.message}, but is not all that was asked for")
    return verdict
