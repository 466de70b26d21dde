"""XGrammar 2, Fig. 6 and 7: what do tool calls cost per token, and in compiling, with 1 to 512 tools?

    python benchmarks/papers/xgrammar2_fig6_7.py --tools 1 8 64 512

Calls in the Llama and Harmony formats between free text, as in bench_tags.py, which measures and says what the columns
are. Where the data have too few functions that all engines take, functions come again under other names.
Source: Li et al., "XGrammar-2: Efficient Dynamic Structured Generation Engine for Agentic LLMs" (2026).
"""

from __future__ import annotations

import argparse
from typing import Any

from common import bench_tags, peers, report, table, vocabulary


def functions(engines: dict[str, Any], count: int, longest: Any) -> list[bench_tags.Function]:
    """So many functions that all engines take, no two of a name."""
    known = bench_tags.usable(engines, longest, min(count, 128))
    return [
        each._replace(name=f"{each.name}_{i}", schema=each.schema | {"description": f"number {i}"})
        for i in range(count)
        for each in (known[i % len(known)],)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", nargs="+", type=int, default=[1, 8, 64, 512])
    parser.add_argument("--formats", nargs="+", default=list(bench_tags.FORMATS), choices=list(bench_tags.FORMATS))
    parser.add_argument("--repeats", type=int, default=2, help="the least of so many runs")
    arguments = parser.parse_args()
    bench_tags.REPEATS = arguments.repeats
    name, info, longest = vocabulary()
    engines = peers("tags")
    known = functions(engines, max(arguments.tools), longest)
    report(
        "XGrammar 2, Fig. 6 and 7: tool calls, per token and in compiling",
        f"vocabulary {name}, {info.vocab_size:,} tokens",
    )
    rows = []
    for kind in arguments.formats:
        for count in arguments.tools:
            for engine_name, engine in engines.items():
                found = bench_tags.measure(engine, bench_tags.FORMATS[kind], known[:count], longest)
                ms = [f"{found[key] / 1e3:,.2f}" if found[key] > 0 else "–" for key in ("ttfm", "more", "seen")]
                us = [f"{found[key]:,.1f}" if key in found else "–" for key in ("token", "token ahead", "token again")]
                rows.append([f"{kind}, tools: {count}, {engine_name}", *ms, *us, f"{found['text again']:,.1f}"])
    columns = ["first mask ms", "one more tool ms", "seen ms", "token us", "computed ahead", "again", "text p50, again"]
    table(["", *columns], rows)


if __name__ == "__main__":
    main()
