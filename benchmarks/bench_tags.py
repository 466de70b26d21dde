"""What do tool calls cost: time to first mask and time per token, by the number of tools, beside the peers?

    python benchmarks/bench_tags.py --tools 1 8 32 128

All model families, from new tools each time, and changing tools are the question of bench_families.py.
Functions come from the function-calling part of MaskBench's development set beside the checkout, else from our own
sample. Transcripts are text, a call, text, a call, in two formats, each as triggered tags:
    llama     {"name": "NAME", "parameters": {…}}
    harmony   <|channel|>commentary to=functions.NAME <|constrain|>json<|message|>{…}<|call|>
Engines get the same tags and tokens: XGrammar by compile_structural_tag, llguidance by StructTag. Those that are not
installed are left out. Only functions that all of them accept are used. Around the Python calls, one thread; the least
of five runs, each from an empty cache, and nothing of the run before is still to be freed. Compiling is in processor
time, for the machine may be busy:
    ttfm        compile + matcher + first mask, with an empty cache of grammars
    one more    the same once that many tools but one were compiled before
    seen        the same once all of these tools were compiled before, in another order
    token       fill + accept: mean over all tokens of the transcripts, median of text alone; then the same once more.
                For engines that can compute ahead, while the prompt is read, also after 20 ms of that
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from bench_peers import Llguidance, Maskwright, Xgrammar
from vocabulary import SHARED, Longest, load

import maskwright as mw
from maskwright.structural_tag.formats.kept import KEPT

HERE = Path(__file__).resolve().parent
TEXT = (
    "Sure, I will look that up. If x < 5, then {x} is small, and we are done\n",
    "Let me see what the functions say about it, step by step.\n",
)
REPEATS = 5
AHEAD_US = 20_000


class Function(NamedTuple):
    name: str
    schema: dict[str, Any]
    arguments: str


class Format(NamedTuple):
    trigger: str
    begin: str
    end: str

    def tag(self, functions: list[Function]) -> dict[str, Any]:
        tags = [
            {
                "begin": self.begin.replace("NAME", each.name),
                "content": {"type": "json_schema", "json_schema": each.schema},
                "end": self.end,
            }
            for each in functions
        ]
        return {
            "type": "structural_tag",
            "format": {"type": "triggered_tags", "triggers": [self.trigger], "tags": tags},
        }

    def call(self, function: Function) -> str:
        return self.begin.replace("NAME", function.name) + function.arguments + self.end


FORMATS = {
    "llama": Format('{"name": ', '{"name": "NAME", "parameters": ', "}"),
    "harmony": Format(
        "<|channel|>commentary to=functions.",
        "<|channel|>commentary to=functions.NAME <|constrain|>json<|message|>",
        "<|call|>",
    ),
}


class MaskwrightOnTags(Maskwright):
    def clear(self) -> None:
        self.matcher = self.grammar = None
        KEPT.clear()
        self.compiler = mw.GrammarCompiler(self.tokenizer, max_threads=1)

    def compile(self, tag: dict[str, Any]) -> None:
        self.grammar = self.compiler.compile_structural_tag(tag)

    def precompute(self) -> None:
        self.grammar.precompute(AHEAD_US)


class XgrammarOnTags(Xgrammar):
    def clear(self) -> None:
        self.matcher = self.grammar = None
        self.compiler = self.library.GrammarCompiler(self.tokenizer, max_threads=1)

    def compile(self, tag: dict[str, Any]) -> None:
        tags = [{"type": "tag", **each} for each in tag["format"]["tags"]]
        self.grammar = self.compiler.compile_structural_tag(tag | {"format": tag["format"] | {"tags": tags}})


class LlguidanceOnTags(Llguidance):
    def clear(self) -> None:
        self.matcher = self.first = None

    def compile(self, tag: dict[str, Any]) -> None:
        tags = [
            self.llguidance.StructTag(
                trigger=tag["format"]["triggers"][0],
                begin=each["begin"],
                grammar=each["content"]["json_schema"],
                end=each["end"],
            )
            for each in tag["format"]["tags"]
        ]
        grammar = self.llguidance.StructTag.to_grammar(tags, assume_special=False)
        self.first = self.llguidance.LLMatcher(self.tokenizer, grammar)
        if self.first.is_error():
            raise ValueError(self.first.get_error())

    def accept(self, token: int) -> bool:
        return bool(self.matcher.consume_token(token))


ENGINES: dict[str, Callable[[mw.TokenizerInfo, Longest], Any]] = {
    "maskwright": MaskwrightOnTags,
    "xgrammar": XgrammarOnTags,
    "llguidance": LlguidanceOnTags,
}


def functions() -> Iterator[Function]:
    """All functions of the data whose schema has a valid instance."""
    beside = SHARED / "corpora" / "maskbench-dev.jsonl.gz"
    text = gzip.decompress(beside.read_bytes()) if beside.exists() else (HERE / "data" / "schemas.jsonl").read_bytes()
    for line in text.decode().splitlines():
        record = json.loads(line)
        if beside.exists() and not record["id"].startswith(("BFCL", "Glaive")):
            continue
        valid = [test["data"] for test in record["tests"] if test["valid"] and isinstance(test["data"], dict)]
        if valid and record["schema"].get("type") == "object":
            name = record["id"].replace("---", "_").replace(".", "_").replace("-", "_").lower()
            yield Function(name, record["schema"], json.dumps(valid[0], ensure_ascii=False))


def accepts(engine: Any, tag: dict[str, Any], tokens: list[int]) -> bool:
    try:
        engine.compile(tag)
        engine.reset()
        for token in tokens:
            engine.fill()
            if not engine.accept(token):
                return False
    except Exception:  # an engine's own way to say no
        return False
    return True


def usable(engines: dict[str, Any], longest: Longest, count: int) -> list[Function]:
    found: list[Function] = []
    for each in functions():
        if len(found) == count:
            break
        it = FORMATS["llama"]
        tokens = longest.encode(it.call(each).encode())
        if all(accepts(engine, it.tag([each]), tokens) for engine in engines.values()):
            found.append(each)
    return found


def timed(work: Callable[[], None]) -> float:
    begin = time.process_time()
    work()
    return (time.process_time() - begin) * 1e6


def first_mask(engine: Any, tag: dict[str, Any]) -> None:
    engine.compile(tag)
    engine.reset()
    engine.fill()


def per_token(engine: Any, pieces: list[list[int]]) -> tuple[list[float], list[float]]:
    """Microseconds of each token of text, and of each token of calls."""
    text: list[float] = []
    calls: list[float] = []
    engine.reset()
    for i, piece in enumerate(pieces):
        for token in piece:
            begin = time.perf_counter()
            engine.fill()
            accepted = engine.accept(token)
            (calls if i % 2 else text).append((time.perf_counter() - begin) * 1e6)
            if not accepted:
                raise SystemExit("a token of the transcript was refused")
    return text, calls


def measure(engine: Any, it: Format, chosen: list[Function], longest: Longest) -> dict[str, float]:
    """The least of several runs, each from an empty cache."""
    tag = it.tag(chosen)
    spread = [chosen[i * len(chosen) // 6] for i in range(6)]
    pieces = []
    for i, each in enumerate(spread):
        pieces += [longest.encode(TEXT[i % 2].encode()), longest.encode(it.call(each).encode())]
    runs: list[dict[str, float]] = []
    for repeat in range(REPEATS):
        engine.clear()
        run = {"more": float("nan"), "seen": float("nan")}
        if len(chosen) > 1:
            # The added function is another one each time, so that no run meets what the run before it made.
            engine.compile(it.tag(chosen[:-1]))
            last = chosen[-1]
            added = last._replace(name=f"{last.name}_{repeat}", schema=last.schema | {"title": f"{repeat}"})
            changed = it.tag([*chosen[:-1], added])
            run["more"] = timed(lambda changed=changed: first_mask(engine, changed))
            engine.clear()
            engine.compile(it.tag(chosen[::-1]))
            run["seen"] = timed(lambda: first_mask(engine, tag))
        engine.clear()
        run["ttfm"] = timed(lambda: first_mask(engine, tag))
        for name in ("", " again"):
            text, calls = per_token(engine, pieces)
            run[f"token{name}"] = float(np.mean(text + calls))
            run[f"text{name}"] = float(np.median(text))
        if hasattr(engine, "precompute"):
            engine.clear()
            first_mask(engine, tag)
            engine.precompute()
            text, calls = per_token(engine, pieces)
            run["token ahead"] = float(np.mean(text + calls))
        runs.append(run)
    return {name: min(run[name] for run in runs) for name in runs[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=list(ENGINES))
    parser.add_argument("--tools", nargs="+", type=int, default=[1, 8, 32, 128])
    parser.add_argument("--formats", nargs="+", default=list(FORMATS), choices=list(FORMATS))
    arguments = parser.parse_args()
    missing = [n for n in arguments.engines if not importlib.util.find_spec(n)]
    print("".join(f"{name} is not installed, and left out\n" for name in missing), end="")
    vocabulary, info = load()
    longest = Longest(info)
    engines = {n: ENGINES[n](info, longest) for n in arguments.engines if n not in missing}
    known = usable(engines, longest, max(arguments.tools))
    print(f"vocabulary: {vocabulary}, {info.vocab_size:,} tokens; {len(known)} functions")
    for name in arguments.formats:
        for count in arguments.tools:
            chosen = known[:count]
            print(f"{name}, {len(chosen)} tools")
            for engine_name, engine in engines.items():
                found = measure(engine, FORMATS[name], chosen, longest)
                ahead = f", ahead {found['token ahead']:7.2f}" if "token ahead" in found else ""
                print(
                    f"   {engine_name:11s} ttfm {found['ttfm'] / 1e3:8.2f} ms   "
                    f"one more {found['more'] / 1e3:8.2f} ms   seen {found['seen'] / 1e3:8.2f} ms   "
                    f"token avg {found['token']:7.2f} us, again {found['token again']:7.2f}{ahead}   "
                    f"text p50 {found['text']:6.2f} us, again {found['text again']:6.2f}"
                )


if __name__ == "__main__":
    main()
