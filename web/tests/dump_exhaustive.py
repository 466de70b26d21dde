"""Grammars of the exhaustive suite (tests/exhaustive) as cases that the WebAssembly kernel is compared with.

    python web/tests/dump_exhaustive.py OUT

writes `OUT/exhaustive.json`: vocabularies, each with its grammars and random walks over their tokens, refused tokens
among them, in the form of dump_corpus.py. That natively these masks are right is what tests/exhaustive shows.
"""

from __future__ import annotations

import base64
import json
import random
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests")]

from maskwright import (  # noqa: E402
    CompiledGrammar,
    Grammar,
    GrammarMatcher,
    allocate_token_bitmask,
)
from maskwright.compiling.compiled_grammar import DEFAULT_GRAMMAR_BYTES  # noqa: E402
from maskwright.errors import MaskwrightError  # noqa: E402
from maskwright.ir import GrammarIR  # noqa: E402
from maskwright.ir.portable import to_bytes  # noqa: E402
from oracle.grammars import (  # noqa: E402
    one_rule_grammars,
    random_grammar,
    random_parametric_grammar,
    two_rule_grammars,
)
from oracle.vocabularies import SMALL, Vocab, random_vocab  # noqa: E402

EDGE_IDS = (3, SMALL.special[0], SMALL.stop[1])
STEPS = 12
REFUSED = 0.2  # so many of the tokens are chosen among all


def main(out: Path) -> None:
    """Write the file."""
    rng = random.Random(11)
    small = [*one_rule_grammars(1), *one_rule_grammars(2)]
    for grammars in (one_rule_grammars(4), one_rule_grammars(5), list(two_rule_grammars(3))):
        small += rng.sample(grammars, min(600, len(grammars)))
    small += [random_grammar(rng, EDGE_IDS) for _ in range(800)]
    small += [random_parametric_grammar(rng, EDGE_IDS) for _ in range(400)]
    sets = [dump_set(SMALL, small, rng)]
    for _ in range(100):
        vocab = random_vocab(rng)
        edges = tuple(rng.sample(range(len(vocab.token_bytes)), 3))
        sets.append(dump_set(vocab, [random_grammar(rng, edges) for _ in range(4)], rng))
    out.mkdir(parents=True, exist_ok=True)
    (out / "exhaustive.json").write_text(json.dumps(sets))
    cases = [case for each in sets for case in each["cases"]]
    print(f"{len(cases)} small grammars, {sum(len(w['masks']) for case in cases for w in case['walks'])} masks")


def dump_set(vocab: Vocab, grammars: list[GrammarIR], rng: random.Random) -> dict[str, Any]:
    """A vocabulary and what came of these grammars with it."""
    return {
        "tokens": [base64.b64encode(text).decode() for text in vocab.token_bytes],
        "special": vocab.special,
        "stop": vocab.stop,
        "vocabSize": vocab.vocab_size,
        "cases": [dump_case(f"grammar {i}", grammar, vocab, rng) for i, grammar in enumerate(grammars)],
    }


def dump_case(name: str, ir: GrammarIR, vocab: Vocab, rng: random.Random) -> dict[str, Any]:
    """Four walks over a grammar, or the error with which it is refused."""
    info = vocab.info()
    grammar = Grammar(ir)
    file = base64.b64encode(to_bytes(grammar.bound_to(info).compact_ir)).decode()
    try:
        # Not by a compiler, which refuses grammars that a vocabulary lacks bytes for: masks are compared for these.
        compiled = CompiledGrammar(grammar, info, memory_budget_bytes=DEFAULT_GRAMMAR_BYTES)
        return {"name": name, "file": file, "walks": [dump_walk(compiled, rng) for _ in range(4)]}
    except MaskwrightError as error:
        return {"name": name, "file": file, "error": type(error).__name__, "walks": []}


def dump_walk(compiled: CompiledGrammar, rng: random.Random) -> dict[str, Any]:
    """Masks along a random walk, and what was said of each token."""
    size = compiled.tokenizer_info.vocab_size
    matcher = GrammarMatcher(compiled)
    bitmask = allocate_token_bitmask(1, size)
    tokens, masks, accepted = [], [], []
    for _ in range(STEPS):
        needed = matcher.fill_next_token_bitmask(bitmask)
        words = np.asarray(bitmask)
        masks.append([zlib.crc32(words.tobytes()), int(needed), int(matcher.is_completed())])
        allowed = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little")[:size]).tolist()
        tokens.append(rng.choice(allowed) if allowed and rng.random() >= REFUSED else rng.randrange(size))
        accepted.append(int(matcher.accept_token(tokens[-1])))
    return {"tokens": tokens, "masks": masks, "accepted": accepted, "terminated": matcher.is_terminated()}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
