"""Programs that users are shown, run as they stand: in a process of their own, with a real model for the named one.

But vLLM goes without compiling the model, which takes minutes on a small machine. A program may name
`HuggingFaceTB/SmolLM2-135M-Instruct` (a hub's name), which becomes the folder that `models.smollm2` makes, or the GGUF
file or the ONNX folder by their names; it is skipped where something that it imports is not installed.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from engines import models

HUB_NAME = "HuggingFaceTB/SmolLM2-135M-Instruct"
ONNX_NAME = "SmolLM2-135M-Instruct-onnx"


def run_program(source: str, folder: Path, *, name: str) -> str:
    """Run a program in `folder` and return what it prints; fails with its output where it fails.

    A program whose process the engine may start again must guard its main part by `if __name__ == "__main__":`.
    """
    _skip_without(imported_packages(source))
    program = folder / f"program_{name}.py"  # a page is called like the package that it imports
    program.write_text(_without_compiling(_with_real_models(source)), encoding="utf-8")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "HF_HUB_OFFLINE": "1",
        "VLLM_CPU_KVCACHE_SPACE": os.environ.get("VLLM_CPU_KVCACHE_SPACE", "1"),
    }
    done = subprocess.run(
        [sys.executable, str(program)], cwd=folder, env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-8000:]}"
    return done.stdout


def imported_packages(source: str) -> list[str]:
    """The top-level packages that a program imports, anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return sorted(found)


def _skip_without(packages: list[str]) -> None:
    missing = [package for package in packages if importlib.util.find_spec(package) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)} (make engines)")


def _without_compiling(source: str) -> str:
    return re.sub(r"\bLLM\((?![^)]*enforce_eager)", "LLM(enforce_eager=True, model=", source)


def _with_real_models(source: str) -> str:
    try:
        if models.GGUF in source:
            source = source.replace(models.GGUF, str(models.smollm2_gguf()))
        if ONNX_NAME in source:
            source = source.replace(ONNX_NAME, str(models.smollm2_onnx()))
        if HUB_NAME in source:
            source = source.replace(HUB_NAME, str(models.smollm2()))
    except models.MissingModel as missing:
        pytest.skip(str(missing))
    return source
