"""Every integration, without the packages that it is for: a typed error, still an ImportError, with a way out."""

from __future__ import annotations

import importlib
import sys

import pytest

from maskwright.errors import MaskwrightError, MissingPackageError
from maskwright.support.packages import needed_by

INTEGRATIONS = [
    ("maskwright.integrations.transformers", "torch", "pip install torch transformers"),
    ("maskwright.integrations.transformers", "transformers", "pip install torch transformers"),
    ("maskwright.integrations.llama_cpp", "llama_cpp", "pip install llama-cpp-python"),
    ("maskwright.integrations.mlx", "mlx", "pip install mlx-lm"),
    ("maskwright.integrations.onnxruntime_genai", "onnxruntime_genai", "pip install onnxruntime-genai"),
    ("maskwright.bitmask.mlx", "mlx", "pip install mlx"),
    ("maskwright.bitmask.jax", "jax", "pip install jax"),
]


def without(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let imports be as in a process where the package is not installed and nothing that uses it was imported."""
    for name in [*sys.modules]:
        is_ours = name.startswith(("maskwright.integrations", "maskwright.bitmask."))
        if is_ours or name.partition(".")[0] in (package, "transformers"):
            monkeypatch.delitem(sys.modules, name)

    class Absent:
        def find_spec(self, name: str, path: object = None, target: object = None) -> None:
            if name.partition(".")[0] == package:
                raise ModuleNotFoundError(f"No module named {package!r}", name=package)

    monkeypatch.setattr(sys, "meta_path", [Absent(), *sys.meta_path])


@pytest.mark.parametrize(("module", "package", "way_out"), INTEGRATIONS)
def test_a_missing_package_is_named(module: str, package: str, way_out: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if package == "transformers":
        pytest.importorskip("torch", reason="is imported first")
    without(package, monkeypatch)
    with pytest.raises(MissingPackageError) as caught:
        importlib.import_module(module)
    assert str(caught.value) == f"{module} needs {package}\n  hint: {way_out}"
    assert (caught.value.name, caught.value.hint) == (package, way_out)


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_plugins_outside_of_their_engine(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    without(engine, monkeypatch)
    with pytest.raises(ImportError, match=f"maskwright.integrations.{engine} needs {engine}\n  hint: pip install"):
        importlib.import_module(f"maskwright.integrations.{engine}").register()


def test_it_is_an_import_error_as_well() -> None:
    assert issubclass(MissingPackageError, MaskwrightError)
    assert issubclass(MissingPackageError, ModuleNotFoundError)


def test_other_errors_pass() -> None:
    with pytest.raises(ModuleNotFoundError) as caught, needed_by("here", torch="torch"):
        raise ModuleNotFoundError("No module named 'torch.inner'", name="torch.inner")
    assert type(caught.value) is ModuleNotFoundError
