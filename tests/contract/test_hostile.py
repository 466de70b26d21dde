"""The contract, line 8: every input is hostile. Each gets a result or a typed error, in seconds, in bounded memory.

Each runs in a process of its own (hostile_inputs.py): a crash or a hang is a failure and not the end of the run.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hostile_inputs import KINDS

SANITIZED = "LD_PRELOAD" in os.environ
SECONDS = 90 if SANITIZED else 20
MEGABYTES = 16_000 if SANITIZED else 1_500
ANSWERS = {
    "regex": {"result", "RegexSyntaxError", "UnsatisfiableError", "LimitError"},
    "ebnf": {"result", "EbnfSyntaxError", "UnsatisfiableError", "LimitError"},
    "schema": {"result", "SchemaError", "UnsupportedSchemaError", "UnsatisfiableError", "LimitError"},
    "ir": {"result", "GrammarError", "UnsatisfiableError", "LimitError", "TypeError"},
    "long": {"result"},
}
CERTAIN = {
    ("ebnf", "no base case"): "UnsatisfiableError",
    ("ebnf", "itself"): "UnsatisfiableError",
    ("ebnf", "a ring of rules that may be empty"): "result",
    ("ebnf", "2,000 counted rules in each other"): "LimitError",
    ("regex", "a million"): "result",
    ("regex", "NUL"): "result",
    ("regex", "exponential subsets"): "result",
    ("regex", "50k alternatives"): "result",
    ("schema", "no finite instance"): "UnsatisfiableError",
    ("schema", "100k choices"): "result",
    ("schema", "1,000 optional properties"): "result",
    ("schema", "maxLength of a million"): "result",
    ("ir", "100k choices"): "result",
    ("ir", "200k rules in a chain"): "result",
    ("ir", "30k rules in a ring"): "result",
    ("ir", "30k rules in a ring without an end"): "UnsatisfiableError",
    ("ir", "2,000 left recursive rules in a ring"): "LimitError",
    ("ir", "a million"): "result",
    ("ir", "nullable cycle"): "result",
    ("ir", "no root"): "TypeError",
    ("ir", "no expression"): "TypeError",
    ("ir", "a reference to nowhere"): "TypeError",
}


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in KINDS for name in KINDS[kind]])
def test_hostile(kind: str, name: str) -> None:
    script = Path(__file__).with_name("hostile_inputs.py")
    command = [sys.executable, str(script), kind, name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr[-2_000:]
    answer, megabytes = done.stdout.splitlines()
    assert answer in ANSWERS[kind]
    assert answer == CERTAIN.get((kind, name), answer)
    assert int(megabytes) < MEGABYTES
