"""MaskBench schemas for web/bench/figures.js, with their times in the native kernel.

    python web/bench/dump_schemas.py OUT [COUNT]

writes `OUT/schemas.json`: for COUNT schemas (200), spread over the corpus, the grammar file, a valid document as tokens of
the vocabulary of benchmarks/vocabulary.py, and milliseconds natively: compiling (front-ends included), the first mask,
and each token (mask and accept), as processor time, the best of three.
"""

from __future__ import annotations

import base64
import gzip
import json
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "benchmarks")]

from vocabulary import SHARED, Longest, load  # noqa: E402

from maskwright import Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo, allocate_token_bitmask  # noqa: E402
from maskwright.errors import MaskwrightError  # noqa: E402
from maskwright.ir.portable import to_bytes  # noqa: E402

REPEATS = 3


def main(out: Path, count: int) -> None:
    """Write the file."""
    name, info = load()
    encoder = Longest(info)
    with gzip.open(SHARED / "corpora" / "maskbench-dev.jsonl.gz", "rt") as file:
        records = [json.loads(line) for line in file]
    cases: list[dict[str, Any]] = []
    for record in records[:: max(1, len(records) // (2 * count))]:
        valid = [test["data"] for test in record["tests"] if test["valid"]]
        if valid and len(cases) < count:
            text = json.dumps(valid[0], ensure_ascii=False)
            case = measured(record, info, encoder.encode(text.encode()))
            cases += [case] if case else []
    out.mkdir(parents=True, exist_ok=True)
    data = {"vocabulary": name, "stop": list(info.stop_token_ids), "vocabSize": info.vocab_size, "cases": cases}
    (out / "schemas.json").write_text(json.dumps(data))
    ranks = ((i, text) for i, text in enumerate(info.token_bytes) if i not in info.special_token_ids)
    lines = [f"{base64.b64encode(text).decode()} {i}\n" for i, text in ranks]
    (out / "vocabulary.tiktoken").write_text("".join(lines))
    print(f"{len(cases)} schemas, {sum(len(case['tokens']) for case in cases)} tokens, vocabulary {name}")


def measured(record: dict[str, Any], info: TokenizerInfo, tokens: list[int]) -> dict[str, Any] | None:
    """A schema with its times; None where it is not supported, or the document is not one of its own."""
    schema = json.dumps(record["schema"])
    bitmask = allocate_token_bitmask(1, info.vocab_size)
    best = {"compile": float("inf"), "first": float("inf"), "token": float("inf")}
    try:
        for _ in range(REPEATS):
            compiler = GrammarCompiler(info, cache_enabled=False)
            begin = time.thread_time()
            grammar = Grammar.from_json_schema(schema)
            compiled = compiler.compile_grammar(grammar)
            made = time.thread_time()
            matcher = GrammarMatcher(compiled)
            matcher.fill_next_token_bitmask(bitmask)
            first = time.thread_time()
            for token in tokens:
                matcher.fill_next_token_bitmask(bitmask)
                if not matcher.accept_token(token):
                    return None
            end = time.thread_time()
            now = {"compile": made - begin, "first": first - made, "token": (end - first) / len(tokens)}
            best = {key: min(best[key], 1e3 * now[key]) for key in best}
    except MaskwrightError:
        return None
    file = base64.b64encode(to_bytes(grammar.compact_ir)).decode()
    return {"id": record["id"], "schema": schema, "file": file, "tokens": tokens, "native": best}


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 200)
