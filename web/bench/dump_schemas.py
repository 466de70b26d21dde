"""MaskBench schemas for web/bench/figures.js, with their times in the native kernel.

    python web/bench/dump_schemas.py OUT [COUNT]

writes `OUT/schemas.json`: for COUNT schemas (200), spread over the corpus, the grammar file, a valid document as
tokens of the vocabulary of benchmarks/vocabulary.py, and milliseconds natively: compiling (front-ends and kernel), the
kernel's part of that, the first mask, and each token (mask and accept), by the clock, as a page measures, of the first
of three runs and the best.
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
    runs: list[dict[str, float]] = []
    try:
        for _ in range(REPEATS):
            compiler = GrammarCompiler(info, cache_enabled=False)
            begin = time.perf_counter()
            grammar = Grammar.from_json_schema(schema)
            read = time.perf_counter()
            compiled = compiler.compile_grammar(grammar)
            made = time.perf_counter()
            matcher = GrammarMatcher(compiled)
            matcher.fill_next_token_bitmask(bitmask)
            first = time.perf_counter()
            for token in tokens:
                matcher.fill_next_token_bitmask(bitmask)
                if not matcher.accept_token(token):
                    return None
            end = time.perf_counter()
            spans = {"compile": made - begin, "load": made - read, "first": first - made, "token": end - first}
            now = {key: 1e3 * span / (len(tokens) if key == "token" else 1) for key, span in spans.items()}
            runs.append(now)
    except MaskwrightError:
        return None
    file = base64.b64encode(to_bytes(grammar.compact_ir)).decode()
    best = {key: min(run[key] for run in runs) for key in runs[0]}
    return {"id": record["id"], "schema": schema, "file": file, "tokens": tokens, "native": [runs[0], best]}


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 200)
