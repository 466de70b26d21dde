"""MaskBench's development schemas, through the kernel: none accepts wrong data.

Every fifth schema; all of them with MASKWRIGHT_EXHAUSTIVE=5. Right data is rejected where its members come in another
order than the schema declares; refusals are counted.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from itertools import islice

import pytest

from corpora import MASKBENCH
from maskwright.errors import LimitError, SchemaError, UnsatisfiableError
from maskwright.frontends.json_schema import schema_to_ir
from oracle.comparing import scaled

STEP = max(1, 500 // scaled(100))


@pytest.mark.skipif(not MASKBENCH.exists(), reason="the MaskBench schemas are not here")
def test_no_schema_accepts_wrong_data() -> None:
    pytest.importorskip("maskwright._kernel", reason="the kernel is not built", exc_type=ImportError)
    from maskwright import Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo

    info = TokenizerInfo.from_vocab([bytes([b]) for b in range(256)] + [b""], stop_token_ids=[256])
    compiler = GrammarCompiler(info, max_threads=1, cache_enabled=False)
    outcomes: Counter[str] = Counter()
    wrong = []
    with gzip.open(MASKBENCH, "rt", encoding="utf-8") as lines:
        for record in map(json.loads, islice(lines, 0, None, STEP)):
            try:
                compiled = compiler.compile_grammar(Grammar(schema_to_ir(record["schema"])))
            except (SchemaError, LimitError, UnsatisfiableError) as error:
                outcomes[type(error).__name__] += 1
                continue
            right = True
            for test in record["tests"]:
                matcher = GrammarMatcher(compiled)
                text = json.dumps(test["data"], ensure_ascii=False).encode("utf-8", "replace")
                ok = matcher.accept_string(text) and matcher.is_completed()
                right &= ok == bool(test["valid"])
                if ok and not test["valid"]:
                    wrong.append((record["id"], test["description"]))
            outcomes["right" if right else "rejects right data"] += 1
    assert wrong == []
    assert outcomes["right"] >= 0.9 * outcomes.total(), outcomes
