"""Corpora and tokenizers that are too large for the repository: in the folder that MASKWRIGHT_DATA names.

Without the variable, in `shared` beside the checkout. Tests that need one that is not there are skipped, or take the
small sample that is committed.
"""

from __future__ import annotations

import os
from pathlib import Path

DATA = Path(os.environ.get("MASKWRIGHT_DATA") or Path(__file__).resolve().parents[2] / "shared")
MASKBENCH = DATA / "corpora" / "maskbench-dev.jsonl.gz"
JSON_SCHEMA_TEST_SUITE = DATA / "corpora" / "json-schema-test-suite"
TOKENIZERS = DATA / "tokenizers"
LLAMA3 = TOKENIZERS / "llama3.tiktoken"
