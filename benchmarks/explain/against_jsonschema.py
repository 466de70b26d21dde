"""Is what `explain_rejection` says right, and how long does it take?

    python benchmarks/explain/against_jsonschema.py --schemas 200

Data are in MaskBench's form (bench_peers.py). Of schemas with rejected documents, evenly spread over the file, the
first such document is explained, with `any_order=True`, since the order of members is no part of JSON Schema:
    continuation   with it in place of the rest, our matcher and python-jsonschema both find the document valid
    keyword        the pointer is that of a keyword which python-jsonschema reports too, in branches of anyOf as well
    format         it is a `format`, which python-jsonschema checks only in part
    sub-schema     no keyword is named, and python-jsonschema reports one in the sub-schema that is
    other          anything else; --show prints them
Times are processor time in ms: the first answer, which reads the schema again, and the same question asked again.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any
from urllib.parse import unquote

import jsonschema
from jsonschema.validators import validator_for

import maskwright as mw

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from vocabulary import SHARED, load


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=SHARED / "corpora" / "maskbench-dev.jsonl.gz")
    parser.add_argument("--schemas", type=int, default=200)
    parser.add_argument("--show", action="store_true", help="print what is neither right nor named")
    arguments = parser.parse_args()
    name, info = load()
    compiler = mw.GrammarCompiler(info)
    counts: Counter[str] = Counter()
    first, again = list[float](), list[float]()
    for record in chosen(arguments.data, arguments.schemas):
        data = next(test["data"] for test in record["tests"] if not test["valid"])
        text = json.dumps(data, ensure_ascii=False)
        counts["documents"] += 1
        try:
            compiled = compiler.compile_json_schema(record["schema"], any_order=True)
        except mw.errors.MaskwrightError:
            counts["schema refused"] += 1
            continue
        why, ms = timed(compiled, text)
        if why is None:
            counts["accepted"] += 1
            continue
        first.append(ms)
        again.append(min(timed(compiled, text)[1] for _ in range(3)))
        counts["explained"] += 1
        kind_of_validator = validator_for(record["schema"], jsonschema.Draft202012Validator)
        validator = kind_of_validator(record["schema"], format_checker=jsonschema.FormatChecker())
        counts["continuation: " + continued(compiled, validator, text, why)] += 1
        kind = agreement(why, record["schema"], validator, data)
        counts["pointer: " + kind] += 1
        if arguments.show and (kind == "other" or why.continuation is None):
            print(record["id"], kind, why, sorted(pointers(record["schema"], validator, data))[:4], sep="\n    ")
    print(f"{name}, {info.vocab_size:,} tokens")
    for key, count in sorted(counts.items()):
        print(f"{key:40} {count:5}")
    for key, times in (("first answer", first), ("again", again)):
        cuts = statistics.quantiles(times, n=100)
        print(f"{key:14} ms: p50 {cuts[49]:.2f}  p90 {cuts[89]:.2f}  p99 {cuts[98]:.2f}  most {max(times):.1f}")


def chosen(path: Path, wanted: int) -> list[dict[str, Any]]:
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    records = [json.loads(line) for line in text.decode().splitlines()]
    records = [record for record in records if any(not test["valid"] for test in record["tests"])]
    step = max(1, len(records) // wanted)
    return records[::step][:wanted]


def timed(compiled: mw.CompiledGrammar, text: str) -> tuple[Any, float]:
    begin = process_time()
    why = compiled.explain_rejection(text)
    return why, (process_time() - begin) * 1e3


def continued(compiled: mw.CompiledGrammar, validator: Any, text: str, why: Any) -> str:
    if why.continuation is None:
        return "none found"
    whole = text.encode()[: why.offset] + why.continuation
    if compiled.explain_rejection(whole) is not None:
        return "rejected by us"
    return "valid" if validator.is_valid(json.loads(whole)) else "rejected by python-jsonschema"


def agreement(why: Any, schema: Any, validator: Any, data: Any) -> str:
    reported = pointers(schema, validator, data)
    if why.pointer is None:
        return "none"
    if why.origin.keyword is None:
        return "sub-schema" if any(f"{each}/".startswith(f"{why.pointer}/") for each in reported) else "other"
    if why.pointer in reported:
        return "keyword"
    return "format" if why.origin.keyword == "format" else "other"


def pointers(schema: Any, validator: Any, data: Any) -> set[str]:
    """Where the keywords stand that python-jsonschema finds violated."""
    return {pointer_of(schema, list(error.absolute_schema_path)) for error in errors(validator.iter_errors(data))}


def errors(found: Any) -> Iterator[Any]:
    waiting = list(found)
    while waiting:
        error = waiting.pop()
        yield error
        waiting += error.context


def pointer_of(schema: Any, path: list[Any]) -> str:
    """The JSON pointer of a keyword, with references followed: a path leads through them."""
    at, steps = schema, list[str]()
    for key in path:
        while isinstance(at, dict) and key not in at and str(at.get("$ref")).startswith("#"):
            steps = [part.replace("~1", "/").replace("~0", "~") for part in unquote(at["$ref"]).split("/")[1:]]
            at = schema
            for step in steps:
                at = at[int(step) if isinstance(at, list) else step]
        steps.append(str(key))
        at = at.get(key) if isinstance(at, dict) else at[key]
    return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in steps)


if __name__ == "__main__":
    main()
