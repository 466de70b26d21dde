"""The kernel's type stub is what the built module says of itself."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

import maskwright
from maskwright import _kernel


@pytest.mark.skipif(importlib.util.find_spec("nanobind") is None, reason="nanobind writes the stub")
def test_the_stub_is_up_to_date() -> None:
    from nanobind.stubgen import StubGen

    generator = StubGen(_kernel)
    generator.put(_kernel)
    written = (Path(maskwright.__file__).parent / "_kernel.pyi").read_text()
    assert _lines(generator.get()) == _lines(written), "run: make stub"


def _lines(stub: str) -> list[str]:
    """Layout aside: formatting splits lines and moves blank ones."""
    return "".join(stub.split()).replace(",)", ")").replace('"""', "\n").splitlines()
