"""What the environment says to adapters."""

from __future__ import annotations

from pathlib import Path

import pytest

from maskwright import OptionError, TokenizerInfo
from maskwright.compiling import task_compiler
from maskwright.integrations.environment import CACHE_DIR, compiler_of, is_on

INFO = TokenizerInfo.from_vocab(["a", "b"], stop_token_ids=[])


def test_a_directory_for_compiled_grammars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_compiler, "_WORTH_KEEPING_S", 0.0)
    monkeypatch.setenv(CACHE_DIR, str(tmp_path / "cache"))
    made = compiler_of(INFO)
    made.compile_regex("a+b")
    made._workers._executor.shutdown()  # type: ignore[union-attr]
    again = compiler_of(INFO)
    again.compile_regex("a+b")
    assert again.stats().disk_hits == 1


@pytest.mark.parametrize("value", [None, ""])
def test_none(value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CACHE_DIR, raising=False)
    if value is not None:
        monkeypatch.setenv(CACHE_DIR, value)
    assert compiler_of(INFO)._kept is None


def test_a_directory_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv(CACHE_DIR, str(tmp_path / "file"))
    with pytest.raises(OptionError, match="cache_dir cannot be made"):
        compiler_of(INFO)


@pytest.mark.parametrize(
    ("value", "expected"), [("1", True), (" On ", True), ("false", False), ("0", False), ("no", False)]
)
def test_switches(value: str, expected: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MASKWRIGHT_X", value)
    assert is_on("MASKWRIGHT_X") is expected
    assert is_on("MASKWRIGHT_X", by_default=True) is expected


def test_switches_that_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for say_nothing in (
        lambda: monkeypatch.delenv("MASKWRIGHT_X", False),
        lambda: monkeypatch.setenv("MASKWRIGHT_X", ""),
    ):
        say_nothing()
        assert not is_on("MASKWRIGHT_X")
        assert is_on("MASKWRIGHT_X", by_default=True)
    monkeypatch.setenv("MASKWRIGHT_X", "flase")
    with pytest.raises(OptionError, match="MASKWRIGHT_X must be 1 or 0, not 'flase'"):
        is_on("MASKWRIGHT_X")
