"""What does a restarted process gain from what an earlier one left on disk, and what is worth keeping there?

    python benchmarks/bench_disk.py --schemas 50 --repetitions 5

Three questions, answered in milliseconds of processor time, the median of the repetitions:

start     A new process, from its first instruction to the first mask of a small schema, by stages, with the tokenizer
          read by its library and from `TokenizerInfo.serialize`; and how long it takes to read and check as many bytes
          as the kernel's trie has, which is what keeping that on disk would cost at least.
grammars  The largest schemas of the corpus, compiled, and read from what `CompiledGrammar.serialize` returned and from
          a `cache_dir`; each with its first mask, on a tokenizer that has seen no other.
masks     What all masks of a valid output take when none is known, against what they take when all are: the most that
          keeping masks on disk could save.

Each compiling is in a process of its own state: a new `TokenizerInfo` and compiler. The front-ends should be compiled.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import json
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from vocabulary import SHARED, Longest, load

import maskwright as mw

CORPUS = SHARED / "corpora" / "maskbench-dev.jsonl.gz"
SMALL = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name"]}

# Each stage is a line that a new process runs; `folder` has what an earlier one left.
START: dict[str, dict[str, str]] = {
    "library": {
        "import maskwright": "import maskwright as mw",
        "read the tokenizer": "\n".join(
            (
                "import tokenizers",
                "tokenizer = tokenizers.Tokenizer.from_file(folder + '/tokenizer.json')",
                "info = mw.TokenizerInfo.from_huggingface(tokenizer, stop_token_ids=[0])",
            )
        ),
    },
    "saved": {
        "import maskwright": "import maskwright as mw",
        "read the tokenizer": "info = mw.TokenizerInfo.deserialize(open(folder + '/tokenizer.mwt', 'rb').read())",
    },
}
THEN = {
    "build the trie": "info.kernel_vocabulary",
    "make the compiler": "compiler = mw.GrammarCompiler(info)",
    "compile": f"compiled = compiler.compile_json_schema({SMALL!r})",
    "first mask": "\n".join(
        (
            "bitmask = mw.allocate_token_bitmask(1, info.vocab_size)",
            "mw.GrammarMatcher(compiled).fill_next_token_bitmask(bitmask)",
        )
    ),
}


def milliseconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Processor time of a call, and what it returned."""
    began = time.process_time()
    result = work()
    return 1e3 * (time.process_time() - began), result


def started(stages: dict[str, str], folder: str) -> dict[str, float]:
    """Run the stages in a new process; return the milliseconds of each."""
    lines = ["import sys, time", "folder = sys.argv[1]", "marks = [time.process_time()]"]
    for stage in stages.values():
        lines += [stage, "marks.append(time.process_time())"]
    program = "\n".join([*lines, "print(*marks)"])
    done = subprocess.run([sys.executable, "-c", program, folder], capture_output=True, text=True, check=True)
    marks = [float(mark) for mark in done.stdout.split()]
    spent = {"start Python": 1e3 * marks[0]}
    return spent | {name: 1e3 * (b - a) for name, (a, b) in zip(stages, pairwise(marks), strict=True)}


