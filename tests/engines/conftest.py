"""Real engines with real models: `make test-engines`. Under `make test`, what is not installed is skipped by name.

The engines' own warnings are not ours to mend, so here they are no errors.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engines import models


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("default"))


@pytest.fixture(scope="session")
def smollm2_gguf() -> Path:
    """SmolLM2-135M-Instruct as a GGUF file."""
    return _or_skip(models.smollm2_gguf)


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """SmolLM2-135M-Instruct as a folder for transformers and vLLM."""
    return _or_skip(models.smollm2)


@pytest.fixture(scope="session")
def smollm2_onnx() -> Path:
    """SmolLM2-135M-Instruct as a folder for ONNX Runtime GenAI."""
    return _or_skip(models.smollm2_onnx)


@pytest.fixture(scope="session")
def toy() -> Path:
    """Two small layers with random weights and Llama 3's vocabulary."""
    return _or_skip(models.toy)


@pytest.fixture(scope="session")
def thinking_toy() -> Path:
    """The toy with tokens and a template for reasoning and tool calls."""
    return _or_skip(models.thinking_toy)


def _or_skip(make: Callable[[], Path]) -> Path:
    try:
        return make()
    except models.MissingModel as missing:
        pytest.skip(str(missing))
