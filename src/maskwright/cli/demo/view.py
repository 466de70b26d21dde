"""How the demo looks: two columns that grow, with rich; or plain lines.

Rich is used when it is installed and stdout is a terminal that may be painted (NO_COLOR and TERM=dumb are heeded).

Tested by tests/cli/test_demo.py.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..output import format_us

if TYPE_CHECKING:
    from maskwright.engine import Engine

    from .runs import Run, Side

_HELD_TITLE = "with Maskwright"
_FREE_TITLE = "same model, same seed, unconstrained"
_FOOTNOTE = (
    "forced: tokens that were inserted without asking the model · µs/mask: average · 1st mask: compiling included"
)


class View(Protocol):
    """Shows the demo to a person."""

    def start(self, engine: Engine, seconds_to_load: float) -> None: ...

    def showing(self, run: Run) -> AbstractContextManager[None]: ...

    def update(self, run: Run) -> None: ...

    def summary(self, runs: list[Run]) -> None: ...


def make_view(*, plain: bool) -> View:
    """Choose how to show the demo."""
    painted = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    if plain or not painted:
        return PlainView()
    try:
        import rich  # noqa: F401
    except ImportError:
        return PlainView()
    return RichView()


def _introduction(engine: Engine, seconds_to_load: float) -> str:
    name = "embedded n-gram model" if engine.model_name == "embedded" else engine.model_name
    return f"{name}, {engine.tokenizer_info.vocab_size:,} tokens, ready in {seconds_to_load:.1f} s"


def _headline(run: Run) -> str:
    return f"{run.case.title} · {run.case.structure.label} · prompt {run.case.prompt.strip()!r} · seed {run.seed}"


def _ending(side: Side) -> str:
    return (
        "ended by itself" if side.whole.finish_reason == "stop" else f"cut off after {side.figures.num_tokens} tokens"
    )


def _mark(side: Side) -> str:
    return "?" if side.verdict is None else "✓" if side.verdict.ok else "✗"


def _figures(run: Run) -> tuple[str, ...]:
    figures = run.held.figures
    masks = np.array(figures.mask_us or [0.0])
    return (
        run.case.title,
        str(figures.num_tokens),
        f"{figures.tokens_per_second:,.0f}",
        f"{figures.forced_share:.0%}",
        f"{masks.mean():.1f}",
        f"{np.percentile(masks, 50):.1f}",
        f"{masks.max():.1f}",
        format_us(figures.first_mask_us),
        _mark(run.held),
        _mark(run.free),
    )


_COLUMNS = ("", "tokens", "tokens/s", "forced", "µs/mask", "p50", "max", "1st mask", "valid", "unconstrained")


class PlainView:
    """Lines of text, for files, pipes and simple terminals."""

    _num_shown = 0

    def start(self, engine: Engine, seconds_to_load: float) -> None:
        print(f"Maskwright demo: {_introduction(engine, seconds_to_load)}")

    @contextmanager
    def showing(self, run: Run) -> Iterator[None]:
        self._num_shown = 0
        print(f"\n== {_headline(run)}\n\n-- {_HELD_TITLE}", flush=True)
        yield
        self.update(run)
        self._verdict(run.held)
        print(f"\n-- {_FREE_TITLE}\n{run.free.text}", end="")
        self._verdict(run.free)

    def update(self, run: Run) -> None:
        new = run.held.pieces[self._num_shown :]
        self._num_shown += len(new)
        print("".join(text for text, _ in new), end="", flush=True)

    @staticmethod
    def _verdict(side: Side) -> None:
        assert side.verdict is not None
        print(f"\n   {_mark(side)} {side.verdict.message} ({_ending(side)})", flush=True)

    def summary(self, runs: list[Run]) -> None:
        rows = [_COLUMNS, *map(_figures, runs)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        print("\n== Figures")
        for row in rows:
            cells = (f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
            print(f"{row[0]:<{widths[0]}}  {'  '.join(cells)}")
        print(_FOOTNOTE)


class RichView:
    """Two columns that grow while the tokens come."""

    def __init__(self) -> None:
        from rich.console import Console

        self._console = Console(highlight=False)

    def start(self, engine: Engine, seconds_to_load: float) -> None:
        self._console.print(f"\n[bold]Maskwright[/] [dim]{_introduction(engine, seconds_to_load)}[/]")
        self._console.print("[dim]left: [/][cyan]forced by the grammar[/][dim], [/]chosen by the model\n")

    @contextmanager
    def showing(self, run: Run) -> Iterator[None]:
        from rich.live import Live

        with Live(console=self._console, refresh_per_second=30, get_renderable=lambda: self._table(run)):
            yield

    def update(self, run: Run) -> None:
        """The display looks at the run by itself, thirty times a second."""

    def summary(self, runs: list[Run]) -> None:
        from rich.table import Table

        table = Table(
            box=None, padding=(0, 1, 0, 0), title="[bold]Figures[/]", title_justify="left", header_style="dim"
        )
        for name in _COLUMNS:
            table.add_column(name, justify="right" if name else "left", no_wrap=True)
        for run in runs:
            *figures, held, free = _figures(run)
            table.add_row(*figures, self._colored(held), self._colored(free))
        self._console.print(table)
        self._console.print(f"[dim]{_FOOTNOTE}[/]")
        self._console.print("[dim]next: [/]maskwright demo --seed 17[dim] · [/]maskwright generate --help")

    def _table(self, run: Run) -> Any:
        from rich.box import ROUNDED
        from rich.table import Table
        from rich.text import Text

        table = Table(
            box=ROUNDED, expand=True, border_style="dim", title=Text(_headline(run), "bold"), title_justify="left"
        )
        for title, color in ((_HELD_TITLE, "green"), (_FREE_TITLE, "red")):
            table.add_column(Text(title, color), ratio=1, overflow="fold")
        table.add_row(*(self._body(side) for side in (run.held, run.free)))
        return table

    def _body(self, side: Side) -> Any:
        from rich.text import Text

        body = Text()
        for piece, forced in side.pieces:
            body.append(piece, "cyan" if forced else "")
        if side.verdict is not None:
            body.append(f"\n\n{_mark(side)} {side.verdict.message}", "bold green" if side.verdict.ok else "bold red")
            body.append(f"\n  {_ending(side)}", "dim")
        return body

    @staticmethod
    def _colored(mark: str) -> str:
        return {"✓": "[bold green]✓[/]", "✗": "[bold red]✗[/]"}.get(mark, mark)
