"""Engines over fake models, closed when a test ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fake_models import FakeModel

from maskwright.engine import LocalEngine


@pytest.fixture
def start() -> Iterator[Callable[..., LocalEngine]]:
    """Start an engine over a model."""
    engines = []

    def run(model: FakeModel, **options: Any) -> LocalEngine:
        engines.append(LocalEngine(model, **options))
        return engines[-1]

    yield run
    for engine in engines:
        engine.close()
