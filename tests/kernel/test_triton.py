"""The Triton kernels: their results by Triton's interpreter, which needs no GPU, and whether they compile for GPUs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="an optional dependency")
pytest.importorskip("triton", reason="an optional dependency")

TESTS = Path(__file__).resolve().parents[1]
COMPILES = """
import sys
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from maskwright.bitmask import triton_apply, triton_sampling

POINTERS = {"logits": "*bf16", "bitmask": "*i32", "masked_rows": "*u8", "rows": "*i64", "tokens": "*i64"}
POINTERS |= {"result": "*fp32", "temperatures": "*fp32", "inverse_temperatures": "*fp32", "top_k": "*i64"}
POINTERS |= {"top_p": "*fp32", "seeds": "*i64", "positions": "*i64"}
KERNELS = [triton_apply._apply_kernel, triton_sampling._argmax_kernel]
KERNELS += [triton_sampling._softmax_kernel, triton_sampling._sample_kernel]
targets = {"sm_80": ("cuda", 80, 32), "sm_90": ("cuda", 90, 32), "gfx942": ("hip", "gfx942", 64)}
target = GPUTarget(*targets[sys.argv[1]])
for kernel in KERNELS:
    constants = {name: True for name in kernel.arg_names if name.startswith("HAS_")} | {"BLOCK": 4096}
    signature = {name: "constexpr" if name in constants else POINTERS.get(name, "i32") for name in kernel.arg_names}
    places = {(kernel.arg_names.index(name),): value for name, value in constants.items()}
    source = ASTSource(kernel, signature, constexprs=places)
    made = triton.compile(source, target=target, options={"num_warps": 8})
    assert set(made.asm) & {"cubin", "hsaco"}, kernel.__name__
"""


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join([str(TESTS), *sys.path])
    environment: dict[str, Any] = {**os.environ, "PYTHONPATH": paths, **variables}
    return subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, timeout=500)


def test_results_by_the_interpreter() -> None:
    cases = str(TESTS / "kernel" / "triton_cases.py")
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(TESTS), cases, TRITON_INTERPRET="1")
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "gfx942"])
def test_kernels_compile(target: str, tmp_path: Path) -> None:
    done = run("-W", "ignore", "-c", COMPILES, target, TRITON_INTERPRET="0", TRITON_CACHE_DIR=str(tmp_path))
    assert done.returncode == 0, done.stderr[-4000:]
