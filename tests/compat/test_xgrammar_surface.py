"""The public names of `maskwright.compat.xgrammar`, their parameters and defaults, compared with the real package.

Everything that XGrammar's modules define without a leading underscore must be here, with the same parameters in the
same order, of the same kinds, with the same defaults. What is not is listed below with the reason.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from enum import Enum
from typing import Any

import pytest

pytest.importorskip("torch", reason="an optional dependency")
real = pytest.importorskip("xgrammar", reason="XGrammar is not installed: pip install xgrammar==0.2.8")
if real.__name__ != "xgrammar":
    pytest.skip("maskwright stands in for xgrammar in this process", allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")  # torch.compile of the real package

OURS = "maskwright.compat.xgrammar"
INSIDES = {
    "xgrammar.load_binding": "loads its shared library",
    "xgrammar.libxgrammar_bindings": "its shared library",
    "xgrammar.tvm_ffi_binding": "its C++ interface, and what is below it",
}
EXCEPTIONS = {
    "xgrammar.base.XGRObject": "made from a handle of its C++ objects",
    "xgrammar.kernels.apply_token_bitmask_inplace_triton.apply_token_bitmask_inplace_kernel": "a Triton kernel itself",
}
OWN_HELPERS = {"_generate_float_regex": "shows how its converter writes ranges of numbers, for its own tests"}


def modules() -> Iterator[str]:
    yield "xgrammar"
    for found in pkgutil.walk_packages(real.__path__, "xgrammar."):
        if not any(found.name == inside or found.name.startswith(inside + ".") for inside in INSIDES):
            yield found.name


def importable(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        pytest.skip(f"{name} cannot be imported here: {error}")


@pytest.mark.parametrize("name", sorted(modules()))
def test_module_has_the_same_names_and_signatures(name: str) -> None:
    theirs = importable(name)
    ours = importlib.import_module(OURS + name.removeprefix("xgrammar"))
    assert set(getattr(theirs, "__all__", ())) <= set(dir(ours)) | {"hf"}
    problems = []
    for attribute, value in sorted(vars(theirs).items()):
        place = f"{name}.{attribute}"
        if attribute.startswith("_") or place in EXCEPTIONS or getattr(value, "__module__", None) != name:
            continue
        if not hasattr(ours, attribute):
            problems.append(f"{place} is missing")
        elif callable(value):
            problems += differences(place, value, getattr(ours, attribute))
    assert problems == []


def test_all_is_complete() -> None:
    ours = importlib.import_module(OURS)
    assert sorted(real.__all__) == sorted(ours.__all__)
    assert [name for name in real.__all__ if not hasattr(ours, name)] == []


def test_private_helpers_that_code_in_the_wild_uses_are_there() -> None:
    ours = importlib.import_module(OURS).testing
    helpers = [name for name, value in vars(real.testing).items() if inspect.isfunction(value)]
    problems = []
    for name in helpers:
        if getattr(real.testing, name).__module__ == "xgrammar.testing" and name not in OWN_HELPERS:
            assert hasattr(ours, name), name
            problems += differences(name, getattr(real.testing, name), getattr(ours, name))
    assert problems == []


def differences(place: str, theirs: Any, ours: Any) -> list[str]:
    if not inspect.isclass(theirs):
        return [] if shape(theirs) == shape(ours) else [f"{place}: {shape(theirs)} here {shape(ours)}"]
    if issubclass(theirs, Enum):
        same = {each.name: each.value for each in theirs} == {each.name: each.value for each in ours}
        return [] if same else [f"{place} has other members"]
    if hasattr(theirs, "model_fields"):
        problems = fields_that_differ(place, theirs, ours)
    elif issubclass(theirs, Exception):
        problems = [] if issubclass(ours, RuntimeError) else [f"{place} is not a RuntimeError"]
    else:
        problems = [] if shape(theirs) == shape(ours) else [f"{place}: {shape(theirs)} here {shape(ours)}"]
    for attribute, value in vars(theirs).items():
        if attribute.startswith(("_", "model_")):
            continue
        if not hasattr(ours, attribute):
            problems.append(f"{place}.{attribute} is missing")
        elif isinstance(inspect.getattr_static(theirs, attribute), property):
            kept = isinstance(inspect.getattr_static(ours, attribute), property)
            problems += [] if kept else [f"{place}.{attribute} is not a property"]
        elif callable(value) or isinstance(value, staticmethod):
            mine, other = shape(getattr(ours, attribute)), shape(getattr(theirs, attribute))
            problems += [] if mine == other else [f"{place}.{attribute}: {other} here {mine}"]
    return problems


def fields_that_differ(place: str, theirs: Any, ours: Any) -> list[str]:
    def described(model: Any) -> dict[str, Any]:
        return {
            name: (field.is_required(), None if field.is_required() else field.get_default(), field.alias)
            for name, field in model.model_fields.items()
        }

    return [] if described(theirs) == described(ours) else [f"{place}: {described(theirs)} here {described(ours)}"]


def shape(function: Any) -> list[tuple[str, str, Any]] | None:
    """The parameters: names, kinds, defaults."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return [(each.name, each.kind.name, as_data(each.default)) for each in parameters]


def as_data(default: Any) -> Any:
    return (type(default).__name__, default.name) if isinstance(default, Enum) else default
