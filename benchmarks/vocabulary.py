"""The vocabulary that the benchmarks use: a `*.tiktoken` file beside the checkout, tekken, or the embedded model's.

    name, info = load()
    ids = Longest(info).encode(b'{"name": "Ada"}')

Tekken comes with mistral-common. `Longest` splits by the longest token that matches: it needs no tokenizer library and
comes close to what a model writes.
"""

from __future__ import annotations

import base64
import os
from pathlib import Path

import maskwright as mw

SHARED = Path(os.environ.get("MASKWRIGHT_DATA") or Path(__file__).resolve().parents[2] / "shared")


def load() -> tuple[str, mw.TokenizerInfo]:
    """Return the name of the first vocabulary that is there, and the vocabulary."""
    return from_file() or from_mistral() or from_embedded_model()


def from_file() -> tuple[str, mw.TokenizerInfo] | None:
    files = sorted((SHARED / "tokenizers").glob("*.tiktoken"))
    if not files:
        return None
    lines = [line.split() for line in files[0].read_bytes().splitlines()]
    tokens = [base64.b64decode(text) for text, _ in sorted(lines, key=lambda line: int(line[1]))]
    stop = len(tokens)
    info = mw.TokenizerInfo.from_vocab([*tokens, b"<|stop|>"], stop_token_ids=[stop], special_token_ids=[stop])
    return files[0].stem, info


def from_mistral() -> tuple[str, mw.TokenizerInfo] | None:
    try:
        from mistral_common.tokens.tokenizers.mistral import MistralTokenizer
    except ImportError:
        return None
    return "tekken", mw.TokenizerInfo.from_mistral(MistralTokenizer.v3(is_tekken=True))


def from_embedded_model() -> tuple[str, mw.TokenizerInfo]:
    from maskwright.lm import load_embedded_model

    model = load_embedded_model()
    info = mw.TokenizerInfo.from_vocab(
        model.token_bytes, stop_token_ids=[model.end_id], special_token_ids=[model.end_id]
    )
    return "embedded model", info


class Longest:
    """Splits text by the longest token that matches."""

    def __init__(self, info: mw.TokenizerInfo) -> None:
        special = {*info.special_token_ids, *info.stop_token_ids}
        self.ids = {t: i for i, t in enumerate(info.token_bytes) if t and i not in special}
        self.longest = max(map(len, self.ids))

    def encode(self, text: bytes) -> list[int]:
        out, at = [], 0
        while at < len(text):
            size = next(n for n in range(self.longest, 0, -1) if text[at : at + n] in self.ids)
            out.append(self.ids[text[at : at + size]])
            at += len(text[at : at + size])
        return out