def write_tokenizers(info: mw.TokenizerInfo, folder: Path) -> None:
    """The vocabulary as a byte-level tokenizer.json with its merges, and as saved bytes."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    letters = bytes_to_unicode()
    spelled = ["".join(letters[b] for b in token) for token in info.token_bytes[:-1]]
    known = set(spelled)
    vocab = {text: i for i, text in enumerate(spelled)}
    merges = [
        (text[:at], text[at:])
        for text in spelled
        for at in range(1, len(text))
        if text[:at] in known and text[at:] in known
    ]
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer.mwt").write_bytes(info.serialize())


def report_start(info: mw.TokenizerInfo, repetitions: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_tokenizers(info, Path(folder))
        runs = {name: [started({**first, **THEN}, folder) for _ in range(repetitions)] for name, first in START.items()}
        size = len((Path(folder) / "tokenizer.mwt").read_bytes())
    print("| from the start to the first mask, ms | tokenizers | saved |\n| --- | ---: | ---: |")
    middle = {
        name: {stage: statistics.median(run[stage] for run in each) for stage in each[0]} for name, each in runs.items()
    }
    for stage in next(iter(middle.values())):
        print(f"| {stage} | {middle['library'][stage]:.1f} | {middle['saved'][stage]:.1f} |")
    print(f"| together | {sum(middle['library'].values()):.1f} | {sum(middle['saved'].values()):.1f} |")
    trie_bytes = info.kernel_vocabulary.memory_bytes
    with tempfile.NamedTemporaryFile() as file:
        file.write(bytes(range(256)) * (trie_bytes // 256))
        file.flush()
        spent = [milliseconds(lambda: zlib.crc32(Path(file.name).read_bytes()))[0] for _ in range(repetitions)]
    print(
        f"\nThe saved tokenizer has {size:,} bytes, the trie {trie_bytes:,}; to read so many and their checksum takes"
    )
    print(f"{statistics.median(spent):.1f} ms.\n")


def largest_schemas(count: int) -> list[Any]:
    with gzip.open(CORPUS, "rt") as lines:
        schemas = [json.loads(line)["schema"] for line in lines]
    schemas.sort(key=lambda schema: len(json.dumps(schema)), reverse=True)
    compiler = mw.GrammarCompiler(load()[1], cache_enabled=False)
    chosen: list[Any] = []
    for schema in schemas:
        try:
            compiler.compile_json_schema(schema, any_order=True)
        except mw.MaskwrightError:  # it asks for what cannot be enforced
            continue
        chosen.append(schema)
        if len(chosen) == count:
            break
    return chosen


def first_mask(compiled: mw.CompiledGrammar) -> None:
    bitmask = mw.allocate_token_bitmask(1, compiled.tokenizer_info.vocab_size)
    mw.GrammarMatcher(compiled).fill_next_token_bitmask(bitmask)


def fresh(saved: bytes) -> mw.TokenizerInfo:
    info = mw.TokenizerInfo.deserialize(saved)
    _ = info.kernel_vocabulary, info.fingerprint
    gc.collect()
    return info


def report_grammars(info: mw.TokenizerInfo, schemas: list[Any], repetitions: int) -> None:
    tokenizer = info.serialize()
    rows: list[tuple[float, ...]] = []
    for schema in schemas:
        runs = []
        for _ in range(repetitions):
            with tempfile.TemporaryDirectory() as folder:
                runs.append(costs(schema, tokenizer, folder))
        rows.append(tuple(statistics.median(column) for column in zip(*runs, strict=True)))
    names = ("compiled", "its first mask", "deserialized", "its first mask", "from cache_dir", "its first mask")
    print(f"| the {len(rows)} largest schemas, ms | median | worst | sum |\n| --- | ---: | ---: | ---: |")
    for name, column in zip((*names, "serialize", "kB"), zip(*rows, strict=True), strict=True):
        print(f"| {name} | {statistics.median(column):.2f} | {max(column):.2f} | {sum(column):.0f} |")
    shares = [(row[2] + row[3]) / (row[0] + row[1]) for row in rows]
    print(
        f"\nDeserialized, with the first mask, to compiled: {statistics.median(shares):.2f} (median of the ratios).\n"
    )


def costs(schema: Any, tokenizer: bytes, folder: str) -> tuple[float, ...]:
    """Milliseconds of compiling, of reading what was saved and of a cache's, each with its first mask; and the size."""
    compiler = mw.GrammarCompiler(fresh(tokenizer), cache_dir=folder)
    compile_ms, compiled = milliseconds(lambda: compiler.compile_json_schema(schema, any_order=True))
    wait_for_writing(compiler)
    mask_ms, _ = milliseconds(lambda: first_mask(compiled))
    serialize_ms, saved = milliseconds(compiled.serialize)
    info = fresh(tokenizer)
    read_ms, read = milliseconds(lambda: mw.CompiledGrammar.deserialize(saved, info))
    read_mask_ms, _ = milliseconds(lambda: first_mask(read))
    again = mw.GrammarCompiler(fresh(tokenizer), cache_dir=folder)
    found_ms, found = milliseconds(lambda: again.compile_json_schema(schema, any_order=True))
    found_mask_ms, _ = milliseconds(lambda: first_mask(found))
    return compile_ms, mask_ms, read_ms, read_mask_ms, found_ms, found_mask_ms, serialize_ms, len(saved) / 1e3


def wait_for_writing(compiler: mw.GrammarCompiler) -> None:
    executor = compiler._workers._executor
    if executor is not None:
        executor.shutdown()
        compiler._workers.forget()


def report_masks(info: mw.TokenizerInfo, repetitions: int) -> None:
    outputs = [
        (SMALL, {"name": "Ada Lovelace", "age": 36, "born": "1815-12-10", "tags": ["poet", "mathematician", 1.5]}),
        ({"type": "array", "items": SMALL}, [{"name": f"person {i}", "age": i} for i in range(20)]),
    ]
    longest = Longest(info)
    tokenizer = info.serialize()
    print("| all masks of an output, ms | tokens | none is known | all are known |\n| --- | ---: | ---: | ---: |")
    for schema, output in outputs:
        ids = longest.encode(json.dumps(output).encode())
        runs = []
        for _ in range(repetitions):
            compiled = mw.GrammarCompiler(fresh(tokenizer)).compile_json_schema(schema)
            runs.append([milliseconds(partial(follow, compiled, ids))[0] for _ in range(2)])
        cold, warm = (statistics.median(column) for column in zip(*runs, strict=True))
        print(f"| {json.dumps(schema)[:40]}… | {len(ids)} | {cold:.2f} | {warm:.2f} |")


def follow(compiled: mw.CompiledGrammar, ids: list[int]) -> None:
    matcher = mw.GrammarMatcher(compiled)
    bitmask = mw.allocate_token_bitmask(1, compiled.tokenizer_info.vocab_size)
    for token in ids:
        matcher.fill_next_token_bitmask(bitmask)
        assert matcher.accept_token(token)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schemas", type=int, default=50)
    parser.add_argument("--repetitions", type=int, default=5)
    given = parser.parse_args()
    name, info = load()
    print(f"{name}, {info.vocab_size:,} tokens; {mw.__file__}\n")
    gc.disable()
    if name != "embedded model":
        report_start(info, given.repetitions)
    if CORPUS.exists():
        report_grammars(info, largest_schemas(given.schemas), given.repetitions)
    report_masks(info, given.repetitions)


if __name__ == "__main__":
    main()
