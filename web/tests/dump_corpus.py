"""The corpus of tests/corpus as files that the WebAssembly kernel is compared with, bit by bit.

    python web/tests/dump_corpus.py OUT

writes `OUT/corpus.json`: each grammar as `maskwright compile` writes it, and for each of its texts, cut up into the
tokens of a small vocabulary, what `accept_token` said and the mask before each token (its checksum); or the error with
which the grammar is refused.
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
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "corpus")]

from test_grammar_corpus import CASES, READERS, texts_of  # noqa: E402

from maskwright import GrammarCompiler, GrammarMatcher, TokenizerInfo, allocate_token_bitmask  # noqa: E402
from maskwright.errors import MaskwrightError  # noqa: E402
from maskwright.ir.portable import to_bytes  # noqa: E402

WORDS = [
    "ab",
    "abc",
    "  ",
    "\n",
    "12",
    "true",
    "null",
    '":',
    '", "',
    "{}",
    "[[",
    "é",
    "日本",
    "\U0001f600",
    "the",
    "a,",
]


def main(out: Path) -> None:
    """Write the file."""
    rng = random.Random(7)
    tokens = [*(bytes((b,)) for b in range(256)), b"</s>", *(word.encode() for word in WORDS), "日".encode()[:2]]
    info = TokenizerInfo.from_vocab(tokens, special_token_ids=[256], stop_token_ids=[256])
    compiler = GrammarCompiler(info)
    cases = [case for name in CASES if (case := dump_case(name, info, compiler, rng)) is not None]
    data = {"tokens": [base64.b64encode(t).decode() for t in tokens], "special": [256], "stop": [256], "cases": cases}
    out.mkdir(parents=True, exist_ok=True)
    (out / "corpus.json").write_text(json.dumps(data))
    print(f"{len(cases)} grammars, {sum(len(walk['masks']) for case in cases for walk in case['walks'])} masks")


def dump_case(name: str, info: TokenizerInfo, compiler: GrammarCompiler, rng: random.Random) -> dict[str, Any] | None:
    """What one grammar is, and what came of it natively; None where no grammar comes of the text."""
    try:
        grammar = READERS[CASES[name]["language"]](CASES[name]["grammar"])
        file = base64.b64encode(to_bytes(grammar.bound_to(info).compact_ir)).decode()
    except MaskwrightError:
        return None
    try:
        compiled = compiler.compile_grammar(grammar)
        walks = [dump_walk(compiled, info, text, rng) for text in texts_of(name)]
    except MaskwrightError as error:
        return {"name": name, "file": file, "error": type(error).__name__, "walks": []}
    return {"name": name, "file": file, "walks": walks}


def dump_walk(compiled: Any, info: TokenizerInfo, text: bytes, rng: random.Random) -> dict[str, Any]:
    """The masks along one text, and what was said of each token."""
    matcher = GrammarMatcher(compiled)
    bitmask = allocate_token_bitmask(1, info.vocab_size)
    tokens, masks, accepted = [*cut(text, info, rng), 256], [], []
    for token in tokens:
        needed = matcher.fill_next_token_bitmask(bitmask)
        words = np.asarray(bitmask)
        masks.append([zlib.crc32(words.tobytes()), int(needed), int(matcher.is_completed())])
        accepted.append(int(matcher.accept_token(token)))
        if not accepted[-1]:
            break
    return {"tokens": tokens, "masks": masks, "accepted": accepted, "terminated": matcher.is_terminated()}


def cut(text: bytes, info: TokenizerInfo, rng: random.Random) -> list[int]:
    """The text as tokens, chosen at random among those that fit."""
    by_text = {token: i for i, token in enumerate(info.token_bytes) if i != 256}
    out, at = [], 0
    while at < len(text):
        fitting = [size for size in range(1, 7) if text[at : at + size] in by_text and at + size <= len(text)]
        size = rng.choice(fitting)
        out.append(by_text[text[at : at + size]])
        at += size
    return out


if __name__ == "__main__":
    main(Path(sys.argv[1]))
