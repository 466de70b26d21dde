"""What does it cost that an end tag repeats its begin tag?

    python benchmarks/bench_remembered.py --depth 1000

Elements with free names, nested so deep, written once and once more with the same grammar: processor time of a mask and
of accepting a token, on average, beside the same grammar without memory, in which an end tag may have any name.
"""

from __future__ import annotations

import argparse
import random

from bench_unique import cost
from vocabulary import Longest, load

import maskwright as mw

XML = """
root ::= element
element ::= "<" name=[a-zA-Z]+ ">" (text | element)* "</" $name ">"
text ::= [^<>&]+
"""


def nested(depth: int, tokens: list[bytes]) -> str:
    """One element within the other, each with a random word for its name."""
    rng = random.Random(1)
    words = [token.decode() for token in tokens if token.isalpha() and token.isascii() and len(token) > 3]
    names = rng.choices(words, k=depth)
    begins = "".join(f"<{name}>" for name in names)
    return begins + "x" + "".join(f"</{name}>" for name in reversed(names))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--depth", type=int, nargs="+", default=[10, 100, 1000])
    arguments = parser.parse_args()
    name, info = load()
    print(f"vocabulary: {name}")
    for depth in arguments.depth:
        ids = Longest(info).encode(nested(depth, list(info.token_bytes)).encode())
        for kind, text in (("any", XML.replace("$name", "[a-zA-Z]+")), ("same", XML)):
            grammar = mw.GrammarCompiler(info).compile_grammar(text)
            for run in ("first", "again"):
                fill, accept = cost(grammar, ids)
                print(
                    f"{depth:5} deep, {kind:4} name {run}: {len(ids):5} tokens, "
                    f"{fill:6.2f} µs a mask, {accept:5.2f} accept"
                )


if __name__ == "__main__":
    main()
