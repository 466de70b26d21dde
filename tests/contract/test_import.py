"""`import maskwright` is light: none of the extras, and fast."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import maskwright

HEAVY = (
    "torch",
    "transformers",
    "tokenizers",
    "tiktoken",
    "sentencepiece",
    "mistral_common",
    "rich",
    "pydantic",
    "regex",
)
SCRIPT = """
import sys, time
start = time.process_time()
import numpy
after_numpy = time.process_time()
import maskwright
own = time.process_time() - after_numpy
print(own / (after_numpy - start), *(name for name in {heavy} if name in sys.modules))
"""


def run_import() -> tuple[float, list[str]]:
    """What our import took, in imports of numpy, and which of the heavy modules are loaded after it."""
    script = SCRIPT.format(heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    ratio, *loaded = done.stdout.split()
    return float(ratio), loaded


def test_no_extra_is_imported() -> None:
    assert run_import()[1] == []


@pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="sanitizers make everything slow")
def test_import_is_fast() -> None:
    """Compared with numpy, which takes 0.06 s where this was written: together under 0.2 s, whatever the machine."""
    assert min(run_import()[0] for _ in range(5)) < 2


def test_submodules_are_imported_when_they_are_used() -> None:
    script = "import maskwright as mw, sys; assert 'maskwright.structural_tag' not in sys.modules; "
    script += "print(*(getattr(mw, name).__name__ for name in sys.argv[1:]))"
    names = ("structural_tag", "openai_shapes", "grammars")
    command = [sys.executable, "-c", script, *names]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == [f"maskwright.{name}" for name in names]


def test_names_of_structural_tags_are_those_of_their_module() -> None:
    assert maskwright.StructuralTag is maskwright.structural_tag.StructuralTag
    assert maskwright.get_model_structural_tag is maskwright.structural_tag.get_model_structural_tag
    assert {"StructuralTag", "get_model_structural_tag"} <= set(dir(maskwright))


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        maskwright.no_such_name  # noqa: B018


def test_a_library_that_is_missing_is_named_with_the_command_that_installs_it() -> None:
    script = "import sys; sys.modules['torch'] = None; import maskwright as mw; mw.generate"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    hint = "hint: pip install torch transformers\n"
    assert done.stderr.endswith(f"maskwright.integrations.transformers needs torch\n  {hint}")
