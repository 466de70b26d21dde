"""`maskwright.compat.install`: in processes of their own, since it changes what an import means."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("torch", reason="an optional dependency")
pytest.importorskip("pydantic", reason="an optional dependency")


def run(program: str, **environment: str) -> list[str]:
    """The lines that a program prints."""
    import os

    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_every_module_is_ours_under_both_names() -> None:
    lines = run(
        """
        import maskwright.compat
        print(maskwright.compat.install(), maskwright.compat.install(), maskwright.compat.is_installed())
        import xgrammar, xgrammar.kernels.apply_token_bitmask_inplace_cpu, importlib.util, pkgutil
        from xgrammar.openai_tool_call_schema import FunctionToolParam
        import maskwright.compat.xgrammar as ours, maskwright.compat.xgrammar.matcher
        print(xgrammar is ours, xgrammar.matcher is ours.matcher, xgrammar.GrammarMatcher is ours.GrammarMatcher)
        print(importlib.util.find_spec("xgrammar").origin == ours.__file__)
        print(importlib.util.find_spec("xgrammar.matcher").origin == ours.matcher.__file__)
        for module in pkgutil.walk_packages(xgrammar.__path__, "xgrammar."):
            if not module.name.endswith(("hf", "mlx", "mlxlm")):
                assert "maskwright" in __import__(module.name, fromlist=["x"]).__file__
        try:
            import xgrammar.no_such_module
        except ModuleNotFoundError as error:
            print(error)
        """
    )
    assert lines == ["() () True", "True True True", "True", "True", lines[-1]]
    assert "no_such_module" in lines[-1]


def test_a_package_imported_before_is_reported_and_can_be_replaced() -> None:
    lines = run(
        """
        import sys, types, maskwright.compat
        fake = types.ModuleType("xgrammar")                # what stands for the real package
        exec("class Grammar: pass\\ndef reset_token_bitmask(bitmask): pass", fake.__dict__)
        sys.modules["xgrammar"] = fake
        user = types.ModuleType("user")
        user.xgr, user.Grammar, user.several = fake, fake.Grammar, (fake.Grammar, 1)
        user.by_name, user.listed, user.kept = {"a": fake.Grammar}, [fake.reset_token_bitmask], fake.Grammar()
        alias = user.by_name
        sys.modules["user"] = user
        try:
            maskwright.compat.install()
        except ImportError as error:
            by = error.modules
            print(type(error).__name__, "user" in by, "sys" in by, "before the first import" in str(error))
        print(maskwright.compat.is_installed(), user.xgr is fake)
        print("user" in maskwright.compat.install(replace=True))
        import xgrammar
        print(user.xgr is xgrammar, user.Grammar is xgrammar.Grammar, user.several == (xgrammar.Grammar, 1))
        print(alias is user.by_name, alias == {"a": xgrammar.Grammar}, user.listed == [xgrammar.reset_token_bitmask])
        print(type(user.kept) is not xgrammar.Grammar)
        maskwright.compat.uninstall()
        print("xgrammar" in sys.modules, maskwright.compat.is_installed())
        """
    )
    assert lines == [
        "AlreadyImportedError True False True",
        "False True",
        "True",
        "True True True",
        "True True True",
        "True",
        "False False",
    ]


@pytest.mark.parametrize(("value", "expected"), [("1", "True"), ("on", "True"), ("0", "False"), ("", "False")])
def test_the_plugins_entry_point_installs_if_asked(value: str, expected: str) -> None:
    program = """
        from maskwright.compat import is_installed, plugins
        plugins.install_if_asked()
        plugins.install_if_asked()
        print(is_installed())
        """
    assert run(program, MASKWRIGHT_AS_XGRAMMAR=value) == [expected]


def test_another_value_of_the_variable_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from maskwright.compat import plugins
    from maskwright.errors import OptionError

    monkeypatch.setenv("MASKWRIGHT_AS_XGRAMMAR", "maybe")
    with pytest.raises(OptionError, match="MASKWRIGHT_AS_XGRAMMAR must be 1 or 0"):
        plugins.install_if_asked()


def test_the_entry_points_are_declared_for_both_engines() -> None:
    tomllib = pytest.importorskip("tomllib", reason="of Python 3.11")
    from pathlib import Path

    project = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text())["project"]
    for group in ("vllm.general_plugins", "sglang.srt.plugins"):
        target = project["entry-points"][group]["maskwright_as_xgrammar"]
        module, _, name = target.partition(":")
        assert callable(getattr(__import__(module, fromlist=[name]), name))
